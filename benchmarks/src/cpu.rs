//! The CPU time of this process.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use std::time::Duration;

/// What all threads of this process, those that ended too, have used so far, in user mode and in the system's.
pub(crate) fn time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("every process can ask for its own usage");
    duration(usage.user_time()) + duration(usage.system_time())
}

fn duration(time: TimeVal) -> Duration {
    Duration::new(time.tv_sec() as u64, 1000 * time.tv_usec() as u32)
}

#[cfg(test)]
mod tests {
    use super::time;
    use std::time::{Duration, Instant};

    #[test]
    fn the_threads_of_a_process_add_up() {
        let work = || {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(50) {}
        };
        let before = time();
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
        // However few cores there are, and whatever else they do, some of this was spent.
        assert!(time() - before >= Duration::from_millis(20));
    }
}
