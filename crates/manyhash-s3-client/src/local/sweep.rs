//! The way through a segment: its parts, of all cuts, from chunks of the file in their order.
//!
//! A *stream* is what is hashed of a part. Parts that begin at the same byte share one, whose checksum is taken at the
//! end of each: as far as the shortest they are the same message. Each stream takes of a chunk what its part has of it,
//! and the streams of all sweeps in hand are advanced together, in lanes.

use super::plan::{Plan, Series};
use manyhash::{Hasher, update_many};
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, RunningChecksum, digest};
use std::ops::Range;
use std::sync::Arc;

/// Bytes for which a part of the work is offered to another thread.
const WORTH_THREADS: usize = 64 << 10;

/// A segment, and how far it was read.
pub(super) struct Sweep {
    plan: Arc<Plan>,
    /// Where its parts begin.
    segment: Range<u64>,
    position: u64,
    lanes: usize,
    streams: Vec<Stream>,
    done: Vec<Done>,
}

/// The checksum of a part.
pub(super) struct Done {
    /// The place of its series in the plan.
    pub(super) series: usize,
    pub(super) part: u64,
    pub(super) checksum: Checksum,
}

/// What is hashed from some byte on.
struct Stream {
    algorithm: ChecksumAlgorithm,
    start: u64,
    position: u64,
    /// Parts that have begun at `start`, the one that ends first last. There is at least one.
    parts: Vec<Part>,
    state: State,
}

struct Part {
    series: usize,
    part: u64,
    end: u64,
}

#[allow(clippy::large_enum_variant, reason = "most are of lanes, and each is made anew for every part")]
#[derive(Clone)]
enum State {
    Lanes(Hasher),
    Other(RunningChecksum),
}

impl State {
    fn new(algorithm: ChecksumAlgorithm) -> Option<State> {
        match algorithm.lanes() {
            Some(lanes) => Some(State::Lanes(Hasher::new(lanes))),
            None => RunningChecksum::new(algorithm).map(State::Other),
        }
    }

    fn finalize(self, algorithm: ChecksumAlgorithm) -> Option<Checksum> {
        match self {
            State::Lanes(hasher) => Checksum::new(algorithm, hasher.finalize().as_bytes()).ok(),
            State::Other(running) => Some(running.finalize()),
        }
    }
}

impl Stream {
    /// Where the next of its parts ends.
    fn end(&self) -> u64 {
        self.parts.last().map_or(self.position, |part| part.end)
    }
}

impl Sweep {
    pub(super) fn new(plan: Arc<Plan>, segment: Range<u64>) -> Sweep {
        let (position, lanes) = (segment.start, plan.lanes());
        let mut sweep = Sweep { plan, segment, position, lanes, streams: Vec::new(), done: Vec::new() };
        for series in 0..sweep.plan.series().len() {
            let first = sweep.plan.series()[series].cut.parts_before(position);
            sweep.begin(series, first);
        }
        sweep
    }

    /// Messages of one algorithm that it hashes side by side.
    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Where its next bytes are.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// How many bytes it still takes at most.
    pub(super) fn left(&self) -> u64 {
        if self.streams.is_empty() {
            return 0;
        }
        let ends = self.streams.iter().flat_map(|stream| &stream.parts).map(|part| part.end);
        let end = ends.max().unwrap_or(0).max(self.segment.end.min(self.plan.size()));
        end.saturating_sub(self.position)
    }

    /// Begins a part, if it is one of this segment.
    fn begin(&mut self, series: usize, mut part: u64) {
        let size = self.plan.size();
        let Some(Series { cut, algorithm }) = self.plan.series().get(series) else { return };
        let algorithm = *algorithm;
        while part < cut.parts(size) {
            let Range { start, end } = cut.part(part, size);
            if start >= self.segment.end {
                return;
            }
            if start == end {
                self.done.push(Done { series, part, checksum: digest(algorithm, b"") });
                part += 1;
                continue;
            }
            let new = Part { series, part, end };
            // One that has not passed the new part's end.
            let shared =
                |stream: &&mut Stream| stream.start == start && stream.algorithm == algorithm && stream.position < end;
            if let Some(stream) = self.streams.iter_mut().find(shared) {
                let place = stream.parts.partition_point(|part| part.end > end);
                stream.parts.insert(place, new);
            } else if let Some(state) = State::new(algorithm) {
                self.streams.push(Stream { algorithm, start, position: start, parts: vec![new], state });
            }
            return;
        }
    }

    /// What streams have yet to take of a chunk, up to the end of a part at most.
    fn behind<'a>(&'a mut self, chunk: &'a [u8]) -> impl Iterator<Item = (&'a mut State, &'a [u8])> {
        let from = self.position;
        self.streams.iter_mut().filter_map(move |stream| {
            let offset = |position: u64| {
                usize::try_from(position.saturating_sub(from)).map_or(chunk.len(), |at| at.min(chunk.len()))
            };
            let bytes = chunk.get(offset(stream.position)..offset(stream.end())).filter(|bytes| !bytes.is_empty())?;
            stream.position += bytes.len() as u64;
            Some((&mut stream.state, bytes))
        })
    }

    /// Ends the parts whose ends were reached, and begins those after them.
    fn settle(&mut self) {
        let mut i = 0;
        while let Some(stream) = self.streams.get_mut(i) {
            let Some(Part { series, part, .. }) = stream.parts.pop_if(|part| part.end == stream.position) else {
                i += 1;
                continue;
            };
            let algorithm = stream.algorithm;
            let state = match stream.parts.is_empty() {
                false => stream.state.clone(),
                // The last one takes its place, and its turn comes next.
                true => self.streams.swap_remove(i).state,
            };
            self.done.extend(state.finalize(algorithm).map(|checksum| Done { series, part, checksum }));
            self.begin(series, part + 1);
        }
    }

    /// Ends the file here, where its size was not known.
    pub(super) fn end(&mut self) {
        for Stream { algorithm, start, parts, state, .. } in std::mem::take(&mut self.streams) {
            // A part that would have begun here is none, unless it is the only one.
            for Part { series, part, .. } in parts.into_iter().filter(|part| start < self.position || part.part == 0) {
                let checksum = state.clone().finalize(algorithm);
                self.done.extend(checksum.map(|checksum| Done { series, part, checksum }));
            }
        }
    }

    /// Takes the checksums of the parts that have ended.
    pub(super) fn take_done(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.done)
    }
}

/// Advances each sweep by the chunk that is next in its file. Up to so many threads of the rayon pool that the caller
/// runs in share the work.
pub(super) fn advance(mut sweeps: Vec<(&mut Sweep, &[u8])>, threads: usize) {
    loop {
        let behind = sweeps.iter_mut().flat_map(|(sweep, chunk)| sweep.behind(chunk));
        let work: Vec<_> = behind.collect();
        if work.is_empty() {
            break;
        }
        hash(work, threads);
        sweeps.iter_mut().for_each(|(sweep, _)| sweep.settle());
    }
    sweeps.into_iter().for_each(|(sweep, chunk)| sweep.position += chunk.len() as u64);
}

fn hash(mut work: Vec<(&mut State, &[u8])>, threads: usize) {
    let bytes: usize = work.iter().map(|(_, bytes)| bytes.len()).sum();
    if threads > 1 && work.len() > 1 && bytes >= WORTH_THREADS {
        let other = work.split_off(work.len() / 2);
        rayon::join(|| hash(work, threads.div_ceil(2)), || hash(other, threads / 2));
        return;
    }
    let lanes = work.into_iter().filter_map(|(state, bytes)| match state {
        State::Lanes(hasher) => Some((hasher, bytes)),
        State::Other(running) => {
            running.update(bytes);
            None
        }
    });
    update_many(lanes);
}
