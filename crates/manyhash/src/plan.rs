//! What was measured and chosen, to be shown.

use crate::Algorithm;
use crate::family::with_family;
use crate::lanes::{Advance, Planned};
use std::time::Duration;

/// How this machine hashes one algorithm: what each of the backend's kernels costs, as measured in this process, and
/// which of them are used for how many messages at once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelPlan {
    /// The backend's kernels.
    pub kernels: Vec<KernelCost>,
    /// The kernel for one message alone.
    pub single: &'static str,
    /// By the number of messages in the lanes, from 1 to as many as are put there: the kernels that advance them.
    pub lanes: Vec<Vec<&'static str>>,
}

/// A kernel and what it costs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KernelCost {
    /// The name: an identifier that stays the same in later versions, fit for labels and for comparison.
    ///
    /// It is the vectors' or the dedicated instructions' name: `portable`, `sse2`, `avx2`, `avx512`, `neon`, `sve2`,
    /// `sha-ni`, `arm-sha`, or `scalar` for plain integers; then, after hyphens, what sets it apart from others of them: `x2` to `x4`
    /// for that many registers or messages interleaved, `half` and `lane` for a part of a register, `pairs` for two words of
    /// the schedule at once, `array` for words in an array, `staged` for messages copied before they are transposed, and
    /// `schedule` for vectors that prepare a scalar kernel's words: `avx512-x2`, `scalar-avx2-schedule`.
    pub name: &'static str,
    /// Messages that it advances at once.
    pub lanes: usize,
    /// The time that one block of all of them takes, data in the first-level cache; the same for fewer messages.
    pub row: Duration,
}

/// Measures now what hashing with these algorithms would measure at its first call: about two milliseconds for each of
/// them that was not measured before in this process. For programs whose first digest should take no longer than others.
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

/// How this machine hashes one algorithm. Measures it if that was not done before in this process.
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
