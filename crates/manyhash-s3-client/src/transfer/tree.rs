//! The files of a tree, as comparisons see them: in the order of keys, symbolic links passed over.

use crate::verify::walk;
use std::io;
use std::path::{Path, PathBuf};

/// A file of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TreeFile {
    /// Its name below the root, with slashes.
    pub name: Vec<u8>,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
}

/// What there is in a tree.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Tree {
    /// The regular files, in the order of the bytes of their names.
    pub files: Vec<TreeFile>,
    /// Directories, ending in a slash, and files that cannot be looked at, by their names.
    pub unreadable: Vec<(Vec<u8>, io::Error)>,
}

impl Tree {
    /// Walks a directory and its directories. Symbolic links in it are not followed.
    ///
    /// # Errors
    /// Returns an error if it is no directory, or cannot be read.
    pub fn read(root: &Path) -> io::Result<Tree> {
        let mut tree = Tree::default();
        let mut failed = None;
        walk(root, &mut |found| {
            match found {
                Ok(Ok((name, path, size))) => tree.files.push(TreeFile { name, path, size }),
                Ok(Err(unreadable)) => tree.unreadable.push(unreadable),
                Err(error) => failed = Some(error),
            }
            Some(())
        });
        match failed {
            None => Ok(tree),
            Some(error) => Err(error),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_in_the_order_of_keys() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        for name in ["a.txt", "a/b/c", "a0", "a/d"] {
            fs::write(root.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("a.txt", root.join("link")).unwrap();
        let tree = Tree::read(root).unwrap();
        let names: Vec<_> = tree.files.iter().map(|file| String::from_utf8_lossy(&file.name).into_owned()).collect();
        assert_eq!(names, ["a.txt", "a/b/c", "a/d", "a0"]);
        assert!(tree.files.iter().all(|file| file.path.is_file() && file.size == file.name.len() as u64));
        assert!(tree.unreadable.is_empty());
        assert_eq!(Tree::read(&root.join("a0")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert_eq!(Tree::read(&root.join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
