//! The client from outside: against the server of this workspace, and against services that fail in every way.
#![cfg(all(unix, feature = "http"))]

mod bodies;
mod chain;
mod faults;
mod service;
mod setup;
mod transfer;
mod transfer_faults;
