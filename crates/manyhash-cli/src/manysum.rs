//! The program `manysum`: prints checksums of files, or checks them, as the tools of GNU coreutils do.

mod check;
mod line;
mod list;
mod print;
mod tree;

use crate::arguments;
use crate::console::Console;
use clap::Parser;
use manyhash::Algorithm;
use std::ffi::OsString;
use std::process::ExitCode;

/// Print or check checksums of many files at once.
///
/// With no FILE, or when FILE is -, read standard input. Lines are those of GNU coreutils' sha256sum and its siblings,
/// in the order of the arguments.
#[derive(Parser)]
#[command(name = "manysum", version, infer_long_args = true, args_override_self = true)]
struct Arguments {
    #[arg(short, long, default_value_t = Algorithm::Sha256, help = arguments::algorithm_help())]
    algorithm: Algorithm,

    /// Take the regular files in directories, sorted by name, without following symbolic links in them
    #[arg(short, long, conflicts_with = "check")]
    recursive: bool,

    /// Hash on at most N threads; 0 is one a core
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    threads: usize,

    /// Read checksums from the FILEs and check them
    #[arg(short, long)]
    check: bool,

    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
}

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main() -> ExitCode {
    let mut arguments: Arguments = match arguments::parse() {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    let mut console = Console::new("manysum");
    if let Err(error) = manyhash::backend() {
        console.message(error.to_string());
        return ExitCode::FAILURE;
    }
    if arguments.files.is_empty() {
        arguments.files.push("-".into());
    }
    let outcome =
        if arguments.check { check::check(&mut console, arguments) } else { print::print(&mut console, arguments) };
    console.finish(outcome)
}
