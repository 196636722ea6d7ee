//! The line on standard error that tools of S3 show how far they are in.

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget};
use manysum::progress::{When, style};
use std::io::{self, IsTerminal};

/// Redraws a second at most.
const RATE: u8 = 10;

/// The line, if it is shown at such times. It counts up to a length, if there is one.
pub(super) fn bar(when: When, length: Option<u64>, template: &str) -> Option<ProgressBar> {
    let target = match when {
        When::Never => return None,
        When::Auto if !io::stderr().is_terminal() => return None,
        When::Auto => ProgressDrawTarget::stderr_with_hz(RATE),
        // indicatif draws on terminals only, unless it is told that something is like one.
        When::Always => ProgressDrawTarget::term_like_with_hz(Box::new(Term::stderr()), RATE),
    };
    let bar = ProgressBar::with_draw_target(length, target);
    bar.set_style(style(template));
    Some(bar)
}
