//! How long this thread has hashed for tasks without letting others of its runtime go first.
//!
//! A task whose futures are always done at the first look never goes back to its runtime, and nothing else on its thread
//! gets a turn: no timer, no socket, and no other caller whose message could share lanes with this one. So after a
//! quarter of a millisecond's hashing a future says that it is pending, has itself woken at once, and goes on when it is
//! looked at again.

use super::sync::thread_local;
use std::cell::Cell;
use std::task::Context;
use std::time::{Duration, Instant};

/// Maximum number of seconds for which a thread hashes before others go first.
const MOST: f64 = 250e-6;

/// The same where it is dear: a runtime with an idle thread wakes that for it, and has it for its other tasks.
const MOST_IF_DEAR: f64 = 4.0 * MOST;

/// What it takes to wake a thread in vain, about. What takes less did not; where it takes longer, others had their turn.
const WAKING: std::ops::Range<Duration> = Duration::from_micros(4)..Duration::from_micros(25);

#[derive(Clone, Copy)]
struct Stretch {
    /// Seconds hashed since others went first.
    hashed: f64,
    most: f64,
}

thread_local! {
    static STRETCH: Cell<Stretch> = const { Cell::new(Stretch { hashed: 0.0, most: MOST }) };
}

/// Whether this thread may hash for so many seconds more before others go first. What takes long by itself is begun
/// when they just have.
pub(super) fn fits(seconds: f64) -> bool {
    let stretch = STRETCH.with(Cell::get);
    stretch.hashed == 0.0 || stretch.hashed + seconds <= stretch.most
}

/// This thread has hashed for so many seconds.
pub(super) fn add(seconds: f64) {
    let stretch = STRETCH.with(Cell::get);
    STRETCH.with(|own| own.set(Stretch { hashed: stretch.hashed + seconds, ..stretch }));
}

/// While others of this thread go first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Others {
    since: Instant,
    /// How often the runtime has come back.
    rounds: u32,
}

/// A runtime that comes back sooner than this had nobody else to look at.
const AT_ONCE: Duration = Duration::from_micros(1);

/// Rounds after which a runtime has looked at its timers and sockets too: tokio does after 61, where nothing but this is
/// there to be looked at.
const ROUNDS: u32 = 64;

/// Rounds after one that came back at once.
const MANY: Duration = Duration::from_micros(20);

impl Others {
    /// They do from now on; then the task is to be woken.
    pub(super) fn go_first() -> Self {
        Others { since: Instant::now(), rounds: 0 }
    }

    /// The runtime is back: whether it is to come once more. If not, this thread may hash again.
    pub(super) fn go_on(&mut self, context: &Context) -> bool {
        self.rounds += 1;
        let is_first = self.rounds == 1;
        if is_first || self.rounds.is_multiple_of(8) {
            let time = self.since.elapsed();
            if self.rounds >= ROUNDS || time > if is_first { AT_ONCE } else { MANY } {
                let most = if is_first && WAKING.contains(&time) { MOST_IF_DEAR } else { MOST };
                STRETCH.with(|own| own.set(Stretch { hashed: 0.0, most }));
                return false;
            }
        }
        context.waker().wake_by_ref();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, Others, ROUNDS, add, fits};
    use std::task::{Context, Waker};

    #[test]
    fn others_go_first_after_a_while() {
        let context = Context::from_waker(Waker::noop());
        assert!(fits(1.0), "what is long is begun at some time");
        add(100e-6);
        assert!(fits(100e-6) && !fits(1.0));
        add(400e-6);
        assert!(!fits(10e-6));
        let mut others = Others::go_first();
        std::thread::sleep(AT_ONCE * 2);
        assert!(!others.go_on(&context), "others had their turn");
        assert!(fits(10e-6));
    }

    #[test]
    fn a_runtime_with_nothing_else_comes_to_its_timers() {
        let context = Context::from_waker(Waker::noop());
        // Interrupted, it may have been somebody else's turn.
        let is_long = (0..100).any(|_| {
            let mut others = Others::go_first();
            (1..).find(|_| !others.go_on(&context)) == Some(ROUNDS)
        });
        assert!(is_long);
    }
}
