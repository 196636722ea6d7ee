//! What was found to be the same, kept in a file from one run to the next.
//!
//! A line says what it is of, and the stamps of pairs follow, 16 bytes each, in any order. A run appends to it, so that
//! one that is interrupted has kept what it found; a stamp that was written in part is cut off.

use manyhash_s3_client::verify::{PairStamp, Remembered};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

const MAGIC: &str = "manyhash s3 verify, state 1: ";

/// Stamps that are written at a time.
const BATCH: usize = 256;

/// Why a file does not keep what is to be kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeptError {
    #[error("{}", manysum::console::reason(.0))]
    Io(#[from] io::Error),
    #[error("is not the state of a comparison; name another file, or delete it")]
    NoState,
    #[error("is the state of another comparison: {0}; name another file, or delete it")]
    Other(String),
}

/// The file, and what it said when it was opened.
pub(super) struct Kept {
    known: Arc<HashSet<[u8; 16]>>,
    file: BufWriter<File>,
    waiting: usize,
}

impl Kept {
    /// Opens the file, or makes it.
    pub(super) fn open(path: &Path, title: &str) -> Result<Kept, KeptError> {
        let head = format!("{MAGIC}{title}\n");
        let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        let length = file.metadata()?.len();
        let mut known = HashSet::new();
        if length == 0 {
            file.write_all(head.as_bytes())?;
        } else {
            let mut reader = BufReader::new(&file);
            check(&mut reader, &head)?;
            let mut stamp = [0; 16];
            let stamps = (length - head.len() as u64) / stamp.len() as u64;
            for _ in 0..stamps {
                reader.read_exact(&mut stamp)?;
                known.insert(stamp);
            }
            let end = head.len() as u64 + stamps * stamp.len() as u64;
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
        }
        Ok(Kept { known: Arc::new(known), file: BufWriter::new(file), waiting: 0 })
    }

    /// Tells what was the same when the file was opened.
    pub(super) fn remembered(&self) -> Remembered {
        let known = self.known.clone();
        Box::new(move |stamp| known.contains(&stamp.0))
    }

    /// Keeps what was found to be the same.
    pub(super) fn push(&mut self, stamp: PairStamp) -> io::Result<()> {
        if self.known.contains(&stamp.0) {
            return Ok(());
        }
        self.file.write_all(&stamp.0)?;
        self.waiting += 1;
        if self.waiting == BATCH {
            self.waiting = 0;
            self.file.flush()?;
        }
        Ok(())
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads the first line, which must be this one.
fn check(reader: &mut impl io::BufRead, head: &str) -> Result<(), KeptError> {
    let mut line = Vec::new();
    // Whatever the file is, its first line may have no end.
    reader.take(1 << 16).read_until(b'\n', &mut line)?;
    if line == head.as_bytes() {
        return Ok(());
    }
    let line = String::from_utf8(line).map_err(|_| KeptError::NoState)?;
    let other = line.strip_prefix(MAGIC).and_then(|line| line.strip_suffix('\n')).ok_or(KeptError::NoState)?;
    Err(KeptError::Other(other.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_there_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state");
        let stamp = |i: u32| PairStamp([[0; 12].as_slice(), &i.to_le_bytes()].concat().try_into().expect("16 bytes"));
        let mut kept = Kept::open(&path, "a b").expect("a file");
        assert!(!kept.remembered()(&stamp(1)));
        for i in 0..1000 {
            kept.push(stamp(i)).expect("space");
        }
        kept.finish().expect("space");
        // A run that was interrupted in the middle of a stamp.
        let mut file = File::options().append(true).open(&path).expect("a file");
        file.write_all(&[7; 5]).expect("space");
        let mut kept = Kept::open(&path, "a b").expect("a file");
        let remembered = kept.remembered();
        assert!((0..1000).all(|i| remembered(&stamp(i))) && !remembered(&stamp(1000)));
        kept.push(stamp(5)).expect("space");
        kept.push(stamp(1000)).expect("space");
        kept.finish().expect("space");
        let kept = Kept::open(&path, "a b").expect("a file");
        assert!(kept.remembered()(&stamp(1000)));
        assert_eq!(path.metadata().expect("a file").len() as usize, MAGIC.len() + "a b\n".len() + 16 * 1001);
        assert!(matches!(Kept::open(&path, "a c"), Err(KeptError::Other(other)) if other == "a b"));
        std::fs::write(&path, "something else").expect("a file");
        assert!(matches!(Kept::open(&path, "a b"), Err(KeptError::NoState)));
        assert_eq!(std::fs::read(&path).expect("a file"), b"something else");
    }
}
