//! What is asked for, by whichever name the program was started.

use crate::cache::CacheOption;
use crate::lists::Accepted;
use crate::reading::Reading;
use crate::tree::Walk;
use crate::tree::names::FilesFrom;
use manyhash::HashFunction;
use std::ffi::OsString;
use std::path::PathBuf;
use thiserror::Error;

/// Everything that the arguments say.
pub(super) struct Settings {
    /// What is computed of each file that is printed.
    pub(super) functions: Vec<HashFunction>,
    pub(super) reading: Reading,
    pub(super) cache: CacheOption,
    pub(super) task: Task,
    /// The files as arguments, `-` for standard input.
    pub(super) files: Vec<OsString>,
    /// Or those that a file names.
    pub(super) files_from: Option<FilesFrom>,
    /// Whether lines are JSON.
    pub(super) json: bool,
    /// The file to write instead of standard output.
    pub(super) output: Option<PathBuf>,
    /// How directories are walked; without it, they are no files.
    pub(super) walk: Option<Walk>,
    /// Which lines of lists are read.
    pub(super) accepted: Accepted,
    /// Whether the vectors that are hashed with are named.
    pub(super) debug: bool,
}

/// What to do with the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Task {
    Print(Format),
    /// They are lists.
    Check(Policy),
}

/// How a line is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Format {
    /// As BSD's tools do: `SHA256 (NAME) = HEX`.
    pub(super) tag: bool,
    /// With the asterisk that says that the file was read as binary.
    pub(super) binary: bool,
    /// Ended by NUL, and then names need no escapes.
    pub(super) zero: bool,
    pub(super) encoding: Encoding,
}

/// How a digest is written.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    #[default]
    Hex,
    Base64,
    /// As a number, before the bytes of the file: of `cksum` only, and only a sum.
    Decimal,
    /// Its bytes, and nothing else on the line, which does not end.
    Raw,
}

/// What counts, and what is said, when lists are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Policy {
    /// A file that is missing does not count.
    pub(super) ignore_missing: bool,
    /// An improperly formatted line is a failure.
    pub(super) strict: bool,
    pub(super) report: Report,
}

/// What is said of the files and lines of a list. The option given last counts, as with coreutils.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum Report {
    /// Every file, and how many lines are improperly formatted.
    #[default]
    All,
    /// Every file, and every improperly formatted line.
    Warn,
    /// The files that are not as listed.
    Quiet,
    /// Only what could not be opened or read; the rest is in the exit status.
    Status,
}

/// The options of coreutils, as they were given.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) check: bool,
    /// The last of `--binary` and `--text`, if there was one; `--tag` is binary too.
    pub(super) binary: Option<bool>,
    pub(super) tag: bool,
    pub(super) zero: bool,
    pub(super) ignore_missing: bool,
    pub(super) strict: bool,
    pub(super) report: Report,
    /// Of digests that are printed.
    pub(super) encoding: Encoding,
}

/// Options that do not go together, in the words of coreutils 9.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(super) enum Conflict {
    #[error("--tag does not support --text mode")]
    TagWithText,
    #[error("the --zero option is not supported when verifying checksums")]
    ZeroWithCheck,
    #[error("the --tag option is meaningless when verifying checksums")]
    TagWithCheck,
    #[error("the --binary and --text options are meaningless when verifying checksums")]
    ModeWithCheck,
    #[error("the --{0} option is meaningful only when verifying checksums")]
    OnlyWithCheck(&'static str),
    /// Of coreutils 9.2 and later.
    #[error("--base64 and --raw are mutually exclusive")]
    Base64WithRaw,
    /// Of ours: coreutils' tools have one algorithm each.
    #[error("--check takes at most one --algorithm; name the one that the list uses, or none if the list names it")]
    SeveralWithCheck,
    #[error("lines of several algorithms need tags, which --binary and --text do not print; use --tag instead")]
    SeveralUntagged,
}

impl Options {
    /// What they ask for.
    ///
    /// # Errors
    /// If some do not go together: the conflict that coreutils would name first.
    pub(super) fn task(self) -> Result<Task, Conflict> {
        let Options { check, binary, tag, zero, ignore_missing, strict, report, encoding } = self;
        let only_with_check = match report {
            _ if check => None,
            _ if ignore_missing => Some("ignore-missing"),
            Report::Status => Some("status"),
            Report::Warn => Some("warn"),
            Report::Quiet => Some("quiet"),
            Report::All => strict.then_some("strict"),
        };
        if tag && binary == Some(false) {
            Err(Conflict::TagWithText)
        } else if zero && check {
            Err(Conflict::ZeroWithCheck)
        } else if tag && check {
            Err(Conflict::TagWithCheck)
        } else if binary.is_some() && check {
            Err(Conflict::ModeWithCheck)
        } else if let Some(option) = only_with_check {
            Err(Conflict::OnlyWithCheck(option))
        } else if check {
            Ok(Task::Check(Policy { ignore_missing, strict, report }))
        } else {
            Ok(Task::Print(Format { tag, binary: binary == Some(true), zero, encoding }))
        }
    }
}
