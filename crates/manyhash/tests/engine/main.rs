//! The engine: one program, which is linked once.

mod bound;
#[path = "../common/mod.rs"]
mod common;
mod engines;
mod messages;
mod prometheus;
mod properties;
mod runtimes;
mod soak;
mod turns;
