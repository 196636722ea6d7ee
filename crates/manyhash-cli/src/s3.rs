//! The tool `manyhash s3`: what S3 says of objects, computed from files and compared with what is in buckets.

mod checksum;
mod connection;
mod etag;
mod files;
mod like;
mod ls;
mod sides;
mod verify;

use clap::Subcommand;
use manysum::console::Console;
use std::process::ExitCode;

/// Compute what S3 says of objects, and prove that buckets hold what they should.
#[derive(clap::Args)]
pub struct S3Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Checksum(checksum::ChecksumArguments),
    Etag(etag::EtagArguments),
    Ls(ls::LsArguments),
    Verify(verify::VerifyArguments),
}

/// Runs it, and returns its exit status: 1 if anything went wrong, and what else the task has.
pub fn main(arguments: S3Arguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    if let Err(error) = manyhash::backend() {
        console.message(error.to_string());
        return console.finish(Ok(false));
    }
    let well = |well: bool| u8::from(!well);
    let outcome = match arguments.task {
        Task::Checksum(arguments) => checksum::run(&mut console, &arguments).map(well),
        Task::Etag(arguments) => etag::run(&mut console, &arguments).map(well),
        Task::Ls(arguments) => ls::run(&mut console, &arguments).map(well),
        Task::Verify(arguments) => verify::run(&mut console, &arguments),
    };
    console.finish_with(outcome)
}
