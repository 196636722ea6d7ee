//! `manyhash speed`: what it prints, not how fast it is.

use manyhash::Algorithm;
use serde_json::Value;
use std::process::{Command, Output, Stdio};

const KEYS: [&str; 8] = ["algorithm", "backend", "cores", "single", "lanes", "all_cores", "plan", "verified"];

/// `manyhash` with these arguments, on this backend or, if it is empty, the best.
fn manyhash(backend: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("manyhash"));
    command.env("MANYHASH_BACKEND", backend).args(arguments).output().expect("it runs")
}

/// What it printed, where it succeeded.
#[track_caller]
fn printed(output: Output) -> String {
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*messages), (Some(0), ""));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[track_caller]
fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[track_caller]
fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[track_caller]
fn assert_rate(value: &Value, key: &str) {
    assert!(value[key].as_f64().is_some_and(|rate| rate > 0.0 && rate.is_finite()), "{key} of {value}");
}

#[track_caller]
fn assert_report(report: &Value) {
    let keys: Vec<_> = report.as_object().expect("an object").keys().map(String::as_str).collect();
    assert!(keys.len() == KEYS.len() && KEYS.iter().all(|key| keys.contains(key)), "{keys:?}");
    assert_eq!(report["verified"], Value::Bool(true));
    let cores = number(report, "cores");
    assert!(cores >= 1);

    let lengths: Vec<_> = list(report, "single").iter().map(|single| number(single, "length")).collect();
    assert_eq!(lengths, [16, 64, 256, 1024, 8192, 16384]);
    for single in list(report, "single") {
        assert_rate(single, "bytes_per_s");
        assert_rate(single, "messages_per_s");
    }

    let plan = &report["plan"];
    let width = number(plan, "width");
    assert_eq!((number(&report["lanes"], "messages"), number(&report["lanes"], "length")), (2 * width, 16384));
    assert_rate(&report["lanes"], "bytes_per_s");
    let all = &report["all_cores"];
    assert_eq!((number(all, "threads"), number(all, "length")), (cores, 16384));
    assert!(number(all, "messages") >= 2 * width * cores);
    assert_rate(all, "bytes_per_s");

    let kernels = list(plan, "kernels");
    assert!(kernels.iter().all(|kernel| number(kernel, "lanes") > 0 && number(kernel, "ns_per_row") > 0));
    let is_kernel = |name: &Value| kernels.iter().any(|kernel| kernel["name"] == *name);
    assert!(is_kernel(&plan["single"]));
    let mut next = 1;
    for range in list(plan, "lanes") {
        assert_eq!(number(range, "from"), next);
        next = number(range, "to") + 1;
        assert!(!list(range, "kernels").is_empty() && list(range, "kernels").iter().all(is_kernel));
    }
    assert_eq!(next, width + 1);
}

#[test]
fn json_has_every_algorithm() {
    for backend in ["", "portable"] {
        let text = printed(manyhash(backend, &["speed", "--seconds", "0.01", "--json"]));
        let reports: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let names: Vec<_> = reports.iter().map(|report| report["algorithm"].as_str().expect("a name")).collect();
        assert_eq!(names, Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>());
        for report in &reports {
            assert_report(report);
            assert!(backend.is_empty() || report["backend"] == backend);
        }
    }
}

#[test]
fn tables_have_the_algorithms_asked_for() {
    let text = printed(manyhash("portable", &["speed", "SHA-512/256", "md5", "--seconds=.01"]));
    assert!(text.starts_with(concat!("manyhash ", env!("CARGO_PKG_VERSION"), ", backend portable, ")), "{text}");
    let titles: Vec<_> = text.lines().skip(1).filter(|line| line.ends_with(" messages/s")).collect();
    let names: Vec<_> = titles.iter().filter_map(|title| title.split(' ').next()).collect();
    assert_eq!(names, ["sha512-256", "md5"]);
    assert!(text.contains("B/s") && text.contains(", all cores") && text.contains("1 alone"), "{text}");
}

#[test]
fn wrong_arguments() {
    let wrong: [(&[&str], &str); 11] = [
        (&[], "Usage"),
        (&["no-such-tool"], "no-such-tool"),
        (&["speed", "--no-such-option"], "--no-such-option"),
        (&["speed", "md6"], "unknown algorithm; expected one of md5"),
        (&["speed", "md5", "--seconds"], "--seconds"),
        (&["speed", "--seconds", "0"], "greater than 0"),
        (&["speed", "--seconds", "-1"], "greater than 0"),
        (&["speed", "--seconds", "inf"], "greater than 0"),
        (&["speed", "--seconds", "NaN"], "greater than 0"),
        (&["speed", "--seconds", "soon"], "greater than 0"),
        (&["speed", "--seconds", ""], "greater than 0"),
    ];
    for (arguments, message) in wrong {
        let output = manyhash("", arguments);
        assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()), "{arguments:?}");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(messages.contains(message), "{arguments:?}: {messages}");
    }
}

#[test]
fn a_wrong_backend_is_a_failure() {
    for arguments in [&["speed"][..], &["speed", "md5", "--json"]] {
        let output = manyhash("foo", arguments);
        assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()));
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(messages.starts_with("manyhash: MANYHASH_BACKEND=foo: ") && messages.ends_with('\n'), "{messages}");
    }
}

#[test]
fn help_and_version() {
    for (arguments, text) in [
        (&["--help"][..], "speed"),
        (&["--version"], "manyhash "),
        (&["speed", "--help"], "sha512-256"),
        (&["speed", "-h"], "--seconds"),
        (&["help", "speed"], "--json"),
    ] {
        let help = printed(manyhash("foo", arguments));
        assert!(help.contains(text), "{help}");
    }
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_it_quietly() {
    use std::os::unix::process::ExitStatusExt;
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("manyhash"));
    command.args(["speed", "md5", "--seconds", "0.01"]).stdout(writer).stderr(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output).expect("it runs");
    // SIGPIPE, as other programs.
    assert_eq!((output.status.signal(), output.stderr), (Some(13), Vec::new()));
}
