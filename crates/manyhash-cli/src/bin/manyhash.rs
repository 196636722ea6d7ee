//! manyhash
fn main() {}
