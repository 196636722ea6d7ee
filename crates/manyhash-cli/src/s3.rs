//! The tool `manyhash s3`: what S3 says of objects, computed from files and compared with what is in buckets, and files
//! moved to buckets and back.

mod bar;
mod checksum;
mod connection;
mod download;
mod etag;
mod files;
mod like;
mod ls;
mod sides;
mod sync;
mod transfer;
mod upload;
mod verify;

use clap::Subcommand;
use manysum::console::Console;
use std::process::ExitCode;

/// Compute what S3 says of objects, move files to buckets and back, and prove that both hold what they should.
#[derive(clap::Args)]
pub struct S3Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Checksum(checksum::ChecksumArguments),
    Download(download::DownloadArguments),
    Etag(etag::EtagArguments),
    Ls(ls::LsArguments),
    Sync(sync::SyncArguments),
    Upload(upload::UploadArguments),
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
        Task::Download(arguments) => download::run(&mut console, &arguments).map(well),
        Task::Etag(arguments) => etag::run(&mut console, &arguments).map(well),
        Task::Ls(arguments) => ls::run(&mut console, &arguments).map(well),
        Task::Sync(arguments) => sync::run(&mut console, &arguments).map(well),
        Task::Upload(arguments) => upload::run(&mut console, &arguments).map(well),
        Task::Verify(arguments) => verify::run(&mut console, &arguments),
    };
    console.finish_with(outcome)
}
