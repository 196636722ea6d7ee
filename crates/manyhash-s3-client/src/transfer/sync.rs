//! What is to be done so that a bucket has what a tree has.

use crate::remote::Remote;
use crate::verify::{Check, Difference, Files, Outcome, Settings, Side, SideError, State, Unverified, verify};
use futures_core::Stream;
use futures_util::stream::StreamExt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is to be done about one name.
#[derive(Debug)]
#[non_exhaustive]
pub enum Action {
    /// Nothing: both sides were found to have the same bytes.
    Nothing(Check),
    /// The file is to be uploaded.
    Upload {
        /// The file.
        path: PathBuf,
        /// Bytes.
        size: Option<u64>,
        /// Why.
        reason: Reason,
    },
    /// The object has no file any more.
    Delete {
        /// Bytes.
        size: Option<u64>,
    },
    /// It cannot be told what is to be done, since one of the sides cannot be read.
    Undecided(Unverified),
}

/// Why a file is to be uploaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// There is no object.
    Missing,
    /// The object has other bytes.
    Differs(Difference),
    /// Nothing proves that the object has the same bytes.
    Unverified(Unverified),
}

/// Tells for each name, in the order of names, what is to be done so that the objects of a bucket below a prefix are the
/// files of a tree.
///
/// Whether a file is to be uploaded is decided by [`verify`], by digests and never by sizes and times alone. Nothing is
/// done but while the stream is polled. Names that come later are not affected by what is done about one that came.
///
/// If there is any error or [`Action::Undecided`], what seems to be without a file may have one: delete nothing then.
pub fn actions<R: Remote, F: Files>(
    root: PathBuf,
    remote: Arc<R>,
    prefix: String,
    files: F,
) -> impl Stream<Item = Result<(Vec<u8>, Action), SideError>> {
    let sides = [Side::Tree(root.clone()), Side::Bucket { remote, prefix }];
    verify(sides, files, Settings::default()).map(move |outcome| {
        let Outcome { name, size, state, .. } = outcome?;
        let action = action(&root, &name, size, state);
        Ok((name, action))
    })
}

fn action(root: &Path, name: &[u8], size: Option<u64>, state: State) -> Action {
    let reason = match state {
        State::Same(check) => return Action::Nothing(check),
        State::Extra => return Action::Delete { size },
        State::Missing => Reason::Missing,
        State::Differs(difference) => Reason::Differs(difference),
        // To upload it again because the service did not answer would hide that.
        State::Unverified(why @ (Unverified::Remote(_) | Unverified::File { .. } | Unverified::Unreadable(_))) => {
            return Action::Undecided(why);
        }
        State::Unverified(why) => Reason::Unverified(why),
    };
    match str::from_utf8(name) {
        // What differs in size has that of the file first.
        Ok(name) => Action::Upload { path: root.join(name), size, reason },
        Err(_) => {
            let words = "its name is no UTF-8, which keys are: rename it";
            Action::Undecided(Unverified::Unreadable(io::Error::new(io::ErrorKind::InvalidData, words)))
        }
    }
}
