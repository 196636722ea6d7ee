//! Loads: which messages are hashed, how they are handed over, and how long a sample is.
//!
//! A new load is a variant of [`Load`], an arm of [`Load::plan`] and a paragraph in README.md.

use crate::messages::Messages;
use crate::subject::Call;
use clap::ValueEnum;
use std::time::Duration;

/// What is hashed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Load {
    /// 64 messages of 64 KiB, again and again.
    Hot,
    /// 256 messages of 4 MiB, far more than the caches hold.
    Cold,
    /// 4096 messages of log-normal lengths, 64 bytes to 16 MiB.
    Mixed,
    /// One message alone, of 0 bytes to 1 MiB.
    Single,
    /// 1 to 40 messages of 16 KiB.
    Crowd,
}

/// A load in full.
pub(crate) struct Plan {
    pub(crate) call: Call,
    pub(crate) table: Table,
    /// Rounds, unless the caller says otherwise.
    pub(crate) rounds: usize,
    /// Whether the subjects that are no peers take part unless the caller says otherwise.
    pub(crate) orientation: bool,
    /// The points of a group are measured in the same rounds.
    pub(crate) groups: Vec<Vec<Point>>,
}

/// Messages to be measured together.
pub(crate) struct Point {
    /// The load that the point belongs to.
    pub(crate) load: Load,
    pub(crate) messages: Messages,
    /// How long one sample lasts at least; zero for a single pass.
    pub(crate) sample: Duration,
    /// Whether it is measured for manyhash only, to compare another load with.
    pub(crate) companion: bool,
}

/// How a load is shown.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    /// A row for each subject.
    Subjects,
    /// A row for each length of a lone message.
    Lengths,
    /// A row for each number of messages.
    Counts,
}

const SINGLE_LENGTHS: [usize; 17] =
    [0, 1, 16, 55, 56, 64, 100, 128, 200, 256, 512, 1000, 1024, 4096, 16384, 65536, 1 << 20];
const QUICK_LENGTHS: [usize; 8] = [0, 16, 64, 200, 1000, 4096, 16384, 65536];
const QUICK_COUNTS: [usize; 14] = [1, 2, 3, 4, 6, 8, 9, 12, 16, 17, 24, 32, 33, 40];

impl Load {
    /// The name in figures and arguments.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Load::Hot => "hot",
            Load::Cold => "cold",
            Load::Mixed => "mixed",
            Load::Single => "single",
            Load::Crowd => "crowd",
        }
    }

    /// The load, or with `quick` a smaller one of its kind.
    pub(crate) fn plan(self, quick: bool) -> Plan {
        let choose = |full, small| if quick { small } else { full };
        let point = |messages, milliseconds| self.point(messages, milliseconds);
        let many = Plan { call: Call::Many, table: Table::Subjects, rounds: 0, orientation: true, groups: vec![] };
        match self {
            Load::Hot => Plan { rounds: choose(21, 7), groups: vec![vec![hot(self)]], ..many },
            Load::Cold => {
                let messages = Messages::equal(choose(256, 64), 4 << 20);
                Plan { rounds: choose(7, 3), groups: vec![vec![point(messages, 0)]], ..many }
            }
            Load::Mixed => {
                let companion = Point { companion: true, ..hot(Load::Hot) };
                let groups = vec![vec![point(Messages::mixed(4096), 0), companion]];
                Plan { rounds: choose(15, 3), groups, ..many }
            }
            Load::Single => {
                let lengths = if quick { &QUICK_LENGTHS[..] } else { &SINGLE_LENGTHS };
                let groups = lengths.iter().map(|length| vec![point(Messages::equal(1, *length), 2)]).collect();
                Plan { call: Call::One, table: Table::Lengths, rounds: choose(41, 15), orientation: false, groups }
            }
            Load::Crowd => {
                let counts = if quick { QUICK_COUNTS.to_vec() } else { (1..=40).collect() };
                let groups = counts.into_iter().map(|count| vec![point(Messages::equal(count, 16 << 10), 2)]).collect();
                Plan { table: Table::Counts, rounds: choose(21, 9), orientation: false, groups, ..many }
            }
        }
    }

    fn point(self, messages: Messages, milliseconds: u64) -> Point {
        Point { load: self, messages, sample: Duration::from_millis(milliseconds), companion: false }
    }
}

fn hot(load: Load) -> Point {
    load.point(Messages::equal(64, 64 << 10), 20)
}
