//! `manyhash manifest create`: a manifest of a tree.

use super::scan::walk;
use super::write::{Lines, Manifest, Options, root};
use super::{FAILED, is_directory};
use crate::console::Console;
use crate::lists::bagit;
use crate::lists::write::Format;
use manyhash::{Algorithm, Function};
use std::io;
use std::path::PathBuf;
use std::thread;

/// Write a manifest of the files in DIR.
///
/// Digests that the cache has of files that have not changed are taken from there, so that one that was interrupted goes on
/// where it was; --no-cache reads every file.
///
/// The exit status is 0 if all went well, else 1: what could be read is listed then.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The directory; in a bag, the one that has `data` in it
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Write to MANIFEST, in place of what was there, once all is done; else to standard output
    #[arg(short, long, value_name = "MANIFEST")]
    output: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

/// Runs it; the exit status.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &Arguments) -> io::Result<u8> {
    let Arguments { directory, output, options } = arguments;
    if !is_directory(console, directory) {
        return Ok(FAILED);
    }
    let format = options.format.unwrap_or(Format::Gnu);
    // The name of a bag's manifest says whose digests are in it.
    let of_bag = output.as_ref().filter(|_| format == Format::Bagit).and_then(|path| bagit::function(path.as_os_str()));
    let default = [of_bag.unwrap_or(Function::Lanes(Algorithm::Sha256))];
    let functions = if options.algorithm.is_empty() { &default[..] } else { &options.algorithm };
    // Before the walk, which might see what is tried.
    let Some(lines) = Lines::of(console, output.as_deref()) else { return Ok(FAILED) };
    let manifest = Manifest { directory, functions, format, options, path: output.as_deref() };
    let leave_out = output.as_ref().and_then(|path| path.canonicalize().ok());
    let well = thread::scope(|scope| {
        let walked = walk(scope, root(directory, format), leave_out);
        manifest.make(console, walked, lines, |_, _, _| Ok(None), |_| Ok(Vec::new()))
    })?;
    Ok(if well { 0 } else { FAILED })
}
