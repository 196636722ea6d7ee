//! Which jobs a core takes next, how many of them side by side, and for how long.
//!
//! Pure bookkeeping without threads or bytes: the engine calls it under its lock, and the simulation of its tests calls
//! the same with a clock of its own. Jobs that ask for the same algorithms share a [`Pool`], since only they share
//! lanes. A core [takes](Schedule::take) a group of jobs, each for a slice of bounded length, gives back what is left
//! of them, and takes anew. So nothing here waits for lanes to be full; whatever arrives is looked at within a slice; and as
//! jobs end, those that are left on several cores come together in one group, or are spread, as the costs have it.
//!
//! Within a pool three kinds of jobs are distinguished, all by comparison with the time that the whole will take:
//! - one so long that all would wait for it, were it slowed by many lanes: it gets a core with few lanes or none beside;
//! - one longer than its fair share of the rest: it should not be left for last, so the longest come first, but they do
//!   not get all lanes while others wait;
//! - all others, by deadline: the sooner the earlier they came and the shorter they are. Nothing is overtaken forever,
//!   for every deadline comes.

use super::costs::{Costs, Share};
use super::links::{Links, List};
use std::cmp::Reverse;
use std::iter::repeat_n;

/// A job, by the index of its slot.
pub(super) type Job = u32;

/// Cores, their pools and the jobs that wait in them.
#[derive(Debug)]
pub(super) struct Schedule {
    cores: usize,
    pools: Vec<Pool>,
    groups: Vec<Option<Group>>,
    /// By job; those that do not wait have old ones.
    entries: Vec<Entry>,
    links: Links,
    /// Bytes taken so far: the clock of the deadlines.
    taken: u64,
    /// Lanes given to jobs while others waited.
    shared_lanes: usize,
}

/// What is known of a job that waits or is in a group.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    pool: usize,
    left: u64,
    /// Of these, the bytes that stand side by side.
    piece: u64,
    deadline: u64,
    wide: bool,
}

/// The jobs of one set of algorithms.
#[derive(Debug)]
struct Pool {
    costs: Costs,
    /// Jobs that wait, by the number of bits of the bytes that they have left: within a factor of two the one that came
    /// first comes first, so that no order has to be kept among thousands.
    classes: [List; CLASSES],
    /// The classes that have any, a bit for each.
    occupied: u128,
    /// Jobs that wait and fill all lanes by themselves.
    wide: List,
    /// Of all jobs, those in groups included.
    bytes: u64,
    /// Jobs that wait, without the wide ones.
    waiting: usize,
}

/// A core's present jobs.
#[derive(Clone, Copy, Debug)]
struct Group {
    pool: usize,
    jobs: usize,
    longest: u64,
    bytes: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// One that holds up the whole, and as many as fit beside it.
    Long,
    Common,
    Wide,
}

/// How strictly slices are kept to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pace {
    /// A thread of the engine need not cut in two what stands side by side.
    Engine,
    /// A caller has other things to do.
    Caller,
}

/// What a core is to do.
#[derive(Debug, PartialEq)]
pub(super) struct Bundle {
    /// To be given back with it.
    pub(super) group: usize,
    /// Jobs, and the bytes to advance each by: all that it has left, or a whole number of blocks of any algorithm. They
    /// may be more than there are lanes.
    pub(super) jobs: Vec<(Job, u64)>,
}

const CLASSES: usize = u64::BITS as usize + 1;

/// The longest slice, in seconds: how long a newcomer waits at most for a core to look.
const LONGEST_SLICE: f64 = 250e-6;

/// A caller's slice: what is in hand is done with, if it can be.
const CALLERS_SLICE: f64 = 200e-6;

/// The shortest slice: many times what taking jobs and giving them back costs.
const SHORTEST_SLICE: f64 = 50e-6;

/// Slices into which the time of the whole is cut at least, so that cores end at about the same time.
const SLICES: f64 = 16.0;

/// As many where one core is enough, and newcomers find a place in its lanes all the same.
const FEW_SLICES: f64 = 4.0;

/// A slice is a multiple of this many bytes: whole blocks of any algorithm, and whole pages.
const GRAIN: u64 = 4096;

/// Bytes for which a job is begun in a lane that has room for no more.
const WORTH_BEGINNING: u64 = 4 * GRAIN;

/// Bytes side by side that are taken as a whole rather than cut.
const WHOLE: u64 = 128 << 10;

/// Seconds that all should take for lanes to be spread over more cores than are needed: much more than waking a thread.
const WORTH_SPREADING: f64 = 2e-3;

/// Seconds that jobs in lanes take from which on another core is called for those that callers would do in turns.
const WORTH_CALLING: f64 = 1e-3;

/// The time of the whole can be had to about this factor; differences below it do not count.
const SLACK: f64 = 1.18;

/// Of the lanes, the share of the long jobs while others wait: all but one in four.
const LONG_LANES: (usize, usize) = (3, 4);

/// Long jobs that are looked for one by one in a class, so that a look stays short.
const LOOK: usize = 32;

impl Schedule {
    pub(super) fn new(cores: usize) -> Self {
        let (pools, groups, entries, links) = (Vec::new(), Vec::new(), Vec::new(), Links::default());
        Schedule { cores: cores.max(1), pools, groups, entries, links, taken: 0, shared_lanes: 0 }
    }

    /// A further pool; it goes by the number of pools before it.
    pub(super) fn add_pool(&mut self, costs: Costs) -> usize {
        self.pools.push(Pool {
            costs,
            classes: [List::EMPTY; CLASSES],
            occupied: 0,
            wide: List::EMPTY,
            bytes: 0,
            waiting: 0,
        });
        self.pools.len() - 1
    }

    pub(super) fn costs(&self, pool: usize) -> &Costs {
        &self.pools[pool].costs
    }

    pub(super) fn cores(&self) -> usize {
        self.cores
    }

    /// Whether any job waits.
    pub(super) fn is_waiting(&self) -> bool {
        self.pools.iter().any(|pool| pool.waiting > 0 || pool.wide.len() > 0)
    }

    /// Whether the jobs of a pool that wait fill a core's lanes.
    pub(super) fn fills_lanes(&self, pool: usize) -> bool {
        self.pools[pool].waiting >= self.pools[pool].costs.width()
    }

    /// Whether so many jobs wait that another core is worth calling for them.
    pub(super) fn is_much(&self) -> bool {
        self.pools.iter().any(|pool| {
            let width = pool.costs.width();
            let seconds = || pool.bytes as f64 * pool.costs.seconds(width) / width as f64;
            pool.wide.len() > 0 || (pool.waiting >= 2 * width && seconds() >= WORTH_CALLING)
        })
    }

    /// Bytes of a job that waits which are a slice if it is alone.
    pub(super) fn slice_alone(&self, job: Job) -> usize {
        let Entry { pool, left, wide, .. } = self.entries[job as usize];
        let bytes = (LONGEST_SLICE / self.pools[pool].costs.seconds(1)) as u64;
        if wide { left as usize } else { bytes.next_multiple_of(GRAIN).max(GRAIN) as usize }
    }

    /// A job with so many bytes to hash, which is new, or another time after it had none. The first `piece` of them
    /// stand side by side.
    pub(super) fn add(&mut self, pool: usize, job: Job, bytes: u64, piece: u64) {
        self.insert(pool, job, bytes, piece, false);
    }

    /// A job of very many short messages, of so many bytes altogether, that fills all lanes.
    pub(super) fn add_wide(&mut self, pool: usize, job: Job, bytes: u64) {
        self.insert(pool, job, bytes, bytes, true);
    }

    fn insert(&mut self, pool: usize, job: Job, bytes: u64, piece: u64, wide: bool) {
        let lanes = if wide { self.cores } else { self.cores * self.pools[pool].costs.width() };
        // While all lanes of all cores are in use, this is when it would be done, started now.
        let deadline = self.taken.saturating_add(bytes.saturating_mul(lanes as u64));
        let index = job as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, Entry::default());
        }
        self.entries[index] = Entry { pool, left: bytes, piece, deadline, wide };
        self.pools[pool].bytes += bytes;
        self.pools[pool].push(&mut self.links, job, &self.entries[index], false);
    }

    /// A job that waits has more bytes to hash than before.
    pub(super) fn grow(&mut self, job: Job, bytes: u64) {
        let entry = &mut self.entries[job as usize];
        let pool = &mut self.pools[entry.pool];
        pool.bytes += bytes;
        if class(entry.left) == class(entry.left + bytes) {
            entry.left += bytes;
            return;
        }
        pool.remove(&mut self.links, job, entry);
        entry.left += bytes;
        pool.push(&mut self.links, job, entry, false);
    }

    /// Takes out a job that waits.
    pub(super) fn remove(&mut self, job: Job) {
        let entry = &mut self.entries[job as usize];
        let pool = &mut self.pools[entry.pool];
        pool.remove(&mut self.links, job, entry);
        pool.bytes -= entry.left;
    }

    /// Whether a core that came now would get something to do.
    pub(super) fn has_work(&self) -> bool {
        self.is_waiting() && self.choose().is_some()
    }

    /// Jobs for a core that has none, if there are any that are better begun now than beside those of other cores.
    pub(super) fn take(&mut self) -> Option<Bundle> {
        if !self.is_waiting() {
            return None;
        }
        let (index, choice) = self.choose()?;
        self.bundle(index, &choice, Pace::Engine)
    }

    /// The same of one pool.
    pub(super) fn take_of(&mut self, pool: usize, pace: Pace) -> Option<Bundle> {
        let choice = self.choose_in(pool, pace)?;
        self.bundle(pool, &choice, pace)
    }

    fn bundle(&mut self, index: usize, choice: &Choice, pace: Pace) -> Option<Bundle> {
        let mut jobs = Vec::with_capacity(choice.lanes);
        match choice.kind {
            Kind::Wide => {
                let job = self.pools[index].wide.first()?;
                jobs.push((job, self.pick(job, u64::MAX, pace)));
            }
            Kind::Long => {
                for _ in 0..choice.lanes {
                    let Some(job) = self.pools[index].longest(&self.links, &self.entries) else { break };
                    jobs.push((job, self.pick(job, choice.slice, pace)));
                }
            }
            Kind::Common => self.take_common(index, choice, pace, &mut jobs),
        }
        let entries = jobs.iter().map(|(job, _)| self.entries[*job as usize]);
        let longest = entries.clone().map(|entry| entry.left).max()?;
        let bytes = entries.map(|entry| entry.left).sum();
        let group = Group { pool: index, jobs: jobs.len(), longest, bytes, kind: choice.kind };
        self.taken += jobs.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let free = self.groups.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.groups.push(None);
            self.groups.len() - 1
        });
        self.groups[number] = Some(group);
        Some(Bundle { group: number, jobs })
    }

    fn take_common(&mut self, index: usize, choice: &Choice, pace: Pace, jobs: &mut Vec<(Job, u64)>) {
        let mut long = choice.lanes;
        if self.pools[index].waiting > choice.lanes {
            // On an average: of a single lane, three slices in four.
            let before = self.shared_lanes * LONG_LANES.0 / LONG_LANES.1;
            self.shared_lanes = self.shared_lanes.wrapping_add(choice.lanes) % (LONG_LANES.1 << 16);
            long = (self.shared_lanes * LONG_LANES.0 / LONG_LANES.1).saturating_sub(before);
        }
        for _ in 0..choice.lanes {
            let pool = &self.pools[index];
            let top = if long > 0 { pool.longest(&self.links, &self.entries) } else { None };
            let top = top.filter(|job| self.entries[*job as usize].left >= choice.long);
            long -= usize::from(top.is_some());
            let Some(job) = top.or_else(|| pool.soonest(&self.entries)) else { break };
            jobs.push((job, self.pick(job, choice.slice, pace)));
        }
        // Lanes that end before the longest go on with what is next, for as long as that has to go.
        let lengths = jobs.iter().map(|(_, bytes)| *bytes);
        let longest = lengths.clone().max().unwrap_or(0);
        let end = if longest >= choice.slice / 2 { longest } else { longest.max(choice.slice.min(choice.fair)) };
        let rooms: Vec<u64> = lengths.map(|bytes| end - bytes).collect();
        for mut room in rooms {
            while let Some(job) = self.pools[index].soonest(&self.entries) {
                let Entry { left, piece, .. } = self.entries[job as usize];
                let is_whole = piece < left && piece <= WHOLE;
                if left > room && (room < WORTH_BEGINNING || (is_whole && piece > room)) {
                    break;
                }
                let bytes = self.pick(job, if left <= room { left } else { room / GRAIN * GRAIN }, pace);
                jobs.push((job, bytes));
                room = room.saturating_sub(bytes);
            }
        }
    }

    /// Takes a job out of those that wait, to be advanced by about so many bytes: by how many in fact.
    fn pick(&mut self, job: Job, most: u64, pace: Pace) -> u64 {
        let entry = &mut self.entries[job as usize];
        self.pools[entry.pool].remove(&mut self.links, job, entry);
        // Side by side with others, one piece at a time: where pieces end, lanes have to be looked at anew. Very short
        // ones are worth less than the look; and one that is not long is not cut in two.
        let is_chunk = entry.piece < entry.left && (WORTH_BEGINNING..=WHOLE).contains(&entry.piece);
        if is_chunk && pace == Pace::Engine && entry.piece <= most.saturating_mul(2) {
            return entry.piece;
        }
        let most = if entry.piece >= WORTH_BEGINNING { most.min(entry.piece) } else { most };
        // A little more is better than a short end.
        if entry.left <= most.saturating_add(most / 8) { entry.left } else { most }
    }

    /// A core is done with a group. Its jobs are no longer known, but for those that are [given back](Self::give_back).
    pub(super) fn end(&mut self, group: usize) {
        if let Some(group) = self.groups.get_mut(group).and_then(Option::take) {
            self.pools[group.pool].bytes -= group.bytes;
        }
    }

    /// A job of a group that has ended has so many bytes left, and waits again, before those that came later.
    pub(super) fn give_back(&mut self, job: Job, bytes: u64, piece: u64) {
        let entry = &mut self.entries[job as usize];
        let pool = &mut self.pools[entry.pool];
        (entry.left, entry.piece) = (bytes, piece);
        pool.bytes += bytes;
        pool.push(&mut self.links, job, entry, true);
    }

    /// The pool whose next job is due first, of those that have something for one more core.
    fn choose(&self) -> Option<(usize, Choice)> {
        let choices = (0..self.pools.len()).filter_map(|index| {
            let deadline = self.pools[index].deadline(&self.entries)?;
            Some((deadline, index, self.choose_in(index, Pace::Engine)?))
        });
        choices.min_by_key(|(deadline, ..)| *deadline).map(|(_, index, choice)| (index, choice))
    }

    /// What one more core should do in a pool, if anything.
    fn choose_in(&self, index: usize, pace: Pace) -> Option<Choice> {
        let pool = &self.pools[index];
        let groups = self.groups.iter().flatten();
        let elsewhere = groups.clone().filter(|group| group.pool != index).count();
        let cores = self.cores.saturating_sub(elsewhere).max(1);
        let groups = groups.filter(|group| group.pool == index);
        let running = |kind| groups.clone().filter(move |group| group.kind == kind);
        let wide_running = running(Kind::Wide).count();
        let wide_first = pool.wide.first().map(|job| self.entries[job as usize].deadline);
        let first = pool.soonest(&self.entries).map(|job| self.entries[job as usize].deadline);
        if wide_first.is_some_and(|wide| first.is_none_or(|first| wide <= first)) {
            let running = groups.clone().count();
            return (running < cores).then_some(Choice { kind: Kind::Wide, lanes: 1, slice: 0, long: 0, fair: 0 });
        }
        first?;

        let narrow = groups.clone().filter(|group| group.kind != Kind::Wide);
        let jobs = pool.waiting + narrow.clone().map(|group| group.jobs).sum::<usize>();
        let cores = cores.saturating_sub(wide_running).max(1);
        let layout = self.layout(index, jobs, cores);
        let slice = |lanes: usize| {
            let slices = if layout.seconds < WORTH_SPREADING { FEW_SLICES } else { SLICES };
            let seconds = match pace {
                Pace::Engine => (layout.seconds / slices).clamp(SHORTEST_SLICE, LONGEST_SLICE),
                Pace::Caller => CALLERS_SLICE,
            };
            let bytes = (seconds / pool.costs.seconds(lanes)) as u64;
            bytes.next_multiple_of(GRAIN).max(GRAIN)
        };
        let wide = layout.rest.wide;
        let fair = pool.bytes / layout.rest.lanes() as u64;
        if running(Kind::Long).count() < layout.long + layout.rest.narrow.cores {
            let longest = pool.longest(&self.links, &self.entries)?;
            let left = self.entries[longest as usize].left as f64;
            let within = pool.costs.within(SLACK * layout.seconds / left.max(1.0));
            let lanes = if layout.rest.narrow.cores > 0 { within.min(layout.rest.narrow.lanes) } else { within };
            if lanes < wide.lanes {
                return Some(Choice { kind: Kind::Long, lanes, slice: slice(lanes), long: 0, fair: 0 });
            }
        }
        if running(Kind::Common).count() >= wide.cores {
            return None;
        }
        let (lanes, slice) = (wide.lanes, slice(wide.lanes));
        Some(Choice { kind: Kind::Common, lanes, slice, long: fair / 2, fair: (fair / 2).max(GRAIN) })
    }

    /// How the jobs of a pool are best laid out over so many cores.
    fn layout(&self, index: usize, jobs: usize, cores: usize) -> Layout {
        let pool = &self.pools[index];
        let costs = &pool.costs;
        let dense = costs.dense(jobs, cores);
        let groups = self.groups.iter().flatten().filter(|group| group.pool == index && group.kind != Kind::Wide);
        let longest = pool.longest(&self.links, &self.entries).map(|job| self.entries[job as usize].left);
        let longest = groups.clone().map(|group| group.longest).chain(longest).max().unwrap_or(0);
        let seconds = (pool.bytes as f64 / dense.rate).max(longest as f64 * costs.seconds(dense.wide.lanes));
        if seconds < WORTH_SPREADING {
            return Layout { seconds, long: 0, rest: dense };
        }
        let rest = costs.share(jobs, cores);
        let seconds = (pool.bytes as f64 / rest.rate).max(longest as f64 * costs.seconds(1));
        let mut layout = Layout { seconds, long: 0, rest };
        if cores == 1 || longest as f64 * costs.seconds(rest.wide.lanes) <= SLACK * seconds {
            return layout;
        }
        // Of a group's other jobs only the sum is known.
        let mut lefts: Vec<u64> = Vec::new();
        for group in groups {
            let others = (group.bytes - group.longest).checked_div(group.jobs as u64 - 1).unwrap_or(0);
            lefts.push(group.longest);
            lefts.extend(repeat_n(others, group.jobs - 1));
        }
        pool.long(&self.links, &self.entries, cores * costs.width(), &mut lefts);
        lefts.sort_unstable_by_key(|left| Reverse(*left));
        layout.seconds = seconds.max(costs.soonest(&lefts, pool.bytes, cores));
        let behind = |left: u64, rest: &Share| left as f64 * costs.seconds(rest.wide.lanes) > SLACK * layout.seconds;
        let long = lefts.partition_point(|left| behind(*left, &rest));
        let (mut next, mut cores_worth, mut groups) = (0, 0.0, Vec::new());
        while next < long && groups.len() + 1 < cores {
            let left = lefts[next] as f64;
            let lanes = costs.within(SLACK * layout.seconds / left);
            // The others must not stand still meanwhile: there are lanes for them beside the rest.
            let lanes_left = (cores - groups.len() - 1) * costs.width() * LONG_LANES.0 / LONG_LANES.1;
            if next + lanes >= jobs || lanes_left + lanes + next < long {
                break;
            }
            // It need not be in a narrow group all the time, only for so many bytes that it is done in time.
            let (narrow, wide) = (costs.seconds(lanes), costs.seconds(rest.wide.lanes));
            let bytes = (left * wide - layout.seconds) / (wide - narrow).max(f64::MIN_POSITIVE);
            cores_worth += (bytes * narrow / layout.seconds).clamp(0.0, 1.0);
            groups.push(lanes);
            next += lanes;
        }
        layout.long = groups.len().min(cores_worth.ceil() as usize);
        let beside: usize = groups.iter().take(layout.long).sum();
        layout.rest = costs.share(jobs - beside, cores - layout.long);
        layout
    }
}

/// What one more core should do.
#[derive(Debug)]
struct Choice {
    kind: Kind,
    lanes: usize,
    /// Maximum number of bytes by which a job is advanced.
    slice: u64,
    /// Bytes from which on a job should not be left for last.
    long: u64,
    /// Bytes in each lane that leave other cores their share.
    fair: u64,
}

/// Cores for long jobs, and for the rest.
#[derive(Debug)]
struct Layout {
    /// What all of it will take.
    seconds: f64,
    /// Groups that begin with a long job.
    long: usize,
    rest: Share,
}

impl Pool {
    fn push(&mut self, links: &mut Links, job: Job, entry: &Entry, front: bool) {
        let class = class(entry.left);
        let list = if entry.wide { &mut self.wide } else { &mut self.classes[class] };
        if front {
            list.push_front(links, job);
        } else {
            list.push_back(links, job);
        }
        if !entry.wide {
            self.waiting += 1;
            self.occupied |= 1 << class;
        }
    }

    fn remove(&mut self, links: &mut Links, job: Job, entry: &Entry) {
        if entry.wide {
            self.wide.remove(links, job);
            return;
        }
        let class = class(entry.left);
        self.classes[class].remove(links, job);
        self.waiting -= 1;
        if self.classes[class].len() == 0 {
            self.occupied &= !(1 << class);
        }
    }

    /// The lists that have jobs, those of the longest first.
    fn occupied(&self) -> impl Iterator<Item = List> + '_ {
        let mut left = self.occupied;
        std::iter::from_fn(move || {
            let class = left.checked_ilog2()?;
            left &= !(1 << class);
            Some(self.classes[class as usize])
        })
    }

    /// When the next job should be done.
    fn deadline(&self, entries: &[Entry]) -> Option<u64> {
        let jobs = self.soonest(entries).into_iter().chain(self.wide.first());
        jobs.map(|job| entries[job as usize].deadline).min()
    }

    /// The job that waits and is due first.
    fn soonest(&self, entries: &[Entry]) -> Option<Job> {
        let firsts = self.occupied().filter_map(|list| list.first());
        firsts.min_by_key(|job| entries[*job as usize].deadline)
    }

    /// The longest job that waits; among very many of about the same length, one of the longest.
    fn longest(&self, links: &Links, entries: &[Entry]) -> Option<Job> {
        self.occupied().next()?.iter(links).take(LOOK).max_by_key(|job| entries[*job as usize].left)
    }

    /// Adds the bytes of about so many of the longest jobs that wait.
    fn long(&self, links: &Links, entries: &[Entry], most: usize, lefts: &mut Vec<u64>) {
        let jobs = self.occupied().flat_map(|list| list.iter(links).take(LOOK));
        lefts.extend(jobs.take(most).map(|job| entries[job as usize].left));
    }
}

fn class(bytes: u64) -> usize {
    (u64::BITS - bytes.leading_zeros()) as usize
}
