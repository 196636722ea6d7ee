//! A batch cut into tasks, and the cores' way through them.

use crate::short::GROUP;
use manyhash_core::prefetch;
use std::sync::{Mutex, PoisonError};

/// Messages that are neighbours, and the places of their digests.
struct Task<'a, O> {
    messages: &'a [&'a [u8]],
    output: &'a mut [O],
}

/// The tasks that no core has taken yet: long messages first, the longest first of all, then runs of shorter ones.
pub(super) struct Queue<'a, O> {
    tasks: Mutex<std::vec::IntoIter<Task<'a, O>>>,
}

/// How finely a batch is cut for each lane (long messages) and each core (runs). Lanes and cores end at about the same
/// time when the last pieces are small against the whole.
const PIECES: usize = 16;

/// Maximum number of messages in a run, so that what a core sorts at once stays in its cache.
const MAX_RUN: usize = 8192;

/// Messages from the one taken to the one whose first bytes are asked for.
const AHEAD: usize = 16;

/// Minimum number of bytes in a run, so that the lock on the queue stays rare.
const MIN_RUN_BYTES: usize = 64 << 10;

impl<'a, O> Queue<'a, O> {
    /// Cuts messages of so many bytes altogether for so many cores with so many lanes each. The slices are equally
    /// long.
    pub(super) fn new(messages: &'a [&'a [u8]], output: &'a mut [O], bytes: usize, cores: usize, lanes: usize) -> Self {
        let long = bytes / (cores * lanes) / PIECES;
        // One core alone sorts as much as it can at once.
        let run_bytes = if cores == 1 { usize::MAX } else { (bytes / cores / PIECES).max(MIN_RUN_BYTES) };
        let mut tasks: Vec<(usize, Task<O>)> = Vec::new();
        let mut rest = Task { messages, output };
        let mut run = (0, 0_usize);
        while run.0 < rest.messages.len() {
            let length = rest.messages[run.0].len();
            if length > long {
                tasks.extend(rest.split_off(run.0).map(|task| (0, task)));
                tasks.extend(rest.split_off(1).map(|task| (length, task)));
                run = (0, 0);
            } else {
                run = (run.0 + 1, run.1.saturating_add(length));
                if run.0 == MAX_RUN || run.1 >= run_bytes {
                    tasks.extend(rest.split_off(run.0).map(|task| (0, task)));
                    run = (0, 0);
                }
            }
        }
        tasks.extend(rest.split_off(run.0).map(|task| (0, task)));
        tasks.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        let tasks: Vec<_> = tasks.into_iter().map(|(_, task)| task).collect();
        Queue { tasks: Mutex::new(tasks.into_iter()) }
    }

    fn take(&self) -> Option<Task<'a, O>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}

impl<'a, O> Task<'a, O> {
    /// Takes the first `count` messages out of it; none of none.
    fn split_off(&mut self, count: usize) -> Option<Self> {
        let (messages, rest) = self.messages.split_at(count);
        self.messages = rest;
        let output = self.output.split_off_mut(..count)?;
        (count > 0).then_some(Task { messages, output })
    }
}

/// One core's way through the tasks: messages in the order that suits its lanes, digests to their places.
pub(super) struct Reader<'q, 'a, O> {
    queue: &'q Queue<'a, O>,
    /// The messages of the task in hand, and which of them are left, the longest last: they are taken from the end.
    messages: &'a [&'a [u8]],
    left: Vec<u32>,
    /// Maximum number of bytes in a short message. The order of these does not matter.
    short: usize,
    /// The output of every task taken so far.
    outputs: Vec<&'a mut [O]>,
}

/// Where a digest goes: which task of this core, which of its messages.
#[derive(Clone, Copy)]
pub(super) struct Place {
    task: u32,
    message: u32,
}

impl<'q, 'a, O> Reader<'q, 'a, O> {
    pub(super) fn new(queue: &'q Queue<'a, O>, short: usize) -> Self {
        Reader { queue, messages: &[], left: Vec::new(), short, outputs: Vec::new() }
    }

    /// The next message. When a task is taken, `hash` may write the digests of its first messages, a group at a time, and
    /// says whether it has; those come no more.
    pub(super) fn next(
        &mut self,
        mut hash: impl FnMut(&[&'a [u8]; GROUP], &mut [O]) -> bool,
    ) -> Option<(&'a [u8], Place)> {
        while self.left.is_empty() {
            self.take(&mut hash)?;
        }
        let message = self.left.pop()?;
        if let Some(later) = self.left.len().checked_sub(AHEAD).and_then(|i| self.left.get(i)) {
            prefetch(self.messages[*later as usize]);
        }
        Some((self.messages[message as usize], Place { task: self.outputs.len() as u32 - 1, message }))
    }

    /// Apart, as it is rare beside the way of each message.
    #[inline(never)]
    fn take(&mut self, mut hash: impl FnMut(&[&'a [u8]; GROUP], &mut [O]) -> bool) -> Option<()> {
        let task = self.queue.take()?;
        self.messages = task.messages;
        let groups = task.messages.as_chunks::<GROUP>().0.iter().zip(task.output.chunks_mut(GROUP));
        let mut hashed = 0;
        for (group, output) in groups {
            // The next ones come while these are hashed.
            task.messages[hashed + GROUP..].iter().take(GROUP).for_each(|later| prefetch(later));
            if !hash(group, output) {
                break;
            }
            hashed += GROUP;
        }
        self.outputs.push(task.output);
        let all = || (hashed as u32..task.messages.len() as u32).rev();
        let length = |message: &u32| task.messages[*message as usize].len();
        self.left.extend(all().filter(|message| length(message) <= self.short));
        let short = self.left.len();
        self.left.extend(all().filter(|message| length(message) > self.short));
        // Equal lengths, the usual case, are found in order at once.
        self.left[short..].sort_by_key(length);
        Some(())
    }

    pub(super) fn write(&mut self, place: Place, digest: O) {
        self.outputs[place.task as usize][place.message as usize] = digest;
    }
}
