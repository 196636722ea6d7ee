//! Power failures, at any moment.

use crate::driver::{Driver, open, settle, verify_after_crash};
use crate::sim::{Sim, Survives};
use crate::support::{Random, deadline};
use std::time::Instant;

/// A run whose log is cut anywhere.
fn recorded(seed: u64, waves: usize) -> Driver {
    let mut driver = Driver::new(Sim::new(), seed);
    driver.run(waves);
    settle();
    driver.run(5);
    if let Some(store) = driver.store.take() {
        store.close();
    }
    driver
}

fn survives(kind: usize, seed: u64) -> Survives {
    match kind {
        0 => Survives::Nothing,
        1 => Survives::Everything,
        _ => Survives::Some(Random::new(seed)),
    }
}

#[test]
fn what_was_acknowledged_survives_a_power_failure_at_any_moment() {
    let deadline = deadline(6);
    for seed in 0.. {
        let driver = recorded(seed, 20);
        let mut cuts: Vec<(usize, usize)> =
            (0..=driver.sim.log_length()).flat_map(|cut| (0..4).map(move |kind| (cut, kind))).collect();
        Random::new(seed).shuffle(&mut cuts);
        for (cut, kind) in cuts {
            if Instant::now() > deadline {
                return;
            }
            let after = driver.sim.after_power_failure(cut, survives(kind, (cut * 4 + kind) as u64));
            let allowed = driver.history.allowed_at(&driver.sim.marks(cut));
            let context = format!("seed {seed}, cut {cut}, kind {kind}");
            run_named(&context, || verify_after_crash(&after, &allowed, true));
        }
    }
}

#[test]
fn a_power_failure_while_recovering_does_no_harm() {
    let deadline = deadline(3);
    let mut random = Random::new(1);
    for seed in 100.. {
        let driver = recorded(seed, 10);
        for _ in 0..100 {
            if Instant::now() > deadline {
                return;
            }
            let cut = random.below(driver.sim.log_length() + 1);
            let allowed = driver.history.allowed_at(&driver.sim.marks(cut));
            let first = driver.sim.after_power_failure(cut, Survives::Some(Random::new(random.next())));
            if let Ok(store) = open(&first) {
                store.close();
            }
            let second = random.below(first.log_length() + 1);
            let context = format!("seed {seed}, cuts {cut} and {second}");
            let second = first.after_second_failure(second, Survives::Some(Random::new(random.next())));
            run_named(&context, || verify_after_crash(&second, &allowed, true));
        }
    }
}

/// Says where it was if it fails.
pub(crate) fn run_named(context: &str, run: impl FnOnce()) {
    struct Named<'a>(&'a str);
    impl Drop for Named<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("this was at {}", self.0);
            }
        }
    }
    let _named = Named(context);
    run();
}
