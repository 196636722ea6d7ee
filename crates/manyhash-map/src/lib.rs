//! Files mapped into memory in windows that survive the file's truncation. Linux only; elsewhere the crate is empty.
//!
//! It is a part of the crate `manyhash`, apart because it needs `unsafe`. Use it through `manyhash::file`: nothing here is
//! stable.
//!
//! Touching a page that a mapping promises and its file no longer has, or that cannot be read, raises `SIGBUS`, which ends
//! the process. [`Guard::install`] installs a handler for that signal: it maps zeros over the rest of the window that was
//! touched, the window is not [whole](Window::is_whole) from then on, and the thread goes on. A handler is the whole
//! process's, so the program decides about it, by an `unsafe` call; without a guard there are no windows, and only an
//! `unsafe` call gives a window's bytes.
#![cfg(target_os = "linux")]

mod guard;
mod table;
mod windows;

pub use guard::Guard;
pub use windows::Window;
