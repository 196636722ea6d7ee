//! The tool `manyhash manifest`: what files a tree has, with their digests, in a list that is kept.
//!
//! A tree's files come in their order, with what the digest cache knows of them (`scan`), and become the lines of a
//! manifest (`write`). One that is there is read into memory (`index`), and what it says is held against the tree
//! (`verify`), against another one (`diff`), or against what it will be (`update`); `findings` says what differs. Whose
//! digests one has that does not say it, files of the tree tell (`guess`). What else a bag says is kept right (`bag`).

mod bag;
mod create;
mod diff;
mod findings;
mod guess;
mod index;
mod scan;
mod update;
mod verify;
mod write;

use clap::Subcommand;
use manysum::console::Console;
use manysum::name;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Create, verify, update and compare manifests of trees.
///
/// A manifest lists the digests of the regular files in a directory, sorted by their names below it. Symbolic links are
/// not followed, and the manifest itself is skipped. Files named .manyhash-*.tmp are skipped too, and reported: these
/// programs leave them behind if they are interrupted while they write.
#[derive(clap::Args)]
pub struct ManifestArguments {
    #[command(subcommand)]
    task: ManifestCommand,
}

#[derive(Subcommand)]
enum ManifestCommand {
    Create(create::CreateArguments),
    Diff(diff::DiffArguments),
    Update(update::UpdateArguments),
    Verify(verify::VerifyArguments),
}

/// Runs it, and returns its exit status: 1 if anything went wrong, and what else the task has.
pub fn main(arguments: ManifestArguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let outcome = match manyhash::backend() {
        Err(error) => {
            console.message(error.to_string());
            Ok(FAILED)
        }
        Ok(_) => match arguments.task {
            ManifestCommand::Create(arguments) => create::run(&mut console, &arguments),
            ManifestCommand::Diff(arguments) => diff::run(&mut console, &arguments),
            ManifestCommand::Update(arguments) => update::run(&mut console, &arguments),
            ManifestCommand::Verify(arguments) => verify::run(&mut console, &arguments),
        },
    };
    console.finish_with(outcome)
}

/// The exit status if something went wrong.
const FAILED: u8 = 1;

/// Whether a tree can be walked, which is said if not.
fn is_directory(console: &mut Console, directory: &Path) -> bool {
    let error = match std::fs::metadata(directory) {
        Ok(there) if there.is_dir() => return true,
        Ok(_) => io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    console.file_error(name::bytes(directory.as_os_str()), &error);
    false
}
