//! `manyhash manifest diff`: a manifest held against another one.

use super::FAILED;
use super::findings::{Findings, Status, Unlisted};
use super::index::Index;
use super::verify::algorithm_help;
use manyhash::{Digest, HashFunction};
use manysum::console::Console;
use manysum::name;
use std::ffi::OsString;
use std::io;

/// Print how manifest B differs from manifest A, without reading the files.
///
/// Print a line for each file that differs, as verify does: a file that only A lists is missing, and one that only B
/// lists is new. Manifests of different formats can be compared if they have digests of the same algorithm. If only one
/// manifest has absolute names, such as those of hashdeep, they are taken as names below the directory that fits the
/// other.
///
/// The exit status is 0 if both list the same. Otherwise it is the sum of what was found: 1 something could not be read
/// or compared, 2 changed, 4 missing, 8 moved, 16 new.
#[derive(clap::Args)]
pub(super) struct DiffArguments {
    /// Older manifest; - is standard input
    #[arg(value_name = "A")]
    before: OsString,

    /// Newer manifest
    #[arg(value_name = "B")]
    after: OsString,

    #[arg(short, long, value_name = "ALGORITHM", help = algorithm_help())]
    algorithm: Option<HashFunction>,

    /// Print a JSON object for each file, one per line, with its name, its status and, if it was moved, its old name
    #[arg(long)]
    json: bool,
}

/// Runs it; the exit status.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &DiffArguments) -> io::Result<u8> {
    let DiffArguments { before: a, after: b, algorithm, json } = arguments;
    let Some(mut before) = Index::read(console, a, *algorithm) else { return Ok(FAILED) };
    let Some(mut after) = Index::read(console, b, *algorithm) else { return Ok(FAILED) };
    before.relate_to(&after);
    after.relate_to(&before);
    let is_common = before.functions.iter().any(|function| after.functions.contains(function));
    if !is_common && before.len() > 0 && after.len() > 0 {
        let names = |index: &Index| index.functions.iter().map(HashFunction::to_string).collect::<Vec<_>>().join(", ");
        let is_as_long = |one: &HashFunction, other: &HashFunction| one.digest_bytes() == other.digest_bytes();
        let may_be_wrong = |one: &Index, other: &Index| {
            one.guesses.iter().any(|guess| other.functions.iter().any(|function| is_as_long(guess, function)))
        };
        let is_doubtful = may_be_wrong(&before, &after) || may_be_wrong(&after, &before);
        let guess = if is_doubtful { "; one does not name its algorithm: use --algorithm" } else { "" };
        let what = format!("has digests of {}, but the other manifest of {}{guess}", names(&after), names(&before));
        console.about(name::bytes(b), &what);
        return Ok(FAILED);
    }
    let mut findings = Findings::new(*json);
    let mut unlisted = Unlisted::default();
    let mut missing = Vec::new();
    for pair in Index::merge(&before, &after) {
        match pair {
            (Some(i), Some(j)) => {
                let (functions, digests): (Vec<HashFunction>, Vec<Digest>) = after.digests(j).unzip();
                if before.is_as_listed(i, &functions, &digests) {
                    findings.as_listed += 1;
                } else {
                    findings.say(console, before.name(i), Status::Changed, None)?;
                }
            }
            (Some(i), None) => missing.push((before.name(i), before.digests(i).collect())),
            (None, Some(j)) => unlisted.push(after.name(j), after.digests(j)),
            (None, None) => {}
        }
    }
    unlisted.say(console, &mut findings, missing.into_iter())?;
    let improper = before.improper + after.improper > 0;
    if !findings.is_empty() {
        console.flush()?;
        console.message(findings.summary());
    }
    Ok(findings.status() | if improper { FAILED } else { 0 })
}
