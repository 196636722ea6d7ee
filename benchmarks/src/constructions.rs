//! `constructions`: what is built of a hash function: HMAC of short rows, PBKDF2 of many passwords, levels of a Merkle tree.
//!
//! Each is a number of items, and contestants that write the items' outputs side by side. Everything runs on one core.

mod hmac;
mod merkle;
mod pbkdf2;

use crate::error::Error;
use crate::measure::{median, turns};
use crate::options::Options;
use crate::report::{machine, rate};
use crate::subject::MANYHASH;
use crate::verify::Origin;
use manyhash::Algorithm;
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct ConstructionsArguments {
    #[command(flatten)]
    options: Options,
}

/// One construction over one load.
struct Construction<'a> {
    name: &'static str,
    algorithm: Algorithm,
    /// What an item is.
    item: &'static str,
    items: usize,
    /// Bytes in an item, and bytes that come out of it.
    length: usize,
    width: usize,
    /// manyhash first, then OpenSSL, which says what the outputs should be, then peers that share no code with it.
    contestants: Vec<Contestant<'a>>,
}

/// Writes every item's output.
type Run<'a> = Box<dyn FnMut(&mut [u8]) + 'a>;

struct Contestant<'a> {
    name: &'static str,
    run: Run<'a>,
}

impl<'a> Contestant<'a> {
    fn new(name: &'static str, run: impl FnMut(&mut [u8]) + 'a) -> Self {
        Contestant { name, run: Box::new(run) }
    }
}

/// One contestant in one construction.
#[derive(Debug, Serialize)]
struct ConstructionsFigure {
    load: &'static str,
    construction: &'static str,
    algorithm: &'static str,
    item: &'static str,
    items: usize,
    backend: &'static str,
    subject: &'static str,
    median_items_per_s: f64,
    rounds: usize,
    verified: bool,
}

/// Measures and reports.
pub(crate) fn run(args: &ConstructionsArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let machine = machine(backend);
    one_core()?;
    let rounds = args.options.rounds(9, 3);
    let scale = if args.options.quick { 50 } else { 1 };
    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{machine}")?;
    }
    let (rows, nodes) = (hmac::rows(1_000_000 / scale), merkle::nodes(2_000_000 / scale));
    let passwords = pbkdf2::passwords(512 / scale);
    for construction in [
        hmac::construction(&rows, Algorithm::Sha256),
        hmac::construction(&rows, Algorithm::Md5),
        merkle::construction(&nodes),
        pbkdf2::construction(&passwords, Algorithm::Sha1),
        pbkdf2::construction(&passwords, Algorithm::Sha256),
        pbkdf2::construction(&passwords, Algorithm::Sha512),
    ] {
        let figures = measure(construction?, rounds, backend)?;
        write!(out, "{}", args.options.text(&figures, table))?;
    }
    Ok(())
}

/// Leaves this process the first of its cores: manyhash would use all of them.
#[cfg(not(target_os = "linux"))]
fn one_core() -> Result<(), Error> {
    Err(Error::Affinity(std::io::ErrorKind::Unsupported.into()))
}

/// Leaves this process the first of its cores: manyhash would use all of them.
#[cfg(target_os = "linux")]
fn one_core() -> Result<(), Error> {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    let this = nix::unistd::Pid::from_raw(0);
    let allowed = sched_getaffinity(this).map_err(|error| Error::Affinity(error.into()))?;
    let mut first = CpuSet::new();
    let core = (0..CpuSet::count()).find(|core| allowed.is_set(*core).unwrap_or(false));
    first.set(core.unwrap_or(0)).map_err(|error| Error::Affinity(error.into()))?;
    sched_setaffinity(this, &first).map_err(|error| Error::Affinity(error.into()))
}

fn measure(
    construction: Construction,
    rounds: usize,
    backend: &'static str,
) -> Result<Vec<ConstructionsFigure>, Error> {
    let Construction { name, algorithm, item, items, length, width, mut contestants } = construction;
    let mut outputs: Vec<Vec<u8>> = contestants.iter().map(|_| vec![0; items * width]).collect();
    for (contestant, output) in contestants.iter_mut().zip(&mut outputs) {
        (contestant.run)(output);
    }
    for (contestant, output) in contestants.iter().zip(&outputs) {
        for (message, (output, expected)) in output.chunks(width).zip(outputs[1].chunks(width)).enumerate() {
            let origin = Origin { subject: contestant.name, algorithm, load: name, message, length };
            origin.same(output, expected)?;
        }
    }
    let mut seconds: Vec<Vec<f64>> = contestants.iter().map(|_| vec![]).collect();
    for round in 0..rounds {
        for at in turns(round, contestants.len()) {
            let start = Instant::now();
            (contestants[at].run)(black_box(&mut outputs[at]));
            seconds[at].push(start.elapsed().as_secs_f64());
        }
    }
    let figure = |(contestant, seconds): (Contestant, Vec<f64>)| ConstructionsFigure {
        load: "constructions",
        construction: name,
        algorithm: algorithm.name(),
        item,
        items,
        backend,
        subject: contestant.name,
        median_items_per_s: items as f64 / median(seconds),
        rounds,
        verified: true,
    };
    Ok(contestants.into_iter().zip(seconds).map(figure).collect())
}

/// A row for each contestant.
fn table(figures: &[ConstructionsFigure]) -> String {
    let own = figures.iter().find(|figure| figure.subject == MANYHASH).unwrap_or(&figures[0]);
    let mut text = format!(
        "\n{} of {}: {} {}, 1 core, median of {} rounds\n{:<12}{:>12}{:>12}\n",
        own.construction, own.algorithm, own.items, own.item, own.rounds, "subject", "a second", "manyhash x"
    );
    for figure in figures {
        let ratio = own.median_items_per_s / figure.median_items_per_s;
        text += &format!("{:<12}{:>12}{ratio:>12.2}\n", figure.subject, rate(figure.median_items_per_s));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{hmac, measure, merkle, pbkdf2};
    use crate::error::Error;
    use manyhash::Algorithm;

    #[test]
    fn all_agree_on_every_construction() {
        let (rows, nodes, passwords) = (hmac::rows(300), merkle::nodes(300), pbkdf2::passwords(5));
        for construction in [
            hmac::construction(&rows, Algorithm::Md5),
            hmac::construction(&rows, Algorithm::Sha512),
            merkle::construction(&nodes),
            pbkdf2::construction(&passwords, Algorithm::Sha256),
        ] {
            let figures = measure(construction.unwrap(), 1, "any").unwrap();
            assert!(figures.len() >= 3);
        }
    }

    #[test]
    fn a_wrong_output_is_an_error() {
        let rows = hmac::rows(3);
        let mut construction = hmac::construction(&rows, Algorithm::Sha256).unwrap();
        let mut right = std::mem::replace(&mut construction.contestants[0].run, Box::new(|_| {}));
        construction.contestants[0].run = Box::new(move |output| {
            right(output);
            output[40] ^= 1;
        });
        let error = measure(construction, 1, "any").unwrap_err();
        assert!(matches!(error, Error::WrongDigest { subject: "manyhash", message: 1, .. }), "{error}");
    }
}
