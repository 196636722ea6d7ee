//! The list of what was uploaded.

use manyhash::{Algorithm, HashFunction};
use manyhash_s3_client::transfer::Uploaded;
use manysum::lists::Entry;
use manysum::lists::write::{Format, Writer};
use manysum::whole_file::WholeFile;
use std::io;
use std::path::{Path, PathBuf};

/// A list that is written when all is done.
pub(super) struct Manifest {
    file: WholeFile,
    path: PathBuf,
    function: HashFunction,
    writer: Writer,
    /// Names and their lines.
    lines: Vec<(String, Vec<u8>)>,
}

impl Manifest {
    /// A list in a file, which is looked at and not written yet; or what is wrong with it.
    pub(super) fn new(path: &Path, algorithm: Algorithm) -> Result<Manifest, String> {
        let function = HashFunction::Lanes(algorithm);
        let format = Format::usual(&[function], Some(path.as_os_str()));
        let writer = Writer::new(format, vec![function], Some(path.as_os_str())).map_err(|error| error.to_string())?;
        let file = WholeFile::check(path).map_err(|error| manysum::console::reason(&error))?;
        Ok(Manifest { file, path: path.to_owned(), function, writer, lines: Vec::new() })
    }

    /// Adds a file; or says why it cannot be in the list.
    pub(super) fn add(&mut self, name: &str, uploaded: &Uploaded) -> Result<(), String> {
        let digests = uploaded.digest.map(|digest| (self.function, digest)).into_iter().collect();
        let entry = Entry { name: name.as_bytes().to_vec(), size: Some(uploaded.size), digests };
        let lines = self.writer.lines(&entry).map_err(|error| format!("uploaded, but not listed: {error}"))?;
        self.lines.push((name.to_owned(), lines));
        Ok(())
    }

    /// Writes it, in the order of names.
    ///
    /// # Errors
    /// If that fails; the error, and its file.
    pub(super) fn write(mut self) -> Result<(), (PathBuf, io::Error)> {
        self.lines.sort();
        let mut text = self.writer.header();
        self.lines.iter().for_each(|(_, lines)| text.extend_from_slice(lines));
        let written = match self.lines.is_empty() {
            true => self.writer.no_files().map(|lines| text.extend_from_slice(&lines)),
            false => Ok(()),
        };
        written.and_then(|()| self.file.write(&text[..])).map_err(|error| (self.path, error))
    }
}
