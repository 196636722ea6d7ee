//! Samples over time: as close together as they can be kept, but never more than a page can show.

use super::subject::Counters;
use manyhash::engine::SlotState;
use serde::Serialize;
use std::time::Duration;

/// The time between the first samples.
const FIRST_INTERVAL: Duration = Duration::from_millis(1);

/// Samples kept at the most. When there are so many every other one goes, and the interval doubles.
const MOST: usize = 200;

/// How many slots were in a state.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Slots {
    /// Over time.
    pub(super) mean: f64,
    pub(super) max: usize,
}

/// What happened from one sample to the next.
#[derive(Serialize)]
pub(super) struct Point {
    /// Of its end, since the start.
    pub(super) time_s: f64,
    /// Hashed since the start.
    pub(super) bytes: u64,
    pub(super) bytes_per_s: f64,
    /// Of the hashing threads' time.
    pub(super) busy_share: f64,
    /// Nothing where nothing was hashed, or there are no lanes.
    pub(super) lane_occupancy: Option<f64>,
    /// At its end, by state.
    #[serde(flatten, serialize_with = "by_state")]
    pub(super) slots: [usize; SlotState::ALL.len()],
}

/// Counters at increasing times.
pub(super) struct Series {
    /// Messages, which have a slot each.
    producers: usize,
    samples: Vec<(Duration, Counters)>,
    interval: Duration,
    /// Of all samples, those that were not kept too.
    last: (Duration, Counters),
    /// By state: slots times seconds.
    areas: [f64; SlotState::ALL.len()],
    most: [usize; SlotState::ALL.len()],
}

impl Series {
    /// Begins where nothing has happened yet.
    pub(super) fn new(producers: usize) -> Self {
        let mut slots = [0; SlotState::ALL.len()];
        slots[SlotState::Free as usize] = producers;
        let first = (Duration::ZERO, Counters { slots, ..Counters::default() });
        Series {
            producers,
            samples: vec![first],
            interval: FIRST_INTERVAL,
            last: first,
            areas: [0.0; SlotState::ALL.len()],
            most: slots,
        }
    }

    /// When the next sample should be taken.
    pub(super) fn next(&self) -> Duration {
        self.last.0 + self.interval
    }

    /// Adds a sample.
    pub(super) fn add(&mut self, time: Duration, counters: Counters) {
        let counters = self.with_free(counters);
        let seconds = time.saturating_sub(self.last.0).as_secs_f64();
        for (i, slots) in counters.slots.into_iter().enumerate() {
            self.areas[i] += slots as f64 * seconds;
            self.most[i] = self.most[i].max(slots);
        }
        self.last = (time, counters);
        self.samples.push(self.last);
        if self.samples.len() > MOST {
            let mut even = false;
            self.samples.retain(|_| {
                even = !even;
                even
            });
            self.interval *= 2;
        }
    }

    /// Counts the messages that are not begun or whose digests were fetched: a subject may have other slots besides.
    fn with_free(&self, mut counters: Counters) -> Counters {
        let [free, used @ ..] = &mut counters.slots;
        *free = self.producers.saturating_sub(used.iter().sum());
        counters
    }

    /// By state.
    pub(super) fn slots(&self) -> [Slots; SlotState::ALL.len()] {
        let seconds = self.last.0.as_secs_f64();
        std::array::from_fn(|i| Slots { mean: self.areas[i] / seconds, max: self.most[i] })
    }

    /// The time and the counters of the last sample.
    pub(super) fn last(&self) -> (Duration, Counters) {
        self.last
    }

    /// What happened between the samples that were kept.
    pub(super) fn points(&self, threads: usize) -> Vec<Point> {
        self.samples.windows(2).map(|pair| point(&pair[0], &pair[1], threads)).collect()
    }
}

fn point((from, old): &(Duration, Counters), (to, new): &(Duration, Counters), threads: usize) -> Point {
    let seconds = to.saturating_sub(*from).as_secs_f64().max(1e-9);
    Point {
        time_s: to.as_secs_f64(),
        bytes: new.bytes,
        bytes_per_s: new.bytes.saturating_sub(old.bytes) as f64 / seconds,
        busy_share: new.busy.saturating_sub(old.busy).as_secs_f64() / (seconds * threads as f64),
        lane_occupancy: occupancy(old, new),
        slots: new.slots,
    }
}

/// The occupancy between two samples, of those since the start: what was hashed is the lanes that had a message, and
/// that by the occupancy all lanes there were.
fn occupancy(old: &Counters, new: &Counters) -> Option<f64> {
    let lanes = |counters: &Counters| match counters.occupancy {
        Some(occupancy) if occupancy > 0.0 => counters.bytes as f64 / occupancy,
        _ => 0.0,
    };
    let all = lanes(new) - lanes(old);
    let active = new.bytes.saturating_sub(old.bytes) as f64;
    (new.occupancy.is_some() && active > 0.0 && all > 0.0).then(|| (active / all).min(1.0))
}

fn by_state<S: serde::Serializer>(slots: &[usize; SlotState::ALL.len()], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(SlotState::ALL.iter().map(|state| state.name()).zip(slots))
}

#[cfg(test)]
mod tests {
    use super::{MOST, Series};
    use crate::simulate::subject::Counters;
    use std::time::Duration;

    fn counters(bytes: u64, occupancy: f64, slots: [usize; 5]) -> Counters {
        let busy = Duration::from_millis(bytes);
        Counters { bytes, busy, occupancy: Some(occupancy), slots, ..Counters::default() }
    }

    #[test]
    fn rates_are_those_between_samples() {
        let mut series = Series::new(4);
        series.add(Duration::from_secs(1), counters(1000, 0.5, [0, 1, 1, 1, 0]));
        series.add(Duration::from_secs(3), counters(2000, 0.6, [9, 0, 0, 0, 2]));
        let points = series.points(2);
        assert_eq!([points[0].bytes_per_s, points[1].bytes_per_s], [1000.0, 500.0]);
        assert_eq!([points[0].busy_share, points[1].busy_share], [0.5, 0.25]);
        // 1000 of 2000, then 1000 of 1333.
        assert_eq!(points[0].lane_occupancy, Some(0.5));
        assert!((points[1].lane_occupancy.expect("bytes were hashed") - 0.75).abs() < 1e-9);
        assert_eq!([points[0].slots, points[1].slots], [[1, 1, 1, 1, 0], [2, 0, 0, 0, 2]]);
        let means = series.slots().map(|slots| (slots.mean * 3.0).round());
        assert_eq!(means, [5.0, 1.0, 1.0, 1.0, 4.0]);
        assert_eq!(series.slots().map(|slots| slots.max), [4, 1, 1, 1, 2]);
    }

    #[test]
    fn samples_do_not_grow_without_bound() {
        let mut series = Series::new(1);
        while series.last().0 < Duration::from_secs(100) {
            let time = series.next();
            series.add(time, counters(time.as_millis() as u64, 1.0, [0, 1, 0, 0, 0]));
        }
        let points = series.points(1);
        assert!((MOST / 2 - 1..=MOST).contains(&points.len()), "{}", points.len());
        assert!(points.iter().all(|point| point.bytes_per_s.round() == 1000.0));
        assert_eq!(points.last().map(|point| point.bytes), Some(series.last().1.bytes));
    }

    #[test]
    fn a_point_is_flat_in_json() {
        let mut series = Series::new(1);
        series.add(Duration::from_secs(1), counters(1, 1.0, [0, 1, 0, 0, 0]));
        let json = serde_json::to_value(series.points(1)).expect("JSON");
        assert_eq!((&json[0]["filling"], &json[0]["free"]), (&1.into(), &0.into()));
    }
}
