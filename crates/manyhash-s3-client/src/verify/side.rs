//! The two sides: what there is, in the order of names.

use super::entry::Entry;
use super::is_directory_bucket;
use crate::remote::{Page, Remote, RemoteError};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use tokio::sync::mpsc;
use walkdir::{DirEntry, WalkDir};

/// What holds objects by names.
#[non_exhaustive]
pub enum Side<R> {
    /// The regular files in a directory and in its directories. Symbolic links in it are not followed.
    Tree(PathBuf),
    /// The objects of a bucket whose keys begin with a prefix, which their names are without.
    Bucket {
        /// The bucket.
        remote: Arc<R>,
        /// What keys begin with. With a slash at its end, it is like a directory.
        prefix: String,
    },
    /// The lines of a list, in the order of the bytes of their names, each name once.
    List(Lines),
}

/// The lines of a list.
pub type Lines = Box<dyn Iterator<Item = io::Result<Entry>> + Send>;

impl<R> Side<R> {
    /// Returns the bucket, if it is one.
    pub(super) fn remote(&self) -> Option<Arc<R>> {
        match self {
            Side::Bucket { remote, .. } => Some(remote.clone()),
            _ => None,
        }
    }
}

impl<R: Remote> fmt::Debug for Side<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Side::Tree(root) => f.debug_tuple("Tree").field(root).finish(),
            Side::Bucket { remote, prefix } => {
                f.debug_struct("Bucket").field("bucket", &remote.bucket()).field("prefix", prefix).finish()
            }
            Side::List(_) => f.debug_tuple("List").finish_non_exhaustive(),
        }
    }
}

/// Why what a side has is not known to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SideError {
    /// The bucket could not be listed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The list could not be read.
    #[error(transparent)]
    Read(io::Error),
    /// Names do not come in their order.
    #[error("names are not sorted by their bytes: `{}` comes after `{}`", after.escape_ascii(), before.escape_ascii())]
    Order {
        /// A name.
        before: Vec<u8>,
        /// The one that comes after it.
        after: Vec<u8>,
    },
    /// The bucket's list has a key that was not asked for.
    #[error("the service listed `{key}`, which does not begin with `{prefix}`")]
    Foreign {
        /// The key.
        key: String,
        /// What was asked for.
        prefix: String,
    },
    /// The bucket's list has no end.
    #[error("the service gave the same page of its list again")]
    Endless,
}

/// What comes from a side.
#[derive(Debug)]
pub(super) enum Item {
    Entry(Box<Entry>),
    /// A directory ending in a slash, or a file, that cannot be looked at.
    Unreadable(Vec<u8>, io::Error),
}

impl Item {
    pub(super) fn name(&self) -> &[u8] {
        match self {
            Item::Entry(entry) => entry.name(),
            Item::Unreadable(name, _) => name,
        }
    }
}

/// Items that are handed over at a time, and how often before they are taken.
const BATCH: usize = 256;
const BATCHES: usize = 8;

/// A side as it is walked.
pub(super) struct Walk<R> {
    source: Source<R>,
    ready: VecDeque<Item>,
    last: Option<Vec<u8>>,
    /// How many pages were asked for.
    pub(super) pages: u64,
}

enum Source<R> {
    /// A thread that waits for disks.
    Thread(mpsc::Receiver<io::Result<Vec<Item>>>),
    Bucket {
        remote: Arc<R>,
        prefix: String,
        continuation: Option<String>,
    },
    Ended,
}

impl<R: Remote> Walk<R> {
    pub(super) fn new(side: Side<R>) -> Walk<R> {
        let source = match side {
            Side::Tree(root) => ahead(move |send| walk(&root, send)),
            Side::List(lines) => ahead(move |send| {
                for line in lines {
                    send(line.map(|entry| Item::Entry(Box::new(entry))))?;
                }
                Some(())
            }),
            Side::Bucket { remote, prefix } => Source::Bucket { remote, prefix, continuation: None },
        };
        Walk { source, ready: VecDeque::new(), last: None, pages: 0 }
    }

    /// The next item; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Item>, SideError> {
        loop {
            let Some(item) = self.ready.pop_front() else {
                if self.fill().await? { continue } else { return Ok(None) }
            };
            // What is not sorted cannot be compared side by side.
            if let Some(last) = self.last.take().filter(|last| last.as_slice() >= item.name()) {
                self.source = Source::Ended;
                self.ready.clear();
                return Err(SideError::Order { before: last, after: item.name().to_vec() });
            }
            self.last = Some(item.name().to_vec());
            return Ok(Some(item));
        }
    }

    /// Whether there is more.
    async fn fill(&mut self) -> Result<bool, SideError> {
        match &mut self.source {
            Source::Ended => Ok(false),
            Source::Thread(receiver) => match receiver.recv().await {
                Some(Ok(items)) => {
                    self.ready.extend(items);
                    Ok(true)
                }
                Some(Err(error)) => {
                    self.source = Source::Ended;
                    Err(SideError::Read(error))
                }
                None => {
                    self.source = Source::Ended;
                    Ok(false)
                }
            },
            Source::Bucket { .. } => {
                let filled = self.fill_from_bucket().await;
                if filled.is_err() {
                    self.source = Source::Ended;
                }
                filled.map(|()| true)
            }
        }
    }

    async fn fill_from_bucket(&mut self) -> Result<(), SideError> {
        let Source::Bucket { remote, prefix, continuation } = &mut self.source else { return Ok(()) };
        loop {
            self.pages += 1;
            let Page { objects, continuation: next } = remote.list(prefix, continuation.as_deref()).await?;
            for listed in objects {
                let Some(name) = listed.key.strip_prefix(prefix.as_str()) else {
                    return Err(SideError::Foreign { key: listed.key, prefix: prefix.clone() });
                };
                let name = name.as_bytes().to_vec();
                self.ready.push_back(Item::Entry(Box::new(Entry::object(name, listed))));
            }
            if next.is_some() && next == *continuation {
                return Err(SideError::Endless);
            }
            let is_last = next.is_none();
            let is_unsorted = is_directory_bucket(&**remote);
            *continuation = next;
            if is_last {
                self.source = Source::Ended;
                if is_unsorted {
                    self.ready.make_contiguous().sort_by(|one, other| one.name().cmp(other.name()));
                }
                return Ok(());
            }
            // The pages of a directory bucket have no order, so that all of them are needed first.
            if !is_unsorted {
                return Ok(());
            }
        }
    }
}

/// Runs what waits for disks on a thread of its own, some thousand items ahead. It ends when its receiver does.
fn ahead<R>(
    produce: impl FnOnce(&mut dyn FnMut(io::Result<Item>) -> Option<()>) -> Option<()> + Send + 'static,
) -> Source<R> {
    let (sender, receiver) = mpsc::channel(BATCHES);
    let failed = sender.clone();
    let run = move || {
        let mut batch = Vec::with_capacity(BATCH);
        let mut send = |item: io::Result<Item>| match item {
            Ok(item) => {
                batch.push(item);
                if batch.len() < BATCH { Some(()) } else { sender.blocking_send(Ok(std::mem::take(&mut batch))).ok() }
            }
            Err(error) => {
                sender.blocking_send(Ok(std::mem::take(&mut batch))).ok()?;
                sender.blocking_send(Err(error)).ok()
            }
        };
        if produce(&mut send).is_some() {
            let _ = sender.blocking_send(Ok(batch));
        }
    };
    if let Err(error) = thread::Builder::new().name("manyhash-walk".to_owned()).spawn(run) {
        // The channel is empty, so that there is room.
        let _ = failed.try_send(Err(error));
    }
    Source::Thread(receiver)
}

/// The files of a tree in the order of keys, as S3 lists them: `a.txt` comes before `a/b`.
fn walk(root: &Path, send: &mut dyn FnMut(io::Result<Item>) -> Option<()>) -> Option<()> {
    let entries = WalkDir::new(root).sort_by(|one, other| key_part(one).cmp(key_part(other)));
    for entry in entries {
        let item = match entry {
            Ok(entry) if entry.depth() == 0 => match entry.file_type().is_dir() {
                true => continue,
                false => {
                    return send(Err(io::Error::new(io::ErrorKind::NotADirectory, named(root, "not a directory"))));
                }
            },
            Ok(entry) if entry.file_type().is_file() => match entry.metadata() {
                Ok(metadata) => {
                    Item::Entry(Box::new(Entry::file(name_of(root, entry.path()), entry.into_path(), &metadata)))
                }
                Err(error) => unreadable(root, &error, false),
            },
            Ok(_) => continue,
            Err(error) if error.depth() == 0 => {
                let kind = error.io_error().map_or(io::ErrorKind::Other, io::Error::kind);
                return send(Err(io::Error::new(kind, error)));
            }
            Err(error) => unreadable(root, &error, true),
        };
        send(Ok(item))?;
    }
    Some(())
}

/// A file's name, path and bytes; or the name of what cannot be looked at.
#[cfg(feature = "http")]
pub(crate) type Looked = Result<(Vec<u8>, PathBuf, u64), (Vec<u8>, io::Error)>;

/// The files of a tree in the order of keys, for who uploads them.
#[cfg(feature = "http")]
pub(crate) fn files(root: &Path, send: &mut dyn FnMut(io::Result<Looked>) -> Option<()>) {
    walk(root, &mut |item| {
        send(item.map(|item| match item {
            Item::Entry(entry) => entry.into_file().ok_or_else(|| (Vec::new(), io::ErrorKind::Other.into())),
            Item::Unreadable(name, error) => Err((name, error)),
        }))
    });
}

fn named(path: &Path, what: &str) -> String {
    format!("{}: {what}", path.display())
}

/// What a directory's entry is sorted by, among others of the same one: what keys below it begin with.
fn key_part(entry: &DirEntry) -> impl Iterator<Item = u8> {
    let slash = entry.file_type().is_dir().then_some(b'/');
    entry.file_name().as_encoded_bytes().iter().copied().chain(slash)
}

/// The name of a path below the root.
fn name_of(root: &Path, path: &Path) -> Vec<u8> {
    let path = path.strip_prefix(root).unwrap_or(path);
    let bytes = path.as_os_str().as_encoded_bytes();
    if std::path::MAIN_SEPARATOR == '/' {
        return bytes.to_vec();
    }
    bytes.iter().map(|byte| if *byte == std::path::MAIN_SEPARATOR as u8 { b'/' } else { *byte }).collect()
}

fn unreadable(root: &Path, error: &walkdir::Error, is_directory: bool) -> Item {
    let mut name = error.path().map(|path| name_of(root, path)).unwrap_or_default();
    if is_directory {
        name.push(b'/');
    }
    let kind = error.io_error().map_or(io::ErrorKind::Other, io::Error::kind);
    Item::Unreadable(name, io::Error::new(kind, error.to_string()))
}
