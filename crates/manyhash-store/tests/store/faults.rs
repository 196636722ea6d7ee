//! A disk that fails at one call, whichever.

use crate::driver::{Driver, open, verify, verify_after_crash};
use crate::power::run_named;
use crate::sim::{Fault, FaultKind, Sim, Survives};
use crate::support::{BUCKET, Random, create_bucket, deadline, delete_change, etag, put_content, small};
use manyhash_store::Condition;
use std::time::Instant;

/// Runs with a fault, and looks at what is there: at once, after the store is opened again, and after a power failure.
fn run_with(seed: u64, fault: Option<Fault>) -> usize {
    let sim = Sim::new();
    sim.fail(fault);
    let mut driver = Driver::new(sim.clone(), seed);
    driver.run(12);
    let calls = sim.calls();
    sim.fail(None);
    if driver.store.is_none() {
        driver.reopen();
    }
    let store = driver.store.clone().expect("a disk that is whole again can be opened");
    if store.bucket(BUCKET).expect("the index is read").is_none() {
        store.commit_blocking(create_bucket(BUCKET)).expect("the bucket is created");
    }
    // The disk is whole again: everything works, without being opened again.
    driver.run(2);
    let log = sim.log_length();
    let store = driver.store.clone().expect("the store is open");
    verify(&store, &driver.history.allowed_now());
    store.close();
    drop(driver.store.take());
    let is_sound = fault.is_none_or(|fault| fault.kind != FaultKind::Broken);
    let at = driver.history.allowed_at(&sim.marks(log));
    for survives in [Survives::Nothing, Survives::Some(Random::new(seed))] {
        verify_after_crash(&sim.after_power_failure(log, survives), &at, is_sound);
    }
    verify_after_crash(&sim, &driver.history.allowed_now(), is_sound);
    calls
}

fn every_call(kind: FaultKind) {
    let deadline = deadline(3);
    for seed in 0.. {
        let mut calls: Vec<usize> = (0..run_with(seed, None)).collect();
        Random::new(seed).shuffle(&mut calls);
        for call in calls {
            if Instant::now() > deadline {
                return;
            }
            let fault = Fault { call, kind };
            run_named(&format!("seed {seed}, {fault:?}"), || {
                run_with(seed, Some(fault));
            });
        }
    }
}

#[test]
fn a_full_disk_harms_nothing() {
    every_call(FaultKind::Full);
}

#[test]
fn a_broken_disk_harms_nothing() {
    every_call(FaultKind::Broken);
}

#[test]
fn a_short_write_harms_nothing() {
    every_call(FaultKind::Short);
}

#[test]
fn opening_a_store_that_is_open_is_refused() {
    let sim = Sim::new();
    let store = open(&sim).expect("a store is created");
    let error = open(&sim).expect_err("it is open already");
    assert_eq!(error.to_string(), "/store is open in another process: stop that one first");
    store.close();
    open(&sim).expect("it is free again");
}

#[test]
fn a_disk_that_is_nearly_full_takes_nothing_and_gives_room() {
    let sim = Sim::new();
    let store = open(&sim).expect("a store is created");
    store.commit_blocking(create_bucket(BUCKET)).expect("a bucket is created");
    let put =
        |key: &str| store.commit_blocking(put_content(key, small(b"content"), etag(b"content"), Condition::default()));
    put("key").expect("there is room");
    sim.limit_space(1 << 20);
    let error = put("other").expect_err("there is no room");
    assert!(error.is_storage_full(), "{error}");
    assert_eq!(store.free_space().expect("it is known"), 1 << 20);
    assert!(store.commit_blocking(delete_change("key")).expect("deleting gives room").existed);
    sim.limit_space(1 << 40);
    put("other").expect("there is room");
}
