//! The tools of GNU coreutils that the program is when it is started under their names.

mod help;
mod options;

use super::getopt::{Argument, Getopt};
use super::settings::{Conflict, Encoding, Options, Settings};
use crate::cache::CacheOption;
use crate::lists::Accepted;
use crate::lists::cksum::{CRC32B, Family, is_legacy};
use crate::lists::line::Dialect;
use crate::reading::Reading;
use manyhash::{Algorithm, Blake2bLength, HashFunction};
use options::{Length, Meaning, Named};
use std::env;
use std::env::consts::EXE_SUFFIX;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A tool, such as `md5sum`.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Of one algorithm.
    Sum(Algorithm),
    B2sum,
    Cksum,
}

/// Why there is nothing to do.
pub(super) enum Stop {
    /// All that was asked for is this.
    Text(String),
    /// The arguments are wrong: the message on it, if there is one.
    Wrong(Option<Vec<u8>>),
    /// So are they here, by these messages, after which coreutils does not point at its help.
    Refused(Vec<Vec<u8>>),
}

impl From<Conflict> for Stop {
    fn from(conflict: Conflict) -> Self {
        Stop::Wrong(Some(conflict.to_string().into_bytes()))
    }
}

impl Stop {
    fn refused(message: &str) -> Self {
        Stop::Refused(vec![message.as_bytes().to_vec()])
    }
}

/// What the arguments of a tool say.
#[derive(Default)]
struct Asked {
    options: Options,
    /// If one was named.
    named: Option<Named>,
    length: Length,
    /// If `--tag` or `--untagged` was given, whether it was `--tag` last.
    tag: Option<bool>,
    base64: bool,
    raw: bool,
    debug: bool,
    files: Vec<OsString>,
}

impl Tool {
    /// Every tool.
    pub const ALL: &[Tool] = &[
        Tool { name: "md5sum", kind: Kind::Sum(Algorithm::Md5) },
        Tool { name: "sha1sum", kind: Kind::Sum(Algorithm::Sha1) },
        Tool { name: "sha224sum", kind: Kind::Sum(Algorithm::Sha224) },
        Tool { name: "sha256sum", kind: Kind::Sum(Algorithm::Sha256) },
        Tool { name: "sha384sum", kind: Kind::Sum(Algorithm::Sha384) },
        Tool { name: "sha512sum", kind: Kind::Sum(Algorithm::Sha512) },
        Tool { name: "b2sum", kind: Kind::B2sum },
        Tool { name: "cksum", kind: Kind::Cksum },
    ];

    /// The name that it is started under.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The tool that a program is which was started as `program`, a path; none if it is none of them.
    pub(super) fn started_as(program: &OsStr) -> Option<Tool> {
        let file = Path::new(program).file_name()?.to_str()?;
        let name = file.strip_suffix(EXE_SUFFIX).unwrap_or(file);
        Self::ALL.iter().copied().find(|tool| tool.name == name)
    }

    /// What the arguments ask of it.
    pub(super) fn settings(self, arguments: impl Iterator<Item = OsString>) -> Result<Settings, Stop> {
        let mut asked = self.read(arguments)?;
        let (function, dialect) = self.function(&asked)?;
        asked.options.encoding = match (asked.base64, asked.raw) {
            (true, true) => return Err(Conflict::Base64WithRaw.into()),
            (true, false) => Encoding::Base64,
            (false, true) => Encoding::Raw,
            (false, false) => Encoding::Hex,
        };
        let is_sum = is_legacy(function) || function == CRC32B;
        if is_sum && !asked.raw {
            asked.options.encoding = Encoding::Decimal;
        }
        asked.options.tag = match self.kind {
            // Of lists it takes the option for granted.
            Kind::Cksum => asked.tag != Some(false) && !asked.options.check && !is_sum,
            Kind::Sum(_) | Kind::B2sum => asked.tag == Some(true),
        };
        let task = asked.options.task()?;
        if asked.raw && asked.files.len() > 1 {
            return Err(Stop::refused("the --raw option is not supported with multiple files"));
        }
        Ok(Settings {
            functions: vec![function],
            reading: Reading::USUAL,
            cache: CacheOption::default(),
            task,
            files: asked.files,
            files_from: None,
            json: false,
            output: None,
            walk: None,
            accepted: Accepted::Tool(function, dialect),
            debug: asked.debug,
        })
    }

    /// What the arguments say, up to the first that is wrong.
    fn read(self, arguments: impl Iterator<Item = OsString>) -> Result<Asked, Stop> {
        let posix = env::var_os("POSIXLY_CORRECT").is_some();
        let mut asked = Asked::default();
        for argument in Getopt::new(&options::of(self.kind), arguments, posix) {
            let (meaning, argument) = match argument.map_err(|message| Stop::Wrong(Some(message)))? {
                Argument::Option(meaning, argument) => (meaning, argument),
                Argument::Operand(file) => {
                    asked.files.push(file);
                    continue;
                }
            };
            let options = &mut asked.options;
            match meaning {
                Meaning::Algorithm => asked.named = Some(options::algorithm(&argument)?),
                Meaning::Length => asked.length = Length::read(argument)?,
                Meaning::Check => options.check = true,
                Meaning::IgnoreMissing => options.ignore_missing = true,
                Meaning::Report(report) => options.report = report,
                Meaning::Strict => options.strict = true,
                Meaning::Zero => options.zero = true,
                Meaning::Binary(binary) => options.binary = Some(binary),
                Meaning::Tag => {
                    asked.tag = Some(true);
                    // Where lines have tags anyway, nothing else says what they are.
                    options.binary = if self.kind == Kind::Cksum { None } else { Some(true) };
                }
                Meaning::Untagged => asked.tag = Some(false),
                Meaning::Base64 => asked.base64 = true,
                Meaning::Raw => asked.raw = true,
                Meaning::Debug => asked.debug = true,
                Meaning::Refused => return Err(Stop::Wrong(None)),
                Meaning::Help => return Err(Stop::Text(self.help())),
                Meaning::Version => return Err(Stop::Text(self.version())),
            }
        }
        Ok(asked)
    }

    /// The function, and the tool that lists are read as by.
    fn function(self, asked: &Asked) -> Result<(HashFunction, Dialect), Stop> {
        let (function, dialect) = match (self.kind, asked.named) {
            (Kind::Sum(algorithm), _) => return Ok((algorithm.into(), Dialect::Sum)),
            (Kind::B2sum, _) => (HashFunction::Blake2b(Blake2bLength::MAX), Dialect::B2sum),
            (Kind::Cksum, Some(Named::Function(function))) => (function, Dialect::CksumOf),
            (Kind::Cksum, Some(Named::Family(family))) => return of_family(family, asked),
            (Kind::Cksum, None) => (HashFunction::Crc, Dialect::Cksum),
        };
        if let HashFunction::Blake2b(_) = function {
            let length = asked.length.of_blake2b()?;
            // Lines of a list have their own.
            let length = if asked.options.check { Blake2bLength::MAX } else { length };
            return Ok((HashFunction::Blake2b(length), dialect));
        }
        if asked.length.is_given() {
            return Err(Stop::refused("--length is only supported with --algorithm=blake2b"));
        }
        if asked.options.check && dialect == Dialect::CksumOf {
            if is_legacy(function) {
                return Err(Stop::refused("--check is not supported with --algorithm={bsd,sysv,crc}"));
            }
            if function == CRC32B {
                return Err(Stop::refused("--check is not supported with --algorithm={bsd,sysv,crc,crc32b}"));
            }
        }
        Ok((function, dialect))
    }

    fn version(self) -> String {
        format!("{} (manyhash) {}\n", self.name, env!("CARGO_PKG_VERSION"))
    }
}

/// The function of a family by its length, and the way that lists of it are read, where it need not be given.
fn of_family(family: Family, asked: &Asked) -> Result<(HashFunction, Dialect), Stop> {
    if asked.length.is_given() {
        return Ok((asked.length.of_family(family)?, Dialect::CksumOf));
    }
    if asked.options.check {
        // Which of them is said by each line.
        return Ok((family.functions()[0], Dialect::CksumFamily(family)));
    }
    let name = family.tag().to_ascii_lowercase();
    Err(Stop::refused(&format!("--algorithm={name} requires specifying --length 224, 256, 384, or 512")))
}

#[cfg(test)]
mod tests {
    use super::Tool;

    #[test]
    fn names() {
        let name = |program: &str| Tool::started_as(program.as_ref()).map(Tool::name);
        assert_eq!(name("md5sum"), Some("md5sum"));
        assert_eq!(name("./cksum"), Some("cksum"));
        assert_eq!(name("/usr/local/bin/sha512sum"), Some("sha512sum"));
        for other in ["manysum", "md5sum.old", "md5", "md5sum/manysum", ""] {
            assert_eq!(name(other), None, "{other:?}");
        }
    }
}
