//! What was done, for the end.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Counters by name.
#[derive(Default)]
pub(super) struct Tally(Mutex<BTreeMap<String, u64>>);

impl Tally {
    pub(super) fn add(&self, name: impl Display) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_string()).or_default() += 1;
    }

    pub(super) fn total(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    fn print(&self, title: &str) {
        print_all(title, &self.0.lock().unwrap_or_else(PoisonError::into_inner).clone());
    }
}

/// Prints counters in one line.
pub(super) fn print_all<N: Display>(title: &str, counts: &BTreeMap<N, u64>) {
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    println!("{title}: {}", counts.join(", "));
}

#[derive(Default)]
pub(super) struct Counts {
    /// Requests, by what they ask for.
    pub(super) requests: Tally,
    /// What clients did wrong.
    pub(super) client_faults: Tally,
    /// Answers, by status; and requests without one.
    pub(super) answers: Tally,
    pub(super) restarts: Tally,
    /// Bodies that were read whole and compared.
    pub(super) verified: AtomicU64,
    /// Entries of lists that were compared.
    pub(super) listed: AtomicU64,
    /// Objects that were visible without having been verified.
    pub(super) unverified: AtomicU64,
    pub(super) lost_pages: AtomicU64,
    pub(super) lost_names: AtomicU64,
    /// Files that a check has found, which a disk that failed had not removed.
    pub(super) orphans: AtomicU64,
}

impl Counts {
    pub(super) fn print(&self, disk_faults: &BTreeMap<&str, u64>) {
        let load = |count: &AtomicU64| count.load(Relaxed);
        println!("requests: {}", self.requests.total());
        self.requests.print("  by kind");
        self.answers.print("  answers");
        self.client_faults.print("faults of clients");
        print_all("faults of the disk", disk_faults);
        self.restarts.print("restarts");
        println!("lost with the power: {} pages, {} names", load(&self.lost_pages), load(&self.lost_names));
        println!("orphans that failed disks have left: {}", load(&self.orphans));
        println!("objects verified: {}, entries of lists: {}", load(&self.verified), load(&self.listed));
        println!("published unverified objects: {}", load(&self.unverified));
    }
}
