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
/// With no FILE, or when FILE is -, read standard input. Lines have the format of GNU coreutils' sha256sum and its
/// siblings, and the order of the arguments.
///
/// When started through a link named md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum or cksum, work
/// as that program of GNU coreutils does. manyhash install-links makes such links.
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

    /// Recurse into directories: hash their regular files, sorted by name, and do not follow symbolic links in them
    #[arg(short, long, conflicts_with = "check")]
    recursive: bool,

    /// With --recursive, hash only those files in directories that match GLOB. A GLOB without a slash matches names;
    /// one with a slash, such as /*.jpg, matches paths below the given directory. May be repeated
    #[arg(long, value_name = "GLOB", value_parser = Pattern::files, requires = "recursive")]
    include: Vec<Pattern>,

    /// With --recursive, skip files and whole directories that match GLOB, as for --include. With a slash at its end,
    /// GLOB matches only directories
    #[arg(long, value_name = "GLOB", value_parser = Pattern::new, requires = "recursive")]
    exclude: Vec<Pattern>,

    /// With --recursive, skip files and directories whose names begin with a dot
    #[arg(long, requires = "recursive", overrides_with = "hidden")]
    no_hidden: bool,

    /// With --recursive, hash hidden files too; the default
    #[arg(long, requires = "recursive")]
    hidden: bool,

    /// With --recursive, follow symbolic links
    #[arg(long, requires = "recursive")]
    follow: bool,

    /// With --recursive, stay on the file system of each given directory
    #[arg(long, requires = "recursive")]
    one_file_system: bool,

    /// Read file names from LIST, one per line; - is standard input
    #[arg(long, value_name = "LIST", conflicts_with_all = ["files", "check"])]
    files_from: Option<OsString>,

    /// Names in LIST end with NUL instead of a newline, as find -print0 writes them
    #[arg(long, requires = "files_from")]
    from0: bool,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    cache: CacheOption,

    /// Print an asterisk before each name, for binary mode; files are read the same way in both modes
    #[arg(short, long)]
    binary: bool,

    /// Print a space before each name, for text mode; the default
    #[arg(short, long)]
    text: bool,

    /// Print BSD-style lines: SHA256 (FILE) = CHECKSUM
    #[arg(long)]
    tag: bool,

    /// End each line with NUL instead of a newline, and do not escape names
    #[arg(short, long)]
    zero: bool,

    /// Read checksums from the FILEs and check them. Accept lists of coreutils, BSD, md5deep, hashdeep, SFV, BagIt and
    /// rclone, and the output of cksum, openssl dgst and --json. Without --algorithm, take the algorithm from the tags,
    /// header or name of the list, or from the number of digits. Print a summary on standard error at the end
    #[arg(short, long)]
    check: bool,

    /// With --check, skip files that do not exist
    #[arg(long)]
    ignore_missing: bool,

    /// With --check, do not print OK for files that match
    #[arg(long)]
    quiet: bool,

    /// With --check, print nothing for any file; the exit status shows success
    #[arg(long)]
    status: bool,

    /// With --check, fail on improperly formatted lines too
    #[arg(long)]
    strict: bool,

    /// With --check, warn about each improperly formatted line
    #[arg(short, long)]
    warn: bool,

    /// Print a JSON object for each file, one per line, with its name, its algorithm, and its digest or error; with
    /// --check, also its status: ok, failed or unreadable
    #[arg(long, conflicts_with_all = ["binary", "text", "tag", "zero"])]
    json: bool,

    /// Write to OUTPUT instead of standard output, replacing what was there once all files are done; --recursive skips
    /// OUTPUT itself. A replaced file keeps its owner, group, permissions and attributes as far as possible, and its
    /// other hard links keep the old content. Anything but a regular file, such as a pipe or /dev/stdout, is written to
    /// directly
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
        "Hash algorithm: {names}. Separate several with commas, or repeat the option: each file is read once, and \
         lines have tags"
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
