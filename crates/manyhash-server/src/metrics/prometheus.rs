//! The server's figures, the store's and the engine's in the text form that Prometheus reads, OpenMetrics 1.0.
//!
//! What was counted is written out once for each reading: nothing is registered, so nothing is counted twice. Names begin
//! with `manyhash_server_` and `manyhash_engine_`; sizes are bytes, times seconds.

use crate::state::State;
use manyhash_store::StoreStats;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

impl State {
    /// Writes all figures out.
    pub(crate) fn to_prometheus(self: &Arc<Self>) -> String {
        let mut registry = Registry::with_prefix("manyhash_server");
        registry.register_collector(Box::new(Figures(self.clone())));
        let mut text = String::new();
        // A string takes whatever is written to it.
        let _ = text::encode_registry(&mut text, &registry);
        text + &self.engine.stats().to_prometheus()
    }
}

struct Figures(Arc<State>);

impl fmt::Debug for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Figures")
    }
}

impl Collector for Figures {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        let (to, state) = (&mut to, &self.0);
        let gauge = ConstGauge::<u64>::new;
        let counter = ConstCounter::<u64>::new;
        let metrics = &state.metrics;

        let answers: Vec<_> = metrics
            .operations()
            .flat_map(|(name, of)| {
                let answers = of.answers.lock().unwrap_or_else(PoisonError::into_inner);
                let answers = answers.iter().map(|((status, code), count)| (name, status.to_string(), *code, *count));
                answers.collect::<Vec<_>>()
            })
            .collect();
        let labelled = answers.iter().map(|(operation, status, code, count)| {
            ([("operation", *operation), ("status", status.as_str()), ("code", *code)], counter(*count))
        });
        each(to, "requests", "Requests answered, by S3's error code if they were refused.", labelled)?;
        let help = "Time from the head of a request to the end of its answer.";
        let mut family = to.encode_descriptor("request_seconds", help, None, MetricType::Histogram)?;
        for (operation, of) in metrics.operations() {
            let snapshot = of.latency.snapshot();
            let (seconds, count) = (snapshot.seconds, snapshot.count());
            family.encode_family(&[("operation", operation)])?.encode_histogram::<[(&str, &str); 0]>(
                seconds,
                count,
                &snapshot.octaves(),
                None,
            )?;
        }

        one(to, "received_bytes", "Bytes of bodies received.", counter(metrics.received.load(Relaxed)))?;
        one(to, "sent_bytes", "Bytes of bodies sent.", counter(metrics.sent.load(Relaxed)))?;
        let verdicts = metrics.verdicts();
        let verdicts = verdicts.iter().flat_map(|(kind, of)| {
            let line = |verdict, count| ([("digest", *kind), ("verdict", verdict)], counter(count));
            [line("good", of.good), line("bad", of.bad)]
        });
        each(to, "verdicts", "Bodies compared with what the client said of them.", verdicts)?;

        let connections = state.connections.counts();
        let phases = [("idle", connections.idle), ("head", connections.head), ("request", connections.request)];
        let phases = phases.iter().map(|(phase, count)| ([("phase", *phase)], gauge(*count as u64)));
        each(to, "connections", "Connections open.", phases)?;
        one(to, "connections_accepted", "Connections accepted.", counter(connections.accepted))?;
        let help = "Idle connections closed because all places were taken.";
        one(to, "connections_reaped", help, counter(connections.reaped))?;
        let help = "Connections closed because a head, a handshake or an answer took too long.";
        one(to, "connections_slow", help, counter(connections.slow))?;

        let help = "Whether uploads are refused because the disk has too little room.";
        one(to, "disk_full", help, gauge(u64::from(state.full.load(Relaxed))))?;
        store(to, &state.store.stats())
    }
}

/// What the store counts.
fn store(to: &mut DescriptorEncoder<'_>, stats: &StoreStats) -> fmt::Result {
    for (name, help, value) in [
        ("objects", "Objects.", stats.objects),
        ("uploads", "Multipart uploads in progress.", stats.uploads),
        ("blobs", "Bodies stored, equal ones once.", stats.blobs),
        ("blob_bytes", "Bytes of bodies stored, equal ones once.", stats.bytes),
        ("segments", "Files that hold small bodies.", stats.segments),
        ("segment_bytes", "Bytes of these files.", stats.segment_bytes),
        ("segment_live_bytes", "Bytes of these files that belong to bodies.", stats.segment_live_bytes),
    ] {
        one(to, name, help, ConstGauge::new(value))?;
    }
    for (name, help, value) in [
        ("changes", "Changes made to last.", stats.changes),
        ("batches", "Batches of changes that were made to last together.", stats.batches),
        ("deduplicated", "Bodies that were stored already.", stats.deduplicated),
        ("deduplicated_bytes", "Bytes of bodies that were stored already.", stats.deduplicated_bytes),
        ("written_bytes", "Bytes of bodies written.", stats.written_bytes),
        ("damaged", "Bodies found to differ from their SHA-256 when they were moved.", stats.damaged),
    ] {
        one(to, name, help, ConstCounter::new(value))?;
    }
    let syncs =
        [("segment", stats.segment_syncs), ("directory", stats.directory_syncs), ("index", stats.index_commits)];
    let counts = syncs.iter().map(|(of, latency)| ([("of", *of)], ConstCounter::new(latency.count)));
    each(to, "syncs", "Waits for the disk to make something last.", counts)?;
    let seconds = syncs.iter().map(|(of, latency)| ([("of", *of)], ConstCounter::new(latency.total.as_secs_f64())));
    each(to, "sync_seconds", "Time of these waits.", seconds)
}

/// A metric without labels.
fn one<M: EncodeMetric>(to: &mut DescriptorEncoder<'_>, name: &str, help: &str, metric: M) -> fmt::Result {
    metric.encode(to.encode_descriptor(name, help, None, metric.metric_type())?)
}

/// A metric for each set of labels.
fn each<'a, M: EncodeMetric + TypedMetric, const LABELS: usize>(
    to: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metrics: impl Iterator<Item = ([(&'a str, &'a str); LABELS], M)>,
) -> fmt::Result {
    let mut family = to.encode_descriptor(name, help, None, M::TYPE)?;
    for (labels, metric) in metrics {
        metric.encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}
