//! What a program says: lines on standard output, messages under its name on standard error, and its exit status.

use crate::name;
use crate::output::Output;
use crate::quote::quote;
use crate::whole_file::WholeFile;
use indicatif::ProgressBar;
use manyhash_stdio::Standard;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Seek, Write};
use std::process::ExitCode;

/// A program's standard output, or a file in its place, and standard error.
pub struct Console {
    /// Its name, of any bytes.
    program: Vec<u8>,
    output: Output,
    /// The file that lines go to in place of standard output, and where they are until the program finishes.
    saved: Option<(WholeFile, File)>,
    /// What is shown on standard error meanwhile.
    bar: Option<ProgressBar>,
    /// Whether standard output would be written across it.
    is_shared: bool,
    /// Whether it speaks as coreutils do.
    is_tool: bool,
    /// Whether a message could not be written.
    is_unheard: bool,
}

impl Console {
    /// That of the program of this name.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Console {
            program: name::bytes(program.as_ref()).to_vec(),
            output: Output::stdout(),
            saved: None,
            bar: None,
            is_shared: false,
            is_tool: false,
            is_unheard: false,
        }
    }

    /// That of a tool of coreutils, which has its own words for errors.
    pub(crate) fn of_tool(program: impl AsRef<OsStr>) -> Self {
        Console { is_tool: true, ..Self::new(program) }
    }

    /// Takes the bar off the terminal for as long as something else is written to it.
    pub fn share_with(&mut self, bar: Option<ProgressBar>) {
        self.bar = bar;
        self.is_shared = io::stdout().is_terminal() && self.saved.is_none();
    }

    /// Saves lines in `file` instead of writing them to standard output, when the program finishes: not before, so that
    /// a program that is stopped leaves what was there.
    ///
    /// # Errors
    /// If there is no place for the lines meanwhile.
    pub(crate) fn save_in(&mut self, file: WholeFile) -> io::Result<()> {
        // Not beside it, where the files to be hashed may be.
        let lines = tempfile::tempfile()?;
        self.output = Output::file(lines.try_clone()?);
        self.saved = Some((file, lines));
        Ok(())
    }

    /// Writes a line, newline included, to standard output.
    ///
    /// # Errors
    /// If it, or a line before it, cannot be written. The program should stop then, and [`finish`](Self::finish).
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        match &self.bar {
            Some(bar) if self.is_shared => bar.suspend(|| self.output.write(line)),
            _ => self.output.write(line),
        }
    }

    /// Writes all lines so far, for whoever has nothing to say if that fails.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Writes `PROGRAM: MESSAGE` to standard error, after all lines so far on standard output.
    pub fn message(&mut self, message: impl AsRef<[u8]>) {
        self.text(&[&self.program, &b": "[..], message.as_ref(), b"\n"].concat());
    }

    /// Writes what a message is made of.
    fn text(&mut self, text: &[u8]) {
        // If standard output fails, the next line or the end of the program says so; if standard error fails, only the
        // exit status can tell.
        let mut write = || {
            let _ = self.output.flush();
            self.is_unheard |= io::stderr().write_all(text).is_err();
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Writes `PROGRAM: MESSAGE`, on wrong arguments, if there is one, and where to read on them.
    pub fn usage_error(&mut self, message: Option<&[u8]>) {
        if let Some(message) = message {
            self.message(message);
        }
        self.text(&[b"Try '", &self.program[..], b" --help' for more information.\n"].concat());
    }

    /// Writes `PROGRAM: NAME: WHAT` to standard error, the name quoted.
    pub fn about(&mut self, name: &[u8], what: &str) {
        self.message([&*quote(name), b": ", what.as_bytes()].concat());
    }

    /// Writes `PROGRAM: NAME: REASON` to standard error.
    pub fn file_error(&mut self, name: &[u8], error: &io::Error) {
        self.about(name, &reason(error));
    }

    /// The exit status: of success if all went well and was written. If standard output is a pipe whose reader has seen
    /// all that it wants, the program ends by `SIGPIPE` instead, unless that is ignored.
    pub fn finish(self, outcome: io::Result<bool>) -> ExitCode {
        self.finish_with(outcome.map(|well| u8::from(!well)))
    }

    /// The same, of programs that have more to say than that something went wrong, which is 1.
    pub fn finish_with(mut self, outcome: io::Result<u8>) -> ExitCode {
        match outcome.and_then(|status| self.output.flush().map(|()| status)) {
            Ok(status) => {
                let is_well = self.save() && !self.is_unheard;
                return (if is_well { status } else { status | 1 }).into();
            }
            Err(error) => {
                if error.kind() == ErrorKind::BrokenPipe {
                    manyhash_stdio::end_by_sigpipe();
                }
                // Coreutils know the reason only if the descriptor cannot be closed either.
                let is_known = !self.is_tool || Standard::Output.was_closed();
                let why = if is_known { format!(": {}", reason(&error)) } else { String::new() };
                self.message(format!("write error{why}"));
            }
        }
        ExitCode::FAILURE
    }

    /// Writes the file that lines go to, if they do; whether that went well.
    fn save(&mut self) -> bool {
        let Some((file, mut lines)) = self.saved.take() else { return true };
        let saved = lines.rewind().and_then(|()| file.write(lines));
        if let Err(error) = &saved {
            self.file_error(name::bytes(file.path().as_os_str()), error);
        }
        saved.is_ok()
    }
}

/// The system's own words for an error, without the number that Rust appends, and the name of a file that is but on the
/// way to another one's.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
