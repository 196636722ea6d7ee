//! Which entries of directories are taken: globs and hidden names.

use globset::{Error, Glob, GlobBuilder, GlobSet};
use std::path::Path;

/// Which entries of a directory that is walked are taken.
#[derive(Clone, Default)]
pub(crate) struct Selection {
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
        let included = is_directory || self.include.as_ref().is_none_or(|include| include.matches(path));
        included && !(hidden && self.no_hidden) && !self.exclude.matches(path)
    }
}

/// Globs, of which a path may match any.
#[derive(Clone, Default)]
pub(crate) struct Globs {
    /// Those without a slash, for names.
    names: GlobSet,
    /// Those with one, for paths.
    paths: GlobSet,
}

impl Globs {
    pub(crate) fn new(globs: Vec<Glob>) -> Result<Self, Error> {
        let (paths, names): (Vec<_>, Vec<_>) = globs.into_iter().partition(|glob| glob.glob().contains('/'));
        Ok(Globs { names: GlobSet::new(names)?, paths: GlobSet::new(paths)? })
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    fn matches(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| self.names.is_match(name)) || self.paths.is_match(path)
    }
}

/// The glob that an argument is. Its `*` and `?` match no slash, and `**` does.
pub(crate) fn glob(text: &str) -> Result<Glob, Error> {
    GlobBuilder::new(text).literal_separator(true).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(globs: &[&str]) -> Globs {
        Globs::new(globs.iter().map(|text| glob(text).expect("a glob")).collect()).expect("globs")
    }

    #[test]
    fn names_and_paths() {
        let globs = globs(&["*.rs", "a/*", "b/**/z"]);
        for path in ["x.rs", "d/e/x.rs", "a/x", "b/z", "b/c/d/z"] {
            assert!(globs.matches(path.as_ref()), "{path}");
        }
        for path in ["x.rst", "a", "a/b/x", "d/a/x", "b/c"] {
            assert!(!globs.matches(path.as_ref()), "{path}");
        }
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
