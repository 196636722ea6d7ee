//! Which file an object becomes: no key leads out of the directory that objects are downloaded to.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Why no file can have the name of an object.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyNameError {
    /// There is nothing after the prefix.
    #[error("nothing is left of the key as the name of a file: name a file to download to")]
    Empty,
    /// It begins with a slash.
    #[error("the name begins with a slash, and would be that of a file elsewhere")]
    Absolute,
    /// It ends with a slash.
    #[error("the name ends with a slash, as no file's does")]
    Directory,
    /// A part of it is a dot or two dots.
    #[error("the name has `{part}` in it, and would be that of a file elsewhere")]
    Dots {
        /// The part.
        part: &'static str,
    },
    /// There are two slashes in a row, between which nothing is.
    #[error("the name has two slashes in a row, which would be the name of another object's file too")]
    NoPart,
    /// It has a character that no name of a file has.
    #[error("the name has {character:?} in it, which no file's name can have here")]
    Character {
        /// The character.
        character: char,
    },
    /// Another object's name is that of a directory in it.
    #[error("there can be no such file, since there is an object `{file}` too, which would be a file and a directory")]
    Clash {
        /// The other object's name.
        file: String,
    },
}

/// The names of objects that are downloaded together, in the order of their bytes, in which lists have them.
///
/// ```
/// use manyhash_s3_client::transfer::Names;
///
/// let mut names = Names::new();
/// assert_eq!(names.path("2026/cat.jpg")?, std::path::Path::new("2026").join("cat.jpg"));
/// assert!(names.path("../passwd").is_err());
/// # Ok::<(), manyhash_s3_client::transfer::KeyNameError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Names {
    files: BTreeSet<String>,
}

/// Characters that Windows takes for something else than a part of a name.
const ELSEWHERE: [char; 8] = ['\\', ':', '<', '>', '"', '|', '?', '*'];

impl Names {
    /// Creates a `Names` that knows of none.
    pub fn new() -> Names {
        Names::default()
    }

    /// Returns the path of an object's file below the directory.
    ///
    /// # Errors
    /// Returns an error if a file of this name would be elsewhere, or cannot be beside those before.
    pub fn path(&mut self, name: &str) -> Result<PathBuf, KeyNameError> {
        let path = path(name)?;
        let mut above = name;
        while let Some((directory, _)) = above.rsplit_once('/') {
            if self.files.contains(directory) {
                return Err(KeyNameError::Clash { file: directory.to_owned() });
            }
            above = directory;
        }
        self.files.insert(name.to_owned());
        Ok(path)
    }
}

fn path(name: &str) -> Result<PathBuf, KeyNameError> {
    if name.is_empty() {
        return Err(KeyNameError::Empty);
    }
    if name.starts_with('/') {
        return Err(KeyNameError::Absolute);
    }
    if name.ends_with('/') {
        return Err(KeyNameError::Directory);
    }
    let is_bad = |character: char| character == '\0' || (cfg!(windows) && ELSEWHERE.contains(&character));
    if let Some(character) = name.chars().find(|character| is_bad(*character)) {
        return Err(KeyNameError::Character { character });
    }
    for part in name.split('/') {
        match part {
            "" => return Err(KeyNameError::NoPart),
            "." => return Err(KeyNameError::Dots { part: "." }),
            ".." => return Err(KeyNameError::Dots { part: ".." }),
            _ => {}
        }
    }
    Ok(name.split('/').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::Component;

    #[test]
    fn names_that_lead_elsewhere() {
        use KeyNameError::*;
        for (name, error) in [
            ("", Empty),
            ("/", Absolute),
            ("/etc/passwd", Absolute),
            ("//", Absolute),
            ("a/", Directory),
            ("..", Dots { part: ".." }),
            (".", Dots { part: "." }),
            ("../a", Dots { part: ".." }),
            ("a/../b", Dots { part: ".." }),
            ("a/..", Dots { part: ".." }),
            ("a/./b", Dots { part: "." }),
            ("a//b", NoPart),
            ("a\0b", Character { character: '\0' }),
        ] {
            assert_eq!(Names::new().path(name), Err(error), "{name:?}");
        }
        for name in ["a", "...", "..a", "a/.b", "a b", "\n", "日本/語", "a/b/c", "~", "-"] {
            assert_eq!(Names::new().path(name), Ok(name.split('/').collect()), "{name:?}");
        }
    }

    #[test]
    fn a_file_is_no_directory() {
        let mut names = Names::new();
        for name in ["a", "a.b", "b/c", "b/d"] {
            assert!(names.path(name).is_ok(), "{name}");
        }
        for name in ["a/b", "a/b/c", "b/c/d"] {
            let file = if name.starts_with('a') { "a" } else { "b/c" };
            assert_eq!(names.path(name), Err(KeyNameError::Clash { file: file.to_owned() }));
        }
    }

    proptest! {
        #[test]
        fn no_name_leads_elsewhere(name in "[a./\\\\:\0]{0,12}") {
            if let Ok(path) = Names::new().path(&name) {
                prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
                prop_assert_eq!(path.components().count(), name.split('/').count());
            }
        }
    }
}
