//! Arguments that the programs share.

use crate::console::Console;
use crate::standard;
use clap::{Error, Parser};
use manyhash::{Algorithm, HashFunction};
use manyhash_stdio::Standard;
use std::io::{self, Write};
use std::process::ExitCode;

/// The program's arguments, or the status to exit with: after help or the version, or a message on what is wrong.
///
/// # Errors
/// The status is 1 for wrong arguments, as coreutils has it (clap's own is 2), and for help that cannot be written.
pub fn parse<A: Parser>() -> Result<A, ExitCode> {
    A::try_parse().map_err(|error| stop(A::command().get_name(), &error))
}

/// Prints what clap has to say instead of the arguments of a program, and returns the status to exit with.
pub(crate) fn stop(program: &str, error: &Error) -> ExitCode {
    let console = Console::new(program);
    if error.use_stderr() {
        // If it cannot be said, the status says as much.
        let _ = error.print();
        return console.finish(Ok(false));
    }
    let written = standard::there(Standard::Output).and_then(|()| error.print()).and_then(|()| io::stdout().flush());
    console.finish(written.map(|()| true))
}

/// The help of an option that takes an algorithm.
pub fn algorithm_help() -> String {
    format!(
        "Hash algorithm: {}",
        Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(", ")
    )
}

/// The names of every function that a file's digest can be of.
pub fn function_names() -> String {
    HashFunction::all().map(HashFunction::name).chain(["blake2b-BITS"]).collect::<Vec<_>>().join(", ")
}
