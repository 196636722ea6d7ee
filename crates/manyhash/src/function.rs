//! Functions of messages by their names: the algorithms with lanes, and, with the feature `others`, functions of other
//! crates beside them.

#[cfg(feature = "others")]
mod others;

use crate::stream::{FamilyRows, finalize_many, update_messages};
use crate::{Algorithm, Digest, Stream, UnknownAlgorithmError};
#[cfg(feature = "others")]
pub use others::{Blake2bLength, Other};
use std::fmt;
use std::str::FromStr;

/// What is computed of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Function {
    /// An algorithm that hashes many messages at once.
    Lanes(Algorithm),
    /// A function of another crate, one message after another.
    #[cfg(feature = "others")]
    Other(Other),
}

impl Function {
    /// Bytes in a digest.
    pub fn digest_bytes(self) -> usize {
        match self {
            Function::Lanes(algorithm) => algorithm.digest_bytes(),
            #[cfg(feature = "others")]
            Function::Other(other) => other.digest_bytes(),
        }
    }
}

impl From<Algorithm> for Function {
    fn from(algorithm: Algorithm) -> Self {
        Function::Lanes(algorithm)
    }
}

#[cfg(feature = "others")]
impl From<Other> for Function {
    fn from(other: Other) -> Self {
        Function::Other(other)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Function::Lanes(algorithm) => algorithm.fmt(f),
            #[cfg(feature = "others")]
            Function::Other(other) => other.fmt(f),
        }
    }
}

/// A name that is no function's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownFunction;

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        UnknownAlgorithmError.fmt(f)?;
        #[cfg(feature = "others")]
        for name in Other::NAMES {
            write!(f, ", {name}")?;
        }
        #[cfg(feature = "others")]
        write!(f, ", blake2b-BITS with a multiple of 8 up to 512")?;
        Ok(())
    }
}

impl std::error::Error for UnknownFunction {}

impl FromStr for Function {
    type Err = UnknownFunction;

    /// Takes the spellings in use, in upper or lower case.
    fn from_str(name: &str) -> Result<Self, UnknownFunction> {
        let lanes = name.parse().map(Function::Lanes);
        #[cfg(feature = "others")]
        let lanes = lanes.or_else(|_| name.parse().map(Function::Other));
        lanes.map_err(|_| UnknownFunction)
    }
}

/// What some functions have computed of one message so far.
pub(crate) struct Hashes {
    streams: Vec<Stream>,
    #[cfg(feature = "others")]
    others: Vec<Box<dyn others::Running>>,
}

impl Hashes {
    pub(crate) fn new(functions: &[Function]) -> Self {
        let mut hashes = Hashes {
            streams: Vec::new(),
            #[cfg(feature = "others")]
            others: Vec::new(),
        };
        for function in functions {
            match function {
                Function::Lanes(algorithm) => hashes.streams.push(Stream::new(*algorithm)),
                #[cfg(feature = "others")]
                Function::Other(other) => hashes.others.push(other.start()),
            }
        }
        hashes
    }

    /// Messages go on with these bytes, side by side where functions have lanes.
    pub(crate) fn update_many<'a>(messages: impl Iterator<Item = (&'a mut Hashes, &'a [u8])>) {
        let mut streams = Vec::new();
        for (hashes, bytes) in messages {
            #[cfg(feature = "others")]
            hashes.others.iter_mut().for_each(|other| other.update(bytes));
            streams.push((&mut hashes.streams[..], bytes));
        }
        update_messages(&mut streams, &FamilyRows::default());
    }

    /// The digests of each message that ends, in the order of the functions that [`new`](Self::new) was given.
    pub(crate) fn finalize_many(functions: &[Function], messages: Vec<Hashes>) -> Vec<Vec<Digest>> {
        let streams: Vec<&Stream> = messages.iter().flat_map(|hashes| &hashes.streams).collect();
        let mut digests = finalize_many(&streams, &FamilyRows::default()).into_iter();
        let of_message = |message: Hashes| {
            #[cfg(feature = "others")]
            let mut others = message.others.into_iter().map(|other| other.finalize());
            #[cfg(not(feature = "others"))]
            drop(message);
            // There is one of each for each of its functions.
            let digest = |function: &Function| match function {
                Function::Lanes(_) => digests.next(),
                #[cfg(feature = "others")]
                Function::Other(_) => others.next(),
            };
            functions.iter().filter_map(digest).collect()
        };
        messages.into_iter().map(of_message).collect()
    }
}

/// One message, as it comes.
impl std::io::Write for Hashes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Hashes::update_many(std::iter::once((self, bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
