//! The memory that parts are read into: so much, whatever the number of files.
//!
//! A buffer that is sent or hashed is somebody's until the last of its owners drops it, and is then used again: memory
//! that the system gives anew costs as much as a checksum of it.

use bytes::Bytes;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes in a unit of what is counted.
const UNIT: usize = 4 << 10;

/// Buffers that are used again have this many bytes at least.
const REUSED: usize = 1 << 20;

/// Room for buffers.
#[derive(Debug)]
pub(super) struct Memory {
    room: Arc<Semaphore>,
    units: u32,
    idle: Mutex<Vec<Vec<u8>>>,
}

/// A buffer, whose room is free again when it is dropped.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    memory: Arc<Memory>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub(super) fn new(bytes: u64) -> Arc<Memory> {
        let units = usize::try_from(bytes / UNIT as u64).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        Arc::new(Memory { room: Arc::new(Semaphore::new(units as usize)), units, idle: Mutex::default() })
    }

    /// Waits for room, and returns a buffer of so many bytes. One that is larger than all room has all of it.
    pub(super) async fn take(self: &Arc<Self>, bytes: usize) -> Buffer {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).clamp(1, self.units);
        // Never closed, so there is always a permit in the end.
        let permit = self.room.clone().acquire_many_owned(units).await.ok();
        let bytes = match self.reuse(bytes) {
            Some(mut idle) => {
                idle.resize(bytes, 0);
                idle
            }
            // The system has zeros.
            None => vec![0; bytes],
        };
        Buffer { bytes, memory: self.clone(), _permit: permit }
    }

    /// Takes an idle buffer with room for so many bytes and not much more, if there is one. Those that are left must fit in
    /// the room that is free, so that all memory together is no more than was asked for.
    fn reuse(&self, bytes: usize) -> Option<Vec<u8>> {
        let mut idle = self.idle();
        let fits = |buffer: &Vec<u8>| bytes >= REUSED && (bytes..=bytes.saturating_mul(2)).contains(&buffer.capacity());
        let fitting = idle.iter().rposition(fits).map(|at| idle.swap_remove(at));
        let free = self.room.available_permits().saturating_mul(UNIT);
        while idle.iter().map(Vec::capacity).sum::<usize>() > free {
            idle.pop();
        }
        fitting
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffer {
    pub(super) fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Leaves out what follows so many bytes.
    pub(super) fn truncate(&mut self, bytes: usize) {
        self.bytes.truncate(bytes);
    }

    pub(super) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.bytes.capacity() >= REUSED {
            let bytes = std::mem::take(&mut self.bytes);
            self.memory.idle().push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn there_is_so_much() {
        let memory = Memory::new(4 << 20);
        let first = memory.take(2 << 20).await.freeze();
        let clone = first.slice(5..10);
        let second = memory.take(2 << 20).await;
        assert!(tokio::time::timeout(Duration::from_millis(20), memory.take(1)).await.is_err());
        drop(first);
        assert!(tokio::time::timeout(Duration::from_millis(20), memory.take(1)).await.is_err());
        drop(clone);
        assert_eq!(memory.idle().len(), 1);
        // It is used again, for a little less too, and whoever wants more than there is gets it when all is there.
        let mut third = memory.take((2 << 20) - 7).await;
        assert_eq!((memory.idle().len(), third.as_ref().len()), (0, (2 << 20) - 7));
        third.as_mut()[0] = 1;
        third.truncate(1);
        assert_eq!(&third.freeze()[..], [1]);
        assert!(tokio::time::timeout(Duration::from_millis(20), memory.take(5 << 20)).await.is_err());
        drop(second);
        let all = memory.take(5 << 20).await;
        assert_eq!((all.as_ref().len(), memory.idle().len()), (5 << 20, 0));
    }
}
