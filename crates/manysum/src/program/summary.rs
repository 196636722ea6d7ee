//! What came of all files that were checked, in a line.

use crate::figures::{count, scaled};
use std::time::{Duration, Instant};

/// Counts files, and says so.
pub(super) struct Summary {
    started: Instant,
    bytes: u64,
    matched: usize,
    failed: usize,
    missing: usize,
    unreadable: usize,
}

/// What came of a file, in all its lines.
#[derive(Clone, Copy)]
pub(super) enum FileOutcome {
    /// It was read, and is as listed.
    Matched,
    Failed,
    Missing,
    Unreadable,
}

impl Summary {
    pub(super) fn start() -> Self {
        Summary { started: Instant::now(), bytes: 0, matched: 0, failed: 0, missing: 0, unreadable: 0 }
    }

    /// Counts a file, of which so many bytes were read.
    pub(super) fn add(&mut self, outcome: FileOutcome, bytes: u64) {
        self.bytes += bytes;
        *match outcome {
            FileOutcome::Matched => &mut self.matched,
            FileOutcome::Failed => &mut self.failed,
            FileOutcome::Missing => &mut self.missing,
            FileOutcome::Unreadable => &mut self.unreadable,
        } += 1;
    }

    /// The line, if there is more to it than one file's own line says.
    pub(super) fn line(&self) -> Option<String> {
        let files = self.matched + self.failed + self.missing + self.unreadable;
        (files > 1).then(|| self.text(files, self.started.elapsed()))
    }

    fn text(&self, files: usize, time: Duration) -> String {
        let counts = [(self.matched, "ok"), (self.failed, "failed"), (self.missing, "missing")];
        let counts = counts.into_iter().chain([(self.unreadable, "unreadable")]);
        let counts: Vec<_> =
            counts.filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        // A clock may not have moved on meanwhile.
        let rate = self.bytes as f64 / time.as_secs_f64().max(1e-9);
        format!(
            "{}, {}: {}; {}, {}/s",
            count(files, "file"),
            bytes(self.bytes as f64),
            counts.join(", "),
            scaled(time.as_secs_f64(), [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")]),
            bytes(rate)
        )
    }
}

/// A number of bytes, as people read it.
fn bytes(bytes: f64) -> String {
    match bytes {
        ..1024.0 => format!("{bytes:.0} B"),
        bytes => scaled(bytes, [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB")]),
    }
}
