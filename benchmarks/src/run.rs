//! A load: every subject's digests checked, then all measured in turns and reported.

use crate::error::Error;
use crate::load::{Load, Plan, Point};
use crate::measure::{self, Entry};
use crate::subject::{self, Job, Kind, Subject, Threads};
use crate::{report, verify};
use clap::builder::PossibleValuesParser;
use manyhash::Algorithm;
use std::io::Write;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct LoadArguments {
    /// What is hashed
    load: Load,
    /// Algorithms to measure
    #[arg(long, value_delimiter = ',', default_value = "md5,sha1,sha256,sha512")]
    algorithm: Vec<Algorithm>,
    /// Subjects to measure [default: all that compute the algorithm; for single and crowd manyhash and its peers]
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(subject::ALL.map(|subject| subject.name())))]
    subject: Vec<String>,
    /// Threads; subjects that have none of their own have the messages split over them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Rounds, in each of which every subject runs once [default: the load's]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// A few seconds instead of minutes: fewer rounds, fewer or smaller points
    #[arg(long)]
    quick: bool,
    /// A JSON object a line instead of tables
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &LoadArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let threads = Threads::new(args.threads.into())?;
    let plan = args.load.plan(args.quick);
    let rounds = args.rounds.map_or(plan.rounds, |rounds| rounds as usize);
    let views: Vec<Vec<View>> = plan.groups.iter().map(|group| group.iter().map(View::new).collect()).collect();

    // Every algorithm is verified before the first is timed, so that a wrong digest leaves no figures behind.
    let mut benches = Vec::new();
    for algorithm in &args.algorithm {
        let subjects = args.subjects(&plan, *algorithm)?;
        let mut groups = Vec::new();
        for group in &views {
            let mut entries = Vec::new();
            for view in group {
                let job =
                    Job { algorithm: *algorithm, messages: &view.messages, call: plan.call, threads: threads.clone() };
                entries.extend(verified(view.point, &job, &subjects)?);
            }
            groups.push(entries);
        }
        benches.push(groups);
    }

    let mut out = std::io::stdout().lock();
    if !args.json {
        write!(out, "{}", report::machine(backend))?;
    }
    for groups in benches {
        let mut figures = Vec::new();
        for entries in groups {
            let measured = measure::measure(entries, rounds, backend);
            if args.json {
                measured.iter().try_for_each(|figure| writeln!(out, "{}", figure.json()))?;
            }
            figures.extend(measured);
        }
        if !args.json {
            write!(out, "{}", report::table(args.load, plan.table, &figures))?;
        }
    }
    Ok(())
}

/// A point, and its messages as subjects take them.
struct View<'a> {
    point: &'a Point,
    messages: Vec<&'a [u8]>,
}

impl<'a> View<'a> {
    fn new(point: &'a Point) -> Self {
        View { point, messages: point.messages.slices() }
    }
}

/// The subjects of a point, their digests checked.
fn verified<'a>(point: &Point, job: &Job<'a>, subjects: &[&'static dyn Subject]) -> Result<Vec<Entry<'a>>, Error> {
    let expected = verify::expected(point.load.name(), job)?;
    let takes_part = |subject: &&&'static dyn Subject| !point.companion || subject.name() == subject::MANYHASH;
    let subjects = subjects.iter().filter(takes_part);
    subjects.map(|subject| Entry::verified(point, job, *subject, &expected)).collect()
}

impl LoadArguments {
    /// The subjects that compute the algorithm, of those asked for or those that the load takes by default.
    fn subjects(&self, plan: &Plan, algorithm: Algorithm) -> Result<Vec<&'static dyn Subject>, Error> {
        let wanted = |subject: &&'static dyn Subject| match &self.subject[..] {
            [] => plan.orientation || matches!(subject.kind(), Kind::Standard),
            names => names.iter().any(|name| name == subject.name()),
        };
        let subjects: Vec<_> =
            subject::ALL.into_iter().filter(wanted).filter(|subject| subject.supports(algorithm)).collect();
        if subjects.is_empty() { Err(Error::NoSubject(algorithm)) } else { Ok(subjects) }
    }
}
