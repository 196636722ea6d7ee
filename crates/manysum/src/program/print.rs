//! Prints checksums.

use super::settings::{Encoding, Format, Settings};
use crate::cache::{Cache, Lookups};
use crate::console::{Console, reason};
use crate::lists::cksum::is_legacy;
use crate::lists::json;
use crate::lists::line::tag;
use crate::lists::style::Style;
use crate::progress::{Progress, total};
use crate::tree::names::{FilesFrom, Listed, Names};
use crate::{name, tree};
use manyhash::{Digest, HashFunction};
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// Prints a line for each file and function; whether all could be read. If the files were not `named`, as standard input
/// where no other was, lines that can do without a name have none.
///
/// # Errors
/// If a line cannot be written.
pub(super) fn print(console: &mut Console, settings: Settings, format: Format, named: bool) -> io::Result<bool> {
    let Settings { functions, reading, cache, files, files_from, json, walk, .. } = settings;
    // Before any file is looked at. The sums of old are printed with sizes, which it has not.
    let cache = if functions.iter().copied().any(is_legacy) { Ok(None) } else { cache.open() };
    let cache = match cache {
        Ok(cache) => cache,
        Err(error) => {
            console.message(error.to_string());
            return Ok(false);
        }
    };
    let progress = Progress::new(reading.progress);
    console.share_with(progress.bar());
    // What is no regular file would be read here, and then not there.
    if progress.is_shown() && files_from.as_ref().is_none_or(|list| Path::new(&list.name).is_file()) {
        let (names, walk) = (names(files_from.clone(), files.clone()), walk.clone());
        progress.find_total(|| total(tree::files(names, walk).map(|(_, source)| source)));
    }
    let files = tree::files(names(files_from, files), walk).inspect(|(name, _)| progress.begin(name::bytes(name)));
    let mut lookups = cache.as_ref().map(|cache| Lookups::new(cache, &functions));
    let files = files.map(move |(name, source)| match &mut lookups {
        Some(lookups) => (name, lookups.source(source)),
        None => (name, source),
    });
    let mut all_read = true;
    let mut written = Ok(());
    progress.count(reading.files(&functions)).digest(files, |name, digested| {
        progress.done();
        if let (Some(cache), Ok(digested)) = (&cache, &digested) {
            cache.store(&functions, Path::new(&name), digested);
        }
        let name = name::bytes(&name);
        let digested = digested.map_err(|error| reason(&error));
        if let Err(error) = &digested {
            all_read = false;
            console.about(name, error);
        }
        written = functions.iter().enumerate().try_for_each(|(i, function)| match &digested {
            Ok(file) if json => console.line(&json::line(name, *function, None, Ok(&file.digests[i]))?),
            Ok(file) if format.encoding == Encoding::Raw => console.line(file.digests[i].as_bytes()),
            Ok(file) if format.encoding == Encoding::Decimal || is_legacy(*function) && !format.tag => {
                console.line(&legacy_line(named.then_some(name), *function, &file.digests[i], file.bytes, format))
            }
            Ok(file) => console.line(&line(name, *function, &file.digests[i], format)),
            Err(error) if json => console.line(&json::line(name, *function, None, Err(error))?),
            Err(_) => Ok(()),
        });
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if let Some(Err(error)) = cache.map(Cache::finish) {
        console.message(error.to_string());
    }
    written.map(|()| all_read)
}

/// The names that arguments give.
fn names(files_from: Option<FilesFrom>, files: Vec<OsString>) -> Names {
    match files_from {
        Some(list) => Names::Listed(Listed::new(list)),
        None => Names::Arguments(files.into_iter()),
    }
}

/// A line as coreutils prints it.
fn line(name: &[u8], function: HashFunction, digest: &Digest, format: Format) -> Vec<u8> {
    let digest = match format.encoding {
        Encoding::Base64 => digest.to_base64(),
        Encoding::Hex | Encoding::Decimal | Encoding::Raw => digest.to_hex(),
    };
    let tag = format.tag.then(|| tag(function));
    Style { tag: tag.as_deref(), binary: format.binary, zero: format.zero }.line(name, &digest)
}

/// A line of one of the sums of old, as `cksum` and `sum` print it: the sum, how long the file is, and its name as it is.
fn legacy_line(name: Option<&[u8]>, function: HashFunction, digest: &Digest, bytes: u64, format: Format) -> Vec<u8> {
    let sum = digest.as_bytes().iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
    let sum_and_length = match function {
        HashFunction::Bsd => format!("{sum:05} {:5}", bytes.div_ceil(1024)),
        HashFunction::Sysv => format!("{sum} {}", bytes.div_ceil(512)),
        _ => format!("{sum} {bytes}"),
    };
    let mut line = sum_and_length.into_bytes();
    if let Some(name) = name {
        line.push(b' ');
        line.extend_from_slice(name);
    }
    line.push(if format.zero { 0 } else { b'\n' });
    line
}
