//! `lookup`: digests looked up in a set that is larger than a processor's caches, on one thread.
//!
//! The set is what `manyhash known` has, asked for all of them, and for one after another; its peers are binary search in the sorted array that the set is made of, and the
//! standard library's hash set. Half of the digests looked up are in the set, in no order.

use crate::error::Error;
use crate::measure::{median, turns};
use crate::options::Options;
use crate::report::{machine, rate};
use crate::subject::MANYHASH;
use manyhash_cli::known::Set;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use serde::Serialize;
use std::collections::HashSet;
use std::hint::black_box;
use std::io::Write;
use std::rc::Rc;
use std::time::Instant;

/// As long as those of SHA-1.
type Digest = [u8; 20];

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct LookupArguments {
    #[command(flatten)]
    options: Options,
}

/// What is looked up, and where.
struct Load {
    /// Sorted.
    digests: Vec<Digest>,
    queries: Vec<Digest>,
    /// Whether each query is among the digests.
    expected: Vec<bool>,
}

impl Load {
    /// So many digests and as many queries, the same in every run.
    fn new(count: usize) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut digests = vec![Digest::default(); count];
        random.fill_bytes(digests.as_flattened_mut());
        digests.sort_unstable();
        let expected: Vec<bool> = (0..count).map(|_| random.random()).collect();
        let query = |&known: &bool| {
            let mut query = Digest::default();
            if known {
                query = digests[random.random_range(0..count)];
            } else {
                // One that is among the digests is not to be expected while there are computers.
                random.fill_bytes(&mut query);
            }
            query
        };
        let queries = expected.iter().map(query).collect();
        Load { digests, queries, expected }
    }
}

/// Says of each query whether it is known.
type Run<'a> = Box<dyn FnMut(&mut [bool]) + 'a>;

struct LookupSubject<'a> {
    name: &'static str,
    run: Run<'a>,
}

impl<'a> LookupSubject<'a> {
    fn new(name: &'static str, load: &'a Load, contains: impl Fn(&Digest) -> bool + 'a) -> Self {
        let run = move |answers: &mut [bool]| {
            for (query, answer) in load.queries.iter().zip(answers) {
                *answer = contains(query);
            }
        };
        LookupSubject { name, run: Box::new(run) }
    }
}

/// One subject.
#[derive(Debug, Serialize)]
struct LookupFigure {
    load: &'static str,
    digests: usize,
    digest_bytes: usize,
    lookups: usize,
    subject: &'static str,
    median_s: f64,
    median_lookups_per_s: f64,
    rounds: usize,
    verified: bool,
}

/// Measures and reports.
pub(crate) fn run(args: &LookupArguments) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{}", machine(manyhash::backend()?.name()))?;
    }
    let load = Load::new(if args.options.quick { 1_000_000 } else { 30_000_000 });
    let figures = measure(&load, subjects(&load), args.options.rounds(3, 3))?;
    write!(out, "{}", args.options.text(&figures, table))?;
    Ok(())
}

fn subjects(load: &Load) -> Vec<LookupSubject<'_>> {
    let set = Rc::new(Set::of_sorted(&load.digests));
    let hashed: HashSet<Digest> = load.digests.iter().copied().collect();
    let many = {
        let set = Rc::clone(&set);
        move |answers: &mut [bool]| {
            set.contains_many(&load.queries).zip(answers).for_each(|(found, answer)| *answer = found)
        }
    };
    vec![
        LookupSubject { name: MANYHASH, run: Box::new(many) },
        LookupSubject::new("one by one", load, move |query| set.contains(query)),
        LookupSubject::new("binary search", load, |query| load.digests.binary_search(query).is_ok()),
        LookupSubject::new("HashSet", load, move |query| hashed.contains(query)),
    ]
}

fn measure(load: &Load, mut subjects: Vec<LookupSubject>, rounds: usize) -> Result<Vec<LookupFigure>, Error> {
    let mut answers = vec![false; load.queries.len()];
    for subject in &mut subjects {
        (subject.run)(&mut answers);
        if let Some(query) = answers.iter().zip(&load.expected).position(|(answer, expected)| answer != expected) {
            return Err(Error::WrongAnswer { subject: subject.name, query });
        }
    }
    let mut seconds: Vec<Vec<f64>> = subjects.iter().map(|_| vec![]).collect();
    for round in 0..rounds {
        for at in turns(round, subjects.len()) {
            let start = Instant::now();
            (subjects[at].run)(black_box(&mut answers));
            seconds[at].push(start.elapsed().as_secs_f64());
        }
    }
    let figure = |(subject, seconds): (LookupSubject, Vec<f64>)| {
        let median_s = median(seconds);
        LookupFigure {
            load: "lookup",
            digests: load.digests.len(),
            digest_bytes: size_of::<Digest>(),
            lookups: load.queries.len(),
            subject: subject.name,
            median_s,
            median_lookups_per_s: load.queries.len() as f64 / median_s,
            rounds,
            verified: true,
        }
    };
    Ok(subjects.into_iter().zip(seconds).map(figure).collect())
}

/// A row for each subject.
fn table(figures: &[LookupFigure]) -> String {
    let own = figures.iter().find(|figure| figure.subject == MANYHASH).unwrap_or(&figures[0]);
    let mut text = format!(
        "\n{} look-ups in {} digests of {} bytes, half of them there: 1 thread, median of {} rounds\n\
         {:<14}{:>12}{:>12}{:>12}\n",
        own.lookups, own.digests, own.digest_bytes, own.rounds, "subject", "seconds", "a second", "manyhash x"
    );
    for figure in figures {
        let ratio = own.median_lookups_per_s / figure.median_lookups_per_s;
        let rate = rate(figure.median_lookups_per_s);
        text += &format!("{:<14}{:>12.3}{rate:>12}{ratio:>12.2}\n", figure.subject, figure.median_s);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Load, LookupSubject, measure, subjects};
    use crate::error::Error;

    #[test]
    fn all_agree() {
        let load = Load::new(3000);
        let figures = measure(&load, subjects(&load), 1).unwrap();
        assert_eq!(figures.len(), 4);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let load = Load::new(100);
        let at = load.expected.iter().position(|known| *known).expect("half of them are");
        let forgotten = load.queries[at];
        let subject = LookupSubject::new("wrong", &load, |query| *query != forgotten && load.digests.contains(query));
        let error = measure(&load, vec![subject], 1).unwrap_err();
        assert!(matches!(error, Error::WrongAnswer { subject: "wrong", query } if query == at), "{error}");
    }
}
