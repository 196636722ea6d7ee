//! Memory for results: asked for in huge pages where there is much of it. A column's digests are several times as long as
//! its values, and to get them page by page from the system takes longer than to hash.

/// Bytes from which on it is worth asking.
#[cfg(target_os = "linux")]
const MUCH: usize = 4 << 20;

/// Advises the system about memory that has not been used yet.
pub(crate) fn fresh<T>(memory: Vec<T>) -> Vec<T> {
    #[cfg(target_os = "linux")]
    advise(memory.as_ptr().addr(), memory.capacity() * size_of::<T>());
    memory
}

#[cfg(target_os = "linux")]
fn advise(start: usize, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    use rustix::param::page_size;

    let (first, end) = (start.next_multiple_of(page_size()), (start + bytes) / page_size() * page_size());
    if bytes >= MUCH {
        // SAFETY: these are whole pages inside the caller's memory, and the advice changes nothing of what is in them.
        // A system without huge pages refuses it, and does as before.
        let _ = unsafe { madvise(std::ptr::without_provenance_mut(first), end - first, Advice::LinuxHugepage) };
    }
}
