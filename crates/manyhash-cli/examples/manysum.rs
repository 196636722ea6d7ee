//! `manysum`, for the tests of `manyhash` beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    manysum::program::main()
}
