//! The loads of one algorithm, measured.

use super::load::{Load, Way, WrongDigest};
use super::report::{AllCores, Lanes, Plan, Report, Single};
use crate::noise::noise;
use manyhash::Algorithm;
use std::time::Duration;

/// Lengths of a message alone, in bytes: those of `openssl speed`.
const LENGTHS: [usize; 6] = [16, 64, 256, 1024, 8192, LENGTH];

/// Bytes in each of many messages.
const LENGTH: usize = 16384;

/// How much later in its page a message begins than the one before. Lanes that read from the same place in every page
/// would fight over a few sets of the cache.
const STAGGER: usize = 192;

/// Messages for each core at the least, where all cores work: narrow lanes are full with fewer, but the library leaves
/// so small a batch to one core.
const MIN_MESSAGES_PER_CORE: usize = 16;

/// Samples of each load.
const ROUNDS: u32 = 5;

/// A shorter sample would measure the clock.
const MIN_SAMPLE: Duration = Duration::from_micros(100);

/// Measures an algorithm for about so many seconds.
pub(super) fn measure(
    algorithm: Algorithm,
    backend: &'static str,
    cores: usize,
    seconds: f64,
) -> Result<Report, WrongDigest> {
    let plan = manyhash::plan(algorithm);
    let in_lanes = 2 * plan.lanes.len();
    let on_all_cores = cores * in_lanes.max(MIN_MESSAGES_PER_CORE);
    let bytes = noise(on_all_cores * (LENGTH + STAGGER));
    let messages: Vec<&[u8]> = bytes.chunks_exact(LENGTH + STAGGER).map(|chunk| &chunk[..LENGTH]).collect();

    let mut single = Vec::new();
    for length in LENGTHS {
        single.push(Load::checked(algorithm, Way::Alone, vec![&bytes[..length]])?);
    }
    let mut lanes = Load::checked(algorithm, Way::Together(1), messages[..in_lanes].to_vec())?;
    let mut all_cores = Load::checked(algorithm, Way::Together(0), messages)?;

    let mut loads: Vec<&mut Load> = single.iter_mut().chain([&mut lanes, &mut all_cores]).collect();
    let sample = sample(seconds, loads.len());
    loads.iter_mut().for_each(|load| load.calibrate(sample));
    // Load after load in each round, so that what disturbs the machine for a while disturbs all of them alike.
    for _ in 0..ROUNDS {
        loads.iter_mut().for_each(|load| load.sample());
    }
    loads.iter_mut().try_for_each(|load| load.check())?;

    let single = LENGTHS.into_iter().zip(&single).map(|(length, load)| Single {
        length,
        bytes_per_s: load.bytes_per_s(),
        messages_per_s: load.messages_per_s(),
    });
    Ok(Report {
        algorithm: algorithm.name(),
        backend,
        cores,
        single: single.collect(),
        lanes: Lanes { messages: lanes.messages(), length: LENGTH, bytes_per_s: lanes.bytes_per_s() },
        all_cores: AllCores {
            threads: cores,
            messages: all_cores.messages(),
            length: LENGTH,
            bytes_per_s: all_cores.bytes_per_s(),
        },
        plan: Plan::from(&plan),
        verified: true,
    })
}

/// How long a sample takes: calibration counts for two.
fn sample(seconds: f64, loads: usize) -> Duration {
    let samples = (ROUNDS + 2) * loads as u32;
    Duration::try_from_secs_f64(seconds / f64::from(samples)).unwrap_or(Duration::MAX).max(MIN_SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::{MIN_SAMPLE, sample};
    use std::time::Duration;

    #[test]
    fn samples_fill_the_time() {
        assert_eq!(sample(5.6, 8), Duration::from_millis(100));
        assert_eq!((sample(1e-300, 8), sample(1e300, 8)), (MIN_SAMPLE, Duration::MAX));
    }
}
