//! Trees of files: names, lengths and contents are pseudo-random, and the same in every run.

use super::error::FilesError;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Of the natural logarithms of lengths in a [`Shape::Kernel`]. With it, half of the files have less than a third of
/// the mean.
const SIGMA: f64 = 1.5;
/// Files to a folder in it, in the mean.
const FILES_PER_FOLDER: usize = 14;
/// What is written at once.
const CHUNK: usize = 1 << 20;

/// How files are to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// So many of one length, so many to a folder; all in the root if there are no more than that.
    Equal { files: usize, length: u64, folder: usize },
    /// Nested folders with so many files of log-normal lengths, which have so many bytes together.
    Kernel { files: usize, bytes: u64 },
}

/// Names and lengths.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Tree {
    /// Each after the one that it is in.
    folders: Vec<String>,
    files: Vec<(String, u64)>,
}

impl Tree {
    pub(crate) fn new(shape: Shape) -> Self {
        match shape {
            Shape::Equal { files, length, folder } if files <= folder => {
                Tree { folders: vec![], files: (0..files).map(|i| (format!("f{i}"), length)).collect() }
            }
            Shape::Equal { files, length, folder } => Tree {
                folders: (0..files.div_ceil(folder)).map(|i| format!("d{i}")).collect(),
                files: (0..files).map(|i| (format!("d{}/f{}", i / folder, i % folder), length)).collect(),
            },
            Shape::Kernel { files, bytes } => kernel(files, bytes),
        }
    }

    /// The files' names, below the root.
    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &String> {
        self.files.iter().map(|(name, _)| name)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, length)| length).sum()
    }

    /// The memory that the files take in a tmpfs: whole pages, and an inode and a directory entry of a kilobyte each.
    pub(crate) fn memory(&self) -> u64 {
        self.files.iter().map(|(_, length)| length.next_multiple_of(4096) + 1024).sum()
    }

    /// Makes the files in a directory, which is there.
    pub(crate) fn write(&self, root: &Path) -> Result<(), FilesError> {
        for folder in &self.folders {
            let folder = root.join(folder);
            fs::create_dir(&folder).map_err(FilesError::of(&folder))?;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut chunk = vec![0; CHUNK];
        for (name, length) in &self.files {
            let path = root.join(name);
            let mut file = File::create_new(&path).map_err(FilesError::of(&path))?;
            let mut left = *length;
            while left > 0 {
                let part = &mut chunk[..left.min(CHUNK as u64) as usize];
                random.fill_bytes(part);
                file.write_all(part).map_err(FilesError::of(&path))?;
                left -= part.len() as u64;
            }
        }
        Ok(())
    }
}

fn kernel(files: usize, bytes: u64) -> Tree {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut folders = vec![String::from("root")];
    for i in 1..files.div_ceil(FILES_PER_FOLDER) {
        // One of the first quarter of those there are: that makes paths about as deep as the kernel's.
        let parent = random.random_range(0..=(i - 1) / 4);
        folders.push(format!("{}/d{i}", folders[parent]));
    }
    let lengths = LogNormal::new(0.0, SIGMA).expect("the parameters are finite");
    let lengths: Vec<f64> = lengths.sample_iter(&mut random).take(files).collect();
    let scale = bytes as f64 / lengths.iter().sum::<f64>();
    // The ends are rounded, not the lengths, so that errors do not add up.
    let (mut sum, mut end) = (0.0, 0);
    let file = |(i, length): (usize, f64)| {
        let folder = &folders[random.random_range(0..folders.len())];
        let begin = end;
        sum += length;
        end = (sum * scale).round() as u64;
        (format!("{folder}/f{i}.c"), end - begin)
    };
    let files = lengths.into_iter().enumerate().map(file).collect();
    Tree { folders, files }
}

#[cfg(test)]
mod tests {
    use super::{Shape, Tree};
    use std::fs;

    #[test]
    fn the_kernel_is_reproducible_nested_and_of_its_size() {
        let shape = Shape::Kernel { files: 70_000, bytes: 1 << 30 };
        let tree = Tree::new(shape);
        assert_eq!(tree, Tree::new(shape));
        assert_eq!((tree.names().len(), tree.bytes()), (70_000, 1 << 30));
        let mut lengths: Vec<u64> = tree.files.iter().map(|(_, length)| *length).collect();
        lengths.sort_unstable();
        let median = lengths[35_000];
        assert!((4_500..5_500).contains(&median), "{median}");
        assert!(lengths[0] < 50 && (1 << 20..1 << 25).contains(lengths.last().unwrap()), "{:?}", lengths.last());
        let depths: Vec<usize> = tree.names().map(|name| name.matches('/').count()).collect();
        let depth = depths.iter().sum::<usize>() as f64 / 70_000.0;
        assert!((3.0..6.0).contains(&depth) && *depths.iter().max().unwrap() >= 7, "{depth}");
    }

    #[test]
    fn files_are_written_with_their_lengths_and_differ() {
        for (shape, bytes) in [
            (Shape::Equal { files: 3, length: 5000, folder: 3 }, 15_000),
            (Shape::Equal { files: 7, length: 10, folder: 3 }, 70),
            (Shape::Kernel { files: 100, bytes: 3 << 20 }, 3 << 20),
        ] {
            let tree = Tree::new(shape);
            assert_eq!(tree.bytes(), bytes);
            let [first, again] = [(); 2].map(|()| {
                let directory = tempfile::tempdir().unwrap();
                tree.write(directory.path()).unwrap();
                let read = |name: &String| fs::read(directory.path().join(name)).unwrap();
                tree.names().map(read).collect::<Vec<_>>()
            });
            assert!(first == again);
            assert!(first.iter().zip(&tree.files).all(|(content, (_, length))| content.len() as u64 == *length));
            assert!(first.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }
}
