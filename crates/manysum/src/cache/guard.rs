//! Panics of the database, as errors.
//!
//! Of a file that was changed from outside not everything is checked before it is read, and what makes no sense then is
//! a panic. It is the cache's end, and not the program's.

use super::error::CacheError;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside the database.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// What `work` returns, which may panic.
pub(super) fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, CacheError> {
    match caught(work) {
        Some(outcome) => outcome.map_err(|error| CacheError::of(path, error)),
        None => Err(CacheError::Damaged(path.to_owned(), "its pages contradict each other".to_owned())),
    }
}

/// A part of the database. One that has panicked may do so again when it is dropped.
pub(super) struct Careful<T>(Option<T>);

impl<T> Careful<T> {
    pub(super) fn new(part: T) -> Self {
        Careful(Some(part))
    }

    pub(super) fn get(&self) -> &T {
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl<T> Drop for Careful<T> {
    fn drop(&mut self) {
        let part = self.0.take();
        let _ = caught(|| drop(part));
    }
}

/// None if it panics. Nobody is told by the usual message, which would not name the file.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !INSIDE.get() {
                usual(panic);
            }
        }));
    });
    let outside = INSIDE.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(outside);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::{Careful, guarded};
    use std::path::Path;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("it went off");
        }
    }

    #[test]
    fn a_panic_is_an_error() {
        let error = guarded::<()>(Path::new("file"), || panic!("inside")).expect_err("it panics").to_string();
        assert!(error.starts_with("digest cache file: damaged"), "{error}");
        drop(Careful::new(Bomb));
        assert_eq!(guarded(Path::new("file"), || Ok(5)).expect("it does not"), 5);
    }
}
