//! The memory of the chunks: a fixed number of buffers, which go round between the producers and who hashes them.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All buffers. Each is written once before anything is measured, so that the system has given its memory.
pub(super) struct Buffers {
    /// As many permits as there are buffers in `free`.
    permits: Arc<Semaphore>,
    free: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// A buffer in use. It goes back when this is dropped, which is how who hashes it says that it is done with it.
pub(super) struct Chunk {
    bytes: Vec<u8>,
    length: usize,
    home: Arc<Mutex<Vec<Vec<u8>>>>,
    /// Given back after the buffer is: fields are dropped last.
    _permit: OwnedSemaphorePermit,
}

impl Buffers {
    pub(super) fn new(number: usize, length: usize) -> Self {
        let free = (0..number).map(|_| vec![0xaa; length]).collect();
        Buffers { permits: Arc::new(Semaphore::new(number)), free: Arc::new(Mutex::new(free)) }
    }

    /// A free buffer for so many bytes, and whether one had to be waited for. Who waits longest is served first.
    pub(super) async fn take(&self, length: usize) -> (Chunk, bool) {
        let (permit, waited) = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => (permit, false),
            Err(_) => (Arc::clone(&self.permits).acquire_owned().await.expect("it is never closed"), true),
        };
        let buffer = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = buffer.expect("there are no more permits than buffers");
        (Chunk { bytes, length, home: Arc::clone(&self.free), _permit: permit }, waited)
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl AsMut<[u8]> for Chunk {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.home.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }
}
