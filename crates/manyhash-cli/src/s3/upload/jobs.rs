//! Which files become which objects.

use crate::s3::sides::Address;
use manyhash_s3::limits::MAX_KEY_BYTES;
use manyhash_s3_client::transfer::Tree;
use manysum::name;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// A file that becomes an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Job {
    pub(super) origin: Origin,
    pub(super) key: String,
    /// Its name in messages.
    pub(super) shown: Vec<u8>,
    /// Its name in a list: the part of its key that follows the prefix, if there is one.
    pub(super) name: String,
    pub(super) size: Option<u64>,
}

/// Where bytes are from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    File(PathBuf),
    StandardInput,
}

/// All files.
#[derive(Debug)]
pub(super) struct Jobs {
    pub(super) bucket: String,
    /// What all keys begin with.
    pub(super) prefix: String,
    pub(super) jobs: Vec<Job>,
    /// What is in directories and cannot be looked at.
    pub(super) unreadable: Vec<(Vec<u8>, io::Error)>,
}

/// What an argument is, and what is wrong with it.
type Wrong = (OsString, String);

impl Jobs {
    /// What is asked for.
    ///
    /// # Errors
    /// If an argument is of no use, or two files would be one object. Nothing is uploaded then.
    pub(super) fn plan(files: &[OsString], url: &OsStr) -> Result<Jobs, Wrong> {
        let wrong = |about: &OsStr, why: &str| Err((about.to_owned(), why.to_owned()));
        let address = match Address::parse(url) {
            Some(Ok(address)) => address,
            Some(Err(error)) => return wrong(url, &error.to_string()),
            None => return wrong(url, "expected s3://BUCKET/PREFIX/ or s3://BUCKET/KEY after the files"),
        };
        let is_directory = |file: &OsString| file != "-" && Path::new(file).is_dir();
        let is_key = !address.prefix.is_empty() && !address.prefix.ends_with('/');
        let is_key = is_key && files.len() == 1 && !files.iter().any(is_directory);
        if let Some(input) = files.iter().find(|file| *file == "-")
            && !is_key
        {
            return wrong(input, "standard input needs a key of its own: give s3://BUCKET/KEY, and no other file");
        }
        let address = if is_key { address } else { address.below() };
        let prefix = address.prefix;
        let mut jobs = Jobs { bucket: address.bucket, prefix, jobs: Vec::new(), unreadable: Vec::new() };
        for file in files {
            jobs.add(file, is_key)?;
        }
        jobs.check()?;
        Ok(jobs)
    }

    fn add(&mut self, file: &OsStr, is_key: bool) -> Result<(), Wrong> {
        let wrong = |why: String| (file.to_owned(), why);
        let shown = name::bytes(file).to_vec();
        if file == "-" {
            self.jobs.push(Job {
                origin: Origin::StandardInput,
                key: self.prefix.clone(),
                shown,
                name: last(&self.prefix).to_owned(),
                size: None,
            });
            return Ok(());
        }
        let path = PathBuf::from(file);
        let metadata = path.metadata().map_err(|error| wrong(manysum::console::reason(&error)))?;
        if !metadata.is_dir() {
            let name = path.file_name().and_then(OsStr::to_str).ok_or_else(|| wrong(NOT_UTF8.to_owned()))?;
            let key = if is_key { self.prefix.clone() } else { format!("{}{name}", self.prefix) };
            let (name, size) = (name.to_owned(), Some(metadata.len()));
            self.jobs.push(Job { origin: Origin::File(path), key, shown, name, size });
            return Ok(());
        }
        let tree = Tree::read(&path).map_err(|error| wrong(manysum::console::reason(&error)))?;
        let below = |name: &[u8]| [&shown[..], if shown.ends_with(b"/") { b"" } else { b"/" }, name].concat();
        self.unreadable.extend(tree.unreadable.into_iter().map(|(name, error)| (below(&name), error)));
        for found in tree.files {
            let shown = name::bytes(found.path.as_os_str()).to_vec();
            match String::from_utf8(found.name) {
                Ok(name) => {
                    let key = format!("{}{name}", self.prefix);
                    let (origin, size) = (Origin::File(found.path), Some(found.size));
                    self.jobs.push(Job { origin, key, shown, name, size });
                }
                Err(_) => self.unreadable.push((shown, io::Error::new(io::ErrorKind::InvalidData, NOT_UTF8))),
            }
        }
        Ok(())
    }

    /// Makes sure that each key is one that there can be, and of one file.
    fn check(&self) -> Result<(), Wrong> {
        let mut keys = BTreeMap::new();
        let about = |job: &Job| name::from_bytes(job.shown.clone()).unwrap_or_default();
        for job in &self.jobs {
            if job.key.len() > MAX_KEY_BYTES {
                let why = format!("its key would have {} bytes, and keys have {MAX_KEY_BYTES} at most", job.key.len());
                return Err((about(job), why));
            }
            if let Some(other) = keys.insert(&job.key, job) {
                let other = String::from_utf8_lossy(&other.shown);
                return Err((about(job), format!("would be the same object as `{}`", other.escape_debug())));
            }
        }
        Ok(())
    }
}

const NOT_UTF8: &str = "its name is no UTF-8, which keys are: rename it";

/// The last part of a key.
fn last(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(_, last)| last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn keys_of_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        fs::create_dir_all(root.join("tree/d")).expect("directories");
        for name in ["tree/a", "tree/d/b", "file"] {
            fs::write(root.join(name), name).expect("a file");
        }
        let plan = |files: &[&str], url: &str| {
            let files = files.iter().map(|file| match *file {
                "-" => "-".into(),
                file => root.join(file).into_os_string(),
            });
            let files: Vec<OsString> = files.collect();
            Jobs::plan(&files, OsStr::new(url))
        };
        let keys = |files: &[&str], url: &str| {
            let jobs = plan(files, url).expect("a plan");
            let keys = jobs.jobs.iter().map(|job| format!("{} {}", job.key, job.name)).collect::<Vec<_>>();
            (jobs.prefix, keys.join(", "))
        };
        let of = |prefix: &str, keys: &str| (prefix.to_owned(), keys.to_owned());
        assert_eq!(keys(&["file"], "s3://b"), of("", "file file"));
        assert_eq!(keys(&["file"], "s3://b/p/"), of("p/", "p/file file"));
        assert_eq!(keys(&["file"], "s3://b/p/k"), of("p/k", "p/k file"));
        assert_eq!(keys(&["-"], "s3://b/p/k"), of("p/k", "p/k k"));
        assert_eq!(keys(&["tree"], "s3://b/p"), of("p/", "p/a a, p/d/b d/b"));
        assert_eq!(keys(&["tree", "file"], "s3://b/p"), of("p/", "p/a a, p/d/b d/b, p/file file"));
        for (files, url, words) in [
            (&["-"][..], "s3://b/p/", "a key of its own"),
            (&["-", "file"], "s3://b/p", "a key of its own"),
            (&["none"], "s3://b/p", "No such file"),
            (&["file", "file"], "s3://b", "the same object"),
            (&["file"], "b", "expected s3://BUCKET"),
            (&["file"], "s3:///p", "the name of a bucket"),
            (&["file"], &format!("s3://b/{}", "k".repeat(1025)), "1024 at most"),
        ] {
            let (_, why) = plan(files, url).expect_err(url);
            assert!(why.contains(words), "{why}");
        }
    }
}
