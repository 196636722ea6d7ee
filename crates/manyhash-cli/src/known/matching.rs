//! `manyhash known match`: the files whose digests are in a set, or are not.

use super::pages::SetError;
use super::set_file::SetFile;
use manysum::console::{Console, reason};
use manysum::figures::count;
use manysum::lists::json;
use manysum::progress::Progress;
use manysum::reading::Reading;
use manysum::tree::names::Names;
use manysum::{escape, name, tree};
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Print which files have a digest that is in a set.
///
/// Print `NAME: known` or `NAME: unknown` for each file, or only the names of one kind with --known or --unknown. The
/// algorithm is that of the set. In directories, hash all regular files, sorted by name; symbolic links in them are not
/// followed. When DIR is -, read standard input.
///
/// Names with a newline, a carriage return or a backslash are escaped, and their lines begin with a backslash, as in
/// lists of checksums.
///
/// The exit status is 0 if all files could be read, known or not; else 1.
#[derive(clap::Args)]
pub(super) struct MatchArguments {
    /// Set that `manyhash known build` wrote
    #[arg(value_name = "SET")]
    set: PathBuf,

    /// Directories or files to match
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<OsString>,

    /// Print only the names of files in the set
    #[arg(long, group = "wanted")]
    known: bool,

    /// Print only the names of files not in the set
    #[arg(long, group = "wanted")]
    unknown: bool,

    #[command(flatten)]
    reading: Reading,

    /// Print a JSON object for each file, one per line, with its name, its algorithm, its digest or error, and its
    /// status: known, unknown or unreadable
    #[arg(long, conflicts_with = "zero")]
    json: bool,

    /// End each line with NUL instead of a newline, and do not escape names
    #[arg(short, long)]
    zero: bool,
}

/// Runs it; whether all could be read.
///
/// # Errors
/// If a line cannot be written.
pub(super) fn run(console: &mut Console, arguments: &MatchArguments) -> io::Result<bool> {
    if let Err(error) = manyhash::backend() {
        console.message(error.to_string());
        return Ok(false);
    }
    let about_set = |console: &mut Console, error: &SetError| {
        console.about(name::bytes(arguments.set.as_os_str()), &error.to_string());
        Ok(false)
    };
    let mut set = match SetFile::open(&arguments.set) {
        Ok(set) => set,
        Err(error) => return about_set(console, &error),
    };
    let function = set.function();
    let mut tally = [0; 3];
    let mut outcome = Ok(Ok(()));
    let names = Names::Arguments(arguments.directories.clone().into_iter());
    let files = tree::files(names, Some(tree::Walk::default()));
    let progress = Progress::new(arguments.reading.progress);
    console.share_with(progress.bar());
    let files = files.inspect(|(name, _)| progress.begin(name::bytes(name)));
    progress.count(arguments.reading.files(&[function])).digest(files, |name, digested| {
        progress.done();
        let name = name::bytes(&name);
        let digest = digested.map(|digested| digested.digests[0]).map_err(|error| reason(&error));
        let status = match &digest {
            Ok(digest) => match set.contains(digest) {
                Ok(true) => Status::Known,
                Ok(false) => Status::Unknown,
                Err(error) => {
                    outcome = Ok(Err(error));
                    return ControlFlow::Break(());
                }
            },
            Err(error) => {
                console.about(name, error);
                Status::Unreadable
            }
        };
        tally[status as usize] += 1;
        let digest = digest.as_ref().map_err(String::as_str);
        let line = if arguments.json {
            json::line(name, function, Some(status.word()), digest)
        } else {
            Ok(arguments.line(name, status))
        };
        let written = line.and_then(|line| if arguments.wants(status) { console.line(&line) } else { Ok(()) });
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                outcome = Err(error);
                ControlFlow::Break(())
            }
        }
    });
    drop(progress);
    if let Err(error) = outcome? {
        return about_set(console, &error);
    }
    let [known, unknown, unreadable] = tally;
    if !arguments.json {
        let unread = if unreadable > 0 { format!(", {unreadable} unreadable") } else { String::new() };
        console.message(format!("{}: {known} known, {unknown} unknown{unread}", count(tally.iter().sum(), "file")));
    }
    Ok(unreadable == 0)
}

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Known,
    Unknown,
    Unreadable,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Status::Known => "known",
            Status::Unknown => "unknown",
            Status::Unreadable => "unreadable",
        }
    }
}

impl MatchArguments {
    /// Whether there is a line for such a file.
    fn wants(&self, status: Status) -> bool {
        match status {
            Status::Known => !self.unknown,
            Status::Unknown => !self.known,
            Status::Unreadable => self.json,
        }
    }

    /// The line of a file.
    fn line(&self, name: &[u8], status: Status) -> Vec<u8> {
        let mut line = Vec::with_capacity(name.len() + 16);
        if self.zero {
            line.extend_from_slice(name);
        } else {
            escape::begin(name, &mut line);
        }
        if !self.known && !self.unknown {
            line.extend_from_slice(b": ");
            line.extend_from_slice(status.word().as_bytes());
        }
        line.push(if self.zero { 0 } else { b'\n' });
        line
    }
}
