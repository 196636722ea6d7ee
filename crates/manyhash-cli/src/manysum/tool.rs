//! The tools of GNU coreutils that the program is when it is started under their names.

use super::getopt::{Argument, Arguments, Spec};
use super::line::{self, Dialect};
use super::settings::{Conflict, Options, Report, Settings};
use manyhash::Algorithm;
use std::env;
use std::env::consts::EXE_SUFFIX;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A tool, such as `md5sum`.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    name: &'static str,
    algorithm: Algorithm,
}

/// Why there is nothing to do.
pub(super) enum Stop {
    /// All that was asked for is this.
    Text(String),
    /// The arguments are wrong: the message on it.
    Wrong(Vec<u8>),
}

impl From<Conflict> for Stop {
    fn from(conflict: Conflict) -> Self {
        Stop::Wrong(conflict.to_string().into_bytes())
    }
}

#[derive(Clone, Copy)]
enum Meaning {
    Check,
    IgnoreMissing,
    Report(Report),
    Strict,
    Tag,
    Zero,
    Binary(bool),
    Help,
    Version,
}

/// In the order of coreutils, which is that of the possibilities for an ambiguous abbreviation.
const OPTIONS: [Spec<Meaning>; 12] = [
    Spec { long: "check", short: Some(b'c'), value: Meaning::Check },
    Spec { long: "ignore-missing", short: None, value: Meaning::IgnoreMissing },
    Spec { long: "quiet", short: None, value: Meaning::Report(Report::Quiet) },
    Spec { long: "status", short: None, value: Meaning::Report(Report::Status) },
    Spec { long: "warn", short: Some(b'w'), value: Meaning::Report(Report::Warn) },
    Spec { long: "strict", short: None, value: Meaning::Strict },
    Spec { long: "tag", short: None, value: Meaning::Tag },
    Spec { long: "zero", short: Some(b'z'), value: Meaning::Zero },
    Spec { long: "binary", short: Some(b'b'), value: Meaning::Binary(true) },
    Spec { long: "text", short: Some(b't'), value: Meaning::Binary(false) },
    Spec { long: "help", short: None, value: Meaning::Help },
    Spec { long: "version", short: None, value: Meaning::Version },
];

impl Tool {
    /// Every tool.
    pub const ALL: [Tool; 6] = [
        Tool { name: "md5sum", algorithm: Algorithm::Md5 },
        Tool { name: "sha1sum", algorithm: Algorithm::Sha1 },
        Tool { name: "sha224sum", algorithm: Algorithm::Sha224 },
        Tool { name: "sha256sum", algorithm: Algorithm::Sha256 },
        Tool { name: "sha384sum", algorithm: Algorithm::Sha384 },
        Tool { name: "sha512sum", algorithm: Algorithm::Sha512 },
    ];

    /// The name that it is started under.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The tool that a program is which was started as `program`, a path; none if it is none of them.
    pub(super) fn started_as(program: &OsStr) -> Option<Tool> {
        let file = Path::new(program).file_name()?.to_str()?;
        let name = file.strip_suffix(EXE_SUFFIX).unwrap_or(file);
        Self::ALL.into_iter().find(|tool| tool.name == name)
    }

    /// What the arguments ask of it.
    pub(super) fn settings(self, arguments: impl Iterator<Item = OsString>) -> Result<Settings, Stop> {
        let posix = env::var_os("POSIXLY_CORRECT").is_some();
        let mut options = Options::default();
        let mut files = Vec::new();
        for argument in Arguments::new(&OPTIONS, arguments, posix) {
            match argument.map_err(Stop::Wrong)? {
                Argument::Operand(file) => files.push(file),
                Argument::Option(Meaning::Check) => options.check = true,
                Argument::Option(Meaning::IgnoreMissing) => options.ignore_missing = true,
                Argument::Option(Meaning::Report(report)) => options.report = report,
                Argument::Option(Meaning::Strict) => options.strict = true,
                Argument::Option(Meaning::Zero) => options.zero = true,
                Argument::Option(Meaning::Binary(binary)) => options.binary = Some(binary),
                Argument::Option(Meaning::Tag) => {
                    options.tag = true;
                    options.binary = Some(true);
                }
                Argument::Option(Meaning::Help) => return Err(Stop::Text(self.help())),
                Argument::Option(Meaning::Version) => return Err(Stop::Text(self.version())),
            }
        }
        let task = options.task()?;
        let functions = vec![self.algorithm.into()];
        Ok(Settings {
            functions,
            threads: 0,
            task,
            files,
            files_from: None,
            json: false,
            output: None,
            walk: None,
            dialect: Dialect::Sum,
        })
    }

    fn version(self) -> String {
        format!("{} (manyhash) {}\n", self.name, env!("CARGO_PKG_VERSION"))
    }

    fn help(self) -> String {
        let Tool { name, algorithm } = self;
        let tag = line::tag(algorithm.into());
        format!(
            "\
Usage: {name} [OPTION]... [FILE]...
Print {tag} checksums of FILEs, or check them. This is manysum under the name {name};
what it prints and accepts is what {name} of GNU coreutils does.

With no FILE, or when FILE is -, standard input is read.

  -b, --binary          put an asterisk before the name: read as binary, which is the same here
  -t, --text            put a space there; the default
      --tag             print lines in BSD's form, {tag} (FILE) = CHECKSUM
  -z, --zero            end lines with NUL instead of a newline, and escape no names
  -c, --check           take the FILEs for lists of checksums, and check them

With --check only:
      --ignore-missing  pass over files that do not exist
      --quiet           print nothing for files that are as listed
      --status          print nothing for any file: the exit status tells
      --strict          fail for lines that are improperly formatted too
  -w, --warn            say which lines are improperly formatted

      --help            print this help and exit
      --version         print the version and exit

The exit status is 0 if all went well and, with --check, every file is as listed; else 1.
"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Tool;

    #[test]
    fn names() {
        let name = |program: &str| Tool::started_as(program.as_ref()).map(Tool::name);
        assert_eq!(name("md5sum"), Some("md5sum"));
        assert_eq!(name("/usr/local/bin/sha512sum"), Some("sha512sum"));
        for other in ["manysum", "md5sum.old", "md5", "md5sum/manysum", ""] {
            assert_eq!(name(other), None, "{other:?}");
        }
    }
}
