//! Windows into files that change meanwhile.
#![cfg(target_os = "linux")]

use manyhash_map::{Guard, Window};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, thread};

const PAGE: usize = 1 << 16; // a multiple of every page size in use

fn guard() -> Guard {
    // SAFETY: nothing else here handles the signal or maps these files.
    unsafe { Guard::install() }.expect("a handler")
}

/// The bytes of a window, which are compared one after another and may change meanwhile.
fn bytes(window: &Window) -> &[u8] {
    // SAFETY: what is compared is numbers, each read once.
    unsafe { window.bytes() }
}

fn file(pages: u8) -> File {
    let mut file = tempfile::tempfile().expect("a temporary file");
    (0..pages).for_each(|page| file.write_all(&[page + 1; PAGE]).expect("it takes bytes"));
    file
}

#[test]
fn a_window_shows_its_part() {
    let guard = guard();
    let file = file(4);
    let window = guard.map(&file, PAGE as u64, 2 * PAGE - 5).expect("a window");
    assert_eq!(window.len(), 2 * PAGE - 5);
    assert!(
        bytes(&window)[..PAGE].iter().all(|&byte| byte == 2) && bytes(&window)[PAGE..].iter().all(|&byte| byte == 3)
    );
    assert!(window.is_whole());
    assert!(
        guard.map(&file, 1, PAGE).is_err() && guard.map(&file, 0, 0).is_err() && guard.map(&file, u64::MAX, 1).is_err()
    );
}

#[test]
fn what_is_lost_reads_as_zeros() {
    let guard = guard();
    let file = file(4);
    let window = guard.map(&file, 0, 4 * PAGE).expect("a window");
    let other = guard.map(&file, 0, PAGE).expect("a window");
    file.set_len(PAGE as u64).expect("it is truncated");
    assert!(bytes(&window)[..PAGE].iter().all(|&byte| byte == 1) && window.is_whole());
    assert!(bytes(&window)[PAGE..].iter().all(|&byte| byte == 0) && !window.is_whole());
    assert!(bytes(&other).iter().all(|&byte| byte == 1) && other.is_whole());
    // What the file gets afterwards does not come back, and a new window shows it.
    file.set_len(2 * PAGE as u64).expect("it grows");
    assert!(!window.is_whole());
    assert!(guard.map(&file, 0, 2 * PAGE).expect("a window").is_whole());
}

#[test]
fn threads_and_windows_at_once() {
    let guard = guard();
    let file = file(4);
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                file.set_len(PAGE as u64).expect("it is truncated");
                file.set_len(4 * PAGE as u64).expect("it grows");
            }
        });
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    (0..2000)
                        .filter(|_| {
                            let window = guard.map(&file, 0, 4 * PAGE).expect("a window");
                            assert!(bytes(&window)[..PAGE].iter().all(|&byte| byte == 1));
                            let zeros = bytes(&window)[PAGE..].iter().all(|&byte| byte == 0 || byte > 1);
                            assert!(zeros);
                            !window.is_whole()
                        })
                        .count()
                })
            })
            .collect();
        let lost: usize = readers.into_iter().map(|reader| reader.join().expect("a reader")).sum();
        ended.store(true, Ordering::Relaxed);
        assert!(lost > 0, "no window lost anything: the test shows nothing");
    });
}

/// Whether this is the process of its own that a test is run in again.
fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

const CHILD: &str = "MANYHASH_MAP_TEST_CHILD";

/// The signal that ends the process of its own of a test.
fn signal_of(test: &str) -> Option<i32> {
    let status = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", test])
        .env(CHILD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("it starts");
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Another mapping's signal still ends the process, as it does without the handler.
#[test]
fn other_signals_are_passed_on() {
    if is_child() {
        guard();
        let file = file(2);
        // SAFETY: a mapping where the system sees fit; it is read below, which is meant to end the process.
        let byte = unsafe {
            let flags = libc::MAP_PRIVATE;
            let address = libc::mmap(
                std::ptr::null_mut(),
                2 * PAGE,
                libc::PROT_READ,
                flags,
                std::os::fd::AsRawFd::as_raw_fd(&file),
                0,
            );
            file.set_len(0).expect("it is truncated");
            std::ptr::read_volatile(address.cast::<u8>())
        };
        println!("survived with {byte}");
        return;
    }
    assert_eq!(signal_of("other_signals_are_passed_on"), Some(libc::SIGBUS));
}

/// So does one that was sent, where there was no handler before.
#[test]
fn signals_that_are_sent_are_passed_on() {
    if is_child() {
        // SAFETY: the system's own action takes the place of the standard library's.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        guard();
        // SAFETY: it is meant to end the process.
        unsafe { libc::raise(libc::SIGBUS) };
        return;
    }
    assert_eq!(signal_of("signals_that_are_sent_are_passed_on"), Some(libc::SIGBUS));
}
