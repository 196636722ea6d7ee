//! `manysum`: checksums of many files at once.

use std::process::ExitCode;

fn main() -> ExitCode {
    manysum::program::main()
}
