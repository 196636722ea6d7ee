//! How far a comparison has come, in a line on standard error that is gone when it is done.

use crate::s3::bar::bar;
use indicatif::ProgressBar;
use manysum::progress::When;
use manysum::quote::quote;
use std::time::Duration;

/// Between two drawings.
const INTERVAL: Duration = Duration::from_millis(100);

/// What is shown, if anything is.
pub(super) struct Shown(Option<ProgressBar>);

impl Shown {
    /// What is shown at such times.
    pub(super) fn new(when: When) -> Shown {
        let bar = bar(when, None, "{human_pos} names, {per_sec}: {wide_msg}");
        bar.iter().for_each(|bar| bar.enable_steady_tick(INTERVAL));
        Shown(bar)
    }

    /// The line, for whoever writes others to the same terminal.
    pub(super) fn bar(&self) -> Option<ProgressBar> {
        self.0.clone()
    }

    /// Says that a name is done.
    pub(super) fn done(&self, name: &[u8]) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
            // Names come by the thousand, and few are drawn.
            if bar.position().is_multiple_of(64) || bar.position() < 64 {
                bar.set_message(String::from_utf8_lossy(&quote(name)).into_owned());
            }
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
