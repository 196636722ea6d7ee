//! `manyhash manifest update`: a manifest that is there, made to say what the tree is now.

use super::findings::{Findings, Status, Unlisted};
use super::index::Index;
use super::scan::walk;
use super::write::{FileDigests, Lines, Manifest, Options, root, shown};
use super::{FAILED, guess, is_directory};
use manyhash::{Algorithm, Digest, HashFunction};
use manysum::console::Console;
use manysum::figures::count;
use manysum::lists::kept::Kept;
use manysum::lists::write::Format;
use manysum::lists::{Entry, bagit};
use manysum::name;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Bring a manifest of the files in DIR up to date, reading only what has changed.
///
/// Print a line for each file that has changed, is missing, was moved or is new, as verify does. The digest cache tells
/// which files are unchanged: those with the same device, inode, size, modification time and change time. It keeps no
/// digest of a file that changed less than 40 s ago, so the first update reads such files once more. Nor does it keep
/// digests of files on file systems whose timestamps may miss a change: see --trust-times. A manifest that does not
/// exist is created, and one that would not change is not written.
///
/// Comments are kept, at the beginning. Absolute names below DIR become names below DIR. A file that cannot be read
/// keeps its line. Without --force, nothing is written if all, or at least 10 and half, of the listed files are
/// missing. Without --algorithm, nothing is written if no file is as listed and the manifest does not name its
/// algorithm.
///
/// In a bag, the tag manifests and the Payload-Oxum in bag-info.txt are updated too. A name with `%` is found even if
/// the program that wrote the bag did not escape it, as bagit.py 1.9 does not, and is written escaped, as RFC 8493
/// requires.
///
/// The exit status is 0 on success, else 1.
#[derive(clap::Args)]
pub(super) struct UpdateArguments {
    /// Directory of the files; for a bag, the one that contains `data`
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Manifest to update, in any format that create writes
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,

    /// Write the manifest even if all, or at least 10 and half, of the files that it lists are missing
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    options: Options,
}

/// Files that may be missing without --force, as long as there are others.
const FEW: usize = 10;

/// Runs it; the exit status.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &UpdateArguments) -> io::Result<u8> {
    let UpdateArguments { directory, manifest: path, force, options } = arguments;
    if !is_directory(console, directory) {
        return Ok(FAILED);
    }
    // Whether it is of a bag is known by its name, so that the walk need not wait for what it says.
    let named = bagit::function(path.as_os_str());
    let format = options.format.or(named.map(|_| Format::Bagit));
    let root = root(directory, format.unwrap_or(Format::Gnu));
    // Before the walk, which might see what is tried.
    let Some(lines) = Lines::of(console, Some(path)) else { return Ok(FAILED) };
    thread::scope(|scope| {
        let walked = walk(scope, root, path.canonicalize().ok());
        let Ok(before) = before(console, directory, path, options, format) else { return Ok(FAILED) };
        let index = before.as_ref().map(|(index, _)| index);
        let listed = match &before {
            Some((index, kept)) if index.len() == 0 => &kept.functions[..],
            Some((index, _)) => &index.functions,
            None => &[],
        };
        let default = [named.unwrap_or(HashFunction::Lanes(Algorithm::Sha256))];
        let functions = match (&options.algorithm[..], listed) {
            ([], []) => &default[..],
            ([], listed) => listed,
            (chosen, _) => chosen,
        };
        let name = Some(path.as_os_str());
        let there = before.as_ref().map(|(_, kept)| kept);
        // Bare digits stay bare only where they are told from those of other functions.
        let usual = |there: Format| if there == Format::Gnu { Format::usual(functions, name) } else { there };
        let format = format.unwrap_or_else(|| usual(there.map_or(Format::Gnu, |there| there.format)));
        let comments = there.map(|there| there.comments.clone()).unwrap_or_default();
        let keeps = format.has_comments() || there.is_some_and(|there| there.format == format);
        if !keeps && !comments.is_empty() {
            console.about(name::bytes(path.as_os_str()), "comments dropped, because this format has none");
        }
        let comments = if keeps { comments } else { Vec::new() };
        let manifest = Manifest { directory, functions, format, options, path: Some(path), comments };
        // Both of what is done with each file and of what is done in the end.
        let update = Mutex::new(Update {
            index,
            functions,
            seen: vec![false; index.map_or(0, Index::len)],
            unlisted: Unlisted::default(),
            findings: Findings::new(false),
        });
        let lock = || update.lock().unwrap_or_else(PoisonError::into_inner);
        let done = |console: &mut Console, name: &[u8], outcome: FileDigests<'_>| lock().file(console, name, outcome);
        let rest = |console: &mut Console| lock().rest(console, directory, path, *force);
        let well = manifest.make(console, walked, lines, done, rest)?;
        let summary = lock().findings.summary();
        console.message(summary);
        Ok(if well { 0 } else { FAILED })
    })
}

/// That nothing can be done, which was said.
struct Said;

/// What the manifest says that is there, if one is, and what else is kept of it.
fn before(
    console: &mut Console,
    directory: &Path,
    path: &Path,
    options: &Options,
    format: Option<Format>,
) -> Result<Option<(Index, Kept)>, Said> {
    if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let only = if let [function] = options.algorithm[..] { Some(function) } else { None };
    let mut index = Index::read(console, path.as_os_str(), only).ok_or(Said)?;
    if index.improper > 0 {
        console.about(name::bytes(path.as_os_str()), "lines that cannot be read would be lost; left unchanged");
        return Err(Said);
    }
    // Those of a bag are below it anyway.
    if format != Some(Format::Bagit) {
        index.relate(directory);
    }
    let is_listed = |function: &HashFunction| index.functions.contains(function);
    if !options.algorithm.is_empty() && index.len() > 0 && !options.algorithm.iter().any(is_listed) {
        let names = index.functions.iter().map(HashFunction::to_string).collect::<Vec<_>>().join(", ");
        console.about(name::bytes(path.as_os_str()), &format!("has digests of {names}; use create for others"));
        return Err(Said);
    }
    if guess::is_refuted(console, path.as_os_str(), directory, &index, options.reading) {
        return Err(Said);
    }
    let kept = Kept::of(path).map_err(|error| {
        console.file_error(name::bytes(path.as_os_str()), &error);
        Said
    })?;
    Ok(Some((index, kept)))
}

struct Update<'a> {
    index: Option<&'a Index>,
    functions: &'a [HashFunction],
    /// Of each entry, whether the tree has its file.
    seen: Vec<bool>,
    unlisted: Unlisted,
    findings: Findings,
}

impl Update<'_> {
    /// Says what became of a file; the entry that it had, if it cannot be read.
    fn file(&mut self, console: &mut Console, name: &[u8], outcome: FileDigests<'_>) -> io::Result<Option<Entry>> {
        let entry = self.index.and_then(|index| Some((index, index.find(name)?)));
        if let Some((_, i)) = entry {
            self.seen[i] = true;
        }
        match (outcome, entry) {
            (Err(_), entry) => {
                self.findings.count(Status::Unreadable);
                return Ok(entry.map(|(index, i)| index.entry(i)));
            }
            (Ok(digests), Some((index, i))) if index.is_as_listed(i, self.functions, digests) => {
                self.findings.as_listed += 1;
            }
            (Ok(_), Some(_)) => self.findings.say(console, name, Status::Changed, None)?,
            (Ok(digests), None) if self.index.is_some() => self.unlisted.push(name, self.with_functions(digests)),
            // In a manifest that was not there all are.
            (Ok(_), None) => self.findings.count(Status::New),
        }
        Ok(None)
    }

    fn with_functions(&self, digests: &[Digest]) -> impl Iterator<Item = (HashFunction, Digest)> + use<> {
        self.functions.iter().copied().zip(digests.to_vec()).collect::<Vec<_>>().into_iter()
    }

    /// Says what became of the files that are listed and not in the tree; the entries of those of which that is not known.
    /// None if too little fits for it to be right, which is said.
    fn rest(
        &mut self,
        console: &mut Console,
        directory: &Path,
        path: &Path,
        force: bool,
    ) -> io::Result<Option<Vec<Entry>>> {
        let Some(index) = self.index else { return Ok(Some(Vec::new())) };
        let mut entries = Vec::new();
        let mut missing = Vec::new();
        for i in (0..index.len()).filter(|i| !self.seen[*i]) {
            match look(directory, index.name(i)) {
                Err(error) if !is_absence(&error) => {
                    console.file_error(&shown(directory, index.name(i)), &error);
                    self.findings.count(Status::Unreadable);
                    entries.push(index.entry(i));
                    continue;
                }
                Ok(there) if !there.is_file() => say_no_file(console, directory, index.name(i)),
                _ => {}
            }
            missing.push((index.name(i), index.digests(i).collect()));
        }
        std::mem::take(&mut self.unlisted).say(console, &mut self.findings, missing.into_iter())?;
        let (missing, listed) = (self.findings.of(Status::Missing), index.len());
        let is_much = missing > 0 && missing == listed || missing >= FEW && missing >= listed.div_ceil(2);
        let refusal = if is_much && !force {
            let directory = directory.display();
            Some(format!(
                "{missing} of {} are missing in {directory}; left unchanged: check that {directory} is the right \
                 directory and fully mounted, or use --force",
                count(listed, "listed file")
            ))
        } else {
            // Where no file is left, no digest of the wrong function would be written.
            let is_written = self.findings.of(Status::Changed) + self.findings.of(Status::New) > 0;
            let doubt = guess::doubt(index).filter(|_| is_written && self.findings.nothing_fits());
            doubt.map(|doubt| format!("{doubt}; left unchanged"))
        };
        if let Some(refusal) = refusal {
            console.about(name::bytes(path.as_os_str()), &refusal);
            return Ok(None);
        }
        Ok(Some(entries))
    }
}

/// Says that there is something else in the place of a file.
pub(super) fn say_no_file(console: &mut Console, directory: &Path, name: &[u8]) {
    console.about(&shown(directory, name), "not a regular file");
}

/// What the system says of a file below a directory.
pub(super) fn look(directory: &Path, name: &[u8]) -> io::Result<std::fs::Metadata> {
    directory.join(name::from_bytes(name.to_vec())?).symlink_metadata()
}

/// Whether an error says that there is no such file.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
