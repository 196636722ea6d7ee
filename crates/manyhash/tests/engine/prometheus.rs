//! The engine's figures as Prometheus reads them, against the figures themselves.
#![cfg(feature = "prometheus")]

use manyhash::Algorithm;
use manyhash::engine::{Engine, Histogram, Stats};
use std::collections::HashMap;
use std::num::NonZeroUsize;

const GAUGES: [&str; 6] =
    ["threads", "memory_bytes", "memory_bound_bytes", "slots", "oldest_seconds", "occupancy_ratio"];
const COUNTERS: [&str; 6] = ["transitions", "jobs", "busy_seconds", "inline_seconds", "hashed_bytes", "kernel_rows"];
const HISTOGRAMS: [&str; 2] = ["queue_wait_seconds", "service_seconds"];

/// Figures of an engine that has hashed for a while, with a stream still open.
fn stats() -> Stats {
    let engine = Engine::builder().threads(NonZeroUsize::new(2)).build().expect("threads can be made");
    let messages: Vec<_> = (0..100).map(|number| vec![number; 100_000]).collect();
    for algorithm in [Algorithm::Sha256, Algorithm::Md5] {
        engine.digest_many(algorithm, messages.clone()).wait().expect("they are hashed");
    }
    let mut stream = engine.stream(Algorithm::Sha1);
    stream.write("a chunk").wait().expect("it is accepted");
    engine.stats()
}

/// The values by name and labels, each there once.
fn values(text: &str) -> HashMap<&str, f64> {
    let mut values = HashMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').expect("a line has a value");
        let name = name.strip_prefix("manyhash_engine_").expect("all names begin so");
        assert_eq!(values.insert(name, value.parse().expect("it is a number")), None, "{name} is there twice");
    }
    values
}

#[test]
fn names_and_types() {
    let text = stats().to_prometheus();
    let types = [(&GAUGES[..], "gauge"), (&COUNTERS[..], "counter"), (&HISTOGRAMS[..], "histogram")];
    let mut due: Vec<String> = Vec::new();
    for (name, kind) in types.iter().flat_map(|(names, kind)| names.iter().map(move |name| (name, kind))) {
        due.push(format!("# TYPE manyhash_engine_{name} {kind}"));
        let help = format!("# HELP manyhash_engine_{name} ");
        assert_eq!(text.lines().filter(|line| line.starts_with(&help)).count(), 1, "{name}");
    }
    let mut found: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    due.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, due);
    for name in COUNTERS {
        assert!(text.contains(&format!("\nmanyhash_engine_{name}_total")), "{name}");
    }
    assert!(!text.contains("_total_total"));
    assert!(text.ends_with("\n# EOF\n"));
}

#[test]
fn values_are_those_of_the_figures() {
    let stats = stats();
    let text = stats.to_prometheus();
    let mut values = values(&text);
    let mut take = |name: &str| values.remove(name).unwrap_or_else(|| panic!("{name} is missing in\n{text}"));

    assert_eq!(take("threads"), 2.0);
    assert_eq!(take("memory_bytes"), stats.memory as f64);
    assert_eq!(take("memory_bound_bytes"), stats.memory_bound as f64);
    assert_eq!(take("transitions_total"), stats.transitions as f64);
    assert_eq!(take("jobs_total"), stats.jobs as f64);
    assert_eq!(take("busy_seconds_total"), stats.busy.as_secs_f64());
    assert_eq!(take("inline_seconds_total"), stats.inline.as_secs_f64());
    for of in &stats.states {
        let labels = format!("{{state=\"{}\"}}", of.state.name());
        assert_eq!(take(&format!("slots{labels}")), of.slots as f64);
        if let Some(oldest) = of.oldest {
            assert_eq!(take(&format!("oldest_seconds{labels}")), oldest.as_secs_f64());
        }
    }
    assert!(stats.algorithms.len() >= 2 && stats.algorithms.iter().any(|of| !of.kernels.is_empty()));
    for of in &stats.algorithms {
        let label = format!("algorithm=\"{}\"", of.algorithm.name());
        assert_eq!(take(&format!("hashed_bytes_total{{{label}}}")), of.bytes as f64);
        assert_eq!(take(&format!("occupancy_ratio{{{label}}}")), of.occupancy);
        for kernel in &of.kernels {
            let name = format!("kernel_rows_total{{{label},kernel=\"{}\"}}", kernel.name);
            assert_eq!(take(&name), kernel.rows as f64);
        }
    }
    for (name, histogram) in HISTOGRAMS.into_iter().zip([&stats.queue_wait, &stats.service]) {
        assert!(histogram.count > 0, "{name}");
        assert_eq!(take(&format!("{name}_count")), histogram.count as f64);
        assert_eq!(take(&format!("{name}_sum")), histogram.sum.as_secs_f64());
        assert_eq!(take(&format!("{name}_bucket{{le=\"+Inf\"}}")), histogram.count as f64);
        let (_, below) = histogram.buckets.split_last().expect("there are buckets");
        assert_eq!(buckets(&text, name)[..below.len()], cumulative(histogram)[..below.len()]);
    }
    values.retain(|name, _| !name.contains("_bucket{"));
    assert_eq!(values, HashMap::new());
}

/// Bounds and counts in the order of the text.
fn buckets(text: &str, name: &str) -> Vec<(f64, f64)> {
    let prefix = format!("manyhash_engine_{name}_bucket{{le=\"");
    let lines = text.lines().filter_map(|line| line.strip_prefix(&prefix)?.split_once("\"} "));
    lines.map(|(bound, count)| (bound.parse().expect("a bound"), count.parse().expect("a count"))).collect()
}

/// The bounds with the number of all that took no longer.
fn cumulative(histogram: &Histogram) -> Vec<(f64, f64)> {
    let mut sum = 0;
    let add = |(bound, count): &(std::time::Duration, u64)| {
        sum += count;
        (bound.as_secs_f64(), sum as f64)
    };
    histogram.buckets.iter().map(add).collect()
}
