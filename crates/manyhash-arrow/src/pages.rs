//! Memory for digests: zeros, in huge pages where there is much of it. A column's digests are several times as long as its
//! values, and to get them page by page from the system takes longer than to hash.

use crate::ArrayError;

/// Zeros for so many digests of so many bytes each.
///
/// # Errors
/// [`ArrayError::Memory`]. An array without values (of nulls, of no bytes) can claim any number of rows.
pub(crate) fn zeros(rows: usize, width: usize) -> Result<Vec<u8>, ArrayError> {
    let bytes = rows.checked_mul(width).ok_or(ArrayError::Memory { rows })?;
    // `vec!` takes zeros from the system without writing them, but ends the process if there are none. So it is tried out.
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| ArrayError::Memory { rows })?;
    Ok(fresh(vec![0; bytes]))
}

/// Advises the system about memory that nothing was written to yet.
pub(crate) fn fresh<T>(memory: Vec<T>) -> Vec<T> {
    #[cfg(target_os = "linux")]
    advise(memory.as_ptr().addr(), memory.capacity() * size_of::<T>());
    memory
}

/// Bytes from which on it is worth asking.
#[cfg(target_os = "linux")]
const MUCH: usize = 4 << 20;

#[cfg(target_os = "linux")]
fn advise(start: usize, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    use rustix::param::page_size;

    if bytes >= MUCH {
        let (first, end) = (start.next_multiple_of(page_size()), (start + bytes) / page_size() * page_size());
        // SAFETY: these are whole pages inside one allocation, as `MUCH` is longer than two of them, and this advice changes
        // nothing of what they hold. A system without huge pages refuses it, and does as before.
        let _ = unsafe { madvise(std::ptr::without_provenance_mut(first), end - first, Advice::LinuxHugepage) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_there_and_that_is_not() {
        for rows in [0, 1, 1000, (4 << 20) / 16, 1 << 20] {
            let zeros = zeros(rows, 16).expect("there is memory");
            assert_eq!(zeros.len(), rows * 16);
            assert!(zeros.iter().all(|byte| *byte == 0));
        }
        for rows in [usize::MAX, usize::MAX / 16, usize::MAX / 32] {
            assert!(matches!(zeros(rows, 16), Err(ArrayError::Memory { .. })));
        }
    }
}
