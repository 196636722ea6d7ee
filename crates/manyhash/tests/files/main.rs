//! Files: one program, which is linked once.

mod changing;
#[path = "../common/mod.rs"]
mod common;
mod digest;
