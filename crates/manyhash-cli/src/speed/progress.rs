//! What is being done, on a terminal, while it is done.

use std::io::{self, IsTerminal, Write};

/// A line on standard error, gone when this is dropped. Nothing where standard error is no terminal.
pub(super) struct Progress {
    shown: usize,
}

impl Progress {
    pub(super) fn show(text: &str) -> Self {
        let mut stderr = io::stderr().lock();
        if !stderr.is_terminal() {
            return Progress { shown: 0 };
        }
        // Without progress the program is as good.
        let _ = write!(stderr, "\r{text}").and_then(|()| stderr.flush());
        Progress { shown: text.len() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown > 0 {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r{:1$}\r", "", self.shown).and_then(|()| stderr.flush());
        }
    }
}
