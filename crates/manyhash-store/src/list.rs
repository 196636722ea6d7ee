//! Listings: pages of names, with names that share a prefix up to a delimiter rolled up into one entry.
//!
//! Names are in the order of their UTF-8 bytes, which is that of their code points. A rolled-up prefix is passed over by
//! one seek, however many names it stands for.

use crate::index::{Snapshot, Step, object, object_key, object_name};
use crate::{Object, ReadError, Upload};

/// Which objects are listed. See [`Store::list`](crate::Store::list).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ListQuery {
    /// What the keys begin with.
    pub prefix: String,
    /// What ends a common prefix: keys that contain it behind [`prefix`](ListQuery::prefix) are rolled up.
    pub delimiter: Option<String>,
    /// What all entries come after: [`Listing::next`] of the page before, or any name. A common prefix is an entry of
    /// that name, so one that this name begins with is not listed.
    pub after: Option<String>,
    /// The maximum number of entries.
    pub max: usize,
}

/// A page of objects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Listing {
    /// The entries, by name.
    pub entries: Vec<Entry>,
    /// The last entry's name, if there are more: what the next page comes after.
    pub next: Option<String>,
}

/// An entry of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Entry {
    /// An object.
    Object {
        /// Its key.
        key: String,
        /// The object.
        object: Object,
    },
    /// The keys with this prefix, which ends with the delimiter.
    Prefix(String),
}

impl Entry {
    /// Returns the key or the common prefix.
    pub fn name(&self) -> &str {
        match self {
            Entry::Object { key, .. } => key,
            Entry::Prefix(prefix) => prefix,
        }
    }
}

/// Which uploads are listed. See [`Store::uploads`](crate::Store::uploads).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UploadQuery {
    /// What the keys begin with.
    pub prefix: String,
    /// What ends a common prefix, as in [`ListQuery::delimiter`].
    pub delimiter: Option<String>,
    /// What all entries come after, as in [`ListQuery::after`].
    pub key_after: Option<String>,
    /// If there is one: of the uploads to the key [`key_after`](UploadQuery::key_after), those with greater ids are
    /// listed too.
    pub id_after: Option<String>,
    /// The maximum number of entries.
    pub max: usize,
}

/// A page of uploads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct UploadListing {
    /// The entries, by key and id.
    pub entries: Vec<UploadEntry>,
    /// What the next page comes after, if there are more: the key or common prefix, and the id.
    pub next: Option<(String, Option<String>)>,
}

/// An entry of a listing of uploads.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum UploadEntry {
    /// An upload.
    Upload(Upload),
    /// The keys with this prefix, which ends with the delimiter.
    Prefix(String),
}

/// Lists objects.
pub(crate) fn objects(snapshot: &Snapshot, bucket: &str, query: &ListQuery) -> Result<Listing, ReadError> {
    let mut listing = Listing::default();
    let roll = Roll::new(&query.prefix, query.delimiter.as_deref());
    let from = match query.after.as_deref() {
        None => Some(query.prefix.clone()),
        Some(after) => roll.start(after, || format!("{after}\0")),
    };
    let Some(from) = from.filter(|_| query.max > 0) else {
        return Ok(listing);
    };
    snapshot.scan_objects(&object_key(bucket, &from), |row, record| {
        let (of, key) = object_name(row)?;
        if of != bucket || !key.starts_with(&query.prefix) {
            return Ok(Step::Stop);
        }
        if listing.entries.len() >= query.max {
            listing.next = listing.entries.last().map(|entry| entry.name().to_owned());
            return Ok(Step::Stop);
        }
        let Some(prefix) = roll.common(key) else {
            listing.entries.push(Entry::Object { key: key.to_owned(), object: object(record)? });
            return Ok(Step::Next);
        };
        listing.entries.push(Entry::Prefix(prefix.to_owned()));
        Ok(successor(prefix).map_or(Step::Stop, |next| Step::Seek(object_key(bucket, &next))))
    })?;
    Ok(listing)
}

/// Lists uploads.
pub(crate) fn uploads(snapshot: &Snapshot, bucket: &str, query: &UploadQuery) -> Result<UploadListing, ReadError> {
    let mut listing = UploadListing::default();
    let roll = Roll::new(&query.prefix, query.delimiter.as_deref());
    let id_after = query.id_after.as_deref();
    let from = match query.key_after.as_deref() {
        None => Some(query.prefix.clone()),
        Some(after) => roll.start(after, || if id_after.is_some() { after.to_owned() } else { format!("{after}\0") }),
    };
    let Some(from) = from.filter(|_| query.max > 0) else {
        return Ok(listing);
    };
    let id = match id_after {
        Some(id) if query.key_after.as_ref() == Some(&from) => format!("{id}\0"),
        _ => String::new(),
    };
    snapshot.scan_uploads((bucket, &from, &id), |upload| {
        if upload.bucket != bucket || !upload.key.starts_with(&query.prefix) {
            return Ok(Step::Stop);
        }
        if listing.entries.len() >= query.max {
            listing.next = listing.entries.last().map(|entry| match entry {
                UploadEntry::Upload(upload) => (upload.key.clone(), Some(upload.id.clone())),
                UploadEntry::Prefix(prefix) => (prefix.clone(), None),
            });
            return Ok(Step::Stop);
        }
        let Some(prefix) = roll.common(&upload.key) else {
            listing.entries.push(UploadEntry::Upload(upload));
            return Ok(Step::Next);
        };
        let next = successor(prefix);
        listing.entries.push(UploadEntry::Prefix(prefix.to_owned()));
        Ok(next.map_or(Step::Stop, |next| Step::Seek((bucket.to_owned(), next, String::new()))))
    })?;
    Ok(listing)
}

/// How names are rolled up.
struct Roll<'a> {
    prefix: &'a str,
    delimiter: Option<&'a str>,
}

impl<'a> Roll<'a> {
    fn new(prefix: &'a str, delimiter: Option<&'a str>) -> Self {
        Roll { prefix, delimiter: delimiter.filter(|delimiter| !delimiter.is_empty()) }
    }

    /// The common prefix that stands for a name.
    fn common<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (rest, delimiter) = (name.strip_prefix(self.prefix)?, self.delimiter?);
        name.get(..self.prefix.len() + rest.find(delimiter)? + delimiter.len())
    }

    /// The first name that may be listed, given what all come after: behind the common prefix that `after` is in, or
    /// else `behind` it. `None` if there is none.
    fn start(&self, after: &str, behind: impl FnOnce() -> String) -> Option<String> {
        let start = match self.common(after) {
            Some(prefix) => successor(prefix)?,
            None => behind(),
        };
        Some(start.max(self.prefix.to_owned()))
    }
}

/// The least name that comes after all names with this prefix.
fn successor(prefix: &str) -> Option<String> {
    let mut name = prefix.to_owned();
    while let Some(last) = name.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            name.push(next);
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Roll, successor};

    #[test]
    fn a_successor_is_behind_all_with_the_prefix() {
        assert_eq!(successor("a/"), Some("a0".to_owned()));
        assert_eq!(successor("a\u{7f}"), Some("a\u{80}".to_owned()));
        assert_eq!(successor("a\u{d7ff}"), Some("a\u{e000}".to_owned()));
        assert_eq!(successor("a\u{10ffff}\u{10ffff}"), Some("b".to_owned()));
        assert_eq!(successor("\u{10ffff}"), None);
        assert_eq!(successor(""), None);
    }

    #[test]
    fn names_are_rolled_up_behind_the_prefix() {
        let roll = Roll::new("a/", Some("/"));
        assert_eq!(roll.common("a/b/c"), Some("a/b/"));
        assert_eq!((roll.common("a/b"), roll.common("b/c")), (None, None));
        assert_eq!(Roll::new("a/", Some("")).common("a/b/c"), None);
        assert_eq!(Roll::new("", Some("--")).common("a--b"), Some("a--"));
        let start = |after: &str| roll.start(after, || format!("{after}\0"));
        assert_eq!(start("a/b/c").as_deref(), Some("a/b0"));
        assert_eq!(start("a/b").as_deref(), Some("a/b\0"));
        assert_eq!(start("A").as_deref(), Some("a/"));
        assert_eq!(start("z").as_deref(), Some("z\0"));
    }
}
