//! `manyhash simulate`: what it prints and writes, not how fast it is.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const STATES: [&str; 5] = ["free", "filling", "ready", "hashing", "done"];

/// `manyhash simulate` with these arguments.
fn simulate(arguments: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("manyhash"));
    command.arg("simulate").args(arguments).output().expect("it runs")
}

/// What it printed, where it succeeded and said nothing else.
#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = simulate(arguments);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*messages), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The object that it printed.
#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let text = printed(&[arguments, &["--json"]].concat());
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(&text).expect("JSON")
}

/// What it said, where it failed and printed nothing.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = simulate(arguments);
    assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[track_caller]
fn float(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[track_caller]
fn assert_subject(subject: &Value, total: u64, producers: u64) {
    for key in ["elapsed_s", "bytes_per_s", "busy_bytes_per_s"] {
        assert!(float(subject, key) > 0.0, "{key} of {subject}");
    }
    assert!(float(subject, "busy_s") + float(subject, "inline_s") > 0.0);
    assert!((0.0..1.01).contains(&float(subject, "busy_share")));
    assert!(subject["threads"].as_u64().is_some_and(|threads| threads > 0));
    let mean: f64 = STATES.iter().map(|state| float(&subject["slots"][state], "mean")).sum();
    assert!((mean - producers as f64).abs() < 1e-6, "{mean}");

    let samples = subject["samples"].as_array().expect("samples");
    assert!(!samples.is_empty() && samples.len() <= 200);
    for sample in samples {
        let slots: Vec<_> = STATES.iter().map(|state| sample[state].as_u64().expect("a number")).collect();
        assert_eq!(slots.iter().sum::<u64>(), producers);
        assert!(sample["lane_occupancy"].is_null() || (0.0..=1.0).contains(&float(sample, "lane_occupancy")));
        assert!(float(sample, "bytes_per_s") >= 0.0 && float(sample, "busy_share") >= 0.0);
    }
    let times: Vec<_> = samples.iter().map(|sample| float(sample, "time_s")).collect();
    assert!(times.is_sorted() && times.last() == subject["elapsed_s"].as_f64().as_ref());
    assert_eq!(samples[samples.len() - 1]["bytes"], total);
}

#[test]
fn text_has_the_figures() {
    let text = printed(&["--hash=md5", "--producers=5", "--chunk-size=4K", "--total-size=1MB"]);
    let mut lines = text.lines();
    let machine = lines.next().expect("a line");
    assert!(machine.starts_with(concat!("manyhash ", env!("CARGO_PKG_VERSION"), ", backend ")), "{text}");
    let load = "md5: 5 producers, 1000000 bytes in chunks of 4 KiB, as fast as they can; 20 buffers";
    assert_eq!(lines.next(), Some(load));
    for label in ["elapsed", "hash speed", "hashing threads busy", "lane occupancy", "slots hashing, mean/max"] {
        assert!(text.contains(&format!("\n  {label} ")), "{label}: {text}");
    }
    assert!(text.contains("B/s\n") && text.contains("iB/s\n"), "{text}");
}

#[test]
fn json_has_every_figure_of_every_load() {
    for (hash, producers, chunk, total, threads) in [
        ("sha512", 1, 65536, 3_000_000, 0),
        ("md5", 40, 4096, 4_000_000, 1),
        ("sha256", 300, 1000, 1_000_001, 3),
        ("sha1", 7, 1, 7, 2),
        ("sha512-256", 2, 13, 4000, 1),
    ] {
        let [producers_, chunk_, total_, threads_] = [producers, chunk, total, threads].map(|n: u64| n.to_string());
        let load = ["--hash", hash, "--producers", &producers_, "--chunk-size", &chunk_, "--total-size", &total_];
        let outcome = json(&[&load[..], &["--threads", &threads_]].concat());
        assert_eq!((&outcome["algorithm"], &outcome["verified"]), (&hash.into(), &true.into()));
        for (key, value) in [("producers", producers), ("total_size", total), ("chunk_size", chunk), ("speed", 0)] {
            assert_eq!(outcome[key], value, "{key}");
        }
        assert!(outcome["cores"].is_u64() && outcome["buffers"].is_u64() && outcome["backend"].is_string());
        let subjects = outcome["subjects"].as_array().expect("subjects");
        assert_eq!((subjects.len(), &subjects[0]["name"]), (1, &"manyhash".into()));
        assert!(threads == 0 || subjects[0]["threads"] == threads);
        assert!((0.0..=1.0).contains(&float(&subjects[0], "lane_occupancy")), "{hash}");
        assert_subject(&subjects[0], total, producers);
    }
}

#[test]
fn speed_is_a_limit() {
    let start = Instant::now();
    let outcome = json(&["--producers=3", "--speed=1M", "--total-size=600K", "--chunk-size=10K"]);
    let least = Duration::from_millis(180);
    assert!(start.elapsed() >= least && float(&outcome["subjects"][0], "elapsed_s") >= least.as_secs_f64());
}

#[test]
fn few_buffers_are_enough() {
    let outcome = json(&["--producers=50", "--chunk-size=10K", "--total-size=5M", "--memory=25K"]);
    assert_eq!(outcome["buffers"], 2);
    assert_subject(&outcome["subjects"][0], 5 << 20, 50);
}

#[test]
fn the_report_needs_nothing_but_itself() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("report.html");
    fs::write(&path, "old").expect("a file");
    let name = path.to_str().expect("UTF-8");
    let text = printed(&["--hash=sha1", "--total-size=2M", "--report", name]);
    assert!(text.contains("hash speed"), "{text}");
    let page = fs::read_to_string(&path).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert_eq!(page.matches("<svg ").count(), 3);
    assert!(!page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "").contains("://"), "{page}");
    for external in ["<script", "<link", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(external), "{external}");
    }
    assert!(page.contains("sha1: 64 producers, 2 MiB in chunks of ") && page.contains("lane occupancy"));
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let names = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let missing = names(&directory.path().join("none/report.html"));
    for (name, why) in [(&missing, "No such file or directory"), (&names(directory.path()), "is a directory")] {
        // More than could be hashed before the test gives up: it is said before anything is measured.
        let message = refused(&["--total-size=1P", "--report", name]);
        assert_eq!(message, format!("manyhash: {name}: {why}\n"));
    }
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 0);
}

#[test]
fn wrong_arguments() {
    let wrong: [(&[&str], &str); 21] = [
        (&["--no-such-option"], "--no-such-option"),
        (&["operand"], "operand"),
        (&["--hash", "md6"], "--hash"),
        (&["--producers", "0"], "--producers"),
        (&["--producers", "65537"], "--producers"),
        (&["--producers", "many"], "--producers"),
        (&["--threads", "1025"], "--threads"),
        (&["--threads=-1"], "--threads"),
        (&["--chunk-size", "0"], "--chunk-size"),
        (&["--chunk-size", "1.5K"], "--chunk-size"),
        (&["--chunk-size", "2K", "--total-size", "2KB"], "--chunk-size"),
        (&["--chunk-size", "17E"], "--chunk-size"),
        (&["--total-size", "0"], "--total-size"),
        (&["--total-size", "12", "--chunk-size", "1"], "--total-size"),
        (&["--total-size", "2P"], "--total-size"),
        (&["--total-size", "99999999999999999999"], "--total-size"),
        (&["--speed", "fast"], "--speed"),
        (&["--speed=-1"], "--speed"),
        (&["--memory", "1K"], "--memory"),
        (&["--with", "nothing"], "--with"),
        (&["--report"], "--report"),
    ];
    for (arguments, option) in wrong {
        let message = refused(arguments);
        assert!(message.contains(option), "{arguments:?}: {message}");
    }
}

#[test]
#[cfg(not(feature = "openssl"))]
fn openssl_has_to_be_built_in() {
    let message = refused(&["--with", "openssl"]);
    assert!(message.starts_with("manyhash: --with openssl: ") && message.contains("--features openssl"), "{message}");
}

#[test]
#[cfg(feature = "openssl")]
fn openssl_runs_the_same_load() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("report.html");
    let load = ["--hash=sha256", "--producers=20", "--chunk-size=3000", "--total-size=3M", "--with=openssl"];
    let report = ["--report", path.to_str().expect("UTF-8")];
    let outcome = json(&[&load[..], &report].concat());
    let subjects = outcome["subjects"].as_array().expect("subjects");
    let names: Vec<_> = subjects.iter().map(|subject| subject["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["manyhash", "openssl"]);
    assert_eq!(subjects[0]["threads"], subjects[1]["threads"]);
    assert!(subjects[1]["lane_occupancy"].is_null());
    subjects.iter().for_each(|subject| assert_subject(subject, 3 << 20, 20));
    let page = fs::read_to_string(&path).expect("a page");
    assert_eq!((page.matches("<svg ").count(), page.contains("openssl busy")), (4, true));
    assert!(printed(&load).contains("openssl\n"));
}

#[test]
fn a_wrong_backend_is_a_failure() {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("manyhash"));
    let output = command.env("MANYHASH_BACKEND", "foo").arg("simulate").output().expect("it runs");
    assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.starts_with("manyhash: MANYHASH_BACKEND=foo: ") && messages.ends_with('\n'), "{messages}");
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_it_quietly() {
    use std::os::unix::process::ExitStatusExt;
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("manyhash"));
    command.args(["simulate", "--total-size=1M"]).stdout(writer).stderr(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output).expect("it runs");
    // SIGPIPE, as other programs.
    assert_eq!((output.status.signal(), output.stderr), (Some(13), Vec::new()));
}
