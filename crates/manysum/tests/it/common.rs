//! What the tests of both programs share: trees of hostile names, and GNU coreutils to compare with.
#![allow(dead_code, unreachable_pub, reason = "a module of two test programs, each of which uses its part")]

use assert_cmd::Command;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The algorithms of which coreutils has a tool, by the names that `manysum` takes.
pub const ALGORITHMS: [&str; 6] = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

/// SHA-256 of nothing.
pub const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// What a program did.
#[derive(PartialEq, Eq)]
pub struct Outcome {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: Option<i32>,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "status {:?}\n{}---\n{}", self.status, self.stdout.escape_ascii(), self.stderr.escape_ascii())
    }
}

/// Runs a program in a directory.
pub fn run<A: AsRef<OsStr>>(mut program: Command, directory: &Path, arguments: &[A], input: &[u8]) -> Outcome {
    let output = program.env("LC_ALL", "C").current_dir(directory).args(arguments).write_stdin(input).output();
    let output = output.expect("the program starts");
    Outcome { stdout: output.stdout, stderr: output.stderr, status: output.status.code() }
}

/// Runs `manysum`.
pub fn manysum<A: AsRef<OsStr>>(directory: &Path, arguments: &[A], input: &[u8]) -> Outcome {
    run(Command::new(crate::manysum_path()), directory, arguments, input)
}

/// `manysum` started as `program`.
#[cfg(unix)]
pub fn manysum_as(program: impl AsRef<OsStr>) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new(crate::manysum_path());
    command.arg0(program);
    Command::from_std(command)
}

/// Runs a tool of coreutils, `manysum` under its name and `manysum -a ALGORITHM`, and compares all they say and return.
#[cfg(unix)]
#[track_caller]
pub fn compare<A: AsRef<OsStr>>(algorithm: &str, directory: &Path, arguments: &[A], input: &[u8]) {
    let tool = format!("{algorithm}sum");
    if !has_coreutils(&tool) {
        return;
    }
    let expected = run(Command::new(&tool), directory, arguments, input);
    let shown = || arguments.iter().map(|argument| argument.as_ref().display().to_string()).collect::<Vec<_>>();
    assert_eq!(run(manysum_as(&tool), directory, arguments, input), expected, "as {tool}, {:?}", shown());

    let mut ours: Vec<&OsStr> = vec![OsStr::new("-a"), OsStr::new(algorithm)];
    ours.extend(arguments.iter().map(AsRef::as_ref));
    let mut outcome = manysum(directory, &ours, input);
    outcome.stderr = with_program(&without_summary(&outcome.stderr), &tool);
    assert_eq!(outcome, expected, "as manysum, {:?}", shown());
}

/// Runs a tool of coreutils and `manysum` under its name, and compares all they say and return: for what is wrong or means
/// something else to `manysum` under its own.
#[cfg(unix)]
#[track_caller]
pub fn compare_as<A: AsRef<OsStr>>(tool: &str, directory: &Path, arguments: &[A], input: &[u8]) {
    if has_coreutils(tool) {
        let [ours, theirs] =
            [manysum_as(tool), Command::new(tool)].map(|program| run(program, directory, arguments, input));
        let shown: Vec<_> = arguments.iter().map(|argument| argument.as_ref().display().to_string()).collect();
        assert_eq!(ours, theirs, "{tool} {shown:?}");
    }
}

/// Numbers below the one that is asked for, the same ones in every run.
pub fn random() -> impl FnMut(usize) -> usize {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits") % below
    }
}

/// Messages of `manysum` without what it says of all files at the end, as in `manysum: 2 files, 1 B: 2 ok; 1.00 ms, 1 kB/s`.
pub fn without_summary(messages: &[u8]) -> Vec<u8> {
    let lines = messages.split_inclusive(|&byte| byte == b'\n');
    let is_summary = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        line.strip_prefix("manysum: ").is_some_and(|line| line.contains(" files, ") && line.ends_with("/s\n"))
    };
    lines.filter(|line| !is_summary(line)).collect::<Vec<_>>().concat()
}

/// Messages of `manysum` under another program's name.
fn with_program(messages: &[u8], program: &str) -> Vec<u8> {
    let lines = messages.split_inclusive(|&byte| byte == b'\n');
    let renamed = lines.map(|line| match (line.strip_prefix(b"manysum: "), line.strip_prefix(b"Try 'manysum ")) {
        (Some(message), _) => [program.as_bytes(), b": ", message].concat(),
        (_, Some(hint)) => [b"Try '", program.as_bytes(), b" ", hint].concat(),
        _ => line.to_vec(),
    });
    renamed.collect::<Vec<_>>().concat()
}

/// Whether the host has this tool of GNU coreutils, 9.1 or newer; without it, the comparison is skipped.
pub fn has_coreutils(tool: &str) -> bool {
    let output = Command::new(tool).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&output);
    let has = is_coreutils(version.lines().next().unwrap_or_default());
    if !has {
        eprintln!("skipped: the host has no {tool} of GNU coreutils 9.1 or newer");
    }
    has
}

/// Whether `md5sum (GNU coreutils) 9.1` or the like is what the tests compare with.
fn is_coreutils(version: &str) -> bool {
    let Some((_, number)) = version.split_once(" (GNU coreutils) ") else { return false };
    let mut parts = number.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next(), parts.next()) >= (Some(9), Some(1))
}

/// An empty directory.
pub fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Makes empty files, and the directories above them.
pub fn touch(root: &Path, names: &[&str]) {
    for name in names {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
        fs::write(path, "").expect("a file");
    }
}

/// The names in lines of empty files.
#[track_caller]
pub fn names(stdout: &[u8]) -> Vec<String> {
    let stdout = String::from_utf8(stdout.to_vec()).expect("UTF-8");
    let name = |line: &str| line.strip_prefix(EMPTY).and_then(|rest| rest.strip_prefix("  ")).map(str::to_owned);
    stdout.lines().map(|line| name(line).expect("a line of an empty file")).collect()
}

/// A name of any bytes.
#[cfg(unix)]
pub fn name(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

/// Names that break tools, with contents that tell them apart.
#[cfg(unix)]
pub fn hostile_names() -> Vec<OsString> {
    let mut names: Vec<&[u8]> =
        vec![b"plain", b" leading", b"trailing ", b"two  spaces", b"tab\there", b"-dash", b"--", b"-c"];
    names.extend([&b"new\nline"[..], b"\n", b"return\rhere", b"return\r", b"back\\slash", b"\\", b"\\n", b"all\\\r\n"]);
    names.extend([
        &b"it's"[..],
        b"it's $5",
        b"dou\"ble",
        b"`x`",
        b"*",
        b"?",
        b"#",
        b"~",
        b"a#~",
        b"{",
        b"}",
        b"{}",
        b"a:b",
    ]);
    names.extend([
        &b"na\xc3\xafve"[..],
        b"\xff\xfe",
        b"x\xe2\x82",
        b"bell\x07\x1b[m",
        b"\x7f",
        b"a=b",
        b"(x) = y",
        b"...",
    ]);
    // macOS takes no names that are not UTF-8.
    names.retain(|bytes| cfg!(target_os = "linux") || str::from_utf8(bytes).is_ok());
    names.into_iter().map(name).collect()
}

/// Writes a file for each name that holds that name, and returns the arguments `--` and the names.
#[cfg(unix)]
pub fn hostile_files(directory: &Path) -> Vec<OsString> {
    let mut arguments = vec![OsString::from("--")];
    for name in hostile_names() {
        fs::write(directory.join(&name), name.as_encoded_bytes()).expect("a file is written");
        arguments.push(name);
    }
    arguments
}

/// Makes a FIFO.
pub fn fifo(directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    Command::new("mkfifo").arg(&path).assert().success();
    path
}

/// Changes a file in a way that its times do not show; false where that cannot be done.
#[cfg(unix)]
pub fn corrupt(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = fs::File::options().read(true).write(true).open(path).expect("a file");
    let times = |file: &fs::File| file.metadata().map(|there| (there.mtime(), there.mtime_nsec(), there.ctime_nsec()));
    let before = times(&file).expect("a file");
    // SAFETY: no other process has the file, and this one no other mapping of it.
    let mut mapped = unsafe { memmap2::MmapMut::map_mut(&file) }.expect("a mapping");
    mapped[0] ^= 1;
    mapped.flush().expect("it is written");
    times(&file).expect("a file") == before
}

/// Writes a file, and makes the directories above it.
pub fn write(root: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
    fs::write(path, content).expect("a file");
}

#[track_caller]
pub fn assert_outcome(outcome: &Outcome, status: i32, stdout: &str, stderr: &str) {
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), stdout);
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), stderr);
    assert_eq!(outcome.status, Some(status));
}

/// Content of so many bytes.
pub fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}
