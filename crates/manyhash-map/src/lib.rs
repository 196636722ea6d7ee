//! Maps files into memory in windows that survive the file's truncation. Linux only; elsewhere the crate is empty.
//!
//! This is a part of the crate `manyhash`, separate because it needs `unsafe`. Use it through `manyhash::file`: nothing
//! here is stable.
//!
//! Touching a mapped page that the file no longer has, or that cannot be read, raises `SIGBUS`, which ends the process.
//! [`Guard::install`] installs a handler for that signal. The handler maps zeros over the rest of the window from that
//! page on, and the thread continues. The window is not [whole](Window::is_whole) from then on.
//!
//! A handler affects the whole process, so the program decides whether to install it, with an `unsafe` call. Without a
//! guard there are no windows, and only an `unsafe` call gives a window's bytes.
#![cfg(target_os = "linux")]

mod guard;
mod table;
mod windows;

pub use guard::Guard;
pub use windows::Window;
