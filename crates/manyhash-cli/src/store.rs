//! The tool `manyhash store`: what is kept by `manyhash serve`, looked at while no server runs.

use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};
use manyhash_store::{Damage, DamageKind, Holder, Report, Store};
use manysum::console::Console;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check the directory of a server.
#[derive(clap::Args)]
pub struct StoreArguments {
    #[command(subcommand)]
    task: StoreCommand,
}

#[derive(Subcommand)]
enum StoreCommand {
    Check(CheckArguments),
}

/// Hash everything in a store again, and compare it with the index.
///
/// Report content that differs from its SHA-256 and the objects it belongs to, content that is missing, files that
/// nothing refers to, and wrong counts of references. No server may have the directory open.
#[derive(clap::Args)]
struct CheckArguments {
    /// Directory that `manyhash serve` keeps objects in
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Remove files that nothing refers to, and correct counts; never delete an object
    #[arg(long)]
    repair: bool,
}

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main(arguments: StoreArguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let outcome = match arguments.task {
        StoreCommand::Check(arguments) => check(&mut console, &arguments),
    };
    console.finish(outcome)
}

fn check(console: &mut Console, arguments: &CheckArguments) -> io::Result<bool> {
    // It draws on standard error, if that is a terminal.
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left") {
        bar.set_style(style);
    }
    let checked = Store::check(&arguments.directory, arguments.repair, |progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.bytes);
    });
    bar.finish_and_clear();
    let report = match checked {
        Ok(report) => report,
        Err(error) => {
            console.message(error.to_string());
            return Ok(false);
        }
    };
    for line in lines(&report) {
        console.line(format!("{line}\n").as_bytes())?;
    }
    let (blobs, bytes) = (report.blobs, report.bytes);
    console.message(match (report.is_clean(), arguments.repair) {
        (true, _) => format!("{blobs} blobs with {bytes} bytes are as they should be"),
        (false, true) => format!("{blobs} blobs with {bytes} bytes checked, and what can be repaired was"),
        (false, false) => format!("{blobs} blobs with {bytes} bytes checked; --repair corrects all but lost content"),
    });
    Ok(if arguments.repair { report.damage.is_empty() } else { report.is_clean() })
}

/// What was found, a line each.
fn lines(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for damage in &report.damage {
        let what = describe(damage);
        if damage.holders.is_empty() {
            lines.push(what);
        } else {
            lines.extend(damage.holders.iter().map(|holder| format!("{}: {what}", name(holder))));
        }
    }
    for count in &report.miscounts {
        let digest = const_hex::encode(count.sha256);
        lines.push(format!("{digest}: {} references recorded, {} found", count.recorded, count.found));
    }
    lines.extend(report.segments.iter().map(|number| format!("segment {number}: recorded with a wrong size")));
    lines.extend(report.orphans.iter().map(|path| format!("{}: nothing refers to it", path.display())));
    lines
}

fn describe(damage: &Damage) -> String {
    let digest = const_hex::encode(damage.sha256);
    let place = damage.path.as_ref().map_or(String::new(), |path| format!(" in {}", path.display()));
    match &damage.kind {
        DamageKind::Digest => format!("content{place} differs from its SHA-256 {digest}"),
        DamageKind::Missing => format!("content {digest}{place} is missing"),
        DamageKind::Unreadable(reason) => format!("content {digest}{place} cannot be read: {reason}"),
        _ => format!("content {digest} is not in the index"),
    }
}

/// The name of what is hit. Keys are any text, so what would break a line is escaped.
fn name(holder: &Holder) -> String {
    match holder {
        Holder::Object { bucket, key } => format!("{bucket}/{}", key.escape_debug()),
        Holder::Part { bucket, key, upload, number } => {
            format!("{bucket}/{}, part {number} of upload {upload}", key.escape_debug())
        }
        _ => "something of a kind that this version does not know".to_owned(),
    }
}
