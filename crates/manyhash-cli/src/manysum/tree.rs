//! The files that arguments stand for.

use manyhash::file::Source;
use std::ffi::OsString;
use std::{fs, io, vec};
use walkdir::WalkDir;

/// The files of the arguments, in their order, each with the name it is shown by.
///
/// With `recursive`, a directory among the arguments, or behind a symbolic link among them, stands for the regular files
/// in it and in its directories, sorted by the bytes of their names. It is read while the files are taken, and only the
/// entries of one directory a level are held. What is neither file nor directory is skipped in there: to open a FIFO may
/// wait for ever, and a symbolic link may lead back. Arguments themselves are taken for what they are.
pub(super) fn files(arguments: Vec<OsString>, recursive: bool) -> impl Iterator<Item = (OsString, Source)> + Send {
    Files { arguments: arguments.into_iter(), recursive, directory: None }
}

struct Files {
    arguments: vec::IntoIter<OsString>,
    recursive: bool,
    /// The walk through the last argument, where it is a directory.
    directory: Option<(OsString, walkdir::IntoIter)>,
}

impl Iterator for Files {
    type Item = (OsString, Source);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((root, walk)) = &mut self.directory {
                if let Some(file) = walk.find_map(|entry| file(root, entry)) {
                    return Some(file);
                }
                self.directory = None;
            }
            let argument = self.arguments.next()?;
            if argument == "-" {
                return Some((argument, Source::Stdin));
            }
            if !(self.recursive && fs::metadata(&argument).is_ok_and(|metadata| metadata.is_dir())) {
                let path = argument.clone().into();
                return Some((argument, Source::Path(path)));
            }
            let walk = WalkDir::new(&argument).sort_by_file_name().into_iter();
            self.directory = Some((argument, walk));
        }
    }
}

/// The file of an entry, or its failure; none if it is skipped.
fn file(root: &OsString, entry: walkdir::Result<walkdir::DirEntry>) -> Option<(OsString, Source)> {
    match entry {
        Ok(entry) if entry.file_type().is_file() => {
            let path = entry.into_path();
            Some((path.clone().into_os_string(), Source::Path(path)))
        }
        Ok(_) => None,
        Err(error) => {
            let name = error.path().map_or_else(|| root.clone(), |path| path.as_os_str().to_owned());
            let other = || io::Error::other("Cannot be walked");
            Some((name, Source::Failed(error.into_io_error().unwrap_or_else(other))))
        }
    }
}
