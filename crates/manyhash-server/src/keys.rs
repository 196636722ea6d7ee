//! Access keys and what each may do.

use manyhash_s3::sign::{Authorization, Credentials, KeyCache, SigningKey};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The access keys in use. They can be read again while requests are served.
#[derive(Debug)]
pub(crate) struct KeyRing {
    file: Option<PathBuf>,
    keys: RwLock<Arc<Keys>>,
}

/// The keys of one reading of the file, and what was derived from them.
#[derive(Debug, Default)]
struct Keys {
    keys: HashMap<String, Arc<Key>>,
    derived: KeyCache,
}

/// A secret and what its holder may do.
pub(crate) struct Key {
    secret: String,
    /// `None` allows everything.
    rights: Option<Vec<Right>>,
    /// When the requests that were let through are paid off, at the rate that is allowed.
    rate: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("rights", &self.rights).finish_non_exhaustive()
    }
}

/// What a request does, as far as rights are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Access {
    Read,
    Write,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Right {
    bucket: String,
    #[serde(default)]
    prefix: String,
    #[serde(default = "both")]
    allow: Vec<Access>,
}

fn both() -> Vec<Access> {
    vec![Access::Read, Access::Write]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    #[serde(default)]
    key: Vec<KeyEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyEntry {
    access: String,
    secret: String,
    rights: Option<Vec<Right>>,
}

/// The file of access keys is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// It could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What failed.
        source: std::io::Error,
    },
    /// It is not TOML, or has fields that mean nothing.
    #[error("{}: {source}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What failed.
        source: Box<toml::de::Error>,
    },
    /// It has no key at all.
    #[error("{}: no [[key]] with `access` and `secret`", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A key cannot be used: it is empty, doubled, or could not stand in an `Authorization` header.
    #[error("{}: access key {access:?}: {reason}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The access key.
        access: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl KeyRing {
    /// One key that may do everything.
    pub(crate) fn single(credentials: &Credentials) -> Self {
        let key = Key { secret: credentials.secret_key().to_owned(), rights: None, rate: Mutex::default() };
        let keys = HashMap::from([(credentials.access_key().to_owned(), Arc::new(key))]);
        KeyRing { file: None, keys: RwLock::new(Arc::new(Keys { keys, derived: KeyCache::default() })) }
    }

    /// The keys of a file.
    pub(crate) fn open(path: &Path) -> Result<Self, KeysError> {
        let keys = read(path)?;
        Ok(KeyRing { file: Some(path.to_path_buf()), keys: RwLock::new(Arc::new(keys)) })
    }

    /// Reads the file again. If it is of no use, the keys stay as they were.
    pub(crate) fn reload(&self) -> Result<(), KeysError> {
        if let Some(path) = &self.file {
            let keys = Arc::new(read(path)?);
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        }
        Ok(())
    }

    /// The key that a request is signed with, and what its signature is made with.
    pub(crate) fn find(&self, authorization: &Authorization) -> Option<(Arc<Key>, SigningKey)> {
        let keys = self.current();
        let key = keys.keys.get(&authorization.access_key)?;
        Some((key.clone(), keys.derived.get(authorization, &key.secret)))
    }

    fn current(&self) -> Arc<Keys> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Key {
    /// Whether the holder may do this to a key of a bucket, or to a bucket if there is no key. A bucket as such, its
    /// existence and location, may be read by whoever has any right in it, and written by whoever may write all of it.
    pub(crate) fn may(&self, access: Access, bucket: &str, key: Option<&str>) -> bool {
        let Some(rights) = &self.rights else { return true };
        rights.iter().filter(|right| right.bucket == bucket || right.bucket == "*").any(|right| match (key, access) {
            (Some(key), _) => right.allow.contains(&access) && key.starts_with(&right.prefix),
            (None, Access::Read) => true,
            (None, Access::Write) => right.allow.contains(&access) && right.prefix.is_empty(),
        })
    }

    /// Whether one more request is within a rate per second. Those of a second may come all at once.
    pub(crate) fn is_within(&self, rate: u32, now: Instant) -> bool {
        let mut paid = self.rate.lock().unwrap_or_else(PoisonError::into_inner);
        let next = paid.map_or(now, |paid| paid.max(now)) + Duration::from_secs(1) / rate.max(1);
        let within = next <= now + Duration::from_secs(1);
        if within {
            *paid = Some(next);
        }
        within
    }

    /// Whether the holder may list the keys that begin with a prefix.
    pub(crate) fn may_list(&self, bucket: &str, prefix: &str) -> bool {
        self.may(Access::Read, bucket, Some(prefix))
    }

    /// Whether the holder may write anything of a bucket.
    pub(crate) fn may_write_some(&self, bucket: &str) -> bool {
        let mut rights = self.rights.iter().flatten().filter(|right| right.bucket == bucket || right.bucket == "*");
        self.rights.is_none() || rights.any(|right| right.allow.contains(&Access::Write))
    }

    /// Whether the holder may see that the bucket exists.
    pub(crate) fn may_see(&self, bucket: &str) -> bool {
        self.may(Access::Read, bucket, None)
    }
}

fn read(path: &Path) -> Result<Keys, KeysError> {
    let path_buf = || path.to_path_buf();
    let text = std::fs::read_to_string(path).map_err(|source| KeysError::Read { path: path_buf(), source })?;
    let file: KeyFile =
        toml::from_str(&text).map_err(|source| KeysError::Parse { path: path_buf(), source: Box::new(source) })?;
    let mut keys = HashMap::new();
    for KeyEntry { access, secret, rights } in file.key {
        let wrong = |reason| Err(KeysError::Key { path: path_buf(), access: access.clone(), reason });
        // What separates the parts of a credential cannot be in one.
        if access.is_empty() || !access.bytes().all(|byte| byte.is_ascii_graphic() && !b"/,=".contains(&byte)) {
            return wrong("use letters, digits and signs other than '/', ',' and '='");
        }
        if secret.is_empty() {
            return wrong("its secret is empty");
        }
        if keys.contains_key(&access) {
            return wrong("it stands there twice");
        }
        keys.insert(access, Arc::new(Key { secret, rights, rate: Mutex::default() }));
    }
    if keys.is_empty() {
        return Err(KeysError::Empty { path: path_buf() });
    }
    Ok(Keys { keys, derived: KeyCache::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(ring: &KeyRing, access_key: &str) -> Option<Arc<Key>> {
        ring.current().keys.get(access_key).cloned()
    }

    fn keys(text: &str) -> Result<KeyRing, KeysError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys.toml");
        std::fs::write(&path, text).unwrap();
        KeyRing::open(&path)
    }

    #[test]
    fn rights_are_by_bucket_and_prefix() {
        let ring = keys(
            r#"
            [[key]]
            access = "root"
            secret = "s"
            [[key]]
            access = "reader"
            secret = "s"
            rights = [{ bucket = "logs", prefix = "2026/", allow = ["read"] }, { bucket = "own" }]
            "#,
        )
        .unwrap();
        let root = find(&ring, "root").unwrap();
        assert!(root.may(Access::Write, "any", None) && root.may(Access::Write, "any", Some("k")));
        let reader = find(&ring, "reader").unwrap();
        assert!(reader.may(Access::Read, "logs", Some("2026/x")));
        assert!(!reader.may(Access::Write, "logs", Some("2026/x")));
        assert!(!reader.may(Access::Read, "logs", Some("2025/x")));
        assert!(!reader.may(Access::Read, "other", Some("2026/x")));
        assert!(reader.may_see("logs") && !reader.may(Access::Write, "logs", None) && !reader.may_see("other"));
        assert!(reader.may_list("logs", "2026/11") && !reader.may_list("logs", "20"));
        assert!(reader.may(Access::Write, "own", None) && reader.may(Access::Write, "own", Some("k")));
        assert!(find(&ring, "nobody").is_none());
    }

    #[test]
    fn a_rate_lets_a_second_of_requests_through_at_once() {
        let ring = keys("[[key]]\naccess = \"a\"\nsecret = \"s\"").unwrap();
        let (key, now) = (find(&ring, "a").unwrap(), Instant::now());
        assert_eq!((0..100).filter(|_| key.is_within(10, now)).count(), 10);
        assert_eq!((0..100).filter(|_| key.is_within(10, now + Duration::from_millis(500))).count(), 5);
    }

    #[test]
    fn bad_files_are_refused_and_keep_what_was_there() {
        for text in [
            "",
            "[[key]]\naccess = \"a\"",
            "[[key]]\naccess = \"a/b\"\nsecret = \"s\"",
            "[[key]]\naccess = \"a\"\nsecret = \"\"",
            "[[key]]\naccess = \"a\"\nsecret = \"s\"\nright = []",
            "[[key]]\naccess = \"a\"\nsecret = \"s\"\n[[key]]\naccess = \"a\"\nsecret = \"t\"",
        ] {
            assert!(keys(text).is_err(), "{text}");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys.toml");
        std::fs::write(&path, "[[key]]\naccess = \"a\"\nsecret = \"s\"").unwrap();
        let ring = KeyRing::open(&path).unwrap();
        std::fs::write(&path, "nonsense").unwrap();
        assert!(ring.reload().is_err() && find(&ring, "a").is_some());
        std::fs::write(&path, "[[key]]\naccess = \"b\"\nsecret = \"s\"").unwrap();
        ring.reload().unwrap();
        assert!(find(&ring, "a").is_none() && find(&ring, "b").is_some());
    }
}
