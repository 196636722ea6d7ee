//! What comes of an object.

use super::claim::{Form, Origin};
use super::entry::PairStamp;
use std::fmt;

/// What came of one name.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The name below both roots.
    pub name: Vec<u8>,
    /// The size, where a side has it.
    pub size: Option<u64>,
    /// What was found.
    pub state: State,
    /// What the two were when they were listed, to be remembered. `None` if one of them could change unseen.
    pub stamp: Option<PairStamp>,
}

/// How two sides of a name are.
#[derive(Debug)]
#[non_exhaustive]
pub enum State {
    /// They have the same bytes.
    Same(Check),
    /// They have not.
    Differs(Difference),
    /// Only the first side has it.
    Missing,
    /// Only the second side has it.
    Extra,
    /// Nothing was proved.
    Unverified(Unverified),
}

/// What proved that two sides have the same bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Check {
    /// Neither has any.
    Empty,
    /// They were found to be so before, and neither has changed since.
    Remembered,
    /// A value.
    Value {
        /// What it is of.
        form: Form,
        /// Bytes of the parts that it is of, where they are of one size and it is known.
        part_bytes: Option<u64>,
        /// Where it is from, on each side.
        origins: [Origin; 2],
    },
}

/// What two sides differ in.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Difference {
    /// The number of bytes.
    Size([u64; 2]),
    /// A value.
    Value {
        /// What it is of.
        form: Form,
        /// Where it is from, on each side.
        origins: [Origin; 2],
    },
}

/// Why nothing was proved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unverified {
    /// There is no value that both sides have.
    #[error("the sides have no digest or checksum in common")]
    NothingInCommon,
    /// The other side has a value of the whole, and the object those of parts.
    #[error("the object was uploaded in parts, and has no checksum that the other side has")]
    InParts,
    /// The tag says nothing.
    #[error(
        "its ETag is no MD5, as it is encrypted or its bucket has none, and it has no checksum that the other side has"
    )]
    Encrypted,
    /// No size of parts gives the tag.
    #[error("the sizes of its parts are not known, and none of those that were tried gives its ETag")]
    UnknownParts,
    /// Values differ, but may not be of the same.
    #[error("the {} differ, but it cannot be told whether they are of the same parts, or the ETag an MD5", words(.0))]
    Doubtful(Form),
    /// Some values are equal, and others are not.
    #[error("some of its digests are equal and others are not: the bytes themselves must be compared")]
    Contradiction,
    /// The bytes were allowed to be downloaded, but cannot decide.
    #[error("the other side has only digests that are not computed while downloading")]
    NoFunction,
    /// One of the two was written while it was looked at, twice.
    #[error("it was written while it was compared, twice: compare again when it rests")]
    Changing,
    /// The service refused, or could not be reached.
    #[error(transparent)]
    Remote(crate::remote::RemoteError),
    /// A local file could not be read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A side could not be looked at here, as a directory that may not be read.
    #[error("{0}")]
    Unreadable(std::io::Error),
}

fn words(form: &Form) -> String {
    match form {
        Form::Whole(function) => format!("{function} values"),
        Form::Parts { algorithm, parts } => format!("{} values of {parts} parts", algorithm.lower_case_name()),
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Check::Empty => f.write_str("empty"),
            Check::Remembered => f.write_str("unchanged since it was compared"),
            Check::Value { form, part_bytes, .. } => {
                form.fmt(f)?;
                part_bytes.map_or(Ok(()), |bytes| write!(f, " of {bytes} bytes"))
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Size([one, other]) => write!(f, "size {one} and {other}"),
            Difference::Value { form, .. } => form.fmt(f),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Whole(function) => function.fmt(f),
            Form::Parts { algorithm, parts: 1 } => write!(f, "{} of 1 part", algorithm.lower_case_name()),
            Form::Parts { algorithm, parts } => write!(f, "{} of {parts} parts", algorithm.lower_case_name()),
        }
    }
}
