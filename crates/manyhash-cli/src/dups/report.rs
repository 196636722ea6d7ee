//! Groups of duplicates as text and as JSON.

use super::find::Group;
use super::scan::Candidate;
use indicatif::DecimalBytes;
use manysum::figures::count;
use manysum::lists::json::Name;
use manysum::{escape, name};
use serde::Serialize;
use std::io;
use std::path::Path;

/// A group as `fdupes --size` has it. A name that does not fit in a line is escaped, as in lists of checksums, unless NUL
/// ends the lines.
///
/// Further names of the first file are left out: it stays with all of them.
pub(super) fn text(group: &Group, is_first: bool, zero: bool) -> Vec<u8> {
    let end = if zero { 0 } else { b'\n' };
    let mut text = Vec::new();
    if !is_first {
        text.push(end);
    }
    let unit = if group.size == 1 { "byte" } else { "bytes" };
    text.extend(format!("{} {unit} each:", group.size).into_bytes());
    text.push(end);
    for path in [&group.files[0].path].into_iter().chain(group.duplicate_names()) {
        let name = bytes(path);
        if zero {
            text.extend_from_slice(name);
        } else {
            escape::begin(name, &mut text);
        }
        text.push(end);
    }
    text
}

/// A file in an object.
#[derive(Serialize)]
struct File<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    /// Its further names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Name<'a>>,
}

impl<'a> File<'a> {
    fn of(file: &'a Candidate) -> Self {
        let links = file.links.iter().map(|link| Name::of(bytes(link)));
        File { name: Name::of(bytes(&file.path)), links: links.collect() }
    }
}

/// A group as an object on a line.
///
/// # Errors
/// None that names or numbers could cause.
pub(super) fn json(group: &Group) -> io::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Object<'a> {
        size: u64,
        wasted: u64,
        algorithm: String,
        digest: String,
        files: Vec<File<'a>>,
    }
    let object = Object {
        size: group.size,
        wasted: group.wasted(),
        algorithm: group.function.to_string(),
        digest: group.digest.to_hex(),
        files: group.files.iter().map(File::of).collect(),
    };
    let mut line = serde_json::to_vec(&object)?;
    line.push(b'\n');
    Ok(line)
}

fn bytes(path: &Path) -> &[u8] {
    name::bytes(path.as_os_str())
}

/// How much there is.
pub(super) fn summary(groups: &[Group]) -> String {
    if groups.is_empty() {
        return "no duplicates".to_owned();
    }
    let duplicates: usize = groups.iter().map(|group| group.duplicates().len()).sum();
    let wasted: u64 = groups.iter().map(Group::wasted).sum();
    let (files, groups) = (count(duplicates, "duplicate"), count(groups.len(), "group"));
    format!("{files} in {groups}, {} wasted", DecimalBytes(wasted))
}
