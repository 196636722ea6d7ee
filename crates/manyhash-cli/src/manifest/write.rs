//! The lines of a manifest, from the files of a tree.

use super::bag::{self, Payload};
use super::scan::{Found, LeftOver, Scan, Walking};
use manyhash::file::Digested;
use manyhash::{Digest, HashFunction};
use manysum::arguments::function_names;
use manysum::cache::{Cache, CacheOptions, Stamp};
use manysum::console::Console;
use manysum::lists::Entry;
use manysum::lists::bagit;
use manysum::lists::write::{Format, Writer};
use manysum::name;
use manysum::progress::Progress;
use manysum::reading::Reading;
use manysum::whole_file::WholeFile;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What a manifest should have, and how files are read for it.
#[derive(clap::Args)]
pub(super) struct Options {
    #[arg(short, long, value_name = "ALGORITHM", value_delimiter = ',', help = algorithm_help())]
    pub(super) algorithm: Vec<HashFunction>,

    /// Write this format [default: that of the existing manifest; else gnu for a single algorithm that the number of
    /// digits or the name of the manifest (m.blake3, B3SUMS) shows; else bsd]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<Format>,

    #[command(flatten)]
    pub(super) reading: Reading,

    #[command(flatten)]
    cache: CacheOptions,

    /// Hash this fraction of the cached files anyway, chosen at random (1 is all), and report those whose content has
    /// changed though their times have not
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, value_parser = fraction, conflicts_with = "no_cache")]
    recheck: f64,
}

fn algorithm_help() -> String {
    format!(
        "Hash algorithms, separated by commas [default: those of the existing manifest, else sha256]: {}",
        function_names()
    )
}

fn fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// A manifest that is made.
pub(super) struct Manifest<'a> {
    pub(super) directory: &'a Path,
    pub(super) functions: &'a [HashFunction],
    pub(super) format: Format,
    pub(super) options: &'a Options,
    /// Where it goes; standard output if nowhere else.
    pub(super) path: Option<&'a Path>,
    /// Lines that it begins with.
    pub(super) comments: Vec<Vec<u8>>,
}

/// What was written.
struct Written {
    /// Whether the format had a place for all.
    well: bool,
    files: u64,
    /// Unless a size is not known.
    bytes: Option<u64>,
}

/// What became of a file of the tree.
pub(super) type FileDigests<'a> = Result<&'a [Digest], io::Error>;

impl Manifest<'_> {
    /// Makes it of the files that a walk comes to; whether all went well. What became of each file goes to `done`, which
    /// may have an entry for one that could not be read, and after the last of them to `rest`, for entries of others: or
    /// for none, if what is there should stay.
    ///
    /// # Errors
    /// If standard output fails.
    pub(super) fn make(
        &self,
        console: &mut Console,
        walked: Walking<'_>,
        mut lines: Lines,
        mut done: impl FnMut(&mut Console, &[u8], FileDigests<'_>) -> io::Result<Option<Entry>> + Send,
        rest: impl FnOnce(&mut Console) -> io::Result<Option<Vec<Entry>>>,
    ) -> io::Result<bool> {
        let (writer, cache) = match self.open(console) {
            Ok(opened) => opened,
            Err(message) => {
                console.message(message);
                return Ok(false);
            }
        };
        let mut well = true;
        let scan = Scan {
            root: &root(self.directory, self.format),
            prefix: prefix(self.format),
            functions: self.functions,
            cache: cache.as_ref(),
            recheck: self.options.recheck,
            left_over: LeftOver::default(),
        };
        lines.write(console, &writer.header())?;
        for comment in &self.comments {
            lines.write(console, &[comment, &b"\n"[..]].concat())?;
        }
        let mut entries = Written { well: true, files: 0, bytes: Some(0) };
        let mut written: io::Result<()> = Ok(());
        let progress = Progress::new(self.options.reading.progress);
        console.share_with(progress.bar());
        let mut file = |console: &mut Console, found: Found, digested: io::Result<Digested>| -> io::Result<()> {
            let name = &found.name;
            let entry = match digested {
                Ok(digested) => {
                    let path = below(self.directory, name);
                    let (digests, is_sound) = sound(cache.as_ref(), self.functions, &path, &found, &digested);
                    if !is_sound {
                        well = false;
                        let what = "CONTENT CHANGED, TIMES DID NOT: the manifest keeps the old digest";
                        console.about(&self.shown(name), what);
                    }
                    done(console, name, Ok(&digests))?;
                    let size = Some(found.size.unwrap_or(digested.bytes));
                    let digests = self.functions.iter().copied().zip(digests).collect();
                    Some(Entry { name: name.clone(), size, digests })
                }
                Err(error) => {
                    well = false;
                    console.file_error(&self.shown(name), &error);
                    done(console, name, Err(error))?
                }
            };
            self.write(console, &mut lines, &writer, &mut entries, entry)
        };
        scan.files(walked, |files| {
            let files = files.inspect(|(found, _)| progress.begin(&found.name));
            let reading = self.options.reading.files(self.functions);
            progress.count(reading).digest(files, |found, digested| {
                progress.done();
                written = file(console, found, digested);
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
        });
        drop(progress);
        scan.left_over.say(console);
        // What was hashed is not lost, whatever becomes of the manifest.
        if let Some(Err(error)) = cache.map(Cache::finish) {
            console.message(error.to_string());
        }
        written?;
        let Some(rest) = rest(console)? else { return Ok(false) };
        for entry in rest {
            self.write(console, &mut lines, &writer, &mut entries, Some(entry))?;
        }
        if entries.files == 0 {
            lines.write(console, &writer.no_files()?)?;
        }
        well &= entries.well;
        let Some(is_new) = lines.finish(console)? else { return Ok(false) };
        if let (Format::Bagit, Some(path)) = (self.format, self.path) {
            let payload = entries.bytes.map(|bytes| Payload { bytes, files: entries.files });
            well &= bag::refresh(console, self.directory, path, payload, is_new);
        }
        Ok(well)
    }

    /// What is needed before anything is looked at; or what there is to say.
    fn open(&self, console: &mut Console) -> Result<(Writer, Option<Cache>), String> {
        let name = self.path.map(Path::as_os_str);
        let writer = Writer::new(self.format, self.functions.to_vec(), name).map_err(|error| error.to_string())?;
        if let (Format::Bagit, Some(path), [function]) = (self.format, self.path, self.functions)
            && bagit::function(path.as_os_str()) != Some(*function)
        {
            let name = bagit::manifest(*function);
            return Err(format!("{}: in a bag, this manifest must be named {name}", path.display()));
        }
        let cache = self.options.cache.open(console).map_err(|error| error.to_string())?;
        Ok((writer, cache))
    }

    /// Writes an entry, if there is one and the format has a place for it.
    fn write(
        &self,
        console: &mut Console,
        lines: &mut Lines,
        writer: &Writer,
        written: &mut Written,
        entry: Option<Entry>,
    ) -> io::Result<()> {
        let Some(entry) = entry else { return Ok(()) };
        match writer.lines(&entry) {
            Ok(text) => {
                written.files += 1;
                written.bytes = written.bytes.zip(entry.size).map(|(bytes, size)| bytes.saturating_add(size));
                lines.write(console, &text)
            }
            Err(error) => {
                written.well = false;
                console.about(&self.shown(&entry.name), &error.to_string());
                Ok(())
            }
        }
    }

    /// The name of a file in messages.
    fn shown(&self, name: &[u8]) -> Vec<u8> {
        shown(self.directory, name)
    }
}

/// The name in messages of a file below a directory.
pub(super) fn shown(directory: &Path, name: &[u8]) -> Vec<u8> {
    name::bytes(below(directory, name).as_os_str()).to_vec()
}

/// The path of a file below a directory.
fn below(directory: &Path, name: &[u8]) -> PathBuf {
    match name::from_bytes(name.to_vec()) {
        Ok(name) if !name.is_empty() => directory.join(name),
        _ => directory.to_owned(),
    }
}

/// The part of a directory that a manifest of this format is of.
pub(super) fn root(directory: &Path, format: Format) -> PathBuf {
    if format == Format::Bagit { directory.join(prefix(format)) } else { directory.to_owned() }
}

/// Where below its directory a manifest of this format has its files.
pub(super) fn prefix(format: Format) -> &'static str {
    // RFC 8493, section 2.1.2.
    if format == Format::Bagit { "data" } else { "" }
}

/// The digests that a file should be listed with, and whether they are those that were read: not if it was hashed again,
/// has other content than the cache says, and is as old as the cache says. What was read is remembered, if it is sound.
fn sound(
    cache: Option<&Cache>,
    functions: &[HashFunction],
    path: &Path,
    found: &Found,
    digested: &Digested,
) -> (Vec<Digest>, bool) {
    let digests = digested.digests.clone();
    if let Some((stamp, expected)) = found.expected.as_deref()
        && *expected != digests
        && digested.settled.as_ref().and_then(Stamp::of) == Some(*stamp)
    {
        return (expected.clone(), false);
    }
    if let Some(cache) = cache {
        cache.store(functions, path, digested);
    }
    (digests, true)
}

/// Where lines go.
pub(super) enum Lines {
    /// Standard output.
    Output,
    /// A file of no name, and in the end the manifest.
    File(WholeFile, BufWriter<File>, PathBuf),
}

impl Lines {
    /// To a manifest, or to standard output; none if the manifest cannot be written, which is said.
    pub(super) fn of(console: &mut Console, path: Option<&Path>) -> Option<Self> {
        let Some(path) = path else { return Some(Lines::Output) };
        // Not beside it meanwhile, where the tree may be.
        let opened = WholeFile::check(path).and_then(|whole| Ok((whole, tempfile::tempfile()?)));
        match opened {
            Ok((whole, lines)) => Some(Lines::File(whole, BufWriter::new(lines), path.to_owned())),
            Err(error) => {
                console.file_error(name::bytes(path.as_os_str()), &error);
                None
            }
        }
    }

    fn write(&mut self, console: &mut Console, line: &[u8]) -> io::Result<()> {
        match self {
            Lines::Output => console.line(line),
            Lines::File(_, lines, _) => lines.write_all(line),
        }
    }

    /// Puts them where they belong, unless just these are there, and says whether they were; nothing if that failed, which
    /// is said.
    fn finish(self, console: &mut Console) -> io::Result<Option<bool>> {
        let Lines::File(whole, lines, path) = self else { return Ok(Some(true)) };
        let replace = || {
            let mut lines = lines.into_inner().map_err(io::IntoInnerError::into_error)?;
            lines.rewind()?;
            if whole.replaces() && is_same(&lines, &path) {
                return Ok(false);
            }
            lines.rewind()?;
            whole.write(lines).map(|()| true)
        };
        let replaced: io::Result<bool> = replace();
        if let Err(error) = &replaced {
            console.file_error(name::bytes(path.as_os_str()), error);
        }
        Ok(replaced.ok())
    }
}

/// Whether a file has this content.
fn is_same(content: &File, path: &Path) -> bool {
    let Ok(there) = File::open(path) else { return false };
    let length = |file: &File| file.metadata().map(|metadata| metadata.len()).ok();
    if length(content) != length(&there) {
        return false;
    }
    let (mut content, mut there) = (content, there);
    let mut chunks = [vec![0; 1 << 16], vec![0; 1 << 16]];
    let [one, other] = &mut chunks;
    loop {
        match (content.read(one), there.read(other)) {
            (Ok(0), Ok(0)) => return true,
            // Files are read in whole chunks. If one is not, they may be the same, and are written again.
            (Ok(read), Ok(as_much)) if one[..read] == other[..as_much] => {}
            _ => return false,
        }
    }
}
