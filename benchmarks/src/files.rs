//! `files`: the programs over trees of files, beside their peers.
//!
//! A [case](Case) is a [tree](Tree) that is [made](Made) for it, and [programs](FilesSubject) that read all of it. Each is
//! run once for its output, whose every digest is [checked](Expected), so that the files are in the page cache; then
//! all are run in turns, and only timed.

mod case;
mod error;
mod expected;
mod figure;
mod made;
mod programs;
mod subject;
mod tree;

pub(crate) use error::FilesError;
pub(crate) use made::{is_memory, memory_directory};

use crate::error::Error;
use crate::measure::{median, turns};
use crate::options::Options;
use crate::report::machine;
use case::Case;
use expected::Expected;
use figure::FilesFigure;
use made::Made;
use manyhash::Algorithm;
use programs::Programs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use subject::{FilesSubject, Sample};
use tree::Tree;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct FilesArguments {
    /// Cases to measure [default: all but million]
    #[arg(long = "case", value_name = "CASE", value_enum, value_delimiter = ',')]
    cases: Vec<Case>,
    /// Where trees are made that are not in memory, which takes up to 5 GB [default: the directory for temporary files]
    #[arg(long)]
    dir: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

/// Files younger than this may be hashed again whatever a cache has of them: they could change without a trace.
const SETTLED: Duration = Duration::from_millis(2500);

/// Measures and reports.
pub(crate) fn run(args: &FilesArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let programs = Programs::beside_this()?;
    let directory = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{}", machine(backend))?;
    }
    let mut made: Option<Made> = None;
    for case in if args.cases.is_empty() { &Case::USUAL } else { &args.cases[..] } {
        if case.wants_manifest() && !programs.manifest {
            eprintln!("manyhash-bench: case {}: manyhash has no tool `manifest`, left out", case.name());
            if *case == Case::Update {
                continue;
            }
        }
        let shape = case.shape(args.options.quick);
        let place = place(*case, &Tree::new(shape), &directory);
        // The one before goes first, and makes room.
        let made = match made.take().filter(|made| made.shape == shape) {
            Some(same) => made.insert(same),
            None => made.insert(Made::new(shape, place)?),
        };
        for algorithm in case.algorithms() {
            let trial = Trial { case: *case, algorithm: *algorithm, made, place, backend };
            let rounds = args.options.rounds(case.rounds(), 3);
            let figures = trial.figures(installed(*case, case.subjects(*algorithm, &programs, made)), rounds)?;
            write!(out, "{}", args.options.text(&figures, figure::table))?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Where the case's tree is to be made.
fn place<'a>(case: Case, tree: &Tree, directory: &'a Path) -> &'a Path {
    match made::memory(tree).filter(|_| case.in_memory()) {
        Some(memory) => memory,
        None => {
            if case.in_memory() {
                let name = case.name();
                eprintln!("manyhash-bench: case {name}: no tmpfs with room at /dev/shm; in {}", directory.display());
            }
            directory
        }
    }
}

/// Those of the subjects that can be run here.
fn installed(case: Case, mut subjects: Vec<FilesSubject>) -> Vec<FilesSubject> {
    subjects.retain(|subject| {
        let lacks = subject.lacks();
        if let Some(program) = lacks {
            let (case, program) = (case.name(), program.display());
            eprintln!("manyhash-bench: case {case}: {} left out: {program} is not installed", subject.name);
        }
        lacks.is_none()
    });
    subjects
}

/// Subjects that do the same.
struct Trial<'a> {
    case: Case,
    algorithm: Algorithm,
    made: &'a Made,
    place: &'a Path,
    backend: &'static str,
}

impl Trial<'_> {
    fn figures(&self, subjects: Vec<FilesSubject>, rounds: usize) -> Result<Vec<FilesFigure>, FilesError> {
        self.verify(&subjects, &Expected::new(self.algorithm, self.made)?)?;
        let mut samples: Vec<Vec<Sample>> = subjects.iter().map(|_| vec![]).collect();
        let root = self.made.root();
        for round in 0..rounds {
            for at in turns(round, subjects.len()) {
                samples[at].push(subjects[at].sample(&root, self.case == Case::Million)?);
            }
        }
        Ok(subjects.into_iter().zip(samples).map(|(subject, samples)| self.figure(subject, &samples)).collect())
    }

    fn verify(&self, subjects: &[FilesSubject], expected: &Expected) -> Result<(), FilesError> {
        if self.case == Case::Update {
            self.made.age(SETTLED);
        }
        for subject in subjects {
            // What comes from a cache is checked when it does, too.
            for _ in 0..if self.case == Case::Update { 2 } else { 1 } {
                let output = subject.output(&self.made.root())?;
                if let Some(format) = subject.format {
                    expected.check(self.case.name(), &subject.name, format, &output)?;
                }
            }
        }
        Ok(())
    }

    fn figure(&self, subject: FilesSubject, samples: &[Sample]) -> FilesFigure {
        FilesFigure {
            load: "files",
            case: self.case.name(),
            algorithm: self.algorithm.name(),
            files: self.made.tree.names().len(),
            bytes: self.made.tree.bytes(),
            place: self.place.display().to_string(),
            backend: self.backend,
            subject: subject.name,
            threads: subject.threads,
            median_seconds: median(samples.iter().map(|sample| sample.seconds).collect()),
            peak_bytes: samples.iter().filter_map(|sample| sample.peak_bytes).max(),
            rounds: samples.len(),
            verified: subject.format.map(|_| true),
            own: subject.own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::case::Case;
    use super::expected::Expected;
    use super::made::Made;
    use super::programs::Programs;
    use super::subject::FilesSubject;
    use super::tree::Shape;
    use super::{FilesError, Trial};
    use manyhash::Algorithm;
    use tempfile::TempDir;

    fn made() -> (TempDir, Made) {
        let within = tempfile::tempdir().unwrap();
        let made = Made::new(Shape::Kernel { files: 60, bytes: 1 << 20 }, within.path()).unwrap();
        (within, made)
    }

    #[test]
    fn the_peers_of_every_case_are_verified_and_measured() {
        let (within, made) = made();
        let programs = Programs { manysum: "manysum".into(), manyhash: "manyhash".into(), manifest: true };
        for (case, checked, unchecked) in [
            (Case::Large, "md5sum", None),
            (Case::Huge, "sha256sum", None),
            (Case::Small, "md5sum", None),
            (Case::Tree, "xargs -P2 sha256sum", None),
            (Case::Update, "", Some("find -printf")),
        ] {
            let algorithm = case.algorithms()[0];
            let trial = Trial { case, algorithm, made: &made, place: within.path(), backend: "any" };
            let mut subjects = case.subjects(algorithm, &programs, &made);
            subjects.retain(|subject| !subject.own && subject.lacks().is_none());
            let figures = trial.figures(subjects, 2).unwrap();
            assert!(figures.iter().all(|figure| figure.rounds == 2 && figure.median_seconds > 0.0));
            assert_eq!((figures[0].files, figures[0].bytes), (60, 1 << 20));
            let verified = |name| figures.iter().find(|figure| figure.subject == name).map(|figure| figure.verified);
            assert_eq!(verified(checked).flatten(), (!checked.is_empty()).then_some(true));
            assert!(unchecked.is_none_or(|name| verified(name) == Some(None)));
        }
    }

    #[test]
    fn a_wrong_digest_is_an_error() {
        let (within, made) = made();
        let trial =
            Trial { case: Case::Tree, algorithm: Algorithm::Sha256, made: &made, place: within.path(), backend: "any" };
        let subjects = [FilesSubject::new("sha256sum", "sha256sum", &[]).with(made.tree.names())];
        let mut expected = Expected::new(Algorithm::Sha256, &made).unwrap();
        trial.verify(&subjects, &expected).unwrap();
        expected.spoil();
        let error = trial.verify(&subjects, &expected).unwrap_err();
        assert!(matches!(&error, FilesError::WrongDigest { .. }), "{error}");
    }
}
