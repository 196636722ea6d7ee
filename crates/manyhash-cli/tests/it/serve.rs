//! `manyhash serve` and the limits of its process.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A server that ends with the test.
struct Serving {
    process: Child,
    /// Open as long as the server may write.
    _stdout: BufReader<ChildStdout>,
}

impl Serving {
    /// Starts it under a limit, and waits until it listens.
    fn start(limit: &str, directory: &Path, arguments: &[&str]) -> Self {
        let script = format!("ulimit {limit} && exec \"$0\" serve \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin!("manyhash")).arg(directory);
        command.args(["--listen", "127.0.0.1:0", "--admin", "none"]).args(arguments);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("there is a shell");
        let mut stdout = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut line = String::new();
        let _ = stdout.read_line(&mut line);
        let mut serving = Serving { process, _stdout: stdout };
        assert!(line.starts_with("endpoint"), "{line}{}", serving.said());
        serving
    }

    /// The soft and the hard limit of open files.
    fn limits(&self) -> [String; 2] {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.process.id())).expect("it runs");
        let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("there is such a limit");
        let mut words = line.split_whitespace().skip(3).map(str::to_owned);
        [(); 2].map(|()| words.next().expect("there are two"))
    }

    /// Ends it, and returns what it has said on standard error.
    fn said(&mut self) -> String {
        let _ = self.process.kill();
        let mut said = String::new();
        let stderr = self.process.stderr.take().expect("it is asked once");
        BufReader::new(stderr).read_to_string(&mut said).expect("it is text");
        said
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_limit_of_open_files_is_raised() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut serving = Serving::start("-S -n 300", directory.path(), &["--connections", "10"]);
    let [soft, hard] = serving.limits();
    assert!(soft == hard && hard != "300", "{soft}, {hard}");
    assert_eq!(serving.said(), "");
}

#[test]
fn without_being_told_it_takes_as_many_connections_as_fit() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut serving = Serving::start("-n 500", directory.path(), &[]);
    assert_eq!(serving.said(), "");
}

#[test]
fn more_connections_than_can_be_held_are_warned_of() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut serving = Serving::start("-n 500", directory.path(), &["--connections", "100"]);
    assert_eq!(serving.limits(), ["500", "500"]);
    assert_eq!(
        serving.said(),
        "manyhash: at most 500 files can be open, which is enough for about 50 connections and not for 100: raise the \
         limit with `ulimit -n 600` before, or set --connections to 50\n"
    );
}
