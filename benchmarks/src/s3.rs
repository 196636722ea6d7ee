//! `s3`: servers of S3 with many clients at once, manyhash's own beside its peers.
//!
//! A [program](program) is started as a [process](process) with a [store](server) of its own for each sample, on a tmpfs
//! or a disk. [Clients](clients), each with one [connection], put and get [bodies](body), of which no two are equal,
//! with [signed](signer) requests; every answer is checked. What is measured in a [cell] is the server's CPU time and
//! memory, and the clients' rate and latencies: the [figures](figure), and the [goals](goal) that they are compared with.
//!
//! Parts with figures of their own: the [lanes] that the server fills, the memory for [slow] uploads, [idle]
//! connections, and [nginx].

mod body;
mod cell;
mod clients;
mod connection;
mod error;
#[cfg(test)]
mod fake;
mod figure;
mod goal;
mod idle;
mod lanes;
mod nginx;
mod process;
mod program;
mod server;
mod signer;
mod slow;
mod stage;

pub(crate) use error::S3LoadError;

use crate::error::Error;
use crate::measure::turns;
use crate::options::Options;
use crate::report::machine;
use cell::{CHUNK, Cell, KIB, Operation, Place, Places, Signing};
use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;
use figure::S3Figure;
use goal::Goal;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use program::{Program, Programs};
use serde::Serialize;
use stage::{Sample, Stage};
use std::io::Write;
use std::path::PathBuf;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct S3Arguments {
    /// Parts to measure [default: all; cells, if some are chosen]
    #[arg(long = "part", value_name = "PART", value_enum, value_delimiter = ',')]
    parts: Vec<Part>,
    #[command(flatten)]
    choice: Choice,
    /// Servers to measure in cells [default: all that are installed]
    #[arg(long = "subject", value_name = "SUBJECT", value_enum, value_delimiter = ',')]
    subjects: Vec<Program>,
    /// Where the peers are, if not in a directory for programs [default: s3/bin in the target directory]
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,
    /// Where stores on a disk are made, which take up to 12 GB [default: the directory for temporary files]
    #[arg(long)]
    dir: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Servers compared, by operation, length, signing, clients and place
    Cells,
    /// How full the lanes of manyhash's server are
    Lanes,
    /// Memory for a thousand uploads at once
    Slow,
    /// Clients beside ten thousand idle connections
    Idle,
    /// Small objects, beside static files of nginx
    Nginx,
}

/// Cells that are measured instead of the usual ones, if anything is chosen.
#[derive(clap::Args)]
struct Choice {
    /// Operations to measure, instead of the usual cells [default: put]
    #[arg(long, value_enum, value_delimiter = ',')]
    operation: Vec<Operation>,
    /// How bodies are signed [default: unsigned]
    #[arg(long, value_enum, value_delimiter = ',')]
    signing: Vec<Signing>,
    /// Bytes in a body, multiples of 1024 [default: 65536]
    #[arg(long, value_delimiter = ',', value_parser = length)]
    length: Vec<usize>,
    /// Numbers of clients at once [default: 64]
    #[arg(long, value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    clients: Vec<usize>,
    /// Where stores are [default: memory]
    #[arg(long, value_enum, value_delimiter = ',')]
    place: Vec<Place>,
}

/// A length whose chunks all have room for what is different in each body.
fn length(text: &str) -> Result<usize, String> {
    let length =
        text.parse().ok().filter(|length: &usize| (KIB..=1 << 30).contains(length) && length.is_multiple_of(KIB));
    length.ok_or_else(|| "expected a multiple of 1024, up to 1073741824".to_owned())
}

impl Choice {
    /// Every combination of what was chosen, or none if nothing was.
    fn cells(&self) -> Vec<Cell> {
        fn or<T: Clone>(chosen: &[T], usual: T) -> Vec<T> {
            if chosen.is_empty() { vec![usual] } else { chosen.to_vec() }
        }
        let Choice { operation, signing, length, clients, place } = self;
        if operation.is_empty() && signing.is_empty() && length.is_empty() && clients.is_empty() && place.is_empty() {
            return vec![];
        }
        let mut cells = Vec::new();
        for operation in or(operation, Operation::Put) {
            // What is got has no body to sign.
            let signings = match operation {
                Operation::Put => or(signing, Signing::Unsigned),
                Operation::Get => vec![Signing::Unsigned],
            };
            for (signing, place) in signings.iter().flat_map(|s| or(place, Place::Memory).into_iter().map(|p| (*s, p)))
            {
                for length in or(length, CHUNK) {
                    let cell = |clients| Cell { operation, signing, length, clients, place };
                    cells.extend(or(clients, 64).into_iter().map(cell));
                }
            }
        }
        cells
    }
}

/// Measures and reports.
pub(crate) fn run(args: &S3Arguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let programs = Programs::new(args.peers.as_deref())?;
    let places = Places::new(args.dir.clone().unwrap_or_else(std::env::temp_dir));
    let stage = Stage { programs, places, quick: args.options.quick };
    // Servers are to hold as many connections as there are here.
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
    let chosen = args.choice.cells();
    let parts = match &args.parts[..] {
        [] if chosen.is_empty() => Part::value_variants(),
        [] => &[Part::Cells],
        parts => parts,
    };
    let cells = match (chosen.is_empty(), stage.quick) {
        (false, _) => chosen,
        (true, false) => Cell::all(),
        (true, true) => Cell::few(),
    };

    if !args.options.json {
        print(&machine(backend))?;
    }
    let mut goals = Vec::new();
    if parts.contains(&Part::Cells) {
        let subjects = installed(&stage.programs, &args.subjects);
        let rounds = args.options.rounds(5, 1);
        let mut figures = Vec::new();
        for cell in cells.into_iter().filter(|cell| stage.has(cell.place, &cell.to_string())) {
            let of_cell = measured(&stage, cell, &subjects, rounds)?;
            print(&args.options.text(&of_cell, figure::table))?;
            figures.extend(of_cell);
        }
        goals.extend(goal::of_cells(&figures));
    }
    goals.extend(others(&stage, parts, args.options)?);
    // What takes milliseconds, of programs that may not be optimised, says nothing of them.
    if !stage.quick {
        print(&args.options.text(&goals, goal::table))?;
    }
    Ok(())
}

/// The parts of manyhash's server alone, and what they say of its goals.
fn others(stage: &Stage, parts: &[Part], options: Options) -> Result<Vec<Goal>, Error> {
    let wants = |part, what, place| parts.contains(&part) && stage.has(place, what);
    let mut goals = Vec::new();
    if wants(Part::Lanes, "lanes", Place::Memory) {
        show(options, &lanes::run(stage)?, lanes::table)?;
    }
    if wants(Part::Slow, "slow", Place::Disk) {
        let figures = slow::run(stage)?;
        show(options, &figures, slow::table)?;
        goals.extend(figures.iter().map(slow::SlowFigure::goal));
    }
    if wants(Part::Idle, "idle", Place::Memory) {
        let figures = idle::run(stage, options.rounds(7, 1))?;
        show(options, &figures, idle::table)?;
        goals.extend(figures.iter().flat_map(idle::IdleFigure::goals));
    }
    if wants(Part::Nginx, "nginx", Place::Memory) {
        let figures = nginx::run(stage, options.rounds(5, 1))?;
        show(options, &figures, nginx::table)?;
        goals.extend(nginx::goal(&figures));
    }
    Ok(goals)
}

/// Those of the servers that can be run here, our own first.
fn installed(programs: &Programs, asked: &[Program]) -> Vec<Program> {
    let mut subjects = Program::ALL.to_vec();
    subjects.retain(|subject| asked.is_empty() || asked.contains(subject));
    subjects.retain(|subject| {
        let installed = programs.installed(*subject);
        if !installed {
            eprintln!("manyhash-bench: {} left out: it is not installed", subject.name());
        }
        installed
    });
    subjects
}

/// The figures of each server in one cell, alternated.
fn measured(stage: &Stage, cell: Cell, subjects: &[Program], rounds: usize) -> Result<Vec<S3Figure>, S3LoadError> {
    let mut samples: Vec<(Program, Vec<Sample>)> = subjects.iter().map(|subject| (*subject, vec![])).collect();
    for round in 0..rounds {
        for at in turns(round, samples.len()) {
            let (program, samples) = &mut samples[at];
            samples.push(stage.sample(*program, cell)?);
        }
    }
    Ok(figure::figures(cell, samples))
}

fn show<F: Serialize>(options: Options, figures: &[F], table: fn(&[F]) -> String) -> Result<(), Error> {
    Ok(print(&options.text(figures, table))?)
}

/// Prints at once, since a run takes long.
fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::{Choice, Operation, Place, Signing, length};

    #[test]
    fn what_is_chosen_is_combined() {
        let mut choice = Choice { operation: vec![], signing: vec![], length: vec![], clients: vec![], place: vec![] };
        assert!(choice.cells().is_empty());
        choice.length = vec![1024, 2048];
        choice.clients = vec![1, 2, 3];
        let cells = choice.cells();
        assert_eq!(cells.len(), 6);
        assert!(cells.iter().all(|cell| cell.operation == Operation::Put && cell.place == Place::Memory));
        choice.operation = vec![Operation::Put, Operation::Get];
        choice.signing = vec![Signing::Signed, Signing::Chunks];
        choice.place = vec![Place::Memory, Place::Disk];
        assert_eq!(choice.cells().len(), 2 * 2 * 6 + 2 * 6);
    }

    #[test]
    fn lengths_are_multiples_of_a_kibibyte() {
        assert_eq!(length("65536"), Ok(65536));
        for text in ["", "0", "1000", "-1024", "64KiB", "1073742848"] {
            assert!(length(text).is_err(), "{text}");
        }
    }
}
