//! `columns`: rows of a few bytes, as columns of databases have them, against peers that hash row after row.
//!
//! manyhash hashes a [`Column`] into one buffer of digests. A peer is given the rows of the same values as slices, and
//! keeps what it needs from row to row. So are manyhash's own batches: with digests side by side, and with a [`Digest`]
//! for each.
//!
//! [`Digest`]: manyhash::Digest

use crate::error::Error;
use crate::measure::{self, median};
use crate::options::Options;
use crate::report::{machine, rate};
use crate::subject::{self, Call, Job, Kind, MANYHASH, Task, Threads};
use crate::verify::{self, Expected};
use clap::builder::RangedU64ValueParser;
use manyhash::{Algorithm, Batch, Column, Encoding, OutputLengthError};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::num::NonZeroUsize;
use std::time::Instant;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct ColumnsArguments {
    /// Rows [default: 1000000; with --quick 20000]
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(1..=i32::MAX as u64 / 100))]
    rows: Option<usize>,
    /// Algorithms to measure
    #[arg(long, value_delimiter = ',', default_value = "sha256,md5")]
    algorithm: Vec<Algorithm>,
    /// Threads; peers have the rows split over them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    #[command(flatten)]
    options: Options,
}

/// Lengths of rows.
#[derive(Clone, Copy)]
struct Rows {
    name: &'static str,
    length: fn(&mut Xoshiro256PlusPlus) -> usize,
    /// Whether all rows have one width.
    fixed: bool,
}

/// The median of log-normal lengths, in bytes, and the standard deviation of their natural logarithms.
const MEDIAN: f64 = 24.0;
const SIGMA: f64 = 1.2;

const ALL: [Rows; 5] = [
    Rows { name: "16 bytes", length: |_| 16, fixed: true },
    Rows { name: "32 bytes", length: |_| 32, fixed: true },
    Rows { name: "64 bytes", length: |_| 64, fixed: true },
    Rows { name: "5 to 40 bytes", length: |random| random.random_range(5..=40), fixed: false },
    Rows {
        name: "log-normal bytes",
        length: |random| LogNormal::new(MEDIAN.ln(), SIGMA).expect("they are finite").sample(random) as usize,
        fixed: false,
    },
];

/// A column's values, the same in every run.
struct Values {
    rows: Rows,
    values: Vec<u8>,
    offsets: Vec<i32>,
}

impl Values {
    fn new(rows: Rows, count: usize) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut offsets = vec![0];
        for _ in 0..count {
            let end = offsets[offsets.len() - 1] + (rows.length)(&mut random) as i32;
            offsets.push(end);
        }
        let mut values = vec![0; offsets[count] as usize];
        random.fill_bytes(&mut values);
        Values { rows, values, offsets }
    }

    fn column(&self) -> Column<'_> {
        let column = if self.rows.fixed {
            Column::fixed(&self.values, self.offsets[1] as usize)
        } else {
            Column::binary(&self.values, &self.offsets)
        };
        column.expect("the offsets are right")
    }

    fn slices(&self) -> Vec<&[u8]> {
        self.offsets.windows(2).map(|pair| &self.values[pair[0] as usize..pair[1] as usize]).collect()
    }
}

/// The subjects that are manyhash's batches of slices.
const PACKED: &str = "packed";
const DIGESTS: &str = "digests";

/// What writes manyhash's digests side by side, and the room for them.
struct Own<H> {
    hash: H,
    width: usize,
    digests: Vec<u8>,
}

impl<H: FnMut(&mut [u8]) -> Result<(), OutputLengthError>> Task for Own<H> {
    fn run(&mut self, passes: usize) {
        for _ in 0..passes {
            (self.hash)(&mut self.digests).expect("there is room for each row");
            black_box(&mut self.digests);
        }
    }

    fn digests(&self) -> Vec<&[u8]> {
        self.digests.chunks(self.width).collect()
    }
}

/// One subject over one kind of rows.
#[derive(Serialize)]
struct ColumnsFigure {
    load: &'static str,
    algorithm: &'static str,
    kind: &'static str,
    rows: usize,
    /// Blocks of the algorithm, padding included, in the mean row.
    blocks: f64,
    threads: u16,
    backend: &'static str,
    subject: &'static str,
    median_rows_per_s: f64,
    median_blocks_per_s: f64,
    rounds: usize,
    verified: bool,
}

/// Measures and reports.
pub(crate) fn run(args: &ColumnsArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let count = args.rows.unwrap_or(if args.options.quick { 20_000 } else { 1_000_000 });
    let rounds = args.options.rounds(7, 3);
    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{}", machine(backend))?;
    }
    for rows in ALL {
        let values = Values::new(rows, count);
        let slices = values.slices();
        for algorithm in &args.algorithm {
            let threads = Threads::new(args.threads.into())?;
            let job = Job { algorithm: *algorithm, messages: &slices, call: Call::Many, threads };
            let figures = measure(args, &values, &job, rounds, backend)?;
            write!(out, "{}", args.options.text(&figures, table))?;
        }
    }
    Ok(())
}

fn measure(
    args: &ColumnsArguments,
    values: &Values,
    job: &Job,
    rounds: usize,
    backend: &'static str,
) -> Result<Vec<ColumnsFigure>, Error> {
    let expected = verify::expected("columns", job)?;
    let width = job.algorithm.digest_bytes();
    let batch = Batch::new(job.algorithm).threads(NonZeroUsize::new(args.threads.into()));
    let room = || vec![0; job.messages.len() * width];
    let column = values.column();
    let column = |digests: &mut [u8]| batch.digest_column_into(black_box(&column), Encoding::Binary, digests);
    let packed = |digests: &mut [u8]| batch.digest_many_packed_into(black_box(job.messages), digests);
    let mut tasks: Vec<(&'static str, Box<dyn Task + '_>)> = vec![
        (MANYHASH, Box::new(Own { hash: column, width, digests: room() })),
        (PACKED, Box::new(Own { hash: packed, width, digests: room() })),
    ];
    for subject in subject::ALL {
        if matches!(subject.kind(), Kind::Standard) && subject.supports(job.algorithm) {
            let name = if subject.name() == MANYHASH { DIGESTS } else { subject.name() };
            tasks.push((name, subject.task(job)?));
        }
    }
    for (name, task) in &mut tasks {
        task.run(1);
        check(name, job, &expected, &task.digests())?;
    }
    let mut seconds: Vec<Vec<f64>> = tasks.iter().map(|_| vec![]).collect();
    for round in 0..rounds {
        for at in measure::turns(round, tasks.len()) {
            let start = Instant::now();
            tasks[at].1.run(1);
            seconds[at].push(start.elapsed().as_secs_f64());
        }
    }
    let rows = job.messages.len();
    let blocks: usize = job.messages.iter().map(|row| blocks(job.algorithm, row.len())).sum();
    let figure = |((subject, _), seconds): ((&'static str, _), Vec<f64>)| {
        let seconds = median(seconds);
        ColumnsFigure {
            load: "columns",
            algorithm: job.algorithm.name(),
            kind: values.rows.name,
            rows,
            blocks: blocks as f64 / rows as f64,
            threads: args.threads,
            backend,
            subject,
            median_rows_per_s: rows as f64 / seconds,
            median_blocks_per_s: blocks as f64 / seconds,
            rounds,
            verified: true,
        }
    };
    Ok(tasks.into_iter().zip(seconds).map(figure).collect())
}

/// FIPS 180-4, 5.1: a byte for the bit 1, and a length of 8 bytes, 16 where blocks have 128.
fn blocks(algorithm: Algorithm, bytes: usize) -> usize {
    let block = algorithm.block_bytes();
    (bytes + 1 + block / 8).div_ceil(block)
}

fn check(subject: &'static str, job: &Job, expected: &Expected, digests: &[&[u8]]) -> Result<(), Error> {
    let known = |name| subject::ALL.into_iter().find(|known| known.name() == name);
    let as_standard = known(subject).or_else(|| known(MANYHASH)).expect("it is one of them");
    verify::check("columns", job, as_standard, expected, digests).map(drop)
}

/// A row for each subject.
fn table(figures: &[ColumnsFigure]) -> String {
    let own = &figures[0];
    let threads = if own.threads == 1 { "" } else { "s" };
    let mut text = format!(
        "\n{}, columns: {} rows of {}, {:.2} blocks in the mean, {} thread{threads}, median of {} rounds\n\
         {:<12}{:>12}{:>12}{:>12}\n",
        own.algorithm,
        own.rows,
        own.kind,
        own.blocks,
        own.threads,
        own.rounds,
        "subject",
        "rows/s",
        "blocks/s",
        "manyhash x"
    );
    for figure in figures {
        let ratio = own.median_rows_per_s / figure.median_rows_per_s;
        let (rows, blocks) = (rate(figure.median_rows_per_s), rate(figure.median_blocks_per_s));
        text += &format!("{:<12}{rows:>12}{blocks:>12}{ratio:>12.2}\n", figure.subject);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{ALL, ColumnsArguments, Options, Values, blocks, measure};
    use crate::subject::{Call, Job, Threads};
    use manyhash::Algorithm;

    #[test]
    fn every_subject_is_right_on_all_kinds_of_rows() {
        for (rows, threads) in ALL.into_iter().flat_map(|rows| [(rows, 1), (rows, 2)]) {
            let values = Values::new(rows, 3000);
            let slices = values.slices();
            for algorithm in [Algorithm::Md5, Algorithm::Sha256, Algorithm::Sha512] {
                let threads_of = Threads::new(threads.into()).unwrap();
                let job = Job { algorithm, messages: &slices, call: Call::Many, threads: threads_of };
                let args = ColumnsArguments { rows: None, algorithm: vec![], threads, options: Options::least() };
                let figures = measure(&args, &values, &job, 1, "any").unwrap();
                assert!(figures.len() >= 6, "{}", rows.name);
                assert!(figures[0].blocks >= 1.0);
            }
        }
    }

    #[test]
    fn blocks_are_counted_as_the_library_does() {
        use manyhash_core::{Family, Md5, Sha512};
        for bytes in 0..1000 {
            assert_eq!(blocks(Algorithm::Md5, bytes), Md5::final_blocks(bytes));
            assert_eq!(blocks(Algorithm::Sha512, bytes), Sha512::final_blocks(bytes));
        }
    }
}
