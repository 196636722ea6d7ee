//! What a program says: lines on standard output, messages under its name on standard error, and its exit status.

use crate::name;
use crate::output::Output;
use crate::quote::quote;
use crate::whole_file::WholeFile;
use indicatif::ProgressBar;
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
        }
    }

    /// Takes the bar off the terminal for as long as something else is written to it.
    pub(crate) fn share_with(&mut self, bar: Option<ProgressBar>) {
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
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Writes `PROGRAM: MESSAGE` to standard error, after all lines so far on standard output.
    pub fn message(&mut self, message: impl AsRef<[u8]>) {
        // If standard output fails, the next line or the end of the program says so; if standard error fails, nobody
        // can be told.
        let message = [&self.program, &b": "[..], message.as_ref(), b"\n"].concat();
        let mut write = || {
            let _ = self.output.flush();
            let _ = io::stderr().write_all(&message);
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
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
    pub fn finish(self, outcome: io::Result<bool>) -> ExitCode {
        self.finish_with(outcome.map(|well| u8::from(!well)))
    }

    /// The same, of programs that have more to say than that something went wrong, which is 1.
    pub(crate) fn finish_with(mut self, outcome: io::Result<u8>) -> ExitCode {
        match outcome.and_then(|status| self.output.flush().map(|()| status)) {
            Ok(status) => return if self.save() { status.into() } else { (status | 1).into() },
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) => self.message(format!("write error: {}", reason(&error))),
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
