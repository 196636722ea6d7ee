//! Open files: each connection is one, and the system limits them.
//!
//! The soft limit is low for the sake of old programs that use `select`, which this one does not; so it is raised to the
//! hard limit, as systemd's and Go's authors advise. Source: <https://0pointer.net/blog/file-descriptor-limits.html>

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a connection has open at once: its socket, and the file that a body is written to or read from.
const PER_CONNECTION: u64 = 2;

/// What else is open: 256 segments, 64 connections to the live page, the index, listeners, what the runtime has, and some
/// to spare.
const OTHERS: u64 = 400;

/// Raises the limit of open files as far as this process may, and returns it.
pub(super) fn raise_limit() -> u64 {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // A system may refuse what it calls the limit. Then the limit stays as it is.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// How many connections can be held with so many open files, about.
pub(super) fn held(limit: u64) -> usize {
    usize::try_from(limit.saturating_sub(OTHERS) / PER_CONNECTION).unwrap_or(usize::MAX).max(1)
}

/// What to say if so many connections cannot be held with so many open files.
pub(super) fn warning(connections: usize, limit: u64) -> Option<String> {
    let needed = (connections as u64).saturating_mul(PER_CONNECTION).saturating_add(OTHERS);
    let held = held(limit);
    (limit < needed).then(|| {
        format!(
            "at most {limit} files can be open, which is enough for about {held} connections and not for {connections}: \
             raise the limit with `ulimit -n {needed}` before, or set --connections to {held}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{raise_limit, warning};

    #[test]
    fn what_cannot_be_held_is_said() {
        assert_eq!(warning(10_000, 20_400), None);
        assert_eq!(warning(usize::MAX, u64::MAX), None);
        let said = warning(10_000, 4096).expect("it is too much");
        assert_eq!(
            said,
            "at most 4096 files can be open, which is enough for about 1848 connections and not for 10000: raise the \
             limit with `ulimit -n 20400` before, or set --connections to 1848"
        );
        assert_eq!(warning(1848, 4096), None);
        assert!(warning(1849, 4096).is_some());
        assert!(warning(1, 20).is_some_and(|said| said.ends_with("--connections to 1")));
    }

    #[test]
    fn the_limit_is_raised_to_the_hard_one() {
        use rustix::process::{Resource, getrlimit};
        let limit = raise_limit();
        assert_eq!(getrlimit(Resource::Nofile).maximum, Some(limit));
    }
}
