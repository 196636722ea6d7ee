//! Lists of checksums: the formats that are read, and those that are written.
//!
//! | format | a line | a name cannot |
//! | --- | --- | --- |
//! | GNU coreutils | `HEX  NAME`, `HEX *NAME` | |
//! | BSD, `cksum -a`, `openssl dgst` | `SHA256 (NAME) = HEX` | |
//! | BSD reversed | `HEX NAME` | begin with a space or an asterisk |
//! | md5deep and its siblings | `HEX  NAME`; after its size with `-z`, and with commas with `-c` | hold a newline |
//! | rclone | `HEX  NAME`, also in base64 | hold a newline |
//! | `cksum` | `CRC SIZE NAME` | hold a newline |
//! | hashdeep | `SIZE,HEX,HEX,NAME`, as the list's header says | hold a newline |
//! | SFV | `NAME HEX`, of CRC-32; `;` begins a comment | hold a newline, or end in a carriage return |
//! | BagIt (RFC 8493) | `HEX  NAME`, escaped as `%0A`, `%0D` and `%25` | begin with a space or a tab |
//! | JSON | an object, as `manysum --json` prints it | |
//!
//! Which it is, is found out so:
//! 1. A list named `manifest-ALGORITHM.txt` or `tagmanifest-ALGORITHM.txt` is that of a bag, and its names are below the
//!    directory that it is in. One whose name ends in `.sfv` is SFV. Nothing in such a list can make it anything else.
//! 2. A list whose first line is `%%%% HASHDEEP-1.0` is hashdeep's, to its end. Where CRC-32 was asked for, one whose
//!    first line is a comment of SFV, or is of SFV and of nothing else, is SFV to its end.
//! 3. In any other, each line is what it looks like: JSON if it begins with a brace, BSD's if it begins with the name
//!    of a function and a parenthesis, that of `cksum` if it begins with two decimal numbers, and else one that begins
//!    with digits, where the first line decides whether there are one or two separators before names.
//!
//! Whose digests they are is said by the header, the tag or the JSON object. Bare digits are of the function that was
//! asked for, else of the one that the list is named after, as `bare.rs` has it; else they are guessed to be of the one
//! with lanes here whose digests have that length: 64 digits are of SHA-256. If one was asked for, digests of others do
//! not count, and a line without any of it is improperly formatted.
//!
//! Lines may end in CRLF, those of hashdeep if the first one does; digits may be in upper case. The tools of coreutils
//! read the first three formats only, as [`mod@line`] has it.

pub mod bagit;
pub mod bare;
pub(crate) mod cksum;
pub mod hashdeep;
pub mod json;
pub mod kept;
pub mod line;
pub mod read;
mod sfv;
pub mod style;
mod wide;
pub mod write;

use line::Dialect;
use manyhash::{Digest, HashFunction};
use std::ffi::OsStr;

/// What a list says of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name as it is listed, with no escapes in it.
    pub name: Vec<u8>,
    /// Its bytes, where the list says so.
    pub size: Option<u64>,
    /// The digest of each function: of one at least, in a list that was read.
    pub digests: Vec<(HashFunction, Digest)>,
}

/// Which lines of lists are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepted {
    /// Those that a tool of coreutils reads, for this function.
    Tool(HashFunction, Dialect),
    /// Those of all formats, with digests of this function.
    Only(HashFunction),
    /// Those of all formats, with digests of whichever functions.
    Any,
}

impl Accepted {
    /// Whether digests of this function are.
    pub fn takes(self, function: HashFunction) -> bool {
        match self {
            Accepted::Only(only) => only == function,
            // A tool reads no more than it takes.
            Accepted::Tool(..) | Accepted::Any => true,
        }
    }

    /// Whether a tool of coreutils is to be like.
    pub(crate) fn is_tool(self) -> bool {
        matches!(self, Accepted::Tool(..))
    }

    /// Whether all formats are.
    fn is_wide(self) -> bool {
        !self.is_tool()
    }
}

/// Reads lines that are not of a format of their own. It goes from list to list, as the first line decides for all.
#[derive(Clone, Debug)]
pub struct Parser {
    accepted: Accepted,
    lines: Lines,
}

#[derive(Clone, Debug)]
enum Lines {
    Tool(line::Parser),
    Wide(wide::Parser),
}

impl Parser {
    /// Of lines of which these are accepted.
    pub fn new(accepted: Accepted) -> Self {
        let lines = match accepted {
            Accepted::Tool(function, dialect) => Lines::Tool(line::Parser::new(function, dialect)),
            Accepted::Only(function) => Lines::Wide(wide::Parser::new(Some(function))),
            Accepted::Any => Lines::Wide(wide::Parser::new(None)),
        };
        Parser { accepted, lines }
    }

    /// What a line says; none if it is improperly formatted.
    fn parse(&mut self, line: &[u8]) -> Option<Entry> {
        match &mut self.lines {
            Lines::Tool(parser) => parser.parse(line),
            Lines::Wide(parser) => parser.parse(line),
        }
    }

    /// A list of this name begins.
    fn begin(&mut self, list: &OsStr) {
        if let Lines::Wide(parser) = &mut self.lines {
            parser.begin(list);
        }
    }

    /// Whether the function of the last line is a guess by the number of its digits.
    fn is_guess(&self) -> bool {
        matches!(&self.lines, Lines::Wide(parser) if parser.is_guess())
    }

    /// The function that lines are of now, if they are of one.
    fn function(&self) -> Option<HashFunction> {
        match (&self.lines, self.accepted) {
            (Lines::Tool(parser), _) => Some(parser.function()),
            (_, Accepted::Only(function)) => Some(function),
            _ => None,
        }
    }
}

/// The digest of this function that these digits are; none if they are not, or too few or many.
fn digest(function: HashFunction, hex: &[u8]) -> Option<Digest> {
    // `from_hex` would take any even number.
    Digest::from_hex(hex).ok().filter(|_| hex.len() == 2 * function.digest_bytes())
}

/// The digits that a line begins with, and the rest of it.
fn split_hex(line: &[u8]) -> (&[u8], &[u8]) {
    line.split_at(line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count())
}
