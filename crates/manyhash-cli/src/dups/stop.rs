//! Interruptions, which wait until what is on its way is settled.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether the program was told to stop, by Ctrl-C or `kill`; by default it is not asked.
#[derive(Default)]
pub(super) struct Stop {
    /// The signal; none is 0.
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// From now on, a signal to stop does not end the program, but is known here.
    pub(super) fn on_signals() -> io::Result<Self> {
        let stop = Stop::default();
        // Not a hang-up, which `nohup` has the program ignore.
        #[cfg(unix)]
        for number in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_usize(number, Arc::clone(&stop.signal), number.cast_unsigned() as usize)?;
        }
        Ok(stop)
    }

    pub(super) fn is_requested(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// An error if it was.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.is_requested() { Err(io::Error::other("interrupted; skipped")) } else { Ok(()) }
    }

    /// Ends the program as the signal would have, if there was one.
    pub(super) fn obey(self) -> io::Result<()> {
        #[cfg(unix)]
        if let Ok(signal @ 1..) = i32::try_from(self.signal.load(Ordering::Relaxed)) {
            signal_hook::low_level::emulate_default_handler(signal)?;
        }
        Ok(())
    }
}
