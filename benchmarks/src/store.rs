//! `store`: the embedded databases that `manyhash` could keep its digest cache in, with as many entries as a large tree
//! has files.
//!
//! An entry is what the cache stores of a file: under device and inode, some 80 bytes that end in a digest. Each
//! database is opened as the cache would open it: shared between processes, and safe from a loss of power.

mod lmdb;
mod redb;

use crate::error::Error;
use crate::measure::{median, turns};
use crate::options::Options;
use crate::report::{machine, rate};
use crate::verify::Origin;
use manyhash::Algorithm;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Entries written by one commit, as in the cache.
const COMMIT: usize = 8192;

/// Bytes in a record, of which the last are a digest.
const RECORD: usize = 80;
const DIGEST: usize = 32;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct StoreArguments {
    #[command(flatten)]
    options: Options,
}

/// A file, in the order of inodes, and what is stored of it.
struct Entry {
    key: u128,
    record: [u8; RECORD],
}

/// A kind of database.
trait Contestant {
    fn name(&self) -> &'static str;

    /// Makes one in this file, and commits the entries.
    fn build(&self, path: &Path, entries: &[Entry]) -> Result<(), Error>;

    /// Opens one for looking things up.
    fn open(&self, path: &Path) -> Result<Box<dyn Opened>, Error>;

    /// Opens one for writing, as the cache would, and closes it.
    fn open_to_write(&self, path: &Path) -> Result<(), Error>;
}

/// A database that is open.
trait Opened {
    /// Shows the record of each key, by its place among them, if there is one.
    fn look_up(&self, keys: &[u128], show: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<(), Error>;
}

/// One database.
#[derive(Debug, Serialize)]
struct StoreFigure {
    load: &'static str,
    subject: &'static str,
    entries: usize,
    median_stored_per_s: f64,
    /// The first look-up included.
    median_reopen_s: f64,
    median_reopen_to_write_s: f64,
    median_look_ups_in_order_per_s: f64,
    median_look_ups_at_random_per_s: f64,
    bytes_on_disk: u64,
    rounds: usize,
    verified: bool,
}

/// Seconds, one of each a round.
#[derive(Default)]
struct Seconds {
    build: Vec<f64>,
    reopen: Vec<f64>,
    reopen_to_write: Vec<f64>,
    in_order: Vec<f64>,
    at_random: Vec<f64>,
}

/// Measures and reports.
pub(crate) fn run(args: &StoreArguments) -> Result<(), Error> {
    let machine = machine(manyhash::backend()?.name());
    let entries = if args.options.quick { 100_000 } else { 1_000_000 };
    let figures = measure(entries, args.options.rounds(7, 3))?;
    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{machine}")?;
    }
    write!(out, "{}", args.options.text(&figures, table))?;
    Ok(())
}

/// Entries, the same in every run.
fn entries(count: usize) -> Vec<Entry> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut inode = 0_u64;
    let mut entry = || {
        // The inodes of a tree are neighbours, mostly.
        inode += 1 + u64::from(random.next_u32() % 8 == 0) * u64::from(random.next_u32() % 1000);
        let mut record = [0; RECORD];
        let (rest, digest) = record.split_at_mut(RECORD - DIGEST);
        random.fill_bytes(rest);
        digest.copy_from_slice(manyhash::digest(Algorithm::Sha256, inode.to_le_bytes()).as_bytes());
        Entry { key: 0xfe01 << 64 | u128::from(inode), record }
    };
    (0..count).map(|_| entry()).collect()
}

fn measure(count: usize, rounds: usize) -> Result<Vec<StoreFigure>, Error> {
    let contestants: [&dyn Contestant; 2] = [&redb::Redb, &lmdb::Lmdb];
    let entries = entries(count);
    let in_order: Vec<u128> = entries.iter().map(|entry| entry.key).collect();
    let mut at_random = in_order.clone();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    (1..count).rev().for_each(|i| at_random.swap(i, random.next_u64() as usize % (i + 1)));

    let directory = tempfile::tempdir()?;
    let path = directory.path().join("store");
    let mut seconds: Vec<Seconds> = contestants.iter().map(|_| Seconds::default()).collect();
    let mut bytes = vec![0; contestants.len()];
    for contestant in contestants {
        contestant.build(&path, &entries)?;
        verify(contestant, &path, &entries)?;
        clear(directory.path())?;
    }
    for round in 0..rounds {
        for at in turns(round, contestants.len()) {
            let (contestant, seconds) = (contestants[at], &mut seconds[at]);
            seconds.build.push(timed(|| contestant.build(&path, &entries))?);
            bytes[at] = std::fs::metadata(&path)?.len();
            seconds.reopen_to_write.push(timed(|| contestant.open_to_write(&path))?);
            let show = &mut |_, record: Option<&[u8]>| {
                black_box(record);
            };
            seconds.reopen.push(timed(|| contestant.open(&path)?.look_up(&in_order[..1], show))?);
            let opened = contestant.open(&path)?;
            seconds.in_order.push(timed(|| opened.look_up(&in_order, show))?);
            seconds.at_random.push(timed(|| opened.look_up(&at_random, show))?);
            drop(opened);
            clear(directory.path())?;
        }
    }
    let figure = |((contestant, seconds), bytes): ((&dyn Contestant, Seconds), u64)| StoreFigure {
        load: "store",
        subject: contestant.name(),
        entries: count,
        median_stored_per_s: count as f64 / median(seconds.build),
        median_reopen_s: median(seconds.reopen),
        median_reopen_to_write_s: median(seconds.reopen_to_write),
        median_look_ups_in_order_per_s: count as f64 / median(seconds.in_order),
        median_look_ups_at_random_per_s: count as f64 / median(seconds.at_random),
        bytes_on_disk: bytes,
        rounds,
        verified: true,
    };
    Ok(contestants.into_iter().zip(seconds).zip(bytes).map(figure).collect())
}

fn timed(work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Whether every entry is there with its digest, and nothing under other keys.
fn verify(contestant: &dyn Contestant, path: &Path, entries: &[Entry]) -> Result<(), Error> {
    let opened = contestant.open(path)?;
    let keys: Vec<u128> = entries.iter().map(|entry| entry.key).collect();
    let mut outcome = Ok(());
    opened.look_up(&keys, &mut |message, record| {
        let origin = Origin {
            subject: contestant.name(),
            algorithm: Algorithm::Sha256,
            load: "store",
            message,
            length: size_of::<u64>(),
        };
        let found = record.unwrap_or_default();
        let digest = &found[found.len().saturating_sub(DIGEST)..];
        let same = origin.same(digest, &entries[message].record[RECORD - DIGEST..]);
        if outcome.is_ok() {
            outcome = same;
        }
    })?;
    outcome
}

/// Removes whatever a contestant left.
fn clear(directory: &Path) -> Result<(), Error> {
    for entry in std::fs::read_dir(directory)? {
        std::fs::remove_file(entry?.path())?;
    }
    Ok(())
}

/// A row for each contestant.
fn table(figures: &[StoreFigure]) -> String {
    let Some(first) = figures.first() else { return String::new() };
    let mut text = format!(
        "\n{} entries of {RECORD} bytes, commits of {COMMIT}, 1 thread, median of {} rounds\n",
        first.entries, first.rounds
    );
    let heads = ["stored/s", "in order/s", "random/s", "reopen ms", "to write ms", "MB on disk"];
    text += &format!("{:<12}{}\n", "subject", heads.map(|head| format!("{head:>13}")).concat());
    for figure in figures {
        let rates =
            [figure.median_stored_per_s, figure.median_look_ups_in_order_per_s, figure.median_look_ups_at_random_per_s];
        let milliseconds = [figure.median_reopen_s, figure.median_reopen_to_write_s];
        text += &format!(
            "{:<12}{}{}{:>13.1}\n",
            figure.subject,
            rates.map(|value| format!("{:>13}", rate(value))).concat(),
            milliseconds.map(|value| format!("{:>13.3}", 1e3 * value)).concat(),
            figure.bytes_on_disk as f64 / 1e6
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Contestant, entries, lmdb, measure, redb, table, verify};
    use crate::error::Error;

    #[test]
    fn all_find_what_they_stored() {
        let figures = measure(20_000, 1).unwrap();
        assert_eq!(figures.len(), 2);
        let text = table(&figures);
        assert!(text.contains("\nredb ") && text.contains("\nlmdb "), "{text}");
    }

    #[test]
    fn what_is_lost_or_wrong_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let contestants: [&dyn Contestant; 2] = [&redb::Redb, &lmdb::Lmdb];
        for contestant in contestants {
            let path = directory.path().join(contestant.name());
            let mut entries = entries(100);
            contestant.build(&path, &entries[..99]).unwrap();
            let error = verify(contestant, &path, &entries).unwrap_err();
            assert!(matches!(error, Error::WrongDigest { message: 99, .. }), "{error}");
            entries[7].record[79] ^= 1;
            let error = verify(contestant, &path, &entries).unwrap_err();
            assert!(matches!(error, Error::WrongDigest { message: 7, .. }), "{error}");
        }
    }
}
