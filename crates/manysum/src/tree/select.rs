//! Which entries of directories are taken: globs and hidden names.

use globset::{Error, Glob, GlobBuilder, GlobSet};
use std::path::Path;

/// Which entries of a directory that is walked are taken.
#[derive(Clone, Default)]
pub struct Selection {
    /// Files have to match one of these, if there are any.
    pub(crate) include: Option<Globs>,
    /// Neither files nor directories may match any of these.
    pub(crate) exclude: Globs,
    /// Names may not begin with a dot.
    pub(crate) no_hidden: bool,
}

impl Selection {
    /// Whether every entry is taken.
    pub(crate) fn takes_all(&self) -> bool {
        self.include.is_none() && self.exclude.is_empty() && !self.no_hidden
    }

    /// Whether an entry is taken, or walked if it is a directory. `path` begins below the directory that is walked.
    pub(crate) fn takes(&self, path: &Path, is_directory: bool) -> bool {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let included = is_directory || self.include.as_ref().is_none_or(|include| include.matches(path, false));
        included && !(hidden && self.no_hidden) && !self.exclude.matches(path, is_directory)
    }
}

/// Globs, of which a path may match any.
#[derive(Clone, Default)]
pub(crate) struct Globs {
    anything: Matching,
    directories: Matching,
}

/// Globs of things of one kind.
#[derive(Clone, Default)]
struct Matching {
    /// Those without a slash, for names.
    names: GlobSet,
    /// Those with one, for paths.
    paths: GlobSet,
}

/// A glob as it is given, in the way of gitignore: one with a slash at its beginning or in its middle is for paths below
/// the directory that is walked, any other for names; one with a slash at its end is for directories.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    glob: Glob,
    is_path: bool,
    is_directory: bool,
}

/// Why an argument is no pattern.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoPattern {
    #[error(transparent)]
    Glob(#[from] Error),
    #[error("matches nothing: no path has a component that is empty, `.` or `..`")]
    Part,
    #[error("matches no file, because it ends in a slash")]
    Directory,
}

impl Pattern {
    /// The one that an argument is. Its `*` and `?` match no slash, and `**` does.
    pub(crate) fn new(text: &str) -> Result<Self, NoPattern> {
        let (below, begins) = text.strip_prefix('/').map_or((text, false), |below| (below, true));
        let (below, is_directory) = below.strip_suffix('/').map_or((below, false), |below| (below, true));
        if below.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(NoPattern::Part);
        }
        let glob = GlobBuilder::new(below).literal_separator(true).build()?;
        Ok(Pattern { glob, is_path: begins || below.contains('/'), is_directory })
    }

    /// The same of one that files have to match.
    pub(crate) fn files(text: &str) -> Result<Self, NoPattern> {
        let pattern = Self::new(text)?;
        if pattern.is_directory { Err(NoPattern::Directory) } else { Ok(pattern) }
    }
}

impl Globs {
    pub(crate) fn new(patterns: Vec<Pattern>) -> Result<Self, Error> {
        let (directories, anything): (Vec<_>, Vec<_>) = patterns.into_iter().partition(|pattern| pattern.is_directory);
        Ok(Globs { anything: Matching::new(anything)?, directories: Matching::new(directories)? })
    }

    fn is_empty(&self) -> bool {
        self.anything.is_empty() && self.directories.is_empty()
    }

    fn matches(&self, path: &Path, is_directory: bool) -> bool {
        self.anything.matches(path) || is_directory && self.directories.matches(path)
    }
}

impl Matching {
    fn new(patterns: Vec<Pattern>) -> Result<Self, Error> {
        let set = |patterns: Vec<Pattern>| GlobSet::new(patterns.into_iter().map(|pattern| pattern.glob));
        let (paths, names) = patterns.into_iter().partition(|pattern| pattern.is_path);
        Ok(Matching { names: set(names)?, paths: set(paths)? })
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    fn matches(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| self.names.is_match(name)) || self.paths.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(globs: &[&str]) -> Globs {
        Globs::new(globs.iter().map(|text| Pattern::new(text).expect("a glob")).collect()).expect("globs")
    }

    #[test]
    fn names_and_paths() {
        let globs = globs(&["*.rs", "a/*", "b/**/z"]);
        for path in ["x.rs", "d/e/x.rs", "a/x", "b/z", "b/c/d/z"] {
            assert!(globs.matches(path.as_ref(), false), "{path}");
        }
        for path in ["x.rst", "a", "a/b/x", "d/a/x", "b/c"] {
            assert!(!globs.matches(path.as_ref(), true), "{path}");
        }
    }

    #[test]
    fn slashes_as_in_gitignore() {
        let globs = globs(&["/top", "any/", "/a/*.c", "/dir/"]);
        for (path, file, directory) in [
            ("top", true, true),
            ("x/top", false, false),
            ("any", false, true),
            ("x/any", false, true),
            ("a/x.c", true, true),
            ("b/a/x.c", false, false),
            ("dir", false, true),
            ("x/dir", false, false),
        ] {
            assert_eq!(globs.matches(path.as_ref(), false), file, "{path}");
            assert_eq!(globs.matches(path.as_ref(), true), directory, "{path}/");
        }
    }

    #[test]
    fn what_can_match_nothing_is_refused() {
        for text in ["", "/", "//", "//x", "x//y", "./x", "x/..", "../x", "x//", "["] {
            assert!(Pattern::new(text).is_err(), "{text}");
        }
        assert!(Pattern::files("x/").is_err() && Pattern::files("/x").is_ok());
    }

    #[test]
    fn what_is_taken() {
        let selection = Selection { include: Some(globs(&["*.c"])), exclude: globs(&["t*"]), no_hidden: true };
        let takes = |path: &str, is_directory| selection.takes(path.as_ref(), is_directory);
        assert!(takes("d", true) && takes("d/x.c", false));
        assert!(!takes("d", false) && !takes("test", true) && !takes("d/t.c", false) && !takes(".c.c", false));
        assert!(!takes(".git", true));
        assert!(Selection::default().takes(".git".as_ref(), true));
    }
}
