//! Checks the checksums of lists.

use super::Arguments;
use super::line::Parser;
use super::list::List;
use crate::console::Console;
use crate::{escape, name};
use manyhash::file::digest_files;
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;

/// Prints a line for each file of the lists; whether all could be read and have the digests listed.
///
/// # Errors
/// If a line cannot be written.
pub(super) fn check(console: &mut Console, arguments: Arguments) -> io::Result<bool> {
    let mut parser = Parser::new(arguments.algorithm);
    let mut well = true;
    for name in &arguments.files {
        match List::open(name, &mut parser) {
            Ok(list) => well &= check_list(console, &arguments, name, list)?,
            Err(error) => {
                well = false;
                console.file_error(name::bytes(name), &error);
            }
        }
    }
    Ok(well)
}

fn check_list(console: &mut Console, arguments: &Arguments, name: &OsStr, mut list: List<'_>) -> io::Result<bool> {
    let (mut unread, mut mismatched) = (0, 0);
    let mut written = Ok(());
    digest_files(&[arguments.algorithm.into()], arguments.threads, &mut list, |listed, digests| {
        let verdict: &[u8] = match digests {
            Ok(digests) if digests[0] == listed.digest => b": OK\n",
            Ok(_) => {
                mismatched += 1;
                b": FAILED\n"
            }
            Err(error) => {
                unread += 1;
                console.file_error(&listed.name, &error);
                b": FAILED open or read\n"
            }
        };
        written = console.line(&line(&listed.name, verdict));
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    written?;

    let name = if name == "-" { b"standard input" } else { name::bytes(name) };
    if list.read.is_err() {
        console.about(name, "read error");
        return Ok(false);
    }
    if !list.any {
        console.about(name, "no properly formatted checksum lines found");
        return Ok(false);
    }
    warn(console, list.improper, "line is improperly formatted", "lines are improperly formatted");
    warn(console, unread, "listed file could not be read", "listed files could not be read");
    warn(console, mismatched, "computed checksum did NOT match", "computed checksums did NOT match");
    Ok(unread == 0 && mismatched == 0)
}

fn warn(console: &mut Console, count: u64, one: &str, many: &str) {
    match count {
        0 => {}
        1 => console.message(format!("WARNING: 1 {one}")),
        _ => console.message(format!("WARNING: {count} {many}")),
    }
}

/// A line of the outcome. Only a newline makes coreutils 9.1 escape a name here; then all that has an escape is.
fn line(name: &[u8], verdict: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(name.len() + verdict.len() + 1);
    if name.contains(&b'\n') {
        line.push(b'\\');
        escape::escape(name, &mut line);
    } else {
        line.extend_from_slice(name);
    }
    line.extend_from_slice(verdict);
    line
}
