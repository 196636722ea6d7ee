//! `manyhash manifest verify`: a tree held against a manifest.

use super::findings::{Findings, Status, Unlisted};
use super::index::Index;
use super::scan::{LeftOver, Scan, walk};
use super::update::{is_absence, look, say_no_file};
use super::write::{prefix, root, shown};
use super::{FAILED, guess, is_directory};
use manyhash::HashFunction;
use manyhash::file::{Digested, Source};
use manysum::arguments::function_names;
use manysum::console::Console;
use manysum::lists::bagit;
use manysum::lists::write::Format;
use manysum::name;
use manysum::progress::Progress;
use manysum::reading::Reading;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;

/// Read all files in DIR, and print how they differ from a manifest.
///
/// Print a line for each file that is not as listed: `NAME: changed`, `NAME: missing`, `NAME: moved from OLD`, `NAME:
/// new` or `NAME: unreadable`. A file counts as moved if it is not listed and has the content of a missing one. Names
/// with a newline, a carriage return or a backslash are escaped, and their lines begin with a backslash. All formats
/// are read that manysum --check reads. Absolute names below DIR, such as those of hashdeep, are taken as names below
/// DIR. The digest cache is not used.
///
/// If neither the lines of a manifest nor its name show the algorithm, it is taken to be md5, sha1 or sha2. If files
/// show that it is another one, verify reports it and stops.
///
/// The exit status is 0 if all files are as listed and there are no others. Otherwise it is the sum of what was found:
/// 1 something could not be read, 2 changed, 4 missing, 8 moved, 16 new.
#[derive(clap::Args)]
pub(super) struct VerifyArguments {
    /// Directory of the files; for a bag, the one that contains `data`
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Manifest to verify; - is standard input
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,

    #[arg(short, long, value_name = "ALGORITHM", help = algorithm_help())]
    algorithm: Option<HashFunction>,

    #[command(flatten)]
    reading: Reading,

    /// Print a JSON object for each file, one per line, with its name, its status and, if it was moved, its old name
    #[arg(long)]
    json: bool,
}

/// The help of the option that says whose digests a manifest has.
pub(super) fn algorithm_help() -> String {
    format!("Algorithm to compare, if the manifest does not name it or has several: {}", function_names())
}

/// Runs it; the exit status.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &VerifyArguments) -> io::Result<u8> {
    let VerifyArguments { directory, manifest, algorithm, reading, json } = arguments;
    if !is_directory(console, directory) {
        return Ok(FAILED);
    }
    let is_bag = bagit::function(manifest.as_os_str()).is_some();
    let format = if is_bag { Format::Bagit } else { Format::Gnu };
    let root = root(directory, format);
    thread::scope(|scope| {
        let walked = walk(scope, root.clone(), manifest.canonicalize().ok());
        let Some(mut index) = Index::read(console, manifest.as_os_str(), *algorithm) else { return Ok(FAILED) };
        if !is_bag {
            index.relate(directory);
        }
        if guess::is_refuted(console, manifest.as_os_str(), directory, &index, *reading) {
            return Ok(FAILED);
        }
        let mut verification = Verification {
            directory,
            index: &index,
            seen: vec![false; index.len()],
            unlisted: Unlisted::default(),
            findings: Findings::new(*json),
        };
        let (functions, left_over) = (&index.functions[..], LeftOver::default());
        let scan = Scan { root: &root, prefix: prefix(format), functions, cache: None, recheck: 0.0, left_over };
        let progress = Progress::new(reading.progress);
        console.share_with(progress.bar());
        scan.files(walked, |files| {
            let files = files.map(|(found, source)| (found.name, source));
            verification.read(console, reading, &progress, files)
        })?;
        // Those that a walk does not come to, as behind a symbolic link to a directory.
        let others = verification.listed_elsewhere(console)?;
        verification.read(console, reading, &progress, others.into_iter())?;
        drop(progress);
        scan.left_over.say(console);
        let findings = verification.conclude(console)?;
        console.flush()?;
        if let Some(doubt) = guess::doubt(&index).filter(|_| findings.nothing_fits()) {
            console.about(name::bytes(manifest.as_os_str()), &doubt);
        }
        console.message(findings.summary());
        Ok(findings.status() | if index.improper > 0 { FAILED } else { 0 })
    })
}

struct Verification<'a> {
    directory: &'a Path,
    index: &'a Index,
    /// Of each entry, whether something is known of its file.
    seen: Vec<bool>,
    unlisted: Unlisted,
    findings: Findings,
}

impl Verification<'_> {
    /// Reads files, and says which are not as listed.
    fn read(
        &mut self,
        console: &mut Console,
        reading: &Reading,
        progress: &Progress,
        files: impl Iterator<Item = (Vec<u8>, Source)> + Send,
    ) -> io::Result<()> {
        let mut written = Ok(());
        let files = files.inspect(|(name, _)| progress.begin(name));
        progress.count(reading.files(&self.index.functions)).digest(files, |name, digested| {
            progress.done();
            written = self.file(console, &name, digested);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written
    }

    fn file(&mut self, console: &mut Console, name: &[u8], digested: io::Result<Digested>) -> io::Result<()> {
        let entry = self.index.find(name);
        if let Some(i) = entry {
            self.seen[i] = true;
        }
        let functions = &self.index.functions;
        match (digested, entry) {
            (Err(error), _) => self.unreadable(console, name, &error),
            (Ok(file), Some(i)) if self.index.is_as_listed(i, functions, &file.digests) => {
                self.findings.as_listed += 1;
                Ok(())
            }
            (Ok(_), Some(_)) => self.findings.say(console, name, Status::Changed, None),
            (Ok(file), None) => {
                self.unlisted.push(name, functions.iter().copied().zip(file.digests));
                Ok(())
            }
        }
    }

    fn unreadable(&mut self, console: &mut Console, name: &[u8], error: &io::Error) -> io::Result<()> {
        console.file_error(&shown(self.directory, name), error);
        self.findings.say(console, name, Status::Unreadable, None)
    }

    /// The files that are listed and there, and were not read; says which of the others there are.
    fn listed_elsewhere(&mut self, console: &mut Console) -> io::Result<Vec<(Vec<u8>, Source)>> {
        let mut files = Vec::new();
        for i in 0..self.index.len() {
            if self.seen[i] {
                continue;
            }
            let name = self.index.name(i);
            match look(self.directory, name) {
                Ok(there) if there.is_file() => {
                    let path = self.directory.join(name::from_bytes(name.to_vec())?);
                    files.push((name.to_vec(), Source::Path(path)));
                }
                // The file is missing, as an update has it.
                Ok(_) => say_no_file(console, self.directory, name),
                Err(error) if is_absence(&error) => {}
                Err(error) => {
                    self.seen[i] = true;
                    self.unreadable(console, name, &error)?;
                }
            }
        }
        Ok(files)
    }

    /// Says which files were moved, are new or missing.
    fn conclude(self, console: &mut Console) -> io::Result<Findings> {
        let Verification { index, seen, unlisted, mut findings, .. } = self;
        let missing = (0..index.len()).filter(|i| !seen[*i]);
        let missing = missing.map(|i| (index.name(i), index.digests(i).collect()));
        unlisted.say(console, &mut findings, missing)?;
        Ok(findings)
    }
}
