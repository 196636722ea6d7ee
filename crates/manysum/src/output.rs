//! Standard output, or a file in its place, a line at a time.
//!
//! A system call for each line costs more than the hashing of a small file, so lines are gathered; but a reader should
//! not wait for the lines of files that are done while a large one is hashed. So a line waits for others at most
//! `DELAY`, and none where a terminal shows it. The thread that sees to that starts with the first line that waits.

use crate::standard;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes written at once, `PIPE_BUF` of Linux: a pipe takes that many whole, so that programs which share one do not
/// cut each other's lines.
const CAPACITY: usize = 4096;

/// How long a line waits for others.
const DELAY: Duration = Duration::from_millis(100);

/// Where lines go.
pub struct Output {
    shared: Arc<SharedOutput>,
    waits: Waits,
}

/// Whether lines wait for others.
enum Waits {
    Never,
    /// Yes, but nobody looks after them yet.
    Unattended,
    Attended,
}

struct SharedOutput {
    state: Mutex<WriterState>,
    written: Condvar,
}

struct WriterState {
    writer: BufWriter<Box<dyn Write + Send>>,
    /// Whether there are lines that wait.
    pending: bool,
}

impl Output {
    /// The program's standard output.
    pub fn stdout() -> Self {
        let waits = if io::stdout().is_terminal() { Waits::Never } else { Waits::Unattended };
        Self::new(standard::output(), waits)
    }

    /// A file, which nobody reads before all lines are there.
    pub(crate) fn file(file: File) -> Self {
        Self::new(Box::new(file), Waits::Attended)
    }

    fn new(writer: Box<dyn Write + Send>, waits: Waits) -> Self {
        let state = Mutex::new(WriterState { writer: BufWriter::with_capacity(CAPACITY, writer), pending: false });
        Output { shared: Arc::new(SharedOutput { state, written: Condvar::new() }), waits }
    }

    /// Writes a line, or gathers it.
    ///
    /// # Errors
    /// If it, or a line before it, cannot be written.
    pub fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if matches!(self.waits, Waits::Unattended) {
            let shared = Arc::clone(&self.shared);
            let started = thread::Builder::new().name("output".into()).spawn(move || shared.attend());
            self.waits = if started.is_ok() { Waits::Attended } else { Waits::Never };
        }
        let mut state = self.shared.lock();
        state.writer.write_all(line)?;
        if matches!(self.waits, Waits::Never) {
            return state.writer.flush();
        }
        if !std::mem::replace(&mut state.pending, true) {
            self.shared.written.notify_one();
        }
        Ok(())
    }

    /// Writes what was gathered.
    ///
    /// # Errors
    /// If it cannot be written; it is still there then, for the next call.
    pub fn flush(&mut self) -> io::Result<()> {
        self.shared.lock().flush()
    }
}

impl SharedOutput {
    fn lock(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines that have waited long enough, until the program ends.
    fn attend(&self) {
        loop {
            let state = self.lock();
            let waited = self.written.wait_while(state, |state| !state.pending);
            drop(waited);
            thread::sleep(DELAY);
            // What cannot be written stays where it is, and the next line or the end of the program says so.
            let _ = self.lock().flush();
        }
    }
}

impl WriterState {
    fn flush(&mut self) -> io::Result<()> {
        self.pending = false;
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// What comes through a pipe at its next write.
    fn next(reader: &mut io::PipeReader) -> Vec<u8> {
        let mut bytes = vec![0; 2 * CAPACITY];
        let length = reader.read(&mut bytes).expect("a pipe");
        bytes[..length].to_vec()
    }

    fn output(waits: Waits) -> (io::PipeReader, Output) {
        let (reader, writer) = io::pipe().expect("a pipe");
        (reader, Output::new(Box::new(writer), waits))
    }

    #[test]
    fn a_line_does_not_wait_for_ever() {
        let (mut reader, mut output) = output(Waits::Unattended);
        for line in [b"first\n", b"again\n"] {
            output.write(line).expect("a pipe");
            assert_eq!(next(&mut reader), line);
        }
    }

    #[test]
    fn no_line_waits_on_a_terminal() {
        let (mut reader, mut output) = output(Waits::Never);
        output.write(b"line\n").expect("a pipe");
        assert_eq!(next(&mut reader), b"line\n");
    }

    #[test]
    fn no_line_is_cut() {
        let (mut reader, mut output) = output(Waits::Attended);
        let line = [b'x'; CAPACITY / 3];
        (0..4).for_each(|_| output.write(&line).expect("a pipe"));
        assert_eq!(next(&mut reader).len(), 3 * line.len());
    }

    #[test]
    fn what_cannot_be_written_is_said_later() {
        let (reader, mut output) = output(Waits::Attended);
        drop(reader);
        output.write(b"line\n").expect("it waits");
        for _ in 0..2 {
            assert_eq!(output.flush().map_err(|error| error.kind()), Err(io::ErrorKind::BrokenPipe));
        }
    }
}
