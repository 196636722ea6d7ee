//! Groups of duplicates as text and as JSON.

use super::find::Group;
use crate::{escape, name};
use indicatif::DecimalBytes;
use serde::Serialize;
use std::io;

/// A group as `fdupes --size` has it. A name that does not fit in a line is escaped, as in lists of checksums.
pub(super) fn text(group: &Group, is_first: bool) -> Vec<u8> {
    let mut text = Vec::new();
    if !is_first {
        text.push(b'\n');
    }
    let unit = if group.size == 1 { "byte" } else { "bytes" };
    text.extend(format!("{} {unit} each:\n", group.size).into_bytes());
    for file in &group.files {
        let name = name::bytes(file.as_os_str());
        if escape::is_needed(name) {
            text.push(b'\\');
            escape::escape(name, &mut text);
        } else {
            text.extend_from_slice(name);
        }
        text.push(b'\n');
    }
    text
}

/// A group as an object on a line.
///
/// # Errors
/// None that names or numbers could cause.
pub(super) fn json(group: &Group) -> io::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Object {
        size: u64,
        wasted: u64,
        algorithm: String,
        digest: String,
        files: Vec<Name>,
    }
    /// A name that is no Unicode is given by the hexadecimal digits of its bytes.
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Name {
        Text(String),
        Bytes { hex: String },
    }
    let name = |bytes: &[u8]| match str::from_utf8(bytes) {
        Ok(text) => Name::Text(text.to_owned()),
        Err(_) => Name::Bytes { hex: bytes.iter().map(|byte| format!("{byte:02x}")).collect() },
    };
    let object = Object {
        size: group.size,
        wasted: group.wasted(),
        algorithm: group.function.to_string(),
        digest: group.digest.to_hex(),
        files: group.files.iter().map(|file| name(name::bytes(file.as_os_str()))).collect(),
    };
    let mut line = serde_json::to_vec(&object)?;
    line.push(b'\n');
    Ok(line)
}

/// How much there is.
pub(super) fn summary(groups: &[Group]) -> String {
    if groups.is_empty() {
        return "no duplicates".to_owned();
    }
    let duplicates: usize = groups.iter().map(|group| group.files.len() - 1).sum();
    let wasted: u64 = groups.iter().map(Group::wasted).sum();
    let (files, groups) = (count(duplicates, "duplicate"), count(groups.len(), "group"));
    format!("{files} in {groups}, {} wasted", DecimalBytes(wasted))
}

/// A number of things.
pub(super) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
