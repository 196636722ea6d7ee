//! What a bag says of its payload and its manifests beside the manifest itself: RFC 8493, sections 2.2.1 and 2.2.2.
//!
//! `bag-info.txt` may have the bytes and files of the payload, `Payload-Oxum: BYTES.FILES`, and `tagmanifest-*.txt` the
//! digests of all these files. Of a manifest that was written they are made right again.

use manyhash::file::{Files, Source};
use manyhash::{Digest, HashFunction};
use manysum::console::Console;
use manysum::lists::bagit;
use manysum::name;
use manysum::whole_file::WholeFile;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

const INFO: &str = "bag-info.txt";

/// The label in `bag-info.txt`, which may be in any case.
const OXUM: &[u8] = b"Payload-Oxum:";

/// Bytes and files of a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Payload {
    pub(super) bytes: u64,
    pub(super) files: u64,
}

/// Makes right what a bag says beside its manifest, which has just been written if `is_new`; whether that went well.
/// Without the payload's size it is said that it may not be right any more.
pub(super) fn refresh(
    console: &mut Console,
    directory: &Path,
    manifest: &Path,
    payload: Option<Payload>,
    is_new: bool,
) -> bool {
    let parent = manifest.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(file_name), true) = (manifest.file_name(), is_same_directory(parent, directory)) else { return true };
    let mut well = true;
    let mut done = |console: &mut Console, name: &OsStr, done: io::Result<()>| {
        if let Err(error) = done {
            console.file_error(name::bytes(directory.join(name).as_os_str()), &error);
            well = false;
        }
    };
    let info = info(console, directory, payload);
    done(console, INFO.as_ref(), info);
    let names = match manifests(directory) {
        Ok(names) => names,
        Err(error) => {
            console.file_error(name::bytes(directory.as_os_str()), &error);
            return false;
        }
    };
    for (name, function) in names {
        if name::bytes(&name).starts_with(b"tag") {
            done(console, &name, tags(directory, &name, function, &[file_name, INFO.as_ref()]));
        } else if is_new && name != file_name {
            let path = directory.join(&name);
            console.about(name::bytes(path.as_os_str()), "lists the payload too; left unchanged");
        }
    }
    well
}

fn is_same_directory(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// The manifests in a directory, in their order, and whose digests they have.
fn manifests(directory: &Path) -> io::Result<Vec<(OsString, HashFunction)>> {
    let names = fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    let mut manifests: Vec<_> =
        names.into_iter().filter_map(|name| bagit::function(&name).map(|function| (name, function))).collect();
    manifests.sort_unstable();
    Ok(manifests)
}

/// Makes the size of the payload right, if `bag-info.txt` has it.
fn info(console: &mut Console, directory: &Path, payload: Option<Payload>) -> io::Result<()> {
    let path = directory.join(INFO);
    let is_oxum = |line: &[u8]| line.get(..OXUM.len()).is_some_and(|label| label.eq_ignore_ascii_case(OXUM));
    let text = match fs::read(&path) {
        Ok(text) if text.split(|byte| *byte == b'\n').any(is_oxum) => text,
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let Some(Payload { bytes, files }) = payload else {
        console.about(name::bytes(path.as_os_str()), "Payload-Oxum may be out of date");
        return Ok(());
    };
    replace(&path, &text, |line| {
        let end = if line.ends_with(b"\r\n") { "\r\n" } else { "\n" };
        is_oxum(line).then(|| [&line[..OXUM.len()], format!(" {bytes}.{files}{end}").as_bytes()].concat())
    })
}

/// Makes the digests of these files right in a tag manifest, where it has them.
fn tags(directory: &Path, manifest: &OsStr, function: HashFunction, names: &[&OsStr]) -> io::Result<()> {
    let path = directory.join(manifest);
    let text = fs::read(&path)?;
    let listed = |line: &[u8]| {
        let entry = bagit::entry(function, line.trim_ascii_end(), |_| true)?;
        names.iter().copied().find(|name| name::bytes(name) == entry.name)
    };
    let mut digests = Vec::new();
    for name in names.iter().copied() {
        if text.split(|byte| *byte == b'\n').any(|line| listed(line) == Some(name)) {
            digests.push((name, digest(&directory.join(name), function)?));
        }
    }
    replace(&path, &text, |line| {
        let (_, digest) = digests.iter().find(|(name, _)| listed(line) == Some(*name))?;
        Some([digest.to_hex().as_bytes(), &line[2 * function.digest_bytes()..]].concat())
    })
}

/// Writes a file with other lines in place of some, unless all stay as they are.
fn replace(path: &Path, text: &[u8], other: impl Fn(&[u8]) -> Option<Vec<u8>>) -> io::Result<()> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let replaced = lines.map(|line| other(line).unwrap_or_else(|| line.to_vec())).collect::<Vec<_>>().concat();
    if replaced == text {
        return Ok(());
    }
    WholeFile::check(path)?.write(&replaced[..])
}

fn digest(path: &Path, function: HashFunction) -> io::Result<Digest> {
    let mut digest = Err(io::ErrorKind::NotFound.into());
    let functions = [function];
    Files::new(&functions).digest([((), Source::Path(path.to_owned()))].into_iter(), |(), digested| {
        digest = digested.map(|digested| digested.digests[0]);
        ControlFlow::Break(())
    });
    digest
}
