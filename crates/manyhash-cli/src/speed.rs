//! The tool `manyhash speed`: how fast this machine hashes, as `openssl speed` says it.
//!
//! The digests of everything that is timed are checked before and after, so that no figure is that of a wrong answer.

mod load;
mod measure;
mod progress;
mod report;
mod table;

use manyhash::Algorithm;
use manysum::console::Console;
use progress::Progress;
use std::io;
use std::process::ExitCode;

/// Measure how fast this machine hashes.
///
/// For each ALGORITHM, measure one message alone, messages that fill the lanes of one core, and messages on all cores.
/// Then print the plan: which kernels are used for how many messages at once. All digests are checked. Rates are
/// medians in decimal units: 1 GB/s is 1000000000 bytes per second.
#[derive(clap::Args)]
pub struct SpeedArguments {
    #[arg(value_name = "ALGORITHM", help = algorithms_help())]
    algorithms: Vec<Algorithm>,

    /// Measure each algorithm for about N seconds; fractions are allowed
    #[arg(long, value_name = "N", default_value = "1", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,

    /// Print a JSON object for each algorithm, one per line
    #[arg(long)]
    json: bool,
}

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main(arguments: SpeedArguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let outcome = run(&mut console, arguments);
    console.finish(outcome)
}

fn run(console: &mut Console, arguments: SpeedArguments) -> io::Result<bool> {
    let backend = match manyhash::backend() {
        Ok(backend) => backend.name(),
        Err(error) => {
            console.message(error.to_string());
            return Ok(false);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let algorithms = if arguments.algorithms.is_empty() { Algorithm::ALL } else { &arguments.algorithms };

    if !arguments.json {
        console.line(table::machine(backend, cores).as_bytes())?;
    }
    for (i, algorithm) in algorithms.iter().enumerate() {
        let progress = Progress::show(&format!("measuring {algorithm}, {} of {}", i + 1, algorithms.len()));
        let report = measure::measure(*algorithm, backend, cores, arguments.seconds);
        drop(progress);
        match report {
            Ok(report) if arguments.json => console.line(&[&serde_json::to_vec(&report)?[..], b"\n"].concat())?,
            Ok(report) => console.line(report.to_string().as_bytes())?,
            // What computes wrong digests is not worth measuring further.
            Err(wrong) => {
                console.message(wrong.to_string());
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn algorithms_help() -> String {
    format!(
        "Algorithms to measure: {} [default: all]",
        Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(", ")
    )
}

/// Seconds, as they are given.
fn seconds(text: &str) -> Result<f64, &'static str> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && f64::is_finite(seconds) => Ok(seconds),
        _ => Err("expected a number of seconds greater than 0, such as 0.5"),
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn seconds_are_positive_and_finite() {
        assert_eq!((seconds("2"), seconds("0.25"), seconds("1e-3")), (Ok(2.0), Ok(0.25), Ok(0.001)));
        for text in ["", "0", "-1", "-0.0", "inf", "-inf", "nan", "1e999", "1s", "1,5"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
