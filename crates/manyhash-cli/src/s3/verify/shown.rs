//! How far a comparison has come, in a line on standard error that is gone when it is done.

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget};
use manysum::progress::{When, style};
use manysum::quote::quote;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Between two drawings.
const INTERVAL: Duration = Duration::from_millis(100);

/// Redraws a second at most.
const RATE: u8 = 10;

/// What is shown, if anything is.
pub(super) struct Shown(Option<ProgressBar>);

impl Shown {
    /// What is shown at such times.
    pub(super) fn new(when: When) -> Shown {
        let target = match when {
            When::Never => return Shown(None),
            When::Auto if !io::stderr().is_terminal() => return Shown(None),
            When::Auto => ProgressDrawTarget::stderr_with_hz(RATE),
            // indicatif draws on terminals only, unless it is told that something is like one.
            When::Always => ProgressDrawTarget::term_like_with_hz(Box::new(Term::stderr()), RATE),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{human_pos} names, {per_sec}: {wide_msg}"));
        bar.enable_steady_tick(INTERVAL);
        Shown(Some(bar))
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
