//! The arguments of `manysum` under its own name.

use super::settings::{Conflict, Encoding, Format, Options, Report, Settings, Task};
use crate::arguments;
use crate::cache::CacheOption;
use crate::lists::Accepted;
use crate::reading::Reading;
use crate::tree::Walk;
use crate::tree::names::FilesFrom;
use crate::tree::select::{Globs, Pattern, Selection};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches, Parser};
use manyhash::HashFunction;
use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;
use std::process::ExitCode;

/// Its name.
pub(super) const PROGRAM: &str = "manysum";

/// Print or check checksums of many files at once.
///
/// With no FILE, or when FILE is -, read standard input. Lines are those of GNU coreutils' sha256sum and its siblings,
/// in the order of the arguments.
///
/// Started as md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum or cksum, by a link of that name such as
/// manyhash install-links makes, it is that tool of GNU coreutils.
#[derive(Parser)]
#[command(name = PROGRAM, version, infer_long_args = true, args_override_self = true)]
struct ManysumArguments {
    #[arg(
        short,
        long,
        value_name = "ALGORITHM",
        // Lists of what is wanted add up: what was asked for is printed. Of all other options the last counts.
        action = ArgAction::Append,
        value_delimiter = ',',
        default_value = "sha256",
        help = algorithm_help()
    )]
    algorithm: Vec<HashFunction>,

    /// Take the regular files in directories, sorted by name, without following symbolic links in them
    #[arg(short, long, conflicts_with = "check")]
    recursive: bool,

    /// With --recursive, take only files in directories that match GLOB: by name, or if it has a slash, as /*.jpg, by the
    /// path below the directory named; may be given several times
    #[arg(long, value_name = "GLOB", value_parser = Pattern::files, requires = "recursive")]
    include: Vec<Pattern>,

    /// With --recursive, leave out files and whole directories that match GLOB, as for --include; with a slash at its end,
    /// only directories
    #[arg(long, value_name = "GLOB", value_parser = Pattern::new, requires = "recursive")]
    exclude: Vec<Pattern>,

    /// With --recursive, leave out files and directories whose names begin with a dot
    #[arg(long, requires = "recursive", overrides_with = "hidden")]
    no_hidden: bool,

    /// With --recursive, take those too; the default
    #[arg(long, requires = "recursive")]
    hidden: bool,

    /// With --recursive, take what symbolic links lead to
    #[arg(long, requires = "recursive")]
    follow: bool,

    /// With --recursive, stay on the file system of each directory named
    #[arg(long, requires = "recursive")]
    one_file_system: bool,

    /// Read the names of the files from LIST, one a line; - is standard input
    #[arg(long, value_name = "LIST", conflicts_with_all = ["files", "check"])]
    files_from: Option<OsString>,

    /// Names in LIST end with NUL, as find -print0 writes them
    #[arg(long, requires = "files_from")]
    from0: bool,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    cache: CacheOption,

    /// Put an asterisk before the name: read as binary, which is the same here
    #[arg(short, long)]
    binary: bool,

    /// Put a space before the name; the default
    #[arg(short, long)]
    text: bool,

    /// Print lines in BSD's form, SHA256 (FILE) = CHECKSUM
    #[arg(long)]
    tag: bool,

    /// End lines with NUL instead of a newline, and escape no names
    #[arg(short, long)]
    zero: bool,

    /// Read checksums from the FILEs and check them: lists of coreutils, BSD, md5deep, hashdeep, SFV, BagIt and rclone,
    /// and the output of cksum, openssl dgst and --json. Without --algorithm, lists say themselves whose digests they have,
    /// by tags, headers, their names or the number of digits. What came of all files is said at the end, on standard error
    #[arg(short, long)]
    check: bool,

    /// With --check, pass over files that do not exist
    #[arg(long)]
    ignore_missing: bool,

    /// With --check, print nothing for files that are as listed
    #[arg(long)]
    quiet: bool,

    /// With --check, print nothing for any file: the exit status tells
    #[arg(long)]
    status: bool,

    /// With --check, fail for lines that are improperly formatted too
    #[arg(long)]
    strict: bool,

    /// With --check, say which lines are improperly formatted
    #[arg(short, long)]
    warn: bool,

    /// Print a JSON object a line for each file, with its name, algorithm, digest or error, and with --check its status:
    /// ok, failed or unreadable
    #[arg(long, conflicts_with_all = ["binary", "text", "tag", "zero"])]
    json: bool,

    /// Write the lines to OUTPUT, in place of what was there, once all are done; directories are walked as if it were
    /// not there. A file keeps its owner, group, permissions and attributes, as far as that may be; other hard links of it
    /// keep what was there. What is no regular file, as a pipe or /dev/stdout, is written to
    #[arg(short, long, value_name = "OUTPUT")]
    output: Option<PathBuf>,

    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
}

/// The program's arguments, for completions and the manual.
pub fn command() -> Command {
    ManysumArguments::command()
}

/// What the program's arguments ask for; or the status to exit with, as [`arguments::parse`] has it.
pub(super) fn parse() -> Result<Result<Settings, Conflict>, ExitCode> {
    let matches = ManysumArguments::command().try_get_matches();
    let parsed = matches.and_then(|matches| {
        let chosen = matches.value_source("algorithm") == Some(ValueSource::CommandLine);
        Ok((ManysumArguments::from_arg_matches(&matches)?, options(&matches), chosen))
    });
    let stop = |error| arguments::stop(PROGRAM, &error);
    let (mut arguments, options, chosen) = parsed.map_err(stop)?;
    let walk = arguments
        .walk()
        .map_err(|error| stop(ManysumArguments::command().error(clap::error::ErrorKind::InvalidValue, error)))?;
    let ManysumArguments { algorithm, reading, cache, files, files_from, from0, json, output, .. } = arguments;
    let mut functions = Vec::with_capacity(algorithm.len());
    algorithm.into_iter().for_each(|function| {
        if !functions.contains(&function) {
            functions.push(function)
        }
    });
    let files_from = files_from.map(|name| FilesFrom { name, zero: from0 });
    let task = options.task().and_then(|task| tagged(task, &functions, options.binary));
    let accepted = if chosen { Accepted::Only(functions[0]) } else { Accepted::Any };
    Ok(task.map(|task| Settings {
        functions,
        reading,
        cache,
        task,
        files,
        files_from,
        json,
        output,
        walk,
        accepted,
        debug: false,
    }))
}

/// The task for these functions: lines of several of them have tags, and those of XXH3, whose bare digits `xxhsum` takes
/// for XXH64.
fn tagged(task: Task, functions: &[HashFunction], binary: Option<bool>) -> Result<Task, Conflict> {
    match task {
        Task::Check(_) if functions.len() > 1 => Err(Conflict::SeveralWithCheck),
        Task::Print(format) if functions.len() > 1 && binary.is_some() && !format.tag => Err(Conflict::SeveralUntagged),
        Task::Print(format) if functions.len() > 1 => Ok(Task::Print(Format { tag: true, ..format })),
        Task::Print(format) if functions == [HashFunction::Xxh3] && binary.is_none() => {
            Ok(Task::Print(Format { tag: true, ..format }))
        }
        task => Ok(task),
    }
}

fn algorithm_help() -> String {
    let names = arguments::function_names();
    format!(
        "Hash algorithm: {names}. Of several, with commas between them or by several options, each file is read once, and \
         lines are tagged"
    )
}

impl ManysumArguments {
    /// How directories are walked, if they are.
    fn walk(&mut self) -> Result<Option<Walk>, globset::Error> {
        if !self.recursive {
            return Ok(None);
        }
        let include = mem::take(&mut self.include);
        let selection = Selection {
            include: if include.is_empty() { None } else { Some(Globs::new(include)?) },
            exclude: Globs::new(mem::take(&mut self.exclude))?,
            no_hidden: self.no_hidden,
        };
        Ok(Some(Walk { selection, follow: self.follow, one_file_system: self.one_file_system, leave_out: None }))
    }
}

fn options(matches: &ArgMatches) -> Options {
    let report = match last(matches, &["quiet", "status", "warn"]) {
        Some("quiet") => Report::Quiet,
        Some("status") => Report::Status,
        Some(_) => Report::Warn,
        None => Report::All,
    };
    Options {
        check: matches.get_flag("check"),
        binary: last(matches, &["binary", "text", "tag"]).map(|name| name != "text"),
        tag: matches.get_flag("tag"),
        zero: matches.get_flag("zero"),
        ignore_missing: matches.get_flag("ignore_missing"),
        strict: matches.get_flag("strict"),
        report,
        encoding: Encoding::Hex,
    }
}

/// Which of these options was given last.
fn last(matches: &ArgMatches, names: &[&'static str]) -> Option<&'static str> {
    let given = |name: &&&str| matches.value_source(name) == Some(ValueSource::CommandLine);
    names.iter().filter(given).max_by_key(|name| matches.index_of(name)).copied()
}

#[cfg(test)]
mod tests {
    use super::{CommandFactory, Conflict, ManysumArguments, Report, options};
    use crate::program::settings::{Encoding, Format, Policy, Task};

    fn task(arguments: &str) -> Result<Task, Conflict> {
        let arguments = std::iter::once("manysum").chain(arguments.split_whitespace());
        options(&ManysumArguments::command().try_get_matches_from(arguments).expect("arguments")).task()
    }

    #[test]
    fn the_last_of_some_options_counts() {
        let print = |tag, binary| Ok(Task::Print(Format { tag, binary, zero: false, encoding: Encoding::Hex }));
        assert_eq!(task(""), print(false, false));
        assert_eq!(task("-tb"), print(false, true));
        assert_eq!(task("-b -t"), print(false, false));
        assert_eq!(task("-btb"), print(false, true));
        assert_eq!(task("-t --tag"), print(true, true));
        assert_eq!(task("--tag -t"), Err(Conflict::TagWithText));
        let check = |report| Ok(Task::Check(Policy { ignore_missing: false, strict: false, report }));
        assert_eq!(task("-c --quiet --status -w"), check(Report::Warn));
        assert_eq!(task("-cw --status --quiet --status"), check(Report::Status));
        assert_eq!(task("-cw --quiet"), check(Report::Quiet));
    }
}
