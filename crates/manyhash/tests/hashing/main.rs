//! Messages, streams and columns to digests, and what is built on them: one program, which is linked once.

mod batch;
mod column;
#[path = "../common/mod.rs"]
mod common;
mod digests;
mod functions;
mod hashers;
mod hmac;
mod merkle;
mod no_threads;
mod packed;
mod pbkdf2;
mod typed;
