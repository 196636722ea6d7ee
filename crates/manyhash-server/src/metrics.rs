//! What the server counts: requests, bytes, times, verdicts.

mod latency;
mod prometheus;

use crate::request::Operation;
use http::StatusCode;
pub(crate) use latency::{Latency, Snapshot};
use manyhash_s3::error::S3Error;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How many refusals are remembered.
const REFUSALS: usize = 20;

/// The figures of a server.
pub(crate) struct Metrics {
    operations: Vec<OfOperation>,
    /// Requests that no operation was found for.
    unknown: OfOperation,
    pub(crate) received: AtomicU64,
    pub(crate) sent: AtomicU64,
    verdicts: Mutex<HashMap<&'static str, Verdicts>>,
    refusals: Mutex<VecDeque<Refusal>>,
}

/// The figures of an operation.
#[derive(Default)]
pub(crate) struct OfOperation {
    answers: Mutex<HashMap<(u16, &'static str), u64>>,
    latency: Latency,
}

/// What came of comparing bodies with one kind of digest.
#[derive(Clone, Copy, Default, Debug, serde::Serialize)]
pub(crate) struct Verdicts {
    pub(crate) good: u64,
    pub(crate) bad: u64,
}

/// An upload that was refused.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Refusal {
    /// Seconds since the epoch.
    pub(crate) at: i64,
    pub(crate) operation: &'static str,
    pub(crate) target: String,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Metrics {
            operations: Operation::ALL.iter().map(|_| OfOperation::default()).collect(),
            unknown: OfOperation::default(),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            verdicts: Mutex::default(),
            refusals: Mutex::default(),
        }
    }

    fn of(&self, operation: Option<Operation>) -> &OfOperation {
        operation.and_then(|operation| self.operations.get(operation as usize)).unwrap_or(&self.unknown)
    }

    /// The figures of each operation that was asked for.
    fn operations(&self) -> impl Iterator<Item = (&'static str, &OfOperation)> {
        let names = Operation::ALL.iter().map(|operation| operation.name());
        names.zip(&self.operations).chain([("unknown", &self.unknown)]).filter(|(_, of)| of.latency.count() > 0)
    }

    /// A body was compared with a digest.
    pub(crate) fn verdict(&self, kind: &'static str, good: bool) {
        let mut verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        let of = verdicts.entry(kind).or_default();
        *if good { &mut of.good } else { &mut of.bad } += 1;
    }

    pub(crate) fn verdicts(&self) -> Vec<(&'static str, Verdicts)> {
        let verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<_> = verdicts.iter().map(|(kind, of)| (*kind, *of)).collect();
        list.sort_by_key(|(kind, _)| *kind);
        list
    }

    /// A write was refused.
    pub(crate) fn refused(&self, at: i64, operation: Operation, target: String, error: &S3Error) {
        let refusal = Refusal {
            at,
            operation: operation.name(),
            target,
            code: error.code.code(),
            message: error.message.to_string(),
        };
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.truncate(REFUSALS - 1);
        refusals.push_front(refusal);
    }

    /// The last refusals, the latest first.
    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// How many requests were answered, and how long they took.
    pub(crate) fn requests(&self) -> (u64, Snapshot) {
        let mut all = Snapshot::default();
        for (_, of) in self.operations() {
            all.add(&of.latency.snapshot());
        }
        (all.count(), all)
    }
}

/// Counts one request, when its answer is sent or given up.
pub(crate) struct Answered {
    metrics: Arc<Metrics>,
    operation: Option<Operation>,
    status: StatusCode,
    code: &'static str,
    started: Instant,
}

impl Answered {
    pub(crate) fn new(
        metrics: Arc<Metrics>,
        operation: Option<Operation>,
        status: StatusCode,
        code: &'static str,
        started: Instant,
    ) -> Self {
        Answered { metrics, operation, status, code, started }
    }

    pub(crate) fn sent(&self, bytes: usize) {
        self.metrics.sent.fetch_add(bytes as u64, Relaxed);
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        let of = self.metrics.of(self.operation);
        of.latency.add(self.started.elapsed());
        let mut answers = of.answers.lock().unwrap_or_else(PoisonError::into_inner);
        *answers.entry((self.status.as_u16(), self.code)).or_default() += 1;
    }
}
