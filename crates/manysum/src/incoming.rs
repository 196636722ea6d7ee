//! Lines that come when they come: from a pipe or a terminal, whose writer may wait for what becomes of each.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
#[cfg(unix)]
use std::os::fd::OwnedFd;

/// Bytes that are read line by line.
pub(crate) struct Incoming {
    reader: BufReader<Box<dyn Read + Send>>,
    /// What came of a line whose end has not come yet.
    begun: Vec<u8>,
    /// Where to ask whether more has come, if a read may wait for it.
    #[cfg(unix)]
    slow: Option<OwnedFd>,
    has_ended: bool,
}

impl Incoming {
    /// Of bytes that are all there.
    pub(crate) fn new(reader: Box<dyn Read + Send>) -> Self {
        Incoming {
            reader: BufReader::with_capacity(64 * 1024, reader),
            begun: Vec::new(),
            #[cfg(unix)]
            slow: None,
            has_ended: false,
        }
    }

    /// Of the bytes of this file, or of a pipe or a terminal.
    ///
    /// # Errors
    /// If the system does not say which it is.
    pub(crate) fn from_file(file: File) -> io::Result<Self> {
        #[cfg(unix)]
        if !file.metadata()?.is_file() {
            let slow = Some(file.try_clone()?.into());
            return Ok(Incoming { slow, ..Self::new(Box::new(file)) });
        }
        Ok(Self::new(Box::new(file)))
    }

    /// Reads the next line, with its newline if it has one, and puts it behind `line`; false after the last.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.append(&mut self.begun);
        // A terminal would have its user say once more that it has ended.
        if !self.has_ended {
            self.reader.read_until(b'\n', line)?;
        }
        Ok(!line.is_empty())
    }

    /// Whether the next line, or the end, can be read without waiting for it.
    #[cfg(unix)]
    pub(crate) fn is_at_hand(&mut self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Some(slow) = &self.slow else { return true };
        while !self.has_ended && !self.reader.buffer().contains(&b'\n') {
            self.begun.extend_from_slice(self.reader.buffer());
            self.reader.consume(self.reader.buffer().len());
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            // Where it cannot be asked, the read says what is wrong.
            if matches!(poll(&mut [PollFd::new(slow, PollFlags::IN)], Some(&now)), Ok(0)) {
                return false;
            }
            match self.reader.fill_buf() {
                Ok(bytes) => self.has_ended = bytes.is_empty(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // It is there again when the line is read.
                Err(_) => return true,
            }
        }
        true
    }

    /// Whether the next line can be read without waiting for it: taken for granted where the system is not asked.
    #[cfg(not(unix))]
    pub(crate) fn is_at_hand(&mut self) -> bool {
        true
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_line_is_at_hand_when_it_is_whole() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut lines = Incoming::from_file(File::from(OwnedFd::from(reader))).expect("a pipe");
        assert!(!lines.is_at_hand());
        let mut write = |text: &str| writer.write_all(text.as_bytes()).expect("a pipe");
        write("fir");
        assert!(!lines.is_at_hand());
        write("st\nsecond\nth");
        for expected in ["first\n", "second\n"] {
            assert!(lines.is_at_hand());
            let mut line = Vec::new();
            assert!(lines.read(&mut line).expect("a line"));
            assert_eq!(String::from_utf8_lossy(&line), expected);
        }
        assert!(!lines.is_at_hand());
        write("ird");
        drop(writer);
        assert!(lines.is_at_hand());
        let mut line = Vec::new();
        assert!(lines.read(&mut line).expect("a line"));
        assert_eq!(line, b"third");
        assert!(lines.is_at_hand());
        assert!(!lines.read(&mut Vec::new()).expect("the end"));
    }

    #[test]
    fn what_is_begun_is_waited_for() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut lines = Incoming::from_file(File::from(OwnedFd::from(reader))).expect("a pipe");
        writer.write_all(b"be").expect("a pipe");
        assert!(!lines.is_at_hand());
        writer.write_all(b"gun\nnext\n").expect("a pipe");
        let mut line = Vec::new();
        lines.read(&mut line).expect("a line");
        assert_eq!(line, b"begun\n");
        line.clear();
        lines.read(&mut line).expect("a line");
        assert_eq!(line, b"next\n");
    }
}
