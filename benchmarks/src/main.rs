//! manyhash beside its peers, alternated in one process.
//!
//! A [load] says which messages are hashed, a [subject] hashes them. Every subject's digests are
//! [checked](verify) before anything is timed; then all are [measured](measure) in turns, and the medians
//! [reported](report). What does not fit that (threads that contend, objects from a network, streams, programs) is an
//! experiment of its own: [`callers`], [`columns`], [`constructions`], [`engine`], [`etag`], [`files`], [`ingest`],
//! [`lookup`], [`s3`], [`store`] and [`threads`].

mod callers;
mod columns;
mod constructions;
mod cpu;
mod engine;
mod error;
mod etag;
mod files;
mod ingest;
mod load;
mod lookup;
mod measure;
mod messages;
mod options;
mod report;
mod run;
mod s3;
mod sample;
mod store;
mod subject;
mod threads;
mod verify;

use clap::{Parser, Subcommand};
use error::Error;
use std::process::ExitCode;

/// Measures manyhash beside its peers.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Cli {
    #[command(subcommand)]
    experiment: Option<Experiment>,
    #[command(flatten)]
    load: Option<run::LoadArguments>,
}

#[derive(Subcommand)]
enum Experiment {
    /// Millions of strings of 16 letters, hashed by 1 to 24 threads
    Threads(threads::ThreadsArguments),
    /// Digests that many callers ask for at once, in several styles
    Callers(callers::CallersArguments),
    /// Objects received from a socket by many tasks at once, and hashed as they come
    Ingest(ingest::IngestArguments),
    /// Columns of rows of a few bytes
    Columns(columns::ColumnsArguments),
    /// HMAC, PBKDF2 and Merkle trees
    Constructions(constructions::ConstructionsArguments),
    /// Digests looked up in a set of 30 million
    Lookup(lookup::LookupArguments),
    /// Streams of one engine thread beside a batch on one thread
    Engine(engine::EngineArguments),
    /// Databases that the digest cache could be kept in, with a million entries
    Store(store::StoreArguments),
    /// ETags of a file in parts, and of many sizes of parts in one read
    Etag(etag::EtagArguments),
    /// The programs over trees of files, beside their peers
    Files(files::FilesArguments),
    /// S3 servers, with many clients at once
    S3(s3::S3Arguments),
    /// Sends what `ingest` receives
    #[command(hide = true)]
    Sender(ingest::SenderArgs),
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("manyhash-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), Error> {
    match cli.experiment {
        None => cli.load.map_or(Ok(()), |args| run::run(&args)),
        Some(Experiment::Threads(args)) => threads::run(&args),
        Some(Experiment::Callers(args)) => callers::run(&args),
        Some(Experiment::Ingest(args)) => ingest::run(&args),
        Some(Experiment::Columns(args)) => columns::run(&args),
        Some(Experiment::Constructions(args)) => constructions::run(&args),
        Some(Experiment::Lookup(args)) => lookup::run(&args),
        Some(Experiment::Engine(args)) => engine::run(&args),
        Some(Experiment::Store(args)) => store::run(&args),
        Some(Experiment::Etag(args)) => etag::run(&args),
        Some(Experiment::Files(args)) => files::run(&args),
        Some(Experiment::S3(args)) => s3::run(&args),
        Some(Experiment::Sender(args)) => ingest::send(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, Experiment};
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_first_word_is_a_load_or_an_experiment() {
        Cli::command().debug_assert();
        for words in [["bench", "hot", "--quick"], ["bench", "--quick", "hot"]] {
            let cli = Cli::try_parse_from(words).unwrap();
            assert!(cli.experiment.is_none() && cli.load.is_some());
        }
        let cli = Cli::try_parse_from(["bench", "threads", "--quick"]).unwrap();
        assert!(matches!(cli.experiment, Some(Experiment::Threads(_))) && cli.load.is_none());
        for words in [&["bench"][..], &["bench", "--quick"], &["bench", "tepid"], &["bench", "--quick", "threads"]] {
            assert!(Cli::try_parse_from(words).is_err(), "{words:?}");
        }
    }
}
