//! The files of a command line, digested in their order, each read once.

use manyhash_s3_client::local::{Cut, Digested, Error, Files, Wanted, digest_reader};
use manysum::console::{Console, reason};
use manysum::{name, standard};
use std::ffi::{OsStr, OsString};
use std::io;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// What both tools take.
#[derive(clap::Args)]
pub(super) struct FileArguments {
    /// Files; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,

    /// Hash on at most N threads; 0 means one per core
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    threads: usize,

    /// Print a JSON object for each result, one per line
    #[arg(long)]
    pub(super) json: bool,
}

/// How files are uploaded: in parts of so many bytes, if that is said.
#[derive(Clone, Copy)]
pub(super) struct Upload {
    pub(super) part_size: Option<u64>,
}

impl Upload {
    /// The cut of a file of so many bytes.
    pub(super) fn cut(self, size: u64) -> Cut {
        Cut::of_upload(size, self.part_size.and_then(NonZeroU64::new))
    }

    /// The cuts that there can be. Without a size, those that it decides on in the end.
    pub(super) fn cuts(self, size: Option<u64>) -> Vec<Cut> {
        match size {
            Some(size) => vec![self.cut(size)],
            None => [Some(Cut::Whole), Cut::every(self.part_size.unwrap_or(Cut::DEFAULT_PART_BYTES))]
                .into_iter()
                .flatten()
                .collect(),
        }
    }
}

impl FileArguments {
    pub(super) fn names(&self) -> &[OsString] {
        &self.files
    }

    pub(super) fn reading(&self) -> Files<'static> {
        Files::new().threads(NonZeroUsize::new(self.threads))
    }

    /// Digests all files, of each what is wanted of one of its size, if that is known beforehand, and prints the lines
    /// of each in its turn. There are none if the file has another size by then. Returns whether all went well.
    ///
    /// # Errors
    /// If standard output fails.
    pub(super) fn digest(
        &self,
        console: &mut Console,
        wanted: impl Fn(Option<u64>) -> Wanted + Sync,
        mut lines: impl FnMut(&OsStr, &Digested) -> io::Result<Option<Vec<u8>>> + Send,
    ) -> io::Result<bool> {
        let mut well = true;
        let mut print = |console: &mut Console, file: &OsStr, digested: Result<Digested, Error>| {
            let lines = match digested {
                Ok(digested) => lines(file, &digested)?.ok_or(Error::Changed),
                Err(error) => Err(error),
            };
            match lines {
                Ok(lines) => console.line(&lines),
                Err(error) => {
                    well = false;
                    say(console, file, &error);
                    Ok(())
                }
            }
        };
        let mut rest = &self.files[..];
        while let Some(first) = rest.first() {
            if first == "-" {
                let digested = standard::input().map_err(Error::from);
                print(console, first, digested.and_then(|input| digest_reader(input, &wanted(None))))?;
                rest = &rest[1..];
                continue;
            }
            let named = rest.iter().position(|file| file == "-").unwrap_or(rest.len());
            let items = rest[..named].iter().map(|file| {
                let path = PathBuf::from(file);
                // What cannot be looked at cannot be opened either, which is said then.
                let size = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
                (file, path, wanted(Some(size)))
            });
            let mut printed = Ok(());
            self.reading().digest(items, |file, digested| match print(console, file, digested) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    printed = Err(error);
                    ControlFlow::Break(())
                }
            });
            printed?;
            rest = &rest[named..];
        }
        Ok(well)
    }
}

/// Says why a file has no result.
pub(super) fn say(console: &mut Console, file: &OsStr, error: &Error) {
    let why = match error {
        Error::Read(error) => reason(error),
        error => error.to_string(),
    };
    console.about(name::bytes(file), &why);
}

/// The bytes in a part, if there are parts.
pub(super) fn part_size(cut: &Cut) -> Option<u64> {
    match cut {
        Cut::Every(bytes) => Some(bytes.get()),
        _ => None,
    }
}
