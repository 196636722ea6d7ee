//! Prints checksums.

use super::{Arguments, tree};
use crate::console::Console;
use crate::{escape, name};
use manyhash::Digest;
use manyhash::file::digest_files;
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;

/// Prints a line for each file; whether all could be read.
///
/// # Errors
/// If a line cannot be written.
pub(super) fn print(console: &mut Console, arguments: Arguments) -> io::Result<bool> {
    let Arguments { algorithm, recursive, threads, files, .. } = arguments;
    let mut all_read = true;
    let mut written = Ok(());
    digest_files(&[algorithm.into()], threads, tree::files(files, recursive), |name, digests| {
        match digests {
            Ok(digests) => written = console.line(&line(&name, &digests[0])),
            Err(error) => {
                all_read = false;
                console.file_error(name::bytes(&name), &error);
            }
        }
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    written.map(|()| all_read)
}

/// A line as `sha256sum` prints it: the digest, a space, another one that says that the file was not converted in
/// reading, the name.
fn line(name: &OsStr, digest: &Digest) -> Vec<u8> {
    let (name, digest) = (name::bytes(name), digest.to_hex());
    let mut line = Vec::with_capacity(digest.len() + name.len() + 4);
    let escaped = escape::is_needed(name);
    if escaped {
        line.push(b'\\');
    }
    line.extend_from_slice(digest.as_bytes());
    line.extend_from_slice(b"  ");
    if escaped {
        escape::escape(name, &mut line);
    } else {
        line.extend_from_slice(name);
    }
    line.push(b'\n');
    line
}
