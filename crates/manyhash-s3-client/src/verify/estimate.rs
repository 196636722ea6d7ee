//! What a comparison costs, before it is made.

use super::Settings;
use super::entry::{Entry, Place};
use super::merge::{Merge, Pair};
use super::outcome::{Check, State};
use super::plan::{Next, What};
use super::planner::Planner;
use super::side::{Side, SideError};
use crate::remote::Remote;

/// What a comparison asks for, at least: what follows from answers, such as the size of the last part where something
/// differs, is not known before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Estimate {
    /// Names that both sides have.
    pub pairs: u64,
    /// Names that one side has.
    pub alone: u64,
    /// Pages of lists. They were asked for already.
    pub lists: u64,
    /// Requests of HeadObject.
    pub heads: u64,
    /// Requests of GetObjectAttributes.
    pub attributes: u64,
    /// Requests of GetObject.
    pub downloads: u64,
    /// Bytes of them.
    pub downloaded_bytes: u64,
    /// Local files to be read.
    pub files: u64,
    /// Bytes of them.
    pub file_bytes: u64,
    /// Names that are decided by lists alone.
    pub free: u64,
    /// Names that nothing can decide as it is now.
    pub unverified: u64,
}

/// Tells what a comparison would ask for, from lists alone.
///
/// # Errors
/// Returns an error if a side cannot be listed.
pub async fn estimate<R: Remote>(sides: [Side<R>; 2], settings: Settings) -> Result<Estimate, SideError> {
    let planner = Planner::new(&[sides[0].remote(), sides[1].remote()], settings.download);
    let mut merge = Merge::new(sides);
    let mut estimate = Estimate::default();
    while let Some(pair) = merge.next().await? {
        match pair {
            Pair::Both(entries) => {
                planner.note(&entries);
                let is_remembered = |stamp| settings.remembered.as_ref().is_some_and(|remembered| remembered(&stamp));
                let next = if entries[0].pair_stamp(&entries[1]).is_some_and(is_remembered) {
                    Next::Same(Check::Remembered)
                } else {
                    planner.next(&[0, 1].map(|side| planner.evidence(side, &entries[side])))
                };
                estimate.add(&next, &entries);
            }
            Pair::Clear(outcome) => match outcome.state {
                State::Unverified(_) => estimate.unverified += 1,
                _ => estimate.alone += 1,
            },
        }
    }
    estimate.lists = merge.pages().iter().sum();
    Ok(estimate)
}

impl Estimate {
    fn add(&mut self, next: &Next, entries: &[Entry; 2]) {
        self.pairs += 1;
        let questions = match next {
            Next::Same(_) | Next::Differs(_) => {
                self.free += 1;
                return;
            }
            Next::Unverified(_) => {
                self.unverified += 1;
                return;
            }
            Next::Ask(questions) => questions,
        };
        // Whatever is asked first, a file is read in the end.
        for file in entries.iter().filter(|entry| matches!(entry.place, Place::File(_))) {
            self.files += 1;
            self.file_bytes += file.size().unwrap_or(0);
        }
        for question in questions {
            match question.what {
                What::Head | What::FirstPart | What::LastPart | What::Sizes => self.heads += 1,
                What::Attributes => self.attributes += 1,
                What::Download(_) => {
                    self.downloads += 1;
                    self.downloaded_bytes += entries[question.side].size().unwrap_or(0);
                }
                What::Compute(_) | What::Guess => {}
            }
        }
    }
}
