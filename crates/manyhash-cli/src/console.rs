//! What a program says: lines on standard output, messages under its name on standard error, and its exit status.

use crate::name;
use crate::output::Output;
use crate::quote::quote;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// A program's standard output and standard error.
pub struct Console {
    /// Its name, of any bytes.
    program: Vec<u8>,
    output: Output,
}

impl Console {
    /// That of the program of this name.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Console { program: name::bytes(program.as_ref()).to_vec(), output: Output::stdout() }
    }

    /// Writes a line, newline included, to standard output.
    ///
    /// # Errors
    /// If it, or a line before it, cannot be written. The program should stop then, and [`finish`](Self::finish).
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.output.write(line)
    }

    /// Writes `PROGRAM: MESSAGE` to standard error, after all lines so far on standard output.
    pub fn message(&mut self, message: impl AsRef<[u8]>) {
        // If standard output fails, the next line or the end of the program says so; if standard error fails, nobody
        // can be told.
        let _ = self.output.flush();
        let message = [&self.program, &b": "[..], message.as_ref(), b"\n"].concat();
        let _ = io::stderr().write_all(&message);
    }

    /// Writes `PROGRAM: MESSAGE`, on wrong arguments, and where to read on them.
    pub fn usage_error(&mut self, message: impl AsRef<[u8]>) {
        let hint = [b"\nTry '", &self.program[..], b" --help' for more information."].concat();
        self.message([message.as_ref(), &hint].concat());
    }

    /// Writes `PROGRAM: NAME: WHAT` to standard error, the name quoted.
    pub fn about(&mut self, name: &[u8], what: &str) {
        self.message([&*quote(name), b": ", what.as_bytes()].concat());
    }

    /// Writes `PROGRAM: NAME: REASON` to standard error.
    pub fn file_error(&mut self, name: &[u8], error: &io::Error) {
        self.about(name, &reason(error));
    }

    /// The exit status: of success if all went well and was written. Nothing is said about a closed pipe: its reader
    /// has seen all that it wants.
    pub fn finish(mut self, outcome: io::Result<bool>) -> ExitCode {
        match outcome.and_then(|well| self.output.flush().map(|()| well)) {
            Ok(true) => return ExitCode::SUCCESS,
            Ok(false) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) => self.message(format!("write error: {}", reason(&error))),
        }
        ExitCode::FAILURE
    }
}

/// The system's own words for an error, without the number that Rust appends.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|number| format!(" (os error {number})"));
    match number.as_deref().and_then(|number| text.strip_suffix(number)) {
        Some(words) => words.to_owned(),
        None => text,
    }
}
