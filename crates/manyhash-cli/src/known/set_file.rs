//! A set in a file, ready at once: a look-up reads one page of it.
//!
//! Each look-up is a system call then, which is nothing beside the hashing of a file; but from a rotating disk it is a
//! move of its arm. So once reading pages has taken as long as reading the whole file would, that is done. Whichever
//! would have been better from the beginning, this takes about twice the time of it at most.

use super::layout::Line;
use super::pages::{self, Header, LINES, PAGE, Page, SetError};
use super::set::Set;
use manyhash::{Digest, HashFunction};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

/// The file that is held in memory at most, in bytes: 33 million digests of 20 bytes.
const LOADED: u64 = 1 << 30;

/// Bytes a nanosecond that a file is taken to be read at.
const SPEED: u64 = 1;

/// A set of digests in a file.
pub(super) struct SetFile {
    header: Header,
    file: File,
    /// The page that was read last, and its number.
    page: (u64, Box<Page>),
    /// How long it may take to read pages, until all of it is read; none if that is not to be.
    patience: Option<Duration>,
    loaded: Option<Set>,
}

impl SetFile {
    /// Opens it.
    ///
    /// # Errors
    /// If it cannot be read, or is no whole set.
    pub(super) fn open(path: &Path) -> Result<Self, SetError> {
        // To open a pipe may wait.
        if !path.metadata()?.is_file() {
            return Err(SetError::NotASet);
        }
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut page = Box::new([0; PAGE]);
        match file.read_exact(&mut page[..]) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(SetError::NotASet),
            read => read?,
        }
        let header = Header::read(&page, length)?;
        let patience = (length <= LOADED).then(|| Duration::from_nanos(length / SPEED));
        Ok(SetFile { header, file, page: (0, page), patience, loaded: None })
    }

    /// What its digests are of.
    pub(super) fn function(&self) -> HashFunction {
        self.header.function
    }

    /// Whether a digest is in it.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged where the digest should be.
    pub(super) fn contains(&mut self, digest: &Digest) -> Result<bool, SetError> {
        let digest = digest.as_bytes();
        if let Some(set) = &self.loaded {
            return Ok(set.contains(digest));
        }
        let start = self.patience.map(|_| Instant::now());
        let Header { layout, pages, .. } = self.header;
        let found = layout.search(digest, pages * LINES as u64, |number| self.line(number))?;
        if let (Some(start), Some(patience)) = (start, self.patience) {
            self.patience = patience.checked_sub(start.elapsed());
            if self.patience.is_none() {
                self.loaded = self.load()?;
            }
        }
        Ok(found)
    }

    fn line(&mut self, number: u64) -> Result<Line, SetError> {
        let (page, line) = (number / LINES as u64 + 1, (number % LINES as u64) as usize);
        if self.page.0 != page {
            // Nothing is there until it was checked.
            self.page.0 = 0;
            self.file.seek(SeekFrom::Start(page * PAGE as u64))?;
            self.file.read_exact(&mut self.page.1[..])?;
            pages::check(&self.page.1, page)?;
            self.page.0 = page;
        }
        Ok(Line(pages::lines(&self.page.1)[line]))
    }

    /// All of it, if there is memory for that.
    fn load(&mut self) -> Result<Option<Set>, SetError> {
        let Header { layout, pages, .. } = self.header;
        let mut lines = Vec::new();
        if lines.try_reserve_exact(pages as usize * LINES).is_err() {
            return Ok(None);
        }
        self.file.seek(SeekFrom::Start(PAGE as u64))?;
        let mut reader = BufReader::with_capacity(64 * PAGE, &self.file);
        let mut page = [0; PAGE];
        for number in 1..=pages {
            reader.read_exact(&mut page)?;
            pages::check(&page, number)?;
            lines.extend(pages::lines(&page).iter().copied().map(Line));
        }
        Ok(Some(Set::of_lines(layout, lines)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::layout::Sorted;
    use crate::known::pages::Writer;
    use crate::noise::noise;
    use std::fs;

    const WIDTH: usize = 20;

    /// The bytes of a file with these digests.
    fn file(digests: &[[u8; WIDTH]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let sorted = Sorted { cells: digests.as_flattened(), cell: WIDTH };
        let function = "sha1".parse().expect("a function");
        Writer::new(function, sorted).read_to_end(&mut bytes).expect("it reads memory");
        bytes
    }

    fn digests(count: usize) -> Vec<[u8; WIDTH]> {
        let mut digests = noise(count * WIDTH).as_chunks().0.to_vec();
        digests.sort_unstable();
        digests
    }

    fn open(bytes: &[u8]) -> Result<SetFile, SetError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(&file, bytes).expect("a file");
        SetFile::open(file.path())
    }

    #[test]
    fn a_page_a_look_up_and_all_of_it_give_the_same() {
        for count in [0, 1, 3, 4, 141, 142, 143, 2000] {
            let all = digests(2 * count);
            let known: Vec<_> = all.iter().copied().step_by(2).collect();
            let mut set = open(&file(&known)).expect("a set");
            set.patience = None;
            for loaded in [false, true] {
                for (i, digest) in all.iter().enumerate() {
                    let digest = Digest::from_bytes(digest).expect("a digest");
                    assert_eq!(set.contains(&digest).ok(), Some(i % 2 == 0), "{count} {loaded}");
                    assert_eq!(set.loaded.is_some(), loaded);
                }
                // The first look-up takes longer than that.
                set.patience = Some(Duration::ZERO);
                set.contains(&Digest::default()).expect("an answer");
            }
        }
    }

    #[test]
    fn a_header_that_is_not_as_written() {
        let bytes = file(&digests(100));
        for at in 0..PAGE {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            let error = open(&bytes).err();
            let right = match at {
                0..24 => matches!(error, Some(SetError::NotASet)),
                24..28 => matches!(error, Some(SetError::Version(_))),
                _ => matches!(error, Some(SetError::Damaged(0))),
            };
            assert!(right, "{at}: {error:?}");
        }
    }

    #[test]
    fn a_file_that_is_shorter_or_longer() {
        let bytes = file(&digests(360));
        assert_eq!(bytes.len(), 4 * PAGE);
        for length in [0, 1, 24, PAGE - 1] {
            assert!(matches!(open(&bytes[..length]), Err(SetError::NotASet)), "{length}");
        }
        for length in [PAGE, PAGE + 1, 3 * PAGE, 4 * PAGE - 1] {
            assert!(matches!(open(&bytes[..length]), Err(SetError::Length { .. })), "{length}");
        }
        assert!(matches!(open(&[&bytes[..], b"x"].concat()), Err(SetError::Length { .. })));
        // One that is cut off later.
        let path = tempfile::NamedTempFile::new().expect("a file");
        fs::write(&path, &bytes).expect("a file");
        let mut set = SetFile::open(path.path()).expect("a set");
        path.as_file().set_len(PAGE as u64).expect("it is cut off");
        assert!(matches!(set.contains(&Digest::from_bytes(&[0x80; WIDTH]).expect("a digest")), Err(SetError::Read(_))));
    }

    #[test]
    fn a_damaged_page_gives_no_answer() {
        let known = digests(360);
        let (good, digest) = (file(&known), Digest::from_bytes(&known[200]).expect("a digest"));
        let page = (1..4).find(|page| good[page * PAGE..][..PAGE].windows(WIDTH).any(|window| window == known[200]));
        let page = page.expect("it is in one of the pages");
        for at in 0..PAGE {
            let mut bytes = good.clone();
            bytes[page * PAGE + at] ^= 1;
            let mut set = open(&bytes).expect("a set");
            for _ in 0..2 {
                assert!(matches!(set.contains(&digest), Err(SetError::Damaged(_))), "{at}");
            }
            assert!(matches!(set.load(), Err(SetError::Damaged(_))));
        }
        // Whole pages in another order are no set either.
        let pages: Vec<_> = good.chunks(PAGE).collect();
        let mut set = open(&[pages[0], pages[3], pages[2], pages[1]].concat()).expect("a set");
        assert!(set.load().is_err());
    }
}
