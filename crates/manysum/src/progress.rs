//! How far a program has come with its files, in a line on standard error that is gone when it is done.

use crate::quote::quote;
use ::console::Term;
use clap::ValueEnum;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use manyhash::file::{Files, Source};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// Between two looks at how far it is. What takes no longer than that shows nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// Columns that figures, a bar and the beginning of a name have room in.
pub const WIDE: u16 = 80;

/// Redraws a second at most.
const RATE: u8 = 10;

/// When progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum When {
    /// Only if standard error is a terminal
    Auto,
    /// Even if standard error is not a terminal
    Always,
    /// Do not show it
    Never,
}

/// What is shown while files are read, if anything is.
pub struct Progress {
    shared: Option<Arc<ShownProgress>>,
}

struct ShownProgress {
    bar: ProgressBar,
    /// Bytes that were hashed.
    bytes: AtomicU64,
    /// The names of the files that were begun, from the first that is not done.
    begun: Mutex<VecDeque<Vec<u8>>>,
}

impl Progress {
    /// What is shown at such times.
    pub fn new(when: When) -> Self {
        let target = match when {
            When::Never => return Progress { shared: None },
            When::Auto if !io::stderr().is_terminal() => return Progress { shared: None },
            When::Auto => ProgressDrawTarget::stderr_with_hz(RATE),
            // indicatif draws on terminals only, unless it is told that something is like one.
            When::Always => ProgressDrawTarget::term_like_with_hz(Box::new(Term::stderr()), RATE),
        };
        // It comes into sight with the first look at it, not with the first line that it would have to make room for.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let shared = Arc::new(ShownProgress { bar, bytes: AtomicU64::new(0), begun: Mutex::default() });
        let watched = Arc::downgrade(&shared);
        // Without the thread nothing is shown, and all else goes on.
        let _ = thread::Builder::new().name("progress".into()).spawn(move || watch(&watched, target));
        Progress { shared: Some(shared) }
    }

    /// Whether anything is shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.shared.is_some()
    }

    /// The line, for whoever writes others to the same terminal.
    pub fn bar(&self) -> Option<ProgressBar> {
        self.shared.as_ref().map(|shared| shared.bar.clone())
    }

    /// Does something while the line is off the terminal.
    pub fn aside(&self, act: impl FnOnce()) {
        match &self.shared {
            Some(shared) => shared.bar.suspend(act),
            None => act(),
        }
    }

    /// Says how many bytes there are in all, once `find` has found out: it runs beside all else.
    pub(crate) fn find_total(&self, find: impl FnOnce() -> Option<u64> + Send + 'static) {
        let Some(shared) = self.shared.as_ref().map(Arc::downgrade) else { return };
        let found = move || {
            if let (Some(total), Some(shared)) = (find(), shared.upgrade()) {
                shared.set_total(total);
            }
        };
        // Without the thread the total remains unknown.
        let _ = thread::Builder::new().name("total".into()).spawn(found);
    }

    /// Says how many bytes there are in all.
    pub fn set_total(&self, bytes: u64) {
        if let Some(shared) = &self.shared {
            shared.set_total(bytes);
        }
    }

    /// What hashes files, their bytes counted here.
    pub fn count<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        match &self.shared {
            Some(shared) => files.counter(&shared.bytes),
            None => files,
        }
    }

    /// Says that a file was begun.
    pub fn begin(&self, name: &[u8]) {
        if let Some(shared) = &self.shared {
            shared.begun().push_back(name.to_vec());
        }
    }

    /// Says that the first of the files that were begun is done.
    pub fn done(&self) {
        if let Some(shared) = &self.shared {
            shared.begun().pop_front();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.bar.finish_and_clear();
        }
    }
}

impl ShownProgress {
    fn begun(&self) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_total(&self, bytes: u64) {
        self.bar.set_length(bytes);
    }

    /// Shows how far it is, in no more than so many columns.
    fn show(&self, columns: u16) {
        let name = self.begun().front().map(|name| String::from_utf8_lossy(&quote(name)).into_owned());
        let name = name.unwrap_or_default();
        let bytes = self.bytes.load(Ordering::Relaxed);
        let (template, message) = match self.bar.length() {
            None if columns >= WIDE => ("{bytes}, {bytes_per_sec}: {wide_msg}", name),
            Some(_) if columns >= WIDE => ("{bytes} of {total_bytes} {bar:20} {bytes_per_sec}{left}: {wide_msg}", name),
            // Only a message is cut to what there is room for.
            None => ("{wide_msg}", format!("{}: {name}", HumanBytes(bytes))),
            Some(total) => ("{wide_msg}", format!("{} of {}: {name}", HumanBytes(bytes), HumanBytes(total))),
        };
        self.bar.set_style(style(template));
        self.bar.set_message(message);
        self.bar.set_position(bytes);
        self.bar.tick();
    }
}

/// Shows how far it is, until it is done.
fn watch(shared: &Weak<ShownProgress>, target: ProgressDrawTarget) {
    let mut target = Some(target);
    loop {
        thread::sleep(INTERVAL);
        let Some(shared) = shared.upgrade().filter(|shared| !shared.bar.is_finished()) else { return };
        if let Some(target) = target.take() {
            shared.bar.set_draw_target(target);
        }
        shared.show(columns());
    }
}

/// Columns of the terminal.
pub fn columns() -> u16 {
    Term::stderr().size().1
}

/// What a template looks like, with `{left}` for the time that it will take from now on.
pub fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("left", |state: &ProgressState, text: &mut dyn fmt::Write| {
        // Before the first byte nobody knows.
        if state.pos() > 0 && !state.eta().is_zero() {
            let _ = write!(text, ", {:#} left", HumanDuration(state.eta()));
        }
    })
}

/// The bytes in all of these, if they can be known before they are read.
pub fn total(sources: impl Iterator<Item = Source>) -> Option<u64> {
    let mut total = 0;
    for source in sources {
        match source {
            Source::Path(path) => match std::fs::metadata(path) {
                Ok(there) if there.is_file() => total += there.len(),
                // A directory is an error, as is what is not there, and nothing is read of either.
                Ok(there) if !there.is_dir() => return None,
                Ok(_) | Err(_) => {}
            },
            Source::Stdin => return None,
            Source::Failed(_) | Source::Known(_) => {}
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("file");
        std::fs::write(&file, "abc").expect("a file");
        let path = |path: &std::path::Path| Source::Path(path.to_owned());
        let sources = [path(&file), path(directory.path()), path(&directory.path().join("gone")), path(&file)];
        assert_eq!(total(sources.into_iter()), Some(6));
        assert_eq!(total([path(&file), Source::Stdin].into_iter()), None);
        #[cfg(unix)]
        assert_eq!(total([path("/dev/null".as_ref())].into_iter()), None);
    }

    #[test]
    fn the_file_shown_is_the_first_that_is_not_done() {
        let progress = Progress {
            shared: Some(Arc::new(ShownProgress {
                bar: ProgressBar::hidden(),
                bytes: AtomicU64::new(7),
                begun: Mutex::default(),
            })),
        };
        let shared = progress.shared.as_ref().expect("it is there");
        progress.begin(b"a\n");
        progress.begin(b"b");
        shared.show(WIDE);
        assert_eq!((shared.bar.message().as_str(), shared.bar.position()), (r"'a'$'\n'", 7));
        progress.done();
        shared.show(WIDE);
        assert_eq!(shared.bar.message(), "b");
        shared.show(WIDE - 1);
        assert_eq!(shared.bar.message(), "7 B: b");
        shared.set_total(2048);
        shared.show(20);
        assert_eq!(shared.bar.message(), "7 B of 2.00 KiB: b");
    }
}
