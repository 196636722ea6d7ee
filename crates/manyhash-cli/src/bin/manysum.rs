//! manysum
fn main() {}
