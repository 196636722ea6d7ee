//! The tool `manyhash dups`: files with the same content.
//!
//! `scan` lists the files; `find` narrows them down, by size, then by their ends, then by a digest of all of it;
//! `report` prints what is left, and `replace` does away with it where that is asked for.

mod find;
mod replace;
mod report;
mod scan;

use crate::arguments;
use crate::cache::{Cache, CacheOptions};
use crate::console::Console;
use crate::reading::Reading;
use find::Search;
use manyhash::{Function, Other};
use replace::Replacement;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

/// Find files with the same content.
///
/// Prints groups of files that have the same size and digest, each group after its size, with an empty line between
/// groups. Empty files are left out, and so are further names of one file (hard links): they waste nothing. Symbolic
/// links below a DIR are not followed.
///
/// The first file of a group, in the order of the arguments and then of the names, is the one that stays when the
/// others are deleted or replaced. Before that each is compared with it byte for byte.
#[derive(clap::Args)]
pub struct Arguments {
    /// Directories, or files
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<OsString>,

    #[arg(short, long, default_value_t = Function::Other(Other::Blake3), help = function_help())]
    algorithm: Function,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    cache: CacheOptions,

    /// Print a JSON object a line for each group
    #[arg(long)]
    json: bool,

    /// Delete all files of a group but the first
    #[arg(long, group = "replacement")]
    delete: bool,

    /// Make all files of a group hard links to the first
    #[arg(long, group = "replacement")]
    hardlink: bool,

    /// Let all files of a group share the first one's blocks, where the file system can (FICLONE)
    #[arg(long, group = "replacement")]
    reflink: bool,

    /// Do not ask before anything is deleted or replaced
    #[arg(long, requires = "replacement")]
    yes: bool,
}

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main(arguments: Arguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let outcome = run(&mut console, &arguments);
    console.finish(outcome)
}

fn run(console: &mut Console, arguments: &Arguments) -> io::Result<bool> {
    if let Err(error) = manyhash::backend() {
        console.message(error.to_string());
        return Ok(false);
    }
    // Before anything is looked at.
    let cache = match arguments.cache.open(console) {
        Ok(cache) => cache,
        Err(error) => {
            console.message(error.to_string());
            return Ok(false);
        }
    };
    let mut failures = 0;
    let mut failed = |console: &mut Console, name: &[u8], error: &io::Error| {
        failures += 1;
        console.file_error(name, error);
    };
    let files = scan::scan(&arguments.directories, |name, error| failed(console, name, error));
    let search = Search { function: arguments.algorithm, reading: arguments.reading, cache: cache.as_ref() };
    let groups = search.find(files, |name, error| failed(console, name, error));
    if let Some(Err(error)) = cache.map(Cache::finish) {
        console.message(error.to_string());
    }
    for (i, group) in groups.iter().enumerate() {
        let text = if arguments.json { report::json(group)? } else { report::text(group, i == 0) };
        console.line(&text)?;
    }
    if !arguments.json {
        console.message(report::summary(&groups));
    }
    let well = match Replacement::of(arguments.delete, arguments.hardlink, arguments.reflink) {
        Some(replacement) => replace::replace(console, &groups, replacement, arguments.yes)?,
        None => true,
    };
    Ok(well && failures == 0)
}

fn function_help() -> String {
    format!("Hash function: {}", arguments::function_names())
}
