//! What was measured, as `--json` prints it: a field here is a key there.

use serde::Serialize;

/// One algorithm's figures. Rates are a second's, medians of several samples.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) algorithm: &'static str,
    pub(super) backend: &'static str,
    pub(super) cores: usize,
    pub(super) single: Vec<Single>,
    pub(super) lanes: Lanes,
    pub(super) all_cores: AllCores,
    pub(super) plan: Plan,
    /// That all digests were checked: there is no report otherwise.
    pub(super) verified: bool,
}

/// One message alone.
#[derive(Serialize)]
pub(super) struct Single {
    /// In bytes.
    pub(super) length: usize,
    pub(super) bytes_per_s: f64,
    pub(super) messages_per_s: f64,
}

/// Messages that fill the lanes of one core.
#[derive(Serialize)]
pub(super) struct Lanes {
    pub(super) messages: usize,
    /// Of each, in bytes.
    pub(super) length: usize,
    pub(super) bytes_per_s: f64,
}

/// Messages that fill the lanes of all cores.
#[derive(Serialize)]
pub(super) struct AllCores {
    pub(super) threads: usize,
    pub(super) messages: usize,
    /// Of each, in bytes.
    pub(super) length: usize,
    pub(super) bytes_per_s: f64,
}

/// The plan in use.
#[derive(Serialize)]
pub(super) struct Plan {
    /// The kernel for one message alone.
    pub(super) single: &'static str,
    /// Messages that are put into the lanes at the most.
    pub(super) width: usize,
    pub(super) kernels: Vec<Kernel>,
    pub(super) lanes: Vec<Range>,
}

/// A kernel and what it costs.
#[derive(Serialize)]
pub(super) struct Kernel {
    pub(super) name: &'static str,
    pub(super) lanes: usize,
    /// For a block of every lane.
    pub(super) ns_per_row: u64,
}

/// Numbers of messages in the lanes, first and last, for which the same kernels are used.
#[derive(Serialize)]
pub(super) struct Range {
    pub(super) from: usize,
    pub(super) to: usize,
    /// A kernel as often as it runs for each row.
    pub(super) kernels: Vec<&'static str>,
}

impl From<&manyhash::KernelPlan> for Plan {
    fn from(plan: &manyhash::KernelPlan) -> Self {
        let kernels = plan.kernels.iter().map(|kernel| Kernel {
            name: kernel.name,
            lanes: kernel.lanes,
            ns_per_row: kernel.row.as_nanos() as u64,
        });
        Plan { single: plan.single, width: plan.lanes.len(), kernels: kernels.collect(), lanes: ranges(&plan.lanes) }
    }
}

/// Runs of equal entries, numbered from 1.
fn ranges(lanes: &[Vec<&'static str>]) -> Vec<Range> {
    let mut to = 0;
    let runs = lanes.chunk_by(|a, b| a == b).map(|run| {
        let from = to + 1;
        to += run.len();
        Range { from, to, kernels: run[0].clone() }
    });
    runs.collect()
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn equal_entries_are_one_range() {
        let lanes = [vec!["one"], vec!["wide"], vec!["wide"], vec!["wide", "one"]];
        let ranges = ranges(&lanes);
        let ranges: Vec<_> = ranges.iter().map(|range| (range.from, range.to, &range.kernels)).collect();
        assert_eq!(ranges, [(1, 1, &lanes[0]), (2, 3, &lanes[1]), (4, 4, &lanes[3])]);
    }
}
