//! Whether this thread is in callers' code that the engine has called.
//!
//! The code of a buffer may use the engine it is being hashed by. As long as that needs nobody else, all is well; but a
//! thread that waits there for another job keeps those it has in hand from being finished, and may be the only one that
//! could finish the other. So whoever would wait there gets an error instead.

use super::sync::thread_local;
use std::cell::Cell;

thread_local! {
    static CODE: Cell<Code> = const { Cell::new(Code { buffers: 0, all: 0 }) };
}

/// How deep it is in such code.
#[derive(Clone, Copy)]
struct Code {
    /// In that of buffers, where jobs are in hand.
    buffers: u32,
    /// Wakers included.
    all: u32,
}

/// Runs a buffer's code.
pub(super) fn of_buffer<T>(code: impl FnOnce() -> T) -> T {
    within(1, code)
}

/// Runs a waker's code, which may be a runtime that polls at once what it wakes.
pub(super) fn of_waker<T>(code: impl FnOnce() -> T) -> T {
    within(0, code)
}

fn within<T>(buffers: u32, code: impl FnOnce() -> T) -> T {
    /// Also if the code panics.
    struct Back(Code);
    impl Drop for Back {
        fn drop(&mut self) {
            CODE.with(|code| code.set(self.0));
        }
    }
    let before = CODE.with(Cell::get);
    let _back = Back(before);
    CODE.with(|code| code.set(Code { buffers: before.buffers + buffers, all: before.all + 1 }));
    code()
}

/// Whether a future must not be pending here, as nothing else would go on before it is done.
pub(super) fn is_in_buffer() -> bool {
    CODE.with(Cell::get).buffers > 0
}

/// Whether the thread must not sleep here.
pub(super) fn is_inside() -> bool {
    CODE.with(Cell::get).all > 0
}
