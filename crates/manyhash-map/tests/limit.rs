//! As many windows as there may be: in a process of its own, where no other test wants any.
#![cfg(target_os = "linux")]

use manyhash_map::Guard;
use std::io::Write;

const PAGE: usize = 1 << 16;

#[test]
fn windows_come_to_an_end() {
    // SAFETY: nothing else here handles the signal or maps this file.
    let guard = unsafe { Guard::install() }.expect("a handler");
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&[1; PAGE]).expect("it takes bytes");
    let windows: Vec<_> = std::iter::from_fn(|| guard.map(&file, 0, PAGE).ok()).take(10_000).collect();
    assert!((1000..10_000).contains(&windows.len()), "{}", windows.len());
    // SAFETY: nobody writes to the file.
    assert!(windows.iter().all(|window| unsafe { window.bytes() }[0] == 1));
    drop(windows);
    assert!(guard.map(&file, 0, PAGE).is_ok());
}
