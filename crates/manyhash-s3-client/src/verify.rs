//! Whether two sides hold the same bytes under the same names, found out with as few requests as can be.
//!
//! A side is a tree of files, a bucket, or a list of digests ([`Side`]). Both are walked in the order of the bytes of
//! their names, so that neither is ever held whole, and each name has an [`Outcome`]:
//!
//! - what both sides have is compared: by what their lists tell, or by what is asked of one object after another, the
//!   cheapest first (`plan.rs`);
//! - a local file is read for the strongest value that the other side has, once as a rule: again only if that value
//!   differs and may have been something else than it seemed;
//! - an object is downloaded only if [`Settings::download`] allows it and nothing else decides;
//! - what cannot be decided is [`State::Unverified`], and says why.
//!
//! # What proves what
//! Values that are equal prove that bytes are, as far as their function goes ([`Strength`]). Values that differ prove
//! that bytes do only if both are known to be of the same:
//!
//! - An ETag that looks like an MD5 may be none. A difference is believed after HeadObject has told that the object is
//!   not encrypted by a key of KMS or of the caller. The tags of directory buckets are never believed.
//! - ETags of parts, and composites, depend on where the object was cut. `HeadObject?partNumber=1` tells the first part's
//!   size; a difference is believed once the last part has the size that follows, or else with the sizes of all.
//! - CRCs of full objects, and of all parts in one upload, are of the bytes.
//!
//! What the uploader wrote into an object's metadata, such as rclone's `md5chksum`, is no proof: nothing compared it with
//! the bytes that arrived.
//!
//! Where a pair has nothing in common, a function is preferred that is cryptographic, then MD5 and SHA-1, then checksums
//! of 64 bits and more, then those of 32.
//!
//! # Changes
//! What is written while it is compared is looked at once more, and is unverified if it changed again. Each request must
//! tell of the entity tag that was listed, and a download is bound to it.

mod claim;
mod download;
mod entry;
mod estimate;
mod evidence;
mod files;
mod function;
mod judge;
mod local_files;
mod merge;
mod outcome;
mod plan;
mod planner;
mod side;
#[cfg(test)]
pub(crate) mod tests;

use crate::remote::Remote;
pub use claim::{Claim, Form, Layout, Origin};
pub use entry::{Entry, PairStamp};
pub use estimate::{Estimate, estimate};
pub use files::{Computed, Files};
pub use function::{Function, Strength};
use futures_core::Stream;
use futures_util::stream::{self, StreamExt};
use judge::Judge;
pub use local_files::{DigestCache, LocalFiles};
use merge::{Merge, Pair};
pub use outcome::{Check, Difference, Outcome, State, Unverified};
pub use plan::Value;
pub use side::{Lines, Side, SideError};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
#[cfg(feature = "http")]
pub(crate) use {download::Hashing, function::value, side::files as walk};

/// How sides are compared.
#[non_exhaustive]
pub struct Settings {
    /// Whether objects may be downloaded if nothing else decides. It is off by default.
    pub download: bool,
    /// Names that are compared at a time. The default is 1,000: a page of a list, so that the next one is asked for
    /// meanwhile.
    pub at_once: NonZeroUsize,
    /// Tells which pairs were found to be the same before, so that nothing is asked or read for them.
    pub remembered: Option<Remembered>,
}

/// Whether a pair with this stamp was found to be the same.
pub type Remembered = Box<dyn Fn(&PairStamp) -> bool + Send + Sync>;

impl Default for Settings {
    fn default() -> Self {
        Settings { download: false, at_once: NonZeroUsize::new(1000).unwrap_or(NonZeroUsize::MIN), remembered: None }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { download, at_once, remembered: _ } = self;
        f.debug_struct("Settings").field("download", download).field("at_once", at_once).finish_non_exhaustive()
    }
}

/// Compares two sides, and returns what comes of each name, in the order of names.
///
/// Nothing is done but while the stream is polled. It ends after an error, which is one of a whole side: what comes after
/// it is not known.
pub fn verify<R: Remote, F: Files>(
    sides: [Side<R>; 2],
    files: F,
    settings: Settings,
) -> impl Stream<Item = Result<Outcome, SideError>> {
    let at_once = settings.at_once.get();
    let judge = Arc::new(Judge::new([sides[0].remote(), sides[1].remote()], files, settings));
    let pairs = stream::unfold(Merge::new(sides), |mut merge| async {
        let pair = merge.next().await.transpose()?;
        Some((pair, merge))
    });
    let judged = pairs.map(move |pair| {
        let judge = judge.clone();
        if let Ok(Pair::Both(entries)) = &pair {
            judge.planner().note(entries);
        }
        async move {
            match pair? {
                Pair::Both(entries) => Ok(judge.judge(*entries).await),
                Pair::Clear(outcome) => Ok(outcome),
            }
        }
    });
    judged.buffered(at_once)
}

/// Whether a bucket is a directory bucket, of S3 Express One Zone: its lists have no order, and its tags are no MD5s.
pub(crate) fn is_directory_bucket(remote: &impl Remote) -> bool {
    remote.bucket().ends_with("--x-s3")
}
