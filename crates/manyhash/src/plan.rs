//! The measured costs of kernels and the choice among them, for display.

use crate::Algorithm;
use crate::family::with_family;
use crate::lanes::{Advance, Planned};
use std::time::Duration;

/// How this machine hashes with one algorithm: the costs of the backend's kernels, as measured in this process, and the
/// kernels used for each number of messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelPlan {
    /// The backend's kernels and their costs.
    pub kernels: Vec<KernelCost>,
    /// The kernel for one message alone.
    pub single: &'static str,
    /// The kernels that advance a number of messages, for each number from 1 to the most that are put into the lanes.
    pub lanes: Vec<Vec<&'static str>>,
}

/// A kernel and its cost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KernelCost {
    /// The name: an identifier that stays the same in later versions, fit for labels and comparisons.
    ///
    /// It starts with the vectors or dedicated instructions: `portable`, `sse2`, `avx2`, `avx512`, `neon`, `sve2`,
    /// `sha-ni`, `arm-sha`, or `scalar` for plain integers. Suffixes after hyphens tell kernels of the same
    /// instructions apart. Examples are `avx512-x2` and `scalar-avx2-schedule`.
    ///
    /// | suffix | the kernel |
    /// | --- | --- |
    /// | `x2` to `x4` | interleaves that many registers or messages |
    /// | `half`, `lane` | uses a part of a register |
    /// | `pairs` | computes two words of the schedule at once |
    /// | `array` | keeps words in an array |
    /// | `staged` | copies messages before it transposes them |
    /// | `schedule` | prepares a scalar kernel's words in vectors |
    pub name: &'static str,
    /// Number of messages that the kernel advances at once.
    pub lanes: usize,
    /// Time for one block of every lane, with data in the first-level cache. It is the same for fewer messages.
    pub row: Duration,
}

/// Measures the kernels of these algorithms now instead of at their first use.
///
/// This takes about two milliseconds for each algorithm that was not measured before in this process. It is for
/// programs that cannot afford a slower first digest.
///
/// ```
/// manyhash::warm_up(&[manyhash::Algorithm::Sha256]);
/// ```
pub fn warm_up(algorithms: &[Algorithm]) {
    for algorithm in algorithms {
        with_family!(algorithm, F, _start => {
            F::single();
            F::plan();
            F::short_plan();
        });
    }
}

/// Returns how this machine hashes with one algorithm. Measures its kernels if that was not done before in this
/// process.
pub fn plan(algorithm: Algorithm) -> KernelPlan {
    with_family!(algorithm, F, _start => {
        let plan = F::plan();
        KernelPlan {
            kernels: plan.costs().map(|(name, lanes, row)| KernelCost { name, lanes, row }).collect(),
            single: F::single().kernel().name(),
            lanes: (1..=plan.width()).map(|lanes| plan.cover(lanes)).collect(),
        }
    })
}
