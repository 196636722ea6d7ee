//! Prints checksums.

use super::line::tag;
use super::names::{Listed, Names};
use super::settings::{Format, Settings};
use super::{json, tree};
use crate::console::{Console, reason};
use crate::{escape, name, reading};
use manyhash::{Digest, Function};
use std::io;
use std::ops::ControlFlow;

/// Prints a line for each file and function; whether all could be read.
///
/// # Errors
/// If a line cannot be written.
pub(super) fn print(console: &mut Console, settings: Settings, format: Format) -> io::Result<bool> {
    let Settings { functions, threads, files, files_from, json, walk, .. } = settings;
    let names = match files_from {
        Some(list) => Names::Listed(Listed::new(list)),
        None => Names::Arguments(files.into_iter()),
    };
    let mut all_read = true;
    let mut written = Ok(());
    reading::files(&functions, threads).digest(tree::files(names, walk), |name, digested| {
        let name = name::bytes(&name);
        let digested = digested.map_err(|error| reason(&error));
        if let Err(error) = &digested {
            all_read = false;
            console.about(name, error);
        }
        written = functions.iter().enumerate().try_for_each(|(i, function)| match &digested {
            Ok(file) if json => console.line(&json::line(name, *function, None, Ok(&file.digests[i]))?),
            Ok(file) => console.line(&line(name, *function, &file.digests[i], format)),
            Err(error) if json => console.line(&json::line(name, *function, None, Err(error))?),
            Err(_) => Ok(()),
        });
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    written.map(|()| all_read)
}

/// A line as coreutils prints it.
fn line(name: &[u8], function: Function, digest: &Digest, format: Format) -> Vec<u8> {
    let digest = digest.to_hex();
    let mut line = Vec::with_capacity(digest.len() + name.len() + 16);
    let escaped = !format.zero && escape::is_needed(name);
    if escaped {
        line.push(b'\\');
    }
    if format.tag {
        line.extend_from_slice(tag(function).as_bytes());
        line.extend_from_slice(b" (");
    } else {
        line.extend_from_slice(digest.as_bytes());
        line.extend_from_slice(if format.binary { b" *" } else { b"  " });
    }
    if escaped {
        escape::escape(name, &mut line);
    } else {
        line.extend_from_slice(name);
    }
    if format.tag {
        line.extend_from_slice(b") = ");
        line.extend_from_slice(digest.as_bytes());
    }
    line.push(if format.zero { 0 } else { b'\n' });
    line
}
