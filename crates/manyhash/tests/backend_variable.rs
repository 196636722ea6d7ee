//! A backend that the environment names wrongly: an error where there can be one, else a warning, and never a panic.

mod common;

use common::{bytes, reference};
use manyhash::engine::{BuildError, Engine};
use manyhash::{Algorithm, BACKEND_VARIABLE, digest, digest_many, warm_up};
use std::process::Command;

const WRONG: &str = "no backend";

#[test]
fn a_wrong_name() {
    if std::env::var_os(BACKEND_VARIABLE).is_some_and(|name| name == WRONG) {
        return hash();
    }
    let mut child = Command::new(std::env::current_exe().expect("a test has a file"));
    let child = child.env(BACKEND_VARIABLE, WRONG).args(["--exact", "a_wrong_name", "--nocapture"]);
    let output = child.output().expect("it runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    let warning = "manyhash: MANYHASH_BACKEND=no backend: ";
    let warnings: Vec<&str> = messages.lines().filter(|line| line.starts_with(warning)).collect();
    let best = manyhash::Backend::detect();
    assert!(matches!(warnings[..], [warning] if warning.ends_with(&format!("; using {best}"))), "{messages}");
}

/// What a process does whose environment is wrong.
fn hash() {
    let message = bytes(1000);
    warm_up(&[Algorithm::Md5]);
    for algorithm in Algorithm::ALL.iter().copied() {
        assert_eq!(digest(algorithm, &message), reference(algorithm, &message));
        assert!(
            digest_many(algorithm, &[&message; 100]).iter().all(|digest| *digest == reference(algorithm, &message))
        );
    }
    let error = manyhash::backend().expect_err("there is no such backend").to_string();
    assert!(error.starts_with("MANYHASH_BACKEND=no backend: "), "{error}");
    assert!(matches!(Engine::builder().build(), Err(BuildError::Backend(_))));
}
