//! What is asked next, with what was learned from other names.

use super::entry::Entry;
use super::evidence::Evidence;
use super::is_directory_bucket;
use super::plan::{Hint, Next, next};
use crate::remote::Remote;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is the same for all names of a comparison.
pub(super) struct Planner {
    tags_are_opaque: [bool; 2],
    download: bool,
    pub(super) hints: [Hints; 2],
}

/// What was learned of a side. It changes the order of questions only, so that it does not matter who sees it when.
#[derive(Default)]
pub(super) struct Hints {
    pub(super) opaque_tags: AtomicBool,
    pub(super) no_part_numbers: AtomicBool,
    pub(super) no_attributes: AtomicBool,
    lists_algorithms: AtomicBool,
}

impl Hints {
    fn now(&self) -> Hint {
        let is = |hint: &AtomicBool| hint.load(Ordering::Relaxed);
        Hint {
            opaque_tags: is(&self.opaque_tags),
            no_part_numbers: is(&self.no_part_numbers),
            no_attributes: is(&self.no_attributes),
            lists_algorithms: is(&self.lists_algorithms),
        }
    }
}

impl Planner {
    pub(super) fn new<R: Remote>(remotes: &[Option<Arc<R>>; 2], download: bool) -> Planner {
        let is_opaque = |remote: &Option<Arc<R>>| remote.as_deref().is_some_and(is_directory_bucket);
        Planner {
            tags_are_opaque: [is_opaque(&remotes[0]), is_opaque(&remotes[1])],
            download,
            hints: Default::default(),
        }
    }

    /// Takes note of what entries tell of their sides.
    pub(super) fn note(&self, entries: &[Entry; 2]) {
        for (entry, hints) in entries.iter().zip(&self.hints) {
            if !entry.algorithms.is_empty() {
                hints.lists_algorithms.store(true, Ordering::Relaxed);
            }
        }
    }

    /// What an entry of a side says.
    pub(super) fn evidence(&self, side: usize, entry: &Entry) -> Evidence {
        Evidence::new(entry, self.tags_are_opaque[side])
    }

    /// What to do.
    pub(super) fn next(&self, evidence: &[Evidence; 2]) -> Next {
        let [a, b] = evidence;
        next([a, b], [self.hints[0].now(), self.hints[1].now()], self.download)
    }
}
