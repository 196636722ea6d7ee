//! The tool `manyhash dups`: files with the same content.
//!
//! `scan` lists the files; `find` narrows them down, by size, then by their ends, then by a digest of all of it;
//! `report` prints what is left, and `replace` does away with it where that is asked for. Whatever removes a name does so
//! by way of `settle`, which says how no content is ever lost.

mod anchor;
mod aside;
mod blocks;
mod find;
mod left;
mod link;
mod replace;
mod report;
mod scan;
mod settle;
mod share;
mod stop;
mod version;

use find::Search;
use manyhash::HashFunction;
use manysum::arguments;
use manysum::cache::{Cache, CacheOptions};
use manysum::console::Console;
use manysum::reading::Reading;
use replace::{Answer, Replacement};
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use stop::Stop;

/// Find files with the same content.
///
/// Print groups of files that have the same size and digest. Each group begins with its size, and an empty line
/// separates groups. Empty files are skipped, and symbolic links below a DIR are not followed. Several names of one
/// file (hard links) are not duplicates of each other; further names of a duplicate follow its first. Files that
/// already share all their blocks waste no space.
///
/// When files are deleted or replaced, the first file of each group stays, in the order of the arguments and then of
/// the names. Each other file is compared with it byte by byte first. It is skipped if either file changes meanwhile,
/// is open for writing in another program, or is the other one seen through another file system. Otherwise all its
/// names below the DIRs are deleted or replaced.
///
/// Before a file is deleted or replaced by a hard link, it is moved from DIR/NAME to DIR/.manyhash-aside-XXXXXX/NAME.
/// Ctrl-C moves it back. If a run is killed, the next run with --delete, --hardlink or --reflink moves it back.
///
/// The exit status is 0, or 1 if anything went wrong or a file was skipped. Files that --hardlink skips because of
/// their attributes or the limits of their file system are reported, but are not failures.
#[derive(clap::Args)]
pub struct DupsArguments {
    /// Directories or files to search
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<OsString>,

    #[arg(short, long, default_value_t = HashFunction::Blake3, help = function_help())]
    algorithm: HashFunction,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    cache: CacheOptions,

    /// Print a JSON object for each group, one per line
    #[arg(long, conflicts_with = "zero")]
    json: bool,

    /// End each line with NUL instead of a newline, and do not escape names
    #[arg(short, long)]
    zero: bool,

    /// Delete all files of each group but the first
    #[arg(long, group = "replacement")]
    delete: bool,

    /// Replace files by hard links to the first of their group that has the same owner, group, permissions and extended
    /// attributes (including access control lists), is on the same file system, and can have more links. The first file
    /// keeps its times
    #[arg(long, group = "replacement")]
    hardlink: bool,

    /// With --hardlink, ignore owners, permissions and extended attributes; those of the first file stay
    #[arg(long, requires = "hardlink", conflicts_with_all = ["delete", "reflink"])]
    ignore_attributes: bool,

    /// Let all files of each group share the first one's blocks, on file systems that can, such as Btrfs and XFS
    /// (FIDEDUPERANGE). They remain separate files, with their own attributes and times
    #[arg(long, group = "replacement")]
    reflink: bool,

    /// Do not ask before deleting or replacing files
    #[arg(long, requires = "replacement")]
    yes: bool,
}

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main(arguments: DupsArguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let outcome = run(&mut console, &arguments);
    console.finish(outcome)
}

fn run(console: &mut Console, arguments: &DupsArguments) -> io::Result<bool> {
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
    let replacement = arguments.replacement();
    let mut failures = 0;
    let mut failed = |console: &mut Console, name: &[u8], error: &io::Error| {
        failures += 1;
        console.file_error(name, error);
    };
    let mut scan = scan::scan(&arguments.directories, |name, error| failed(console, name, error));
    let mut well = true;
    if replacement.is_none() {
        left::report(console, &scan.asides);
    } else if !scan.asides.is_empty() {
        let (files, all) = left::put_back(console, &scan.asides);
        well = all;
        if files > 0 {
            // What failed the first time was said.
            scan = scan::scan(&arguments.directories, |_, _| {});
        }
    }
    let search = Search { function: arguments.algorithm, reading: arguments.reading, cache: cache.as_ref() };
    let groups = search.find(scan.files, |name, error| failed(console, name, error));
    if let Some(Err(error)) = cache.map(Cache::finish) {
        console.message(error.to_string());
    }
    for (i, group) in groups.iter().enumerate() {
        let text = if arguments.json { report::json(group)? } else { report::text(group, i == 0, arguments.zero) };
        console.line(&text)?;
    }
    if !arguments.json {
        console.message(report::summary(&groups));
    }
    if let Some(replacement) = replacement.filter(|_| !groups.is_empty()) {
        let answer = if arguments.yes { Answer::Yes } else { replace::ask(console, &groups, replacement)? };
        match answer {
            Answer::Yes => {
                let stop = Stop::on_signals()?;
                well &= replace::replace(console, &groups, replacement, &stop);
                stop.obey()?;
            }
            Answer::No => {}
            Answer::None => well = false,
        }
    }
    Ok(well && failures == 0)
}

impl DupsArguments {
    /// What is to be done, if anything is.
    fn replacement(&self) -> Option<Replacement> {
        let ignore_attributes = self.ignore_attributes;
        match (self.delete, self.hardlink, self.reflink) {
            (true, _, _) => Some(Replacement::Nothing),
            (_, true, _) => Some(Replacement::HardLink { ignore_attributes }),
            (_, _, true) => Some(Replacement::Reflink),
            _ => None,
        }
    }
}

fn function_help() -> String {
    format!("Hash algorithm: {}", arguments::function_names())
}
