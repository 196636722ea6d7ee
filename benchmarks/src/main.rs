//! benchmarks
fn main() {}
