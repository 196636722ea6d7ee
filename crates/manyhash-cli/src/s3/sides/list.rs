//! Lists of digests: manifests, and the lists of all checksum tools.

use super::SideNameError;
use manyhash::HashFunction;
use manyhash_s3_client::verify::Entry;
use manysum::console::Console;
use manysum::figures::count;
use manysum::lists::read::{Line, List};
use manysum::lists::{self, Accepted, Parser};
use manysum::name;
use std::ffi::OsStr;
use std::path::Path;

/// Reads a list; names below `root` that are absolute are taken as names below it.
pub(super) fn read(
    console: &mut Console,
    list: &OsStr,
    algorithm: Option<HashFunction>,
    root: Option<&Path>,
) -> Result<Vec<Entry>, SideNameError> {
    let roots: Vec<Vec<u8>> = root
        .into_iter()
        .flat_map(|root| [root.canonicalize(), std::path::absolute(root)])
        .flatten()
        .map(|root| {
            [name::bytes(root.as_os_str()).strip_suffix(b"/").unwrap_or(name::bytes(root.as_os_str())), b"/"].concat()
        })
        .collect();
    let mut parser = Parser::new(algorithm.map_or(Accepted::Any, Accepted::Only));
    let mut lines = List::open(list, &mut parser)?;
    let (mut all, mut improper, mut first) = (Vec::<lists::Entry>::new(), 0, None);
    for Line { number, entry, .. } in &mut lines {
        match entry {
            Ok(mut entry) => {
                let name = entry.name.strip_prefix(b"./").unwrap_or(&entry.name);
                let name = roots.iter().find_map(|root| name.strip_prefix(&root[..])).unwrap_or(name);
                entry.name = name.to_vec();
                all.push(entry);
            }
            Err(_) => {
                improper += 1;
                first.get_or_insert(number);
            }
        }
    }
    lines.end()?;
    if let Some(first) = first {
        if all.is_empty() {
            return Err(SideNameError::NoLine);
        }
        let lines = count(improper, "improperly formatted line");
        console.about(name::bytes(list), &format!("{lines}, first at line {first}"));
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    // What a list says of a name more than once is all true, or the list contradicts itself.
    all.dedup_by(|later, first| {
        let is_same = later.name == first.name;
        if is_same {
            first.digests.append(&mut later.digests);
            first.size = first.size.or(later.size);
        }
        is_same
    });
    let entry = |lists::Entry { name, size, digests }: lists::Entry| {
        let entry = Entry::listed(name, size);
        digests.into_iter().fold(entry, |entry, (function, digest)| entry.with_digest(function, digest))
    };
    Ok(all.into_iter().map(entry).collect())
}
