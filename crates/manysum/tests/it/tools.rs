//! `manysum` under the names of the tools of GNU coreutils, and their options under its own, against those tools.
#![cfg(unix)]

use crate::common::{
    ALGORITHMS, EMPTY, compare, compare_as, directory, has_coreutils, hostile_files, hostile_names, manysum,
    manysum_as, name, random, run,
};
use assert_cmd::Command;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A directory with files, some of hostile names, and lists of them in several states.
fn tree() -> TempDir {
    let directory = directory();
    let root = directory.path();
    for name in hostile_names() {
        fs::write(root.join(&name), name.as_encoded_bytes()).expect("a file");
    }
    fs::write(root.join("e"), "").expect("a file");
    fs::create_dir(root.join("dir")).expect("a directory");
    let list = |name: &str, list: &str| fs::write(root.join(name), list.replace('E', EMPTY)).expect("a list");
    list("good", "E  e\nE *e\n");
    list("wrong", "E  e\nE  plain\n");
    list("missing", "# a comment\n\nE  gone\nbad\nE  e\r\nE  dir\nworse\nE  new\\nline\n\\E  new\\nline\n");
    list("only missing", "E  gone\nE  gone too\n");
    list("improper", "bad\nE  e\nbad\n");
    list("nothing", "bad\n");
    list("empty", "");
    list("mixed", "SHA256 (e) = E\nMD5 (e) = d41d8cd98f00b204e9800998ecf8427e\nE  plain\nE  -\n");
    directory
}

const LISTS: [&str; 8] = ["good", "wrong", "missing", "only missing", "improper", "nothing", "empty", "mixed"];

/// The options, so that a few of them in any order say everything that can be said of one another.
const OPTIONS: [&str; 12] =
    ["-b", "-t", "--tag", "-z", "-c", "-w", "--quiet", "--status", "--strict", "--ignore-missing", "--", "e"];

#[test]
fn options_of_printing() {
    let directory = directory();
    let files = hostile_files(directory.path());
    fs::create_dir(directory.path().join("dir")).expect("a directory");
    for algorithm in ALGORITHMS {
        for options in [
            &["-b"][..],
            &["-t"],
            &["--tag"],
            &["-z"],
            &["--zero", "--binary"],
            &["-z", "--tag"],
            &["-t", "--tag"],
            &["-bt"],
            &["-tb"],
            &["-tzb", "-z"],
            &["--bin", "--te", "--ta", "--z"],
        ] {
            let arguments: Vec<OsString> = options.iter().map(OsString::from).chain(files.iter().cloned()).collect();
            compare(algorithm, directory.path(), &arguments, b"");
            let others = [options, &["missing", "-", "dir", "plain"]].concat();
            compare(algorithm, directory.path(), &others, b"input");
        }
    }
}

#[test]
fn options_of_checking() {
    let directory = tree();
    for options in [
        &[][..],
        &["-w"],
        &["--warn", "--quiet"],
        &["--quiet"],
        &["--quiet", "-w"],
        &["--status"],
        &["--status", "-w"],
        &["-w", "--status"],
        &["--quiet", "--status"],
        &["--strict"],
        &["--strict", "--status"],
        &["-w", "--strict", "--ignore-missing"],
        &["--ignore-missing"],
        &["--ignore-missing", "--quiet"],
        &["--ignore-missing", "--status"],
        &["--ign", "--q", "--stri", "--w"],
    ] {
        for list in LISTS {
            let input = fs::read(directory.path().join(list)).expect("a list");
            compare("sha256", directory.path(), &[options, &["-c", list]].concat(), b"");
            compare("sha256", directory.path(), &[&["--check"], options].concat(), &input);
        }
        let all = [&["-c"], options, &LISTS, &["dir", "no list"]].concat();
        compare("sha256", directory.path(), &all, b"");
        compare("md5", directory.path(), &all, b"");
    }
}

#[test]
fn messages_name_the_algorithm_and_quote_the_list() {
    let directory = directory();
    let lists: Vec<_> =
        hostile_names().iter().map(|file| name(&[file.as_encoded_bytes(), b".list"].concat())).collect();
    lists.iter().for_each(|list| fs::write(directory.path().join(list), "\nbad\n#\nbad").expect("a list"));
    let arguments = [&["-cw".into(), "--".into()], &lists[..]].concat();
    for algorithm in ALGORITHMS {
        compare(algorithm, directory.path(), &arguments, b"");
        compare(algorithm, directory.path(), &["-cw"], b"bad\n");
    }
}

#[test]
fn what_is_printed_is_checked() {
    let directory = directory();
    let files = hostile_files(directory.path());
    for algorithm in ALGORITHMS {
        for options in [&["-b"][..], &["--tag"]] {
            let tool = format!("{algorithm}sum");
            let print: Vec<OsString> = options.iter().map(OsString::from).chain(files.iter().cloned()).collect();
            let list = run(manysum_as(&tool), directory.path(), &print, b"").stdout;
            assert_eq!(run(manysum_as(&tool), directory.path(), &["-c", "--quiet"], &list).status, Some(0));
            compare(algorithm, directory.path(), &["-c"], &list);
        }
    }
}

#[test]
fn every_pair_of_options() {
    let directory = tree();
    for first in OPTIONS {
        for second in OPTIONS {
            compare("sha256", directory.path(), &[first, second, "good"], b"");
        }
    }
}

#[test]
fn many_options() {
    let directory = tree();
    let mut random = random();
    for _ in 0..300 {
        let mut arguments: Vec<&str> = (0..2 + random(4)).map(|_| OPTIONS[random(OPTIONS.len())]).collect();
        arguments.insert(random(arguments.len()), LISTS[random(LISTS.len())]);
        compare("sha256", directory.path(), &arguments, b"");
        compare_as("sha512sum", directory.path(), &[&["-c"], &arguments[..]].concat(), b"");
    }
}

#[test]
fn wrong_arguments() {
    let directory = tree();
    for algorithm in ALGORITHMS {
        let tool = format!("{algorithm}sum");
        for arguments in [
            &["-x"][..],
            &["-cx", "--help"],
            &["-xc"],
            &["-h"],
            &["-V"],
            &["-a", "md5"],
            &["-r", "dir"],
            &["-j1"],
            &["-c-"],
            &["-c=1"],
            &["--foo"],
            &["--foo=bar"],
            &["--recursive"],
            &["--t"],
            &["--t=1"],
            &["--s", "--help"],
            &["--st=x"],
            &["--statu"],
            &["--b=3"],
            &["--tag="],
            &["--help=1"],
            &["--versio=1"],
            &["--=x"],
            &["--tagg"],
            &["---tag"],
            &["e", "--nothing", "gone"],
            &["--", "-x", "--foo"],
            &["-", "--", "-"],
            &["--tag", "-t", "gone"],
        ] {
            compare_as(&tool, directory.path(), arguments, b"");
        }
        for bytes in
            [&b"-\xff"[..], b"-c\xff", b"--\xff=\xfe", b"--ta\xff", "-\u{e9}".as_bytes(), "--\u{e9}".as_bytes()]
        {
            compare_as(&tool, directory.path(), &[name(bytes)], b"");
        }
    }
}

#[test]
fn options_end_with_the_first_operand_where_posix_says_so() {
    if !has_coreutils("md5sum") {
        return;
    }
    let directory = tree();
    for arguments in [&["-b", "e", "-t", "--", "e"][..], &["--", "-b"], &["-", "-b"], &["--tag"]] {
        let [ours, theirs] = [manysum_as("md5sum"), Command::new("md5sum")].map(|mut program| {
            program.env("POSIXLY_CORRECT", "");
            run(program, directory.path(), arguments, b"")
        });
        assert_eq!(ours, theirs, "{arguments:?}");
    }
}

#[test]
fn a_link_is_the_tool() {
    let directory = tree();
    for algorithm in ALGORITHMS {
        let tool = format!("{algorithm}sum");
        let [ours, theirs] = ["ours", "theirs"].map(|name| directory.path().join(name).join(&tool));
        for path in [&ours, &theirs] {
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        }
        symlink(assert_cmd::cargo::cargo_bin!("manysum"), &ours).expect("a link");
        let digits = 2 * EMPTY.len();
        let outcome = run(Command::new(&ours), directory.path(), &["e", "-b"], b"");
        assert!(outcome.stdout.ends_with(b" *e\n") && outcome.stdout.len() <= digits + 4);

        // Messages name the program as it was started.
        if has_coreutils(&tool) {
            let host = assert_cmd::Command::new("which").arg(&tool).output().expect("a path").stdout;
            symlink(String::from_utf8_lossy(&host).trim(), &theirs).expect("a link");
            for arguments in [&["e", "gone", "dir"][..], &["-c", "missing"], &["--foo"], &["-cz"]] {
                let relative =
                    ["ours", "theirs"].map(|name| run(started(name, &tool), directory.path(), arguments, b""));
                let theirs = String::from_utf8_lossy(&relative[1].stderr).replace("./theirs/", "./ours/");
                assert_eq!(String::from_utf8_lossy(&relative[0].stderr), theirs);
                assert_eq!(relative[0].stdout, relative[1].stdout);
                assert_eq!(relative[0].status, relative[1].status);
            }
        }
    }
}

/// A tool started by a relative path, as a shell does: the program is found in the directory that it is to run in.
fn started(directory: &str, tool: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "program=$1; shift; \"$program\" \"$@\"", "sh", &format!("./{directory}/{tool}")]);
    command
}

#[test]
fn help_and_version() {
    let directory = directory();
    for algorithm in ALGORITHMS {
        let tool = format!("{algorithm}sum");
        for arguments in [&["--help"][..], &["--h", "--foo"], &["-c", "--tag", "--help"]] {
            let outcome = run(manysum_as(&tool), directory.path(), arguments, b"");
            assert_eq!((outcome.status, outcome.stderr.len()), (Some(0), 0));
            let text = String::from_utf8(outcome.stdout).expect("UTF-8");
            assert!(text.starts_with(&format!("Usage: {tool} ")));
            for option in ["-b, --binary", "-c, --check", "-w, --warn", "    --ignore-missing", "    --version"] {
                assert!(text.contains(&format!("\n  {option} ")), "{option}");
            }
        }
        let version = run(manysum_as(&tool), directory.path(), &["--vers"], b"");
        let expected = format!("{tool} (manyhash) {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((String::from_utf8_lossy(&version.stdout).into_owned(), version.status), (expected, Some(0)));
    }
}

#[test]
fn names_beside_those_of_the_tools_are_manysum() {
    let directory = directory();
    for name in ["manysum", "mysha1sum", "md5sum.old", "shasum"] {
        let outcome = run(manysum_as(name), directory.path(), &["-a", "sha256"], b"");
        assert_eq!(outcome, manysum(directory.path(), &["-a", "sha256"], b""));
    }
}
