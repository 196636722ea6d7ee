//! `manyhash known build`: from lists to a set.

use super::digests::{Digests, digests};
use super::layout::LINE;
use super::pages::Writer;
use super::record::{Reader, Record};
use indicatif::DecimalBytes;
use manyhash::HashFunction;
use manysum::console::{Console, reason};
use manysum::figures::count;
use manysum::quote::quote;
use manysum::whole_file::WholeFile;
use manysum::{name, standard};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

/// Bytes of a line that are looked at: more than there is in one that can be read, unless it has a longer name.
const LONGEST: u64 = 1 << 16;

/// Build a set of known digests from lists.
///
/// A LIST holds one digest in hexadecimal per line, with anything after it. It may also hold lines of md5sum,
/// sha256sum, BSD's tools, hashdeep or md5deep, or comma-separated columns below a line with their names, as in
/// NSRLFile.txt of the NSRL. When LIST is -, read standard input.
///
/// The set is written whole or not at all. The exit status is 0 if it was written, else 1.
#[derive(clap::Args)]
pub(super) struct BuildSetArguments {
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<OsString>,

    /// Write the set to SET, replacing what was there
    #[arg(short, long, value_name = "SET")]
    output: PathBuf,

    /// Take the digests of this algorithm [default: that of the first digest, by its tag, by the name of its column or
    /// list (x.blake3, B3SUMS), or by its length, with a message; a digest of another algorithm is then an error]
    #[arg(short, long)]
    algorithm: Option<HashFunction>,

    /// Fail on lines that cannot be read
    #[arg(long)]
    strict: bool,

    /// Warn about each line that cannot be read
    #[arg(short, long)]
    warn: bool,
}

/// Runs it; whether there is a set now.
///
/// # Errors
/// None: nothing goes to standard output.
pub(super) fn run(console: &mut Console, arguments: &BuildSetArguments) -> io::Result<bool> {
    let about_output = |console: &mut Console, error| {
        console.file_error(name::bytes(arguments.output.as_os_str()), &error);
        Ok(false)
    };
    let file = match WholeFile::check(&arguments.output) {
        Ok(file) => file,
        Err(error) => return about_output(console, error),
    };
    let mut gathered = Gathered { reader: Reader::new(arguments.algorithm), digests: None, taken: 0, unreadable: 0 };
    for list in &arguments.lists {
        let shown = if list == "-" { OsStr::new("standard input") } else { list };
        if let Err(error) = gathered.gather(console, arguments, list, shown) {
            console.message([&*quote(name::bytes(shown)), b": ", error.as_bytes()].concat());
            return Ok(false);
        }
    }
    let Gathered { reader, digests, taken, unreadable } = gathered;
    if unreadable > 0 {
        let (lines, verb) = (count(unreadable, "line"), if unreadable == 1 { "has" } else { "have" });
        console.message(format!("WARNING: {lines} {verb} no digest{}", of(reader.function())));
        if arguments.strict {
            console.message("nothing was written, because of --strict");
            return Ok(false);
        }
    }
    let (Some(function), Some(mut digests)) = (reader.function(), digests) else {
        console.message(format!("no digest{} found; nothing was written", of(reader.function())));
        return Ok(false);
    };
    let sorted = digests.sorted();
    if let Err(error) = file.write(Writer::new(function, sorted)) {
        return about_output(console, error);
    }
    let again = taken - sorted.len();
    let again = if again > 0 { format!(", {again} of them repeated") } else { String::new() };
    let bytes = file.path().metadata().map_or(0, |metadata| metadata.len());
    let digests = count(sorted.len(), "digest");
    console.message(format!("{digests} of {function}{again}; {} written", DecimalBytes(bytes)));
    if reader.is_guess() {
        let digits = 2 * function.digest_bytes();
        console.message(format!(
            "no list names its algorithm; took digests of {digits} digits to be {function}; name another with --algorithm"
        ));
    }
    Ok(true)
}

fn of(function: Option<HashFunction>) -> String {
    function.map_or(String::new(), |function| format!(" of {function}"))
}

/// What the lists have.
struct Gathered {
    reader: Reader,
    /// A place for digests, as soon as it is known what they are of.
    digests: Option<Box<dyn Digests>>,
    /// Lines with a digest.
    taken: usize,
    /// Lines that cannot be read.
    unreadable: usize,
}

impl Gathered {
    /// Takes the digests of a list. An error is said after the name of the list.
    fn gather(
        &mut self,
        console: &mut Console,
        arguments: &BuildSetArguments,
        list: &OsStr,
        shown: &OsStr,
    ) -> Result<(), String> {
        let mut reader = open(list).map_err(|error| reason(&error))?;
        self.reader.begin(list);
        let mut line = Vec::new();
        for number in 1u64.. {
            if !next(&mut reader, &mut line).map_err(|error| reason(&error))? {
                break;
            }
            // The mark that Windows begins files with.
            let text = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
            match self.reader.read(text) {
                Record::Digest(digits) => self.take(digits),
                Record::Nothing => {}
                Record::Foreign(function) if arguments.algorithm.is_none() => {
                    let known = of(self.reader.function());
                    let what = "choose one with --algorithm";
                    return Err(format!("{number}: a digest of {function} among those{known}; {what}"));
                }
                Record::Foreign(_) | Record::Unreadable => {
                    self.unreadable += 1;
                    if arguments.warn {
                        let what = format!(": {number}: no digest{}", of(self.reader.function()));
                        console.message([&*quote(name::bytes(shown)), what.as_bytes()].concat());
                    }
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, digits: &[u8]) {
        let mut digest = [0; LINE];
        let digest = &mut digest[..digits.len() / 2];
        // They are digits, and an even number of them.
        if const_hex::decode_to_slice(digits, digest).is_ok() {
            self.digests.get_or_insert_with(|| digests(digest.len())).push(digest);
            self.taken += 1;
        }
    }
}

fn open(list: &OsStr) -> io::Result<BufReader<Box<dyn Read + Send>>> {
    let reader = if list == "-" { standard::input()? } else { Box::new(File::open(list)?) };
    Ok(BufReader::with_capacity(1 << 18, reader))
}

/// The next line, or as much of it as is looked at; whether there was one.
fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = reader.by_ref().take(LONGEST).read_until(b'\n', line)?;
    if read as u64 == LONGEST && line.last() != Some(&b'\n') {
        reader.skip_until(b'\n')?;
    }
    Ok(read > 0)
}
