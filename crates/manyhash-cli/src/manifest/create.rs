//! `manyhash manifest create`: a manifest of a tree.

use super::scan::walk;
use super::write::{Lines, Manifest, Options, root};
use super::{FAILED, is_directory};
use manyhash::{Algorithm, HashFunction};
use manysum::console::Console;
use manysum::lists::bagit;
use manysum::lists::write::Format;
use std::io;
use std::path::PathBuf;
use std::thread;

/// Write a manifest of the files in DIR.
///
/// Digests of unchanged files come from the cache, so an interrupted run continues where it stopped; --no-cache reads
/// every file. The cache keeps no digest of a file that changed less than 40 s ago, nor of a file on a file system
/// whose timestamps may miss a change: see --trust-times.
///
/// In the names of a bag, `%`, newline and carriage return are written as %25, %0A and %0D, as RFC 8493 requires;
/// bagit.py 1.9 does not decode %25, and reports such files as missing. The bag's tag manifests and the Payload-Oxum in
/// its bag-info.txt are updated too.
///
/// The exit status is 0 on success, else 1; the manifest then lists the files that could be read.
#[derive(clap::Args)]
pub(super) struct CreateArguments {
    /// Directory of the files; for a bag, the one that contains `data`
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Write to MANIFEST instead of standard output, replacing what was there once all files are done
    #[arg(short, long, value_name = "MANIFEST")]
    output: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

/// Runs it; the exit status.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &CreateArguments) -> io::Result<u8> {
    let CreateArguments { directory, output, options } = arguments;
    if !is_directory(console, directory) {
        return Ok(FAILED);
    }
    // The name of a bag's manifest says whose digests are in it.
    let is_bag = options.format == Some(Format::Bagit);
    let of_bag = output.as_ref().filter(|_| is_bag).and_then(|path| bagit::function(path.as_os_str()));
    let default = [of_bag.unwrap_or(HashFunction::Lanes(Algorithm::Sha256))];
    let functions = if options.algorithm.is_empty() { &default[..] } else { &options.algorithm };
    let name = output.as_ref().map(|path| path.as_os_str());
    let format = options.format.unwrap_or_else(|| Format::usual(functions, name));
    // Before the walk, which might see what is tried.
    let Some(lines) = Lines::of(console, output.as_deref()) else { return Ok(FAILED) };
    let manifest = Manifest { directory, functions, format, options, path: output.as_deref(), comments: Vec::new() };
    let leave_out = output.as_ref().and_then(|path| path.canonicalize().ok());
    let well = thread::scope(|scope| {
        let walked = walk(scope, root(directory, format), leave_out);
        manifest.make(console, walked, lines, |_, _, _| Ok(None), |_| Ok(Some(Vec::new())))
    })?;
    Ok(if well { 0 } else { FAILED })
}
