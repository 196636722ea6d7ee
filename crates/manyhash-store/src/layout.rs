//! Names in the directory.

use crate::index::BlobKey;
use data_encoding::HEXLOWER;
use std::path::{Path, PathBuf};

/// Where things are. Each path is made once, or of one name only.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    directory: PathBuf,
    segments: PathBuf,
    blobs: PathBuf,
    new: PathBuf,
}

impl Layout {
    pub(crate) fn new(directory: &Path) -> Self {
        Layout {
            directory: directory.to_owned(),
            segments: directory.join("segments"),
            blobs: directory.join("blobs"),
            new: directory.join("new"),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.directory.join("lock")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.directory.join("index.redb")
    }

    /// An index that is being written, and has not the other's place yet.
    pub(crate) fn new_index(&self) -> PathBuf {
        self.directory.join("index.new")
    }

    pub(crate) fn segments(&self) -> &Path {
        &self.segments
    }

    pub(crate) fn segment(&self, segment: u32) -> PathBuf {
        self.segments.join(format!("{segment:08}"))
    }

    pub(crate) fn blobs(&self) -> &Path {
        &self.blobs
    }

    /// Files whose bodies are being received, where they need names.
    pub(crate) fn new_files(&self) -> &Path {
        &self.new
    }

    pub(crate) fn generation(&self, generation: u32) -> PathBuf {
        self.blobs.join(format!("{generation:08}"))
    }

    pub(crate) fn blob(&self, generation: u32, key: &BlobKey) -> PathBuf {
        self.generation(generation).join(blob_name(key))
    }
}

fn blob_name(key: &BlobKey) -> String {
    format!("{}-{}", HEXLOWER.encode(&key.sha256()), key.id())
}

/// Reads the number that a segment or a generation is named by.
pub(crate) fn parse_number(name: &str) -> Option<u32> {
    let number = name.parse().ok()?;
    (format!("{number:08}") == name).then_some(number)
}

/// Reads the name of a blob's file.
pub(crate) fn parse_blob(name: &str) -> Option<BlobKey> {
    let (sha256, id) = name.split_once('-')?;
    let sha256: [u8; 32] = HEXLOWER.decode(sha256.as_bytes()).ok()?.try_into().ok()?;
    let key = BlobKey::new(&sha256, id.parse().ok()?);
    (blob_name(&key) == name).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::{Layout, blob_name, parse_blob, parse_number};
    use crate::index::BlobKey;
    use std::path::Path;

    #[test]
    fn names_are_read_back() {
        let key = BlobKey::new(&[0xab; 32], 17);
        assert_eq!(parse_blob(&blob_name(&key)), Some(key));
        assert_eq!(parse_number("00000012"), Some(12));
        assert_eq!(parse_number("1234567890"), Some(1234567890));
        let layout = Layout::new(Path::new("store"));
        assert_eq!(layout.blob(3, &key), Path::new(&format!("store/blobs/00000003/{}-17", "ab".repeat(32))));
        assert_eq!(layout.segment(7), Path::new("store/segments/00000007"));
    }

    #[test]
    fn other_names_are_nobodys() {
        let sha256 = "ab".repeat(32);
        for name in [
            "",
            "-",
            &sha256,
            &format!("{sha256}-"),
            &format!("{sha256}-x"),
            &format!("{sha256}-01"),
            &format!("{sha256}-+1"),
            &format!("{}-1", "AB".repeat(32)),
            &format!("{}-1", "ab".repeat(31)),
            &format!("{sha256}-99999999999999999999"),
        ] {
            assert_eq!(parse_blob(name), None, "{name}");
        }
        for name in ["", "12", "+0000012", "000000012", "99999999999", "0000001x"] {
            assert_eq!(parse_number(name), None, "{name}");
        }
    }
}
