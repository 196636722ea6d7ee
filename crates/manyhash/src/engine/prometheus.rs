//! The engine's figures in the text form that Prometheus reads, OpenMetrics 1.0.
//!
//! The figures are a snapshot already, so nothing is registered or counted a second time: a collector that holds the
//! snapshot writes it out once. All names begin with `manyhash_engine_`; those of counters end in `_total`, which the
//! encoder adds.

use super::stats::Stats;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet, text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;
use std::fmt;
use std::time::Duration;

impl Stats {
    /// Formats the figures as OpenMetrics 1.0, the text format that Prometheus reads. Requires the feature
    /// `prometheus`.
    ///
    /// Serve the text as `application/openmetrics-text; version=1.0.0; charset=utf-8`. It ends with a line `# EOF`, so
    /// other metrics have to precede it. Times are in seconds and sizes in bytes.
    ///
    /// ```
    /// use manyhash::{Algorithm, engine::Engine};
    /// use std::num::NonZeroUsize;
    ///
    /// let engine = Engine::builder().threads(NonZeroUsize::new(2)).build()?;
    /// engine.digest(Algorithm::Md5, "a message").wait()?;
    ///
    /// let text = engine.stats().to_prometheus();
    /// assert!(text.contains("# TYPE manyhash_engine_threads gauge\nmanyhash_engine_threads 2\n"));
    /// assert!(text.contains("manyhash_engine_hashed_bytes_total{algorithm=\"md5\"} 9\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_prometheus(&self) -> String {
        let mut registry = Registry::with_prefix("manyhash_engine");
        registry.register_collector(Box::new(Snapshot(self.clone())));
        let mut text = String::new();
        // A string takes whatever is written to it.
        let _ = text::encode(&mut text, &registry);
        text
    }
}

/// A collector belongs to its registry, so it has the figures to itself.
#[derive(Debug)]
struct Snapshot(Stats);

impl Collector for Snapshot {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        let (to, stats) = (&mut to, &self.0);
        let gauge = ConstGauge::<u64>::new;
        let counter = ConstCounter::<u64>::new;
        let seconds = |time: Duration| ConstCounter::new(time.as_secs_f64());

        one(to, "threads", "The engine's threads.", gauge(stats.threads as u64))?;
        one(to, "memory_bytes", "Bytes handed over that are not hashed yet.", gauge(stats.memory))?;
        one(to, "memory_bound_bytes", "The bound on such bytes.", gauge(stats.memory_bound))?;
        let slots = stats.states.iter().map(|of| ([("state", of.state.name())], gauge(of.slots as u64)));
        each(to, "slots", "Slots in a state.", slots)?;
        let oldest = stats
            .states
            .iter()
            .filter_map(|of| of.oldest.map(|time| ([("state", of.state.name())], ConstGauge::new(time.as_secs_f64()))));
        each(to, "oldest_seconds", "How long the slot longest in a state has been in it.", oldest)?;
        one(to, "transitions", "Changes of slots' states.", counter(stats.transitions))?;
        one(to, "jobs", "Jobs done, failed ones included.", counter(stats.jobs))?;
        one(to, "busy_seconds", "Time that the engine's threads have spent hashing.", seconds(stats.busy))?;
        one(to, "inline_seconds", "Time that callers' own threads have spent hashing.", seconds(stats.inline))?;

        let algorithms = || stats.algorithms.iter().map(|of| (("algorithm", of.algorithm.name()), of));
        let bytes = algorithms().map(|(label, of)| ([label], counter(of.bytes)));
        each(to, "hashed_bytes", "Bytes hashed.", bytes)?;
        let occupancy = algorithms().map(|(label, of)| ([label], ConstGauge::new(of.occupancy)));
        let help = "Lanes in use of those worth filling, shared by algorithms of one compression function.";
        each(to, "occupancy_ratio", help, occupancy)?;
        let rows = algorithms().flat_map(|(label, of)| {
            of.kernels.iter().map(move |kernel| ([label, ("kernel", kernel.name)], counter(kernel.rows)))
        });
        let help = "Rows of blocks that a kernel has advanced, shared by algorithms of one compression function.";
        each(to, "kernel_rows", help, rows)?;

        for (name, help, histogram) in [
            ("queue_wait_seconds", "How long jobs waited for a thread, each time.", &stats.queue_wait),
            ("service_seconds", "How long threads had jobs in hand, each time.", &stats.service),
        ] {
            let bound = |bound: Duration| if bound == Duration::MAX { f64::INFINITY } else { bound.as_secs_f64() };
            let buckets: Vec<(f64, u64)> =
                histogram.buckets.iter().map(|(last, count)| (bound(*last), *count)).collect();
            let mut family = to.encode_descriptor(name, help, None, MetricType::Histogram)?;
            family.encode_histogram::<NoLabelSet>(histogram.sum.as_secs_f64(), histogram.count, &buckets, None)?;
        }
        Ok(())
    }
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
