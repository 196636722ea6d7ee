//! Files that stay: the first of a group, and those that cannot be joined with it, but perhaps others with them.

use super::link::Attributes;
use super::replace::Replacement;
use super::scan::{Identity, share_a_device};
use super::version::Opened;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A file that stays.
pub(super) struct Anchor {
    /// Without symbolic links: a link to one would be one more of those.
    pub(super) path: PathBuf,
    identity: Identity,
    /// If they matter.
    attributes: Option<Attributes>,
    /// Whether it has as many links as its file system allows.
    is_full: bool,
}

impl Anchor {
    pub(super) fn new(path: &Path, replacement: Replacement) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let opened = Opened::open(&path)?;
        let attributes = match replacement {
            Replacement::HardLink { ignore_attributes: false } => Some(Attributes::of(&opened.file)?),
            _ => None,
        };
        Ok(Anchor { path, identity: opened.version.identity, attributes, is_full: false })
    }

    /// Why another file must not become a further name of this one.
    pub(super) fn obstacle(&self, other: &Anchor) -> Option<String> {
        let first = self.path.display();
        if !share_a_device(&self.identity, &other.identity) {
            return Some(self.is_elsewhere());
        }
        if self.is_full {
            return Some(self.has_no_room());
        }
        let difference = self.attributes.as_ref()?.difference(other.attributes.as_ref()?)?;
        Some(format!("skipped: its {difference} differ from those of {first}; --ignore-attributes links them anyway"))
    }

    /// Tells errors from what the file system does not allow, but may allow with another file that stays.
    pub(super) fn judge(&mut self, outcome: io::Result<()>) -> io::Result<Result<(), String>> {
        match outcome {
            Ok(()) => Ok(Ok(())),
            Err(error) if error.kind() == ErrorKind::CrossesDevices => Ok(Err(self.is_elsewhere())),
            Err(error) if error.kind() == ErrorKind::TooManyLinks => {
                self.is_full = true;
                Ok(Err(self.has_no_room()))
            }
            Err(error) => Err(error),
        }
    }

    fn is_elsewhere(&self) -> String {
        format!("skipped: not on the same file system as {}", self.path.display())
    }

    fn has_no_room(&self) -> String {
        format!("kept as the first of further links: {} can have no more", self.path.display())
    }
}
