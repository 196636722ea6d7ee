//! The tool `manyhash known`: files that are known by their digests, of which there may be tens of millions.
//!
//! `build` gathers the digests of lists, line by line (`record`), sorts them (`digests`) and writes a file (`pages`). In
//! there they lie so that one is found in one place or two (`layout`), and `match` looks them up in the file (`set_file`)
//! or, if that takes long, in memory (`set`).

mod build;
mod digests;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod layout;
mod matching;
mod pages;
mod record;
mod set;
mod set_file;

use clap::Subcommand;
use manysum::console::Console;
pub use set::Set;
use std::process::ExitCode;

/// Match files against sets of known digests.
#[derive(clap::Args)]
pub struct KnownArguments {
    #[command(subcommand)]
    task: KnownCommand,
}

#[derive(Subcommand)]
enum KnownCommand {
    Build(build::BuildSetArguments),
    Match(matching::MatchArguments),
}

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main(arguments: KnownArguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let outcome = match arguments.task {
        KnownCommand::Build(arguments) => build::run(&mut console, &arguments),
        KnownCommand::Match(arguments) => matching::run(&mut console, &arguments),
    };
    console.finish(outcome)
}
