//! The tool `manyhash simulate`: the producers and consumers of storage software, and how the hashing keeps up.
//!
//! Producers fill chunks, each of its own message, and hand them over without a copy to whoever hashes them: the engine,
//! and for comparison OpenSSL. The digests of all messages are checked.

mod buffers;
mod chart;
mod content;
#[cfg(feature = "openssl")]
mod contexts;
mod engine;
mod load;
mod outcome;
mod page;
mod produce;
mod run;
mod series;
mod subject;
mod table;

use crate::size;
use buffers::Buffers;
use clap::{ValueEnum, value_parser};
use content::Content;
use engine::Hashing;
use indicatif::{ProgressBar, ProgressFinish};
use load::Load;
use manyhash::{Algorithm, Digest};
use manysum::arguments::algorithm_help;
use manysum::console::Console;
use manysum::progress;
use manysum::whole_file::WholeFile;
use outcome::{Experiment, Figures};
use produce::Producers;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use subject::Failure;

/// Simulate producers whose data is hashed as it arrives.
///
/// Each producer sends one message, in chunks. It takes a free buffer, copies prepared bytes into it at the pace of its
/// SPEED, and hands it over. The chunk is hashed as part of its message, and its buffer is free again. Producers copy
/// on threads of their own, at most one per core. The digests of all messages are checked.
///
/// Each message has a slot. It is free before the first chunk and after the end of the message, filling while nothing
/// is left to hash, ready when something is, hashing while a thread hashes it, and done while its digest waits to be
/// fetched. The slots are counted every millisecond at first, and less often in a longer run, about 200 times in all.
///
/// A SIZE is a number of bytes: 4096, 64K or 64KiB (of 1024), 10MB (of 1000), and so on for G, T, P and E.
#[derive(clap::Args)]
pub struct SimulateArguments {
    #[arg(long, value_name = "ALGORITHM", default_value = "sha256", help = algorithm_help())]
    hash: Algorithm,

    /// Number of producers, each with its own message; at most 65536
    #[arg(long, value_name = "N", default_value = "64", value_parser = value_parser!(u64).range(1..=load::MAX_PRODUCERS))]
    producers: u64,

    /// Bytes per chunk; the last chunk of a message may be shorter
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = size::some)]
    chunk_size: u64,

    /// Bytes of all producers together, in equal shares
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size::some)]
    total_size: u64,

    /// Bytes per second of each producer, as a SIZE; 0 means as fast as possible
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = size::size)]
    speed: u64,

    /// Number of hashing threads; 0 means one per core
    #[arg(long, value_name = "N", default_value = "0", value_parser = value_parser!(u64).range(0..=1024))]
    threads: u64,

    /// Bytes of chunks in memory, at most; four chunks per producer are used if that is less
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size::some)]
    memory: u64,

    /// Also run the same load with other software, with a context per producer and as many threads
    #[arg(long, value_name = "PEER")]
    with: Option<Peer>,

    /// Print a JSON object instead of a table
    #[arg(long)]
    json: bool,

    /// Write a self-contained HTML page with charts to FILE
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Whom to compare with.
#[derive(Clone, Copy, ValueEnum)]
enum Peer {
    Openssl,
}

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main(arguments: SimulateArguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let outcome = run(&mut console, &arguments);
    console.finish(outcome)
}

fn run(console: &mut Console, arguments: &SimulateArguments) -> io::Result<bool> {
    match experiment(arguments) {
        Ok(outcome) if arguments.json => console.line(&[&serde_json::to_vec(&outcome)?[..], b"\n"].concat())?,
        Ok(outcome) => console.line(outcome.to_string().as_bytes())?,
        Err(failure) => {
            console.message(failure.to_string());
            return Ok(false);
        }
    }
    Ok(true)
}

fn experiment(arguments: &SimulateArguments) -> Result<Experiment, Failure> {
    let backend = manyhash::backend()?.name();
    let load = Load::new(arguments)?;
    if matches!(arguments.with, Some(Peer::Openssl)) && !cfg!(feature = "openssl") {
        return Err(Failure::BuiltWithoutOpenSsl);
    }
    // Before anything is measured: it would be a pity if nobody could see the figures.
    let report = arguments
        .report
        .as_deref()
        .map(|path| WholeFile::check(path).map_err(|error| Failure::Report { path: path.to_owned(), error }));
    let report = report.transpose()?;

    let content = Content::new();
    let bar = progress(&load);
    bar.set_message("preparing");
    let expected = content.digests(&load);
    let buffers = Buffers::new(load.buffers, load.chunk_size);
    let shared = Arc::new(Producers { load: load.clone(), content, buffers });
    let subjects = subjects(arguments, &shared, &expected, &bar)?;
    drop(bar);

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let outcome = Experiment { version: env!("CARGO_PKG_VERSION"), backend, cores, load, subjects, verified: true };
    if let Some(report) = report {
        let written = report.write(page::page(&outcome).as_bytes());
        written.map_err(|error| Failure::Report { path: report.path().to_owned(), error })?;
    }
    Ok(outcome)
}

/// The figures of the engine, and of whom it is compared with.
fn subjects(
    arguments: &SimulateArguments,
    shared: &Arc<Producers>,
    expected: &[Digest],
    bar: &ProgressBar,
) -> Result<Vec<Figures>, Failure> {
    let engine = Hashing::new(&shared.load, arguments.threads as usize)?;
    let figures = run::run(&engine, shared, expected, bar)?;
    drop(engine);
    match arguments.with {
        #[cfg(feature = "openssl")]
        Some(Peer::Openssl) => {
            let contexts = contexts::Contexts::new(shared.load.algorithm, figures.threads)?;
            Ok(vec![figures, run::run(&contexts, shared, expected, bar)?])
        }
        _ => Ok(vec![figures]),
    }
}

/// A bar on standard error, gone when it is dropped; hidden where that is no terminal.
fn progress(load: &Load) -> ProgressBar {
    let is_wide = progress::columns() >= progress::WIDE;
    let template =
        if is_wide { "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}{left}" } else { "{msg} {wide_bar}" };
    ProgressBar::new(load.total_size).with_style(progress::style(template)).with_finish(ProgressFinish::AndClear)
}
