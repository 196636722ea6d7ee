//! Files mapped into memory in windows that survive the file's truncation. Linux only; elsewhere the crate is empty.
//!
//! A page that a mapping promises and its file has no more, or that cannot be read, raises `SIGBUS` where it is touched,
//! which ends the process. [`Guard::install`] puts a handler for that signal in place: it maps zeros over the rest of
//! the window that was touched, the window knows from then on that it is not [whole](Window::is_whole), and the
//! thread goes on. A handler is the whole process's, so a program installs it, and hands the guard to the library that
//! maps.
#![cfg(target_os = "linux")]

mod guard;
mod table;
mod windows;

pub use guard::Guard;
pub use windows::Window;
