//! `manysum --json`.
#![cfg(unix)]

use crate::common::{EMPTY, directory, hostile_names, manysum, name, touch};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;

/// The objects in lines.
#[track_caller]
fn objects(stdout: &[u8]) -> Vec<Value> {
    let lines = stdout.split_inclusive(|&byte| byte == b'\n');
    lines.map(|line| serde_json::from_slice(line).expect("a line of JSON")).collect()
}

#[test]
fn digests_and_errors() {
    let directory = directory();
    touch(directory.path(), &["a"]);
    let outcome = manysum(directory.path(), &["--json", "a", "missing"], b"");
    let error = "No such file or directory";
    let expected = [
        json!({"name": "a", "algorithm": "sha256", "digest": EMPTY}),
        json!({"name": "missing", "algorithm": "sha256", "error": error}),
    ];
    assert_eq!((objects(&outcome.stdout), outcome.status), (expected.to_vec(), Some(1)));
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), format!("manysum: missing: {error}\n"));
}

#[test]
fn any_name() {
    let directory = directory();
    let names = hostile_names();
    for name in &names {
        fs::write(directory.path().join(name), "").expect("a file");
    }
    let arguments: Vec<OsString> = ["--json".into(), "--".into()].into_iter().chain(names.clone()).collect();
    let objects = objects(&manysum(directory.path(), &arguments, b"").stdout);
    assert_eq!(objects.len(), names.len());
    for (object, name) in objects.iter().zip(&names) {
        match name.to_str() {
            Some(name) => assert_eq!((&object["name"], object.get("name_hex")), (&json!(name), None)),
            None => {
                let hex: String = name.as_encoded_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(object["name_hex"], json!(hex));
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_utf8_in_messages() {
    let directory = directory();
    let outcome = manysum(directory.path(), &["--json".into(), name(b"x\xff")], b"");
    let object = &objects(&outcome.stdout)[0];
    assert_eq!((&object["name"], &object["name_hex"]), (&json!("x\u{fffd}"), &json!("78ff")));
}

#[test]
fn verdicts() {
    let directory = directory();
    touch(directory.path(), &["a"]);
    fs::write(directory.path().join("f"), "f").expect("a file");
    let list = format!("{EMPTY}  a\n{EMPTY}  f\n{EMPTY}  missing\nbad\n");
    let check = |arguments: &[&str]| {
        let outcome = manysum(directory.path(), &[&["-c", "--json"], arguments].concat(), list.as_bytes());
        assert_eq!(outcome.status, Some(1));
        objects(&outcome.stdout)
    };
    let all = check(&[]);
    let statuses: Vec<_> = all.iter().map(|object| (&object["name"], &object["status"])).collect();
    assert_eq!(
        statuses,
        [(&json!("a"), &json!("ok")), (&json!("f"), &json!("failed")), (&json!("missing"), &json!("unreadable"))]
    );
    assert_eq!((&all[0]["digest"], &all[2]["error"]), (&json!(EMPTY), &json!("No such file or directory")));
    assert_eq!(check(&["--quiet"]), all[1..]);
    assert_eq!(check(&["--ignore-missing"]), all[..2]);
    assert!(check(&["--status"]).is_empty());
}

#[test]
fn records_of_errors_are_no_lines_of_lists() {
    let directory = directory();
    touch(directory.path(), &["a"]);
    let list = manysum(directory.path(), &["--json", "a", "missing"], b"").stdout;
    let checked = manysum(directory.path(), &["-c", "--strict"], &list);
    assert_eq!((checked.status, checked.stdout, checked.stderr), (Some(0), b"a: OK\n".to_vec(), Vec::new()));
}

#[test]
fn formats_of_lines_do_not_go_with_it() {
    let directory = directory();
    for option in ["-b", "-t", "--tag", "-z"] {
        let outcome = manysum(directory.path(), &["--json", option], b"");
        assert_eq!((outcome.status, outcome.stdout.len()), (Some(1), 0), "{option}");
    }
}
