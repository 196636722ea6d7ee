//! `manyhash completions` and `manyhash man`.
#![cfg(unix)]

use crate::common::{Outcome, directory, run};
use crate::s3_bucket::Bucket;
use manyhash::Algorithm;
use std::fs;
use std::path::Path;

fn manyhash(directory: &Path, arguments: &[&str]) -> Outcome {
    run(assert_cmd::cargo::cargo_bin_cmd!("manyhash"), directory, arguments, b"")
}

#[test]
fn completions() {
    let directory = directory();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        for (arguments, option) in [(&[shell][..], "install-links"), (&[shell, "manysum"], "ignore-missing")] {
            let outcome = manyhash(directory.path(), &[&["completions"], arguments].concat());
            assert_eq!((outcome.status, outcome.stderr.len()), (Some(0), 0));
            let text = String::from_utf8(outcome.stdout).expect("UTF-8");
            assert!(text.contains(option), "{shell}: {option}");
        }
    }
    assert_eq!(manyhash(directory.path(), &["completions", "tcsh"]).status, Some(1));
    assert_eq!(manyhash(directory.path(), &["completions", "bash", "ls"]).status, Some(1));
}

#[test]
fn bash_takes_its_completions() {
    let directory = directory();
    let completions = manyhash(directory.path(), &["completions", "bash", "manysum"]).stdout;
    fs::write(directory.path().join("completions"), completions).expect("a file");
    let script = "source ./completions && COMP_WORDS=(manysum --ign) COMP_CWORD=1 && _manysum manysum --ign manysum && \
                  echo \"${COMPREPLY[@]}\"";
    let Ok(output) = std::process::Command::new("bash").args(["-c", script]).current_dir(&directory).output() else {
        eprintln!("skipped: the host has no bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--ignore-missing\n");
}

/// What bash, zsh and fish complete themselves, and what is put into the scripts of Elvish and PowerShell.
#[test]
fn algorithms_are_completed() {
    let directory = directory();
    for (program, option) in [("manysum", "--algorithm"), ("manyhash", "--algorithm"), ("manyhash", "--hash")] {
        for (shell, separator) in
            [("bash", " "), ("zsh", " "), ("fish", "\\t''\n"), ("elvish", " "), ("powershell", "', '")]
        {
            let script = manyhash(directory.path(), &["completions", shell, program]).stdout;
            let script = String::from_utf8(script).expect("UTF-8");
            let names: Vec<_> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
            let others = if option == "--hash" { &[][..] } else { &["blake3", "blake2b", "crc32", "crc32c"] };
            let values = [&names, others].concat().join(separator);
            assert!(script.contains(&values) && script.contains(&option[2..]), "{shell} {program} {option}");
        }
    }
}

#[test]
fn bash_completes_algorithms() {
    let directory = directory();
    for (program, arguments, completed) in [
        ("manysum", &["-a", "sha5"][..], "sha512 sha512-256\n"),
        ("manysum", &["--algorithm", "blake"], "blake3 blake2b\n"),
        ("manyhash", &["dups", "-a", "xxh"], "xxh3 xxh128\n"),
        ("manyhash", &["manifest", "create", "-a", "crc3"], "crc32 crc32c\n"),
        ("manyhash", &["simulate", "--hash", "sha2"], "sha224 sha256\n"),
        ("manyhash", &["speed", "md"], "md5\n"),
    ] {
        let completions = manyhash(directory.path(), &["completions", "bash", program]).stdout;
        fs::write(directory.path().join("completions"), completions).expect("a file");
        let (current, previous) = (arguments[arguments.len() - 1], arguments[arguments.len() - 2]);
        let words = arguments.join(" ");
        let script = format!(
            "source ./completions && COMP_WORDS=({program} {words}) COMP_CWORD={} && \
             _{program} {program} {current} {previous} && echo \"${{COMPREPLY[@]}}\"",
            arguments.len()
        );
        let outcome = run(assert_cmd::Command::new("bash"), directory.path(), &["-c", &script], b"");
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), completed, "{program} {words}: {outcome:?}");
    }
}

/// The sections of a page, each with its lines.
fn sections(page: &str) -> Vec<(String, Vec<String>)> {
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    for line in page.lines() {
        match (line.strip_prefix(".SH "), sections.last_mut()) {
            (Some(heading), _) => sections.push((heading.trim_matches('"').to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    sections
}

/// The commands of a page's examples.
fn examples(page: &str) -> Vec<String> {
    let sections = sections(page);
    let (_, lines) = sections.iter().find(|(heading, _)| heading == "EXAMPLES").expect("examples");
    let text = lines.join("\n").replace("\\-", "-").replace("\\*(Aq", "'").replace("\\&", "");
    let blocks = text.split("\n.nf\n").skip(1).map(|block| block.split("\n.fi").next().expect("an end").to_owned());
    blocks.collect()
}

#[test]
fn pages_say_how_programs_are_used() {
    let pages = directory();
    assert_eq!(manyhash(pages.path(), &["man", "."]).status, Some(0));
    let [manyhash_path, manysum_path] = [assert_cmd::cargo::cargo_bin!("manyhash"), &crate::manysum_path()]
        .map(|program| program.parent().expect("a directory").display().to_string());
    let path = format!("{manyhash_path}:{manysum_path}:{}", std::env::var("PATH").expect("a path"));
    let photos = [("photos/1.jpg", "1"), ("photos/2.jpg", "2"), ("photos/raw/1.tmp", "3"), ("backup/1.jpg", "1")];
    let bucket = Bucket::start();
    for (name, content) in photos.iter().filter(|(name, _)| name.starts_with("photos/")) {
        bucket.put(name, content.as_bytes(), Default::default());
    }
    let mut count = 0;
    for page in fs::read_dir(&pages).expect("a directory") {
        let page = page.expect("a page").path();
        let text = fs::read_to_string(&page).expect("a page");
        for heading in ["EXIT STATUS", "ENVIRONMENT", "EXAMPLES"] {
            let found = sections(&text).into_iter().find(|(other, _)| other == heading);
            assert!(found.is_some_and(|(_, lines)| !lines.is_empty()), "{page:?}: {heading}");
        }
        let examples = examples(&text);
        assert!(!examples.is_empty(), "{page:?}");
        // One after another, as who reads them would try them.
        let home = directory();
        let tree = home.path().join("tree");
        for (name, content) in photos {
            let file = tree.join(name);
            fs::create_dir_all(file.parent().expect("a directory")).expect("directories");
            fs::write(file, content).expect("a file");
        }
        for example in examples {
            let mut bash = assert_cmd::Command::new("bash");
            bucket.tell(&mut bash);
            bash.env("PATH", &path).env("HOME", home.path()).env_remove("XDG_CACHE_HOME");
            let outcome = run(bash, &tree, &["-ec", &example], b"");
            assert_eq!(outcome.status, Some(0), "{page:?}: {example}\n{outcome:?}");
            count += 1;
        }
    }
    assert!(count >= 16, "{count}");
}

#[test]
fn manual_pages() {
    let directory = directory();
    let outcome = manyhash(directory.path(), &["man", "."]);
    assert_eq!((outcome.status, outcome.stdout, outcome.stderr), (Some(0), Vec::new(), Vec::new()));
    for (page, text) in [
        ("manysum.1", "ignore\\-missing"),
        ("manysum.1", "b2sum or cksum"),
        ("manyhash-install-links.1", "b2sum and cksum"),
        ("manyhash.1", "speed"),
        ("manyhash-dups.1", "manyhash\\-aside\\-XXXXXX"),
        ("manyhash-dups.1", "exit status is 0, or 1"),
        ("manyhash-speed.1", "seconds"),
        ("manyhash-simulate.1", "producers"),
        ("manyhash-install-links.1", "DIR"),
    ] {
        let page = fs::read_to_string(directory.path().join(page)).expect("a page");
        assert!(page.contains(".TH") && page.contains(text), "{page}");
    }
    let outcome = manyhash(directory.path(), &["man", "none"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.starts_with(b"manyhash: none: "));
}
