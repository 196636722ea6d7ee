//! A program with its arguments: run for what it prints, and run for its time.

use super::error::FilesError;
use super::expected::Format;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often the memory of a program is looked at. What is read is the peak so far, so only a last sprint is missed.
const WATCH: Duration = Duration::from_millis(2);

/// What is run in the root of a tree.
pub(crate) struct FilesSubject {
    pub(crate) name: String,
    /// Whether it is manyhash's.
    pub(crate) own: bool,
    /// If it is told how many.
    pub(crate) threads: Option<usize>,
    /// None if it prints no digests that could be checked.
    pub(crate) format: Option<Format>,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Programs that it needs beside its own.
    needs: Vec<&'static str>,
    /// Where its output is, if it is not what it prints.
    output: Option<PathBuf>,
    /// What it would know more from than the first time, and so goes before each run.
    memory: Option<PathBuf>,
}

/// What one run took.
pub(crate) struct Sample {
    pub(crate) seconds: f64,
    /// Of its resident memory, if that was watched.
    pub(crate) peak_bytes: Option<u64>,
}

impl FilesSubject {
    /// A peer, with digests as coreutils print them.
    pub(crate) fn new(name: impl Into<String>, program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        FilesSubject {
            name: name.into(),
            own: false,
            threads: None,
            format: Some(Format::Gnu),
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            needs: vec![],
            output: None,
            memory: None,
        }
    }

    /// A line for the shell, and the programs in it.
    pub(crate) fn shell(name: &str, script: &str, needs: &[&'static str]) -> Self {
        FilesSubject { needs: needs.to_vec(), ..FilesSubject::new(name, "sh", &["-c", script]) }
    }

    pub(crate) fn own(self) -> Self {
        FilesSubject { own: true, ..self }
    }

    pub(crate) fn threads(self, threads: usize) -> Self {
        FilesSubject { threads: Some(threads), ..self }
    }

    pub(crate) fn prints(self, format: Option<Format>) -> Self {
        FilesSubject { format, ..self }
    }

    pub(crate) fn writes(self, output: PathBuf) -> Self {
        FilesSubject { output: Some(output), ..self }
    }

    pub(crate) fn forgets(self, memory: PathBuf) -> Self {
        FilesSubject { memory: Some(memory), ..self }
    }

    pub(crate) fn with<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(A::into));
        self
    }

    /// The first of its programs that there is not.
    pub(crate) fn lacks(&self) -> Option<&Path> {
        let programs = std::iter::once(self.program.as_path()).chain(self.needs.iter().map(Path::new));
        programs.into_iter().find(|program| !installed(program))
    }

    /// What it prints, or what is then in the file that it writes.
    pub(crate) fn output(&self, root: &Path) -> Result<Vec<u8>, FilesError> {
        self.forget()?;
        let output = self.command(root).output().map_err(|error| self.cannot_run(error))?;
        self.succeeded(output.status, &output.stderr)?;
        match &self.output {
            Some(path) => fs::read(path).map_err(FilesError::of(path)),
            None => Ok(output.stdout),
        }
    }

    /// What it takes, and with `watch` its memory.
    pub(crate) fn sample(&self, root: &Path, watch: bool) -> Result<Sample, FilesError> {
        let mut command = self.command(root);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.forget()?;
        let start = Instant::now();
        let mut child = command.spawn().map_err(|error| self.cannot_run(error))?;
        let peak_bytes = if watch { watched(&mut child).map_err(|error| self.cannot_run(error))? } else { None };
        let status = child.wait().map_err(|error| self.cannot_run(error))?;
        let seconds = start.elapsed().as_secs_f64();
        self.succeeded(status, &[])?;
        Ok(Sample { seconds, peak_bytes })
    }

    fn forget(&self) -> Result<(), FilesError> {
        match self.memory.as_ref().map(|path| (path, fs::remove_file(path))) {
            Some((path, Err(error))) if error.kind() != ErrorKind::NotFound => Err(FilesError::of(path)(error)),
            _ => Ok(()),
        }
    }

    fn command(&self, root: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(root).stdin(Stdio::null());
        command
    }

    fn cannot_run(&self, error: std::io::Error) -> FilesError {
        FilesError::Run { subject: self.name.clone(), error }
    }

    fn succeeded(&self, status: ExitStatus, message: &[u8]) -> Result<(), FilesError> {
        if status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(message).trim_end().to_owned();
        Err(FilesError::Failed { subject: self.name.clone(), status, message })
    }
}

/// Whether there is a file of that name: where it says, or in one of the directories for programs.
fn installed(program: &Path) -> bool {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).any(|directory| directory.join(program).is_file())
}

/// The peak of a child's resident memory, until it has ended. The system says it of the program alone; what it says
/// of a child that has ended includes what the child was before, a copy of this one.
fn watched(child: &mut Child) -> std::io::Result<Option<u64>> {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait()?.is_none() {
        peak = peak.max(fs::read_to_string(&path).ok().and_then(|status| high_water(&status)));
        std::thread::sleep(WATCH);
    }
    Ok(peak)
}

/// The peak in bytes, of a process's status; one that has ended has none.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::{FilesSubject, high_water};
    use crate::files::error::FilesError;
    use std::fs;
    use std::path::Path;

    #[test]
    fn output_is_what_is_printed_or_written_and_failures_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::write(root.join("f"), "text").unwrap();
        assert_eq!(FilesSubject::new("cat", "cat", &[]).with(["f"]).output(root).unwrap(), b"text");
        let file = root.join("copy");
        let subject = FilesSubject::shell("cp", "cp f copy && echo", &["cp"]).writes(file);
        assert_eq!(subject.output(root).unwrap(), b"text");
        let first = FilesSubject::shell("first", "[ ! -e known ] && echo > known", &[]).forgets(root.join("known"));
        (0..2).for_each(|_| drop((first.output(root).unwrap(), first.sample(root, false).unwrap())));

        let failing = FilesSubject::shell("failing", "echo why >&2; exit 3", &[]);
        let error = failing.output(root).unwrap_err();
        assert!(matches!(&error, FilesError::Failed { message, .. } if message == "why"), "{error}");
        assert!(matches!(failing.sample(root, true), Err(FilesError::Failed { .. })));
        let missing = FilesSubject::new("missing", "no-such-program", &[]);
        assert!(matches!(missing.sample(root, false), Err(FilesError::Run { .. })));
    }

    #[test]
    fn programs_that_are_not_there_are_named() {
        assert_eq!(FilesSubject::new("a", "no-such-program", &[]).lacks(), Some(Path::new("no-such-program")));
        assert_eq!(FilesSubject::shell("b", "", &["cat", "nor-such"]).lacks(), Some(Path::new("nor-such")));
        assert_eq!(FilesSubject::shell("c", "", &["cat"]).lacks(), None);
        let own = std::env::current_exe().unwrap();
        assert_eq!(FilesSubject::new("d", &own, &[]).lacks(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_that_of_the_program() {
        let sample = |script| {
            let subject = FilesSubject::shell("sh", script, &[]);
            subject.sample(Path::new("/"), true).unwrap().peak_bytes.unwrap()
        };
        let (idle, busy) = (sample("sleep 0.1"), sample("x=$(head -c 20000000 /dev/zero | tr '\\0' x); sleep 0.1"));
        assert!(idle > 0 && busy > idle + 10_000_000, "{idle} {busy}");
        assert_eq!(
            high_water("Name:\tx\nVmPeak:\t    9000 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 7 kB\n"),
            Some(1234 * 1024)
        );
        assert_eq!(high_water("Name:\tx\nState:\tZ (zombie)\n"), None);
    }
}
