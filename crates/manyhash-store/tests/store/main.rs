//! The store from outside: on a real directory, and on a disk that fails and loses power.
#![cfg(unix)]

mod basics;
mod check;
mod concurrent;
mod dedupe;
mod driver;
mod faults;
mod heal;
mod listing;
mod model;
mod multipart;
mod power;
mod sim;
mod support;
