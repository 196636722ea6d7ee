//! A set as a file: pages of 4096 bytes, each with a checksum, so that a damaged one is not taken for an answer.
//!
//! The first page is the header, whose numbers are little-endian:
//!
//! | bytes | |
//! | --- | --- |
//! | 0..24 | `manyhash known set`, a newline, zeros |
//! | 24..28 | the version of this form, 1 |
//! | 28..32 | bytes in a digest |
//! | 32..40 | digests |
//! | 40..48 | pages after this one |
//! | 64..128 | the name of the function, and zeros |
//!
//! Each page after it has 63 lines; after the last line of the set, that line again. Where a digest is follows from the
//! number of digests and their length, so a change of `layout` would be another version. The last 8 bytes of every page are
//! XXH3 of those before them, with the number of the page as its seed.

use super::layout::{LINE, Layout, Line, Lines, Sorted};
use manyhash::HashFunction;
use std::io::{self, Read};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes in a page.
pub(super) const PAGE: usize = 4096;

/// Lines in a page.
pub(super) const LINES: usize = PAGE / LINE - 1;

const MAGIC: &[u8; 24] = b"manyhash known set\n\0\0\0\0\0";
const VERSION: u32 = 1;

/// Bytes of a page before its checksum.
const CHECKED: usize = PAGE - 8;

/// Bytes of the name of a function.
const NAME: usize = 64;

pub(super) type Page = [u8; PAGE];

/// Why a file gives no answers.
#[derive(Debug, Error)]
pub(super) enum SetError {
    /// It cannot be read.
    #[error("{}", manysum::console::reason(.0))]
    Read(#[from] io::Error),
    /// It is something else.
    #[error("not a set of known digests; build one with `manyhash known build`")]
    NotASet,
    /// Another version of the program made it.
    #[error("set of format {0}, but only format {VERSION} is supported; build it again")]
    Version(u32),
    /// It has other bytes than were written.
    #[error("damaged in the 4096 bytes at offset {0}; build it again")]
    Damaged(u64),
    /// It has more or fewer pages than its header says.
    #[error("has {found} bytes instead of {expected}; build it again")]
    Length {
        /// Bytes that it has.
        found: u64,
        /// Bytes by its header.
        expected: u64,
    },
    /// Its header says what no set has.
    #[error("set with an invalid header; build it again")]
    Header,
}

/// What the first page says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) function: HashFunction,
    /// Digests.
    pub(super) count: u64,
    /// By their number.
    pub(super) layout: Layout,
    /// Pages after it.
    pub(super) pages: u64,
}

impl Header {
    fn page(&self) -> Page {
        let mut page = [0; PAGE];
        page[..24].copy_from_slice(MAGIC);
        page[24..28].copy_from_slice(&VERSION.to_le_bytes());
        page[28..32].copy_from_slice(&(self.layout.width as u32).to_le_bytes());
        page[32..40].copy_from_slice(&self.count.to_le_bytes());
        page[40..48].copy_from_slice(&self.pages.to_le_bytes());
        let name = self.function.to_string();
        page[64..][..name.len()].copy_from_slice(name.as_bytes());
        seal(page, 0)
    }

    /// Reads the first page of a file of so many bytes.
    pub(super) fn read(page: &Page, length: u64) -> Result<Self, SetError> {
        if page[..24] != *MAGIC {
            return Err(SetError::NotASet);
        }
        let number = |at: usize| page[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (version, width) = (number(24) as u32, (number(24) >> 32) as usize);
        if version != VERSION {
            return Err(SetError::Version(version));
        }
        check(page, 0)?;
        let name = page[64..64 + NAME].split(|&byte| byte == 0).next().unwrap_or_default();
        let function = str::from_utf8(name).ok().and_then(|name| name.parse::<HashFunction>().ok());
        let function = function.filter(|function| function.digest_bytes() == width).ok_or(SetError::Header)?;
        let header = Header { function, layout: Layout::new(width, number(32)), count: number(32), pages: number(40) };
        let expected = header.pages.saturating_add(1).saturating_mul(PAGE as u64);
        if length != expected {
            return Err(SetError::Length { found: length, expected });
        }
        Ok(header)
    }
}

/// The page with its checksum.
pub(super) fn seal(mut page: Page, number: u64) -> Page {
    let checksum = xxh3_64_with_seed(&page[..CHECKED], number);
    page[CHECKED..].copy_from_slice(&checksum.to_le_bytes());
    page
}

/// Whether a page is as it was written.
pub(super) fn check(page: &Page, number: u64) -> Result<(), SetError> {
    let checksum = xxh3_64_with_seed(&page[..CHECKED], number);
    let right = page[CHECKED..] == checksum.to_le_bytes();
    if right { Ok(()) } else { Err(SetError::Damaged(number.saturating_mul(PAGE as u64))) }
}

/// The lines of a page.
pub(super) fn lines(page: &Page) -> &[[u8; LINE]] {
    &page.as_chunks().0[..LINES]
}

/// A file's pages, to be read one after another.
pub(super) struct Writer<'a> {
    lines: Lines<'a>,
    /// The last line so far.
    line: [u8; LINE],
    page: Page,
    number: u64,
    /// Bytes of the page that were read.
    read: usize,
}

impl<'a> Writer<'a> {
    /// The file of a set of digests that are a function's.
    pub(super) fn new(function: HashFunction, digests: Sorted<'a>) -> Self {
        let layout = Layout::new(function.digest_bytes(), digests.len() as u64);
        let lines = layout.lines(digests);
        // How many lines there are is known when all were laid out: it is quicker to do that twice than to keep them.
        let pages = lines.clone().count().div_ceil(LINES) as u64;
        let header = Header { function, count: digests.len() as u64, layout, pages };
        Writer { lines, line: [0; LINE], page: header.page(), number: 0, read: 0 }
    }

    /// The lines of the next page; none after the last.
    fn next(&mut self) -> Option<Page> {
        let mut page = [0; PAGE];
        for (i, place) in page.as_chunks_mut().0.iter_mut().take(LINES).enumerate() {
            match self.lines.next() {
                Some(Line(line)) => self.line = line,
                None if i == 0 => return None,
                None => {}
            }
            *place = self.line;
        }
        Some(page)
    }
}

impl Read for Writer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == PAGE {
            let Some(page) = self.next() else { return Ok(0) };
            self.number += 1;
            self.page = seal(page, self.number);
            self.read = 0;
        }
        let read = (&self.page[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}
