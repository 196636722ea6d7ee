//! What is stored of a file: the version it was, and its digests.
//!
//! | bytes | what, numbers little-endian                                             |
//! | ----- | ----------------------------------------------------------------------- |
//! | 8     | XXH3 of all that follows, with that of the key and the rules as its seed |
//! | 8     | size                                                                    |
//! | 8, 4  | seconds and nanoseconds of the modification time                        |
//! | 8, 4  | seconds and nanoseconds of the change time                              |
//! | ...   | digests: length of the name, length of the digest (a byte each), both   |
//!
//! A record stands under its file's device and inode, so that another version of the file takes its place. It is
//! believed only if its checksum is right: whatever becomes of the database, no digest in it is taken for another's.

#[cfg(feature = "fuzzing")]
pub(super) mod fuzzing;

use super::stamp::Stamp;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Under what a record stands: device, inode.
pub(super) type Key = u128;

/// The rules by which files are believed not to have changed. What was stored by others is not believed.
const RULES: u64 = 2;

const CHECKSUM: usize = 8;
const VERSION: usize = 8 + 2 * (8 + 4);

/// A function's name and its digest.
pub(super) type Entry<'a> = (&'a [u8], &'a [u8]);

impl Stamp {
    pub(super) fn key(&self) -> Key {
        Key::from(self.device) << 64 | Key::from(self.inode)
    }

    fn version(&self) -> [u8; VERSION] {
        let mut bytes = [0; VERSION];
        bytes[..8].copy_from_slice(&self.size.to_le_bytes());
        for (bytes, time) in bytes[8..].chunks_exact_mut(12).zip([self.modified, self.changed]) {
            bytes[..8].copy_from_slice(&time.seconds.to_le_bytes());
            bytes[8..].copy_from_slice(&time.nanoseconds.to_le_bytes());
        }
        bytes
    }
}

/// The digests in a record.
#[derive(Clone, Copy)]
pub(super) struct Digests<'a>(&'a [u8]);

impl<'a> Digests<'a> {
    /// Those of a record, if it is whole and of this very version of the file.
    pub(super) fn of(file: &Stamp, record: &'a [u8]) -> Option<Self> {
        let (sum, rest) = record.split_first_chunk::<CHECKSUM>()?;
        let (version, digests) = rest.split_first_chunk::<VERSION>()?;
        (*version == file.version() && *sum == checksum(file, rest)).then_some(Digests(digests))
    }

    /// That of the function of this name.
    pub(super) fn find(self, name: &[u8]) -> Option<&'a [u8]> {
        self.into_iter().find_map(|(there, digest)| (there == name).then_some(digest))
    }
}

impl<'a> Iterator for Digests<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let (&[name_length, digest_length], rest) = self.0.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(name_length.into())?;
        let (digest, rest) = rest.split_at_checked(digest_length.into())?;
        self.0 = rest;
        Some((name, digest))
    }
}

/// A record of a file. Names and digests that are longer than 255 bytes there are none, and they are left out.
pub(super) fn record<'a>(file: &Stamp, digests: impl Iterator<Item = Entry<'a>>) -> Vec<u8> {
    let mut record = vec![0; CHECKSUM];
    record.extend_from_slice(&file.version());
    for (name, digest) in digests {
        if let (Ok(name_length), Ok(digest_length)) = (name.len().try_into(), digest.len().try_into()) {
            record.extend_from_slice(&[name_length, digest_length]);
            record.extend_from_slice(name);
            record.extend_from_slice(digest);
        }
    }
    let sum = checksum(file, &record[CHECKSUM..]);
    record[..CHECKSUM].copy_from_slice(&sum);
    record
}

/// A record with what is in `new`, and what an older one of the same version of the file has of other functions.
pub(super) fn merged(file: &Stamp, old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let (old, new) = (Digests::of(file, old)?, Digests::of(file, new)?);
    Some(record(file, new.chain(old.filter(|(name, _)| new.find(name).is_none()))))
}

fn checksum(file: &Stamp, rest: &[u8]) -> [u8; CHECKSUM] {
    xxh3_64_with_seed(rest, xxh3_64_with_seed(&file.key().to_le_bytes(), RULES)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::stamp::{Stamp, Time};
    use super::{Digests, Entry, merged, record};

    const FILE: Stamp = Stamp {
        device: 1 << 40,
        inode: 7,
        size: 5,
        modified: Time { seconds: -1, nanoseconds: 999_999_999 },
        changed: Time { seconds: 1 << 34, nanoseconds: 1 },
    };
    const ENTRIES: [Entry; 2] = [(b"md5", &[1; 16]), (b"sha512", &[2; 64])];

    #[test]
    fn digests_of_one_version() {
        let whole = record(&FILE, ENTRIES.into_iter());
        assert_eq!(Digests::of(&FILE, &whole).map(Vec::from_iter), Some(ENTRIES.to_vec()));
        let digests = Digests::of(&FILE, &whole).expect("it is there");
        assert_eq!((digests.find(b"md5"), digests.find(b"sha1")), (Some(&[1; 16][..]), None));
        let later = Time { nanoseconds: 2, ..FILE.changed };
        for other in [
            Stamp { device: 1 << 41, ..FILE },
            Stamp { inode: 8, ..FILE },
            Stamp { size: 6, ..FILE },
            Stamp { modified: later, ..FILE },
            Stamp { changed: later, ..FILE },
        ] {
            assert!(Digests::of(&other, &whole).is_none(), "{other:?}");
        }
    }

    #[test]
    fn a_damaged_record_is_none() {
        let whole = record(&FILE, ENTRIES.into_iter());
        for length in 0..whole.len() {
            assert!(Digests::of(&FILE, &whole[..length]).is_none());
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[length] ^= 1 << bit;
                assert!(Digests::of(&FILE, &damaged).is_none());
            }
        }
    }

    #[test]
    fn functions_of_the_same_version_add_up() {
        let old = record(&FILE, ENTRIES.into_iter());
        let new: [Entry; 2] = [(b"sha1", &[3; 20]), (b"md5", &[4; 16])];
        let both = merged(&FILE, &old, &record(&FILE, new.into_iter())).expect("both are whole");
        let expected: [Entry; 3] = [(b"sha1", &[3; 20]), (b"md5", &[4; 16]), (b"sha512", &[2; 64])];
        assert_eq!(Digests::of(&FILE, &both).map(Vec::from_iter), Some(expected.to_vec()));
        let later = Stamp { size: 6, ..FILE };
        assert!(merged(&later, &old, &record(&later, new.into_iter())).is_none());
    }
}
