//! manyhash's own programs, as they were built with this one.

use super::error::FilesError;
use super::subject::FilesSubject;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) struct Programs {
    pub(crate) manysum: PathBuf,
    pub(crate) manyhash: PathBuf,
    /// Whether `manyhash` has that tool.
    pub(crate) manifest: bool,
}

impl Programs {
    /// Those beside this program.
    ///
    /// # Errors
    /// If they have not been built.
    pub(crate) fn beside_this() -> Result<Self, FilesError> {
        let this = env::current_exe().map_err(FilesError::Executable)?;
        Self::of(|name| this.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX)))
    }

    fn of(path: impl Fn(&str) -> PathBuf) -> Result<Self, FilesError> {
        let [manysum, manyhash] = ["manysum", "manyhash"].map(path);
        if let Some(missing) = [&manysum, &manyhash].into_iter().find(|path| !path.is_file()) {
            return Err(FilesError::NotBuilt(missing.clone()));
        }
        let mut help = Command::new(&manyhash);
        help.args(["manifest", "--help"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = help.status().map_err(FilesError::of(&manyhash))?;
        Ok(Programs { manysum, manyhash, manifest: status.success() })
    }

    /// The manifest made as for the first time, with a cache that is empty.
    pub(crate) fn create(&self, manifest: &Path, cache: &Path) -> FilesSubject {
        let subject = FilesSubject::new("manifest create", &self.manyhash, &["manifest", "create", ".", "-o"]);
        subject.own().with([manifest]).with(["--cache"]).with([cache]).writes(manifest.into()).forgets(cache.into())
    }

    /// The manifest brought up to date, with the digests of unchanged files from the cache.
    pub(crate) fn update(&self, manifest: &Path, cache: &Path) -> FilesSubject {
        let subject = FilesSubject::new("manifest update", &self.manyhash, &["manifest", "update", "."]);
        subject.own().with([manifest]).with(["--cache"]).with([cache]).writes(manifest.into())
    }
}

#[cfg(test)]
mod tests {
    use super::Programs;
    use std::fs;

    #[test]
    fn what_is_not_built_is_named() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("manysum"), "").unwrap();
        let error = Programs::of(|name| directory.path().join(name)).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("/manyhash is missing: build it"), "{error}");
    }
}
