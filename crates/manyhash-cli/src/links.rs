//! The tool `manyhash install-links`: links by which `manysum` is started under the names of coreutils' tools.

use manysum::console::{Console, reason};
use manysum::name;
use manysum::program::Tool;
use manysum::quote::quote;
use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Install links named md5sum, sha1sum, ..., sha512sum, b2sum and cksum that start manysum as those programs.
///
/// The links are symbolic and point to the manysum beside this program. In the directory of both programs they hold its
/// name alone, so that all can be moved together; elsewhere they hold its full path. Other files with these names are
/// left unchanged.
#[derive(clap::Args)]
pub struct InstallLinksArguments {
    /// Directory for the links, such as /usr/local/bin; it must come before that of coreutils in PATH
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs it, and returns its exit status: 1 if any link is not there in the end.
pub fn main(arguments: InstallLinksArguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let outcome = run(&mut console, &arguments.directory);
    console.finish(outcome)
}

fn run(console: &mut Console, directory: &Path) -> io::Result<bool> {
    let target = match target(directory) {
        Ok(target) => target,
        Err((path, error)) => {
            console.file_error(name::bytes(path.as_os_str()), &error);
            return Ok(false);
        }
    };
    let mut well = true;
    for tool in Tool::ALL.iter().copied() {
        let path = directory.join(tool.name());
        match install(&path, &target) {
            Ok(done) => {
                let (path, target) = (quoted(&path), quoted(&target));
                let done = match done {
                    Done::Made => "",
                    Done::Replaced => " (replaced)",
                    Done::There => " (already there)",
                };
                console.line(&[&path, &b" -> "[..], &target, done.as_bytes(), b"\n"].concat())?;
            }
            Err(error) => {
                well = false;
                console.about(name::bytes(path.as_os_str()), &reason(&error));
            }
        }
    }
    Ok(well)
}

fn quoted(path: &Path) -> Vec<u8> {
    quote(name::bytes(path.as_os_str())).into_owned()
}

/// The file name of the program that the links lead to.
fn program() -> OsString {
    format!("manysum{EXE_SUFFIX}").into()
}

/// What links in this directory have to hold; or the path that there is something wrong with.
fn target(directory: &Path) -> Result<PathBuf, (PathBuf, io::Error)> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    let own = env::current_exe().map_err(wrong("manyhash".as_ref()))?;
    let manysum = own.with_file_name(program());
    let manysum = manysum.canonicalize().map_err(wrong(&manysum))?;
    let there = directory.canonicalize().map_err(wrong(directory))?;
    if !there.is_dir() {
        return Err((directory.to_owned(), ErrorKind::NotADirectory.into()));
    }
    Ok(if manysum.parent() == Some(&there) { program().into() } else { manysum })
}

/// What became of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Done {
    Made,
    /// One of ours that led elsewhere.
    Replaced,
    There,
}

/// Makes a link at `path` that leads to `target`.
fn install(path: &Path, target: &Path) -> io::Result<Done> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => symlink(target, path).map(|()| Done::Made),
        Err(error) => Err(error),
        Ok(there) if !there.is_symlink() => Err(io::Error::other("exists and is not a link; left unchanged")),
        Ok(_) => {
            let held = fs::read_link(path)?;
            if held == target {
                Ok(Done::There)
            } else if held.file_name() == target.file_name() {
                replace(path, target).map(|()| Done::Replaced)
            } else {
                Err(io::Error::other(format!("exists and points to {}; left unchanged", held.display())))
            }
        }
    }
}

/// Puts a link in place of another, so that one of them is there at any time.
fn replace(path: &Path, target: &Path) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let make = |path: &Path| symlink(target, path);
    let link = tempfile::Builder::new().prefix(".manyhash-").suffix(".tmp").make_in(directory, make)?;
    link.into_temp_path().persist(path)?;
    Ok(())
}
