//! The operations of S3 that the client knows, and how often each was asked for.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The table of operations: a variant, its name, and the right that it needs.
macro_rules! operations {
    ($($(#[$about:meta])* $variant:ident, $right:literal;)*) => {
        /// An operation of S3, which is also what it charges for by kind.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Operation {
            $($(#[$about])* $variant,)*
        }

        impl Operation {
            /// Every operation.
            pub const ALL: &'static [Operation] = &[$(Operation::$variant),*];

            /// Returns the name, such as `GetObject`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Operation::$variant => stringify!($variant),)*
                }
            }

            /// Returns the right that whoever signs the request needs, such as `s3:GetObject`.
            pub const fn right(self) -> &'static str {
                match self {
                    $(Operation::$variant => $right,)*
                }
            }
        }
    };
}

operations! {
    /// A page of a list of objects.
    ListObjectsV2, "s3:ListBucket";
    /// What is known of an object, without its bytes.
    HeadObject, "s3:GetObject";
    /// An object's checksum and parts.
    GetObjectAttributes, "s3:GetObject and s3:GetObjectAttributes";
    /// An object's bytes.
    GetObject, "s3:GetObject";
    /// An object in one upload.
    PutObject, "s3:PutObject";
    /// The beginning of an upload in parts.
    CreateMultipartUpload, "s3:PutObject";
    /// A part.
    UploadPart, "s3:PutObject";
    /// The end of an upload in parts, at which the object becomes visible.
    CompleteMultipartUpload, "s3:PutObject";
    /// The end of an upload in parts without an object.
    AbortMultipartUpload, "s3:AbortMultipartUpload";
    /// The end of up to 1,000 objects.
    DeleteObjects, "s3:DeleteObject";
    /// A page of the parts of an upload.
    ListParts, "s3:ListMultipartUploadParts";
    /// A page of the uploads that have not ended.
    ListMultipartUploads, "s3:ListBucketMultipartUploads";
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How many requests were sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// The requests of each operation that was asked for at all, further attempts included.
    pub requests: Vec<(Operation, u64)>,
    /// Attempts after the first, all operations together.
    pub retries: u64,
}

impl Counts {
    /// Returns the number of requests of one operation.
    pub fn of(&self, operation: Operation) -> u64 {
        self.requests.iter().find(|(counted, _)| *counted == operation).map_or(0, |(_, count)| *count)
    }

    /// Returns the number of all requests.
    pub fn total(&self) -> u64 {
        self.requests.iter().map(|(_, count)| count).sum()
    }
}

/// [`Counts`] while they grow.
#[derive(Debug)]
pub(super) struct Counters {
    requests: Vec<AtomicU64>,
    retries: AtomicU64,
}

impl Counters {
    pub(super) fn new() -> Counters {
        Counters { requests: Operation::ALL.iter().map(|_| AtomicU64::new(0)).collect(), retries: AtomicU64::new(0) }
    }

    pub(super) fn add(&self, operation: Operation, is_again: bool) {
        if let Some(count) = self.requests.get(operation as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if is_again {
            self.retries.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self) -> Counts {
        let counted = self.requests.iter().map(|count| count.load(Ordering::Relaxed));
        let requests = Operation::ALL.iter().copied().zip(counted).filter(|(_, count)| *count > 0).collect();
        Counts { requests, retries: self.retries.load(Ordering::Relaxed) }
    }
}
