//! What came out, as `--json` prints it: a field here is a key there.

use super::load::Load;
use super::series::{Point, Series, Slots};
use manyhash::engine::SlotState;
use serde::Serialize;

/// The whole experiment.
#[derive(Serialize)]
pub(super) struct Experiment {
    pub(super) version: &'static str,
    pub(super) backend: &'static str,
    pub(super) cores: usize,
    #[serde(flatten)]
    pub(super) load: Load,
    pub(super) subjects: Vec<Figures>,
    /// That the digests of all producers were checked: there is no outcome otherwise.
    pub(super) verified: bool,
}

/// One subject's figures.
#[derive(Serialize)]
pub(super) struct Figures {
    pub(super) name: &'static str,
    /// Threads that hash.
    pub(super) threads: usize,
    /// From the first producer's start to the last digest.
    pub(super) elapsed_s: f64,
    /// Bytes of all producers / `elapsed_s`.
    pub(super) bytes_per_s: f64,
    /// Time that the threads hashed, summed over them.
    pub(super) busy_s: f64,
    /// `busy_s` / (`threads` x `elapsed_s`).
    pub(super) busy_share: f64,
    /// Time that the producers' own threads hashed.
    pub(super) inline_s: f64,
    /// Bytes / (`busy_s` + `inline_s`): how fast a thread hashes while it does.
    pub(super) busy_bytes_per_s: f64,
    /// Mean; nothing for what has no lanes.
    pub(super) lane_occupancy: Option<f64>,
    #[serde(serialize_with = "by_state")]
    pub(super) slots: [Slots; SlotState::ALL.len()],
    pub(super) samples: Vec<Point>,
}

impl Figures {
    /// Of a series that has ended.
    pub(super) fn new(name: &'static str, threads: usize, load: &Load, series: &Series) -> Self {
        let (elapsed, counters) = series.last();
        let [elapsed_s, busy_s, inline_s] = [elapsed, counters.busy, counters.inline].map(|time| time.as_secs_f64());
        Figures {
            name,
            threads,
            elapsed_s,
            bytes_per_s: load.total_size as f64 / elapsed_s,
            busy_s,
            busy_share: busy_s / (threads as f64 * elapsed_s),
            inline_s,
            busy_bytes_per_s: load.total_size as f64 / (busy_s + inline_s),
            lane_occupancy: counters.occupancy,
            slots: series.slots(),
            samples: series.points(threads),
        }
    }
}

fn by_state<S: serde::Serializer>(slots: &[Slots; SlotState::ALL.len()], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(SlotState::ALL.iter().map(|state| state.name()).zip(slots))
}
