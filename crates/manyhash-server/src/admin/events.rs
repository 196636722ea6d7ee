//! The figures of the live page, four times a second, as server-sent events: JSON, one object an event.

use crate::front::ConnectionCounts;
use crate::metrics::{Refusal, Snapshot, Verdicts};
use crate::state::State;
use bytes::Bytes;
use http_body::{Body, Frame};
use manyhash::engine::SlotState;
use manyhash_store::StoreStats;
use serde::Serialize;
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

const PERIOD: Duration = Duration::from_millis(250);

/// A stream of events that ends when the reader leaves.
pub(super) struct Events {
    state: Arc<State>,
    ticks: Interval,
    last: Option<Moment>,
}

/// Counts at one moment, of which the next event tells the difference.
struct Moment {
    at: Instant,
    received: u64,
    sent: u64,
    requests: u64,
    latency: Snapshot,
    hashed: HashMap<&'static str, u64>,
    busy: Duration,
}

impl Events {
    pub(super) fn new(state: Arc<State>) -> Self {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Events { state, ticks, last: None }
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        ready!(this.ticks.poll_tick(cx));
        let (event, moment) = event(&this.state, this.last.as_ref());
        this.last = Some(moment);
        // Numbers, names and text: there is nothing that could fail.
        let json = serde_json::to_string(&event).unwrap_or_default();
        Poll::Ready(Some(Ok(Frame::data(format!("data: {json}\n\n").into()))))
    }
}

/// What the page is told. Rates are per second, since the event before.
#[derive(Serialize)]
struct Event {
    requests: u64,
    request_rate: f64,
    received_rate: f64,
    sent_rate: f64,
    /// Milliseconds, of the requests since the event before.
    median: Option<f64>,
    p99: Option<f64>,
    connections: ConnectionCounts,
    /// Engine threads and callers that are hashing, on average.
    hashing: f64,
    memory: u64,
    memory_bound: u64,
    algorithms: Vec<OfAlgorithm>,
    slots: Vec<(&'static str, usize)>,
    verdicts: Vec<(&'static str, Verdicts)>,
    refusals: Vec<Refusal>,
    store: Stored,
    full: bool,
}

/// What the page is told of the store.
#[derive(Serialize)]
struct Stored {
    objects: u64,
    uploads: u64,
    blobs: u64,
    bytes: u64,
    deduplicated: u64,
    deduplicated_bytes: u64,
    written_bytes: u64,
    changes: u64,
    batches: u64,
    /// Bodies that were found to differ from their SHA-256.
    damaged: u64,
    /// How often the index was opened again after the disk had failed.
    reopened: u64,
    /// Milliseconds of a commit of the index, on average.
    commit: f64,
}

fn stored(stats: &StoreStats) -> Stored {
    let commits = stats.index_commits;
    Stored {
        objects: stats.objects,
        uploads: stats.uploads,
        blobs: stats.blobs,
        bytes: stats.bytes,
        deduplicated: stats.deduplicated,
        deduplicated_bytes: stats.deduplicated_bytes,
        written_bytes: stats.written_bytes,
        changes: stats.changes,
        batches: stats.batches,
        damaged: stats.damaged,
        reopened: stats.reopened,
        commit: commits.total.as_secs_f64() * 1e3 / commits.count.max(1) as f64,
    }
}

#[derive(Serialize)]
struct OfAlgorithm {
    name: &'static str,
    rate: f64,
    /// Lanes in use and lanes worth filling, since the start: the page divides by how much they have grown.
    active_lanes: u64,
    available_lanes: u64,
}

fn event(state: &State, last: Option<&Moment>) -> (Event, Moment) {
    let engine = state.engine.stats();
    let (requests, latency) = state.metrics.requests();
    let moment = Moment {
        at: Instant::now(),
        received: state.metrics.received.load(Relaxed),
        sent: state.metrics.sent.load(Relaxed),
        requests,
        hashed: engine.algorithms.iter().map(|of| (of.algorithm.name(), of.bytes)).collect(),
        busy: engine.busy + engine.inline,
        latency,
    };
    let seconds = last.map_or(f64::INFINITY, |last| (moment.at - last.at).as_secs_f64().max(1e-3));
    let rate = |now: u64, before: Option<u64>| before.map_or(0.0, |before| now.saturating_sub(before) as f64 / seconds);
    let recent = last.map(|last| moment.latency.since(&last.latency));
    let quantile = |share| recent.as_ref().and_then(|recent| recent.quantile(share)).map(|seconds| seconds * 1e3);
    let event = Event {
        requests,
        request_rate: rate(requests, last.map(|last| last.requests)),
        received_rate: rate(moment.received, last.map(|last| last.received)),
        sent_rate: rate(moment.sent, last.map(|last| last.sent)),
        median: quantile(0.5),
        p99: quantile(0.99),
        connections: state.connections.counts(),
        hashing: last.map_or(0.0, |last| moment.busy.saturating_sub(last.busy).as_secs_f64() / seconds),
        memory: engine.memory,
        memory_bound: engine.memory_bound,
        algorithms: engine
            .algorithms
            .iter()
            .map(|of| OfAlgorithm {
                name: of.algorithm.name(),
                rate: rate(of.bytes, last.map(|last| last.hashed.get(of.algorithm.name()).copied().unwrap_or(0))),
                active_lanes: of.active_lanes,
                available_lanes: of.available_lanes,
            })
            .collect(),
        slots: SlotState::ALL.iter().map(|slot| (slot.name(), engine.slots(*slot))).collect(),
        verdicts: state.metrics.verdicts(),
        refusals: state.metrics.refusals(),
        store: stored(&state.store.stats()),
        full: state.full.load(Relaxed),
    };
    (event, moment)
}
