//! The server from outside: requests over sockets, and what is visible after them.
#![cfg(unix)]

mod client;
mod faults;
mod listening;
mod multipart;
mod objects;
mod rights;
mod soak;
