//! Cases: the tree of each, and the programs that are measured over it.

use super::expected::Format;
use super::made::Made;
use super::programs::Programs;
use super::subject::FilesSubject;
use super::tree::Shape;
use clap::ValueEnum;
use manyhash::Algorithm;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Case {
    /// 64 files of 16 MiB, MD5 and SHA-256
    Large,
    /// One file of 2 GiB, SHA-256
    Huge,
    /// 50,000 files of 4 KiB in memory, MD5
    Small,
    /// 70,000 files of 1 GiB together, in folders as of the Linux kernel, SHA-256
    Tree,
    /// That tree with nothing changed: the manifest brought up to date
    Update,
    /// A million tiny files: memory
    Million,
}

impl Case {
    /// Those that do not have to be asked for.
    pub(crate) const USUAL: [Case; 5] = [Case::Large, Case::Huge, Case::Small, Case::Tree, Case::Update];

    /// The name in figures and arguments.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Case::Large => "large",
            Case::Huge => "huge",
            Case::Small => "small",
            Case::Tree => "tree",
            Case::Update => "update",
            Case::Million => "million",
        }
    }

    /// The tree's.
    pub(crate) fn shape(self, quick: bool) -> Shape {
        let equal = |files, length, folder| Shape::Equal { files, length, folder };
        match (self, quick) {
            (Case::Large, false) => equal(64, 16 << 20, 64),
            (Case::Large, true) => equal(64, 256 << 10, 64),
            (Case::Huge, false) => equal(1, 2 << 30, 1),
            (Case::Huge, true) => equal(1, 32 << 20, 1),
            (Case::Small, false) => equal(50_000, 4 << 10, 500),
            (Case::Small, true) => equal(2_000, 4 << 10, 500),
            (Case::Tree | Case::Update, false) => Shape::Kernel { files: 70_000, bytes: 1 << 30 },
            (Case::Tree | Case::Update, true) => Shape::Kernel { files: 2_000, bytes: 32 << 20 },
            (Case::Million, false) => equal(1_000_000, 16, 1_000),
            (Case::Million, true) => equal(10_000, 16, 1_000),
        }
    }

    /// One after the other.
    pub(crate) fn algorithms(self) -> &'static [Algorithm] {
        match self {
            Case::Large => &[Algorithm::Md5, Algorithm::Sha256],
            Case::Small => &[Algorithm::Md5],
            Case::Huge | Case::Tree | Case::Update | Case::Million => &[Algorithm::Sha256],
        }
    }

    /// Whether the files are to be in memory, if there is room.
    pub(crate) fn in_memory(self) -> bool {
        matches!(self, Case::Small | Case::Million)
    }

    /// Whether `manyhash manifest` takes part.
    pub(crate) fn wants_manifest(self) -> bool {
        matches!(self, Case::Update | Case::Million)
    }

    /// Rounds, unless the caller says otherwise.
    pub(crate) fn rounds(self) -> usize {
        if self == Case::Million { 3 } else { 7 }
    }

    /// All of them, installed or not. Peers' arguments are those that do the same work: names below the root of the
    /// tree, in which all are run.
    pub(crate) fn subjects(self, algorithm: Algorithm, programs: &Programs, made: &Made) -> Vec<FilesSubject> {
        let name = algorithm.name();
        let option = format!("-{name}");
        let long_option = format!("--{name}");
        let manysum = |of: &str, arguments: &[&str]| {
            FilesSubject::new(of, &programs.manysum, &["-a", name]).own().with(arguments)
        };
        let on = |threads: usize| {
            let option = format!("-j{threads}");
            manysum(&format!("manysum {option}"), &[&option]).threads(threads)
        };
        let coreutils = || FilesSubject::new(format!("{name}sum"), format!("{name}sum"), &[]);
        let openssl = || FilesSubject::new("openssl dgst", "openssl", &["dgst", &option]).prints(Some(Format::OpenSsl));
        let rclone = || FilesSubject::new("rclone hashsum", "rclone", &["hashsum", name, "."]);
        let rhash = || FilesSubject::new("rhash", "rhash", &[&long_option]);
        let [manifest, cache] = ["manifest", "cache"].map(|name| made.beside(name));
        let files = |subject: FilesSubject| subject.with(made.tree.names());
        match self {
            Case::Large => {
                let mut subjects: Vec<_> = [on(1), on(2), coreutils(), openssl(), rhash()].map(files).into();
                subjects.push(rclone());
                subjects
            }
            Case::Huge => [manysum("manysum", &[]), openssl(), coreutils()].map(files).into(),
            Case::Small => {
                [on(1), on(2), FilesSubject::new("xxhsum", "xxhsum", &[]).prints(None), coreutils()].map(files).into()
            }
            Case::Tree => vec![
                manysum("manysum -r -j2", &["-r", "-j2", "."]).threads(2),
                manysum("manysum -r -j1", &["-r", "-j1", "."]).threads(1),
                xargs("xargs -P2 sha256sum", "-P2", "sha256sum").threads(2),
                xargs("xargs b3sum", "", "b3sum").prints(None),
                xargs("xargs -P2 b3sum", "-P2", "b3sum").prints(None).threads(2),
                rhash().with(["-r", "."]),
                rclone(),
                FilesSubject::new("hashdeep -j2", "hashdeep", &["-j2", "-c", name, "-l", "-r", "."])
                    .prints(Some(Format::Hashdeep))
                    .threads(2),
            ],
            Case::Update => vec![
                programs.update(&manifest, &cache),
                FilesSubject::new("find -printf", "find", &[".", "-printf", "%s %T@ %i\\n"]).prints(None),
            ],
            Case::Million => {
                let mut subjects = vec![manysum("manysum -r", &["-r", "."])];
                subjects.extend(programs.manifest.then(|| programs.create(&manifest, &cache)));
                subjects
            }
        }
    }
}

/// A program that is given the names of all files by xargs, in as few calls as these fit in.
fn xargs(name: &str, options: &str, program: &'static str) -> FilesSubject {
    let script = format!("find . -type f -print0 | xargs -0 {options} {program}");
    FilesSubject::shell(name, &script, &["find", "xargs", program])
}
