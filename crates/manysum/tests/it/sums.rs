//! `manysum` under the names `b2sum` and `cksum` against those tools.
#![cfg(unix)]

use crate::common::{compare_as, directory, hostile_files, name, random};
use std::ffi::OsString;
use std::fs;
use tempfile::TempDir;

/// What `cksum -a` takes.
const TYPES: [&str; 11] =
    ["bsd", "sysv", "crc", "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "sm3"];

/// Digests of "123456789".
const MD5: &str = "25f9e794323b453885f5181f1b624d0b";
const SHA256: &str = "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225";
const B2: &str = "16e0bf1f85594a11e75030981c0b670370b3ad83a43f49ae58a2fd6f6513cde9";

/// A directory with files, and lists of them in several states.
fn tree() -> TempDir {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("e"), "").expect("a file");
    fs::write(root.join("f"), "123456789").expect("a file");
    fs::write(root.join("new\nline"), "123456789").expect("a file");
    let list = |name: &str, list: &str| {
        let list = list.replace("{M}", MD5).replace("{S}", SHA256).replace("{B}", B2);
        fs::write(root.join(name), list).expect("a list");
    };
    list(
        "mixed",
        "MD5 (f) = {M}\nSHA256 (f) = {S}\nBLAKE2b-8 (f) = fb\nBLAKE2b-256 (f) = {B}\nSHA256 (e) = {S}\nMD5 (gone) = {M}\n\
         \\MD5 (new\\nline) = {M}\nMD5 (f) = {M}\n",
    );
    list(
        "improper",
        "bad\nMD5 (f) = {M}\nbad\nSHA256 (f) = {M}\nSM3\nMD5 f\n{M}  f\nCRC (f) = 1\nBSD (f) = 1\n# (f)\n\n\
         930766865 9 f\nBLAKE2b-8 (f) = FB\r\nBLAKE2b-7 (f) = fb\nBLAKE2b-520 (f) = fb\nBLAKE2b-0 (f) = \nmd5 (f) = {M}\n\
         BLAKE2b- (f) = {B}\nBLAKE2b-256 (-) = {B}\nMD5-x (f) = {M}\n",
    );
    list(
        "spaces",
        "MD5(f)= {M}\nMD5  (f) = {M}\nMD5\t(f) = {M}\n MD5 (f) = {M}\nMD5   (f) = {M}\nMD5 \t(f) = {M}\nMD5\t (f)={M}\n\
         BLAKE2b-8(f) = fb\nBLAKE2b-8  (f) = fb\n",
    );
    list("untagged", "fb  f\nfb *f\n{B}  f\n{M}  f\n{S}  f\nfb f\nf  f\nfbf  f\nfb\tf\n\\{M}  new\\nline\nfb  \n");
    list("reversed", "fb f\nfb  f\n{B} f\n{M} f\n");
    list("of a tag", "BLAKE2b-8 (f) = fb\nBLAKE2b-16 (f) = fb\nBLAKE2b-16 (f) = fbfb\nBLAKE2b (f) = fb\n");
    list("missing", "MD5 (gone) = {M}\nBLAKE2b-256 (gone) = {B}\n");
    list("nothing", "bad\n");
    directory
}

const LISTS: [&str; 8] = ["mixed", "improper", "spaces", "untagged", "reversed", "of a tag", "missing", "nothing"];

#[test]
fn options_of_printing() {
    let directory = directory();
    let root = directory.path();
    let files = hostile_files(root);
    for options in [
        &[][..],
        &["-b"],
        &["--tag"],
        &["-l", "256"],
        &["-l8", "--tag"],
        &["--length=16", "-z"],
        &["-l", "512", "--tag"],
    ] {
        let arguments: Vec<OsString> = options.iter().map(OsString::from).chain(files.iter().cloned()).collect();
        compare_as("b2sum", root, &arguments, b"");
        compare_as("b2sum", root, &[options, &["missing", "-", "plain"]].concat(), b"input");
    }
    for algorithm in TYPES {
        for options in [&[][..], &["--untagged"], &["-z"], &["--tag", "--untagged", "-z"], &["--untagged", "--tag"]] {
            let options = [&["-a", algorithm], options].concat();
            let arguments: Vec<OsString> = options.iter().map(OsString::from).chain(files.iter().cloned()).collect();
            compare_as("cksum", root, &arguments, b"");
            compare_as("cksum", root, &[&options[..], &["missing", "-", "plain"]].concat(), b"input");
            compare_as("cksum", root, &options, b"input");
            compare_as("cksum", root, &[&options[..], &["-"]].concat(), b"");
        }
    }
    compare_as("cksum", root, &files, b"");
    compare_as("cksum", root, &["-a", "blake2b", "-l", "24", "plain"], b"");
}

/// Sums of old round their lengths up to blocks, of 1024 bytes and of 512.
#[test]
fn lengths() {
    let directory = directory();
    let mut names = Vec::new();
    for length in [0, 1, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 65_535, 65_536, 300_000, (5 << 20) + 3_u32] {
        let bytes: Vec<u8> = (0..length).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        fs::write(directory.path().join(length.to_string()), bytes).expect("a file");
        names.push(length.to_string());
    }
    for algorithm in TYPES {
        let arguments = [&["-a".to_owned(), algorithm.to_owned()], &names[..]].concat();
        compare_as("cksum", directory.path(), &arguments, b"");
        compare_as("cksum", directory.path(), &arguments[..2], &[0xff; 200_000]);
    }
}

#[test]
fn options_of_checking() {
    let directory = tree();
    for options in [
        &[][..],
        &["-w"],
        &["--quiet"],
        &["--status"],
        &["--strict"],
        &["--ignore-missing"],
        &["-w", "--strict", "--ignore-missing"],
        &["--ignore-missing", "--quiet"],
    ] {
        for list in LISTS {
            let check = [options, &["-c", list]].concat();
            compare_as("b2sum", directory.path(), &check, b"");
            compare_as("b2sum", directory.path(), &[&["-l", "16"], &check[..]].concat(), b"");
            compare_as("cksum", directory.path(), &check, b"");
            for algorithm in ["md5", "sha256", "blake2b", "sm3"] {
                compare_as("cksum", directory.path(), &[&["-a", algorithm], &check[..]].concat(), b"");
            }
            let input = fs::read(directory.path().join(list)).expect("a list");
            compare_as("cksum", directory.path(), &[options, &["--check", "--untagged", "--tag"]].concat(), &input);
        }
        let all = [options, &["-c", "no list"], &LISTS].concat();
        compare_as("b2sum", directory.path(), &all, b"");
        compare_as("cksum", directory.path(), &all, b"");
    }
}

/// So that a few of them in any order say everything that can be said of one another.
const OPTIONS: [&str; 21] = [
    "--tag",
    "-z",
    "-c",
    "-w",
    "--quiet",
    "--status",
    "--strict",
    "--ignore-missing",
    "--",
    "f",
    "-l8",
    "-l",
    "16",
    "--length=0",
    "-l520",
    "-l=",
    "-ablake2b",
    "--algorithm=sha256",
    "-acrc",
    "--untagged",
    "--algorithm",
];

#[test]
fn every_pair_of_options() {
    let directory = tree();
    for first in OPTIONS {
        for second in OPTIONS {
            compare_as("cksum", directory.path(), &[first, second, "mixed"], b"");
            if ["-l", "-z", "-c", "--tag", "--untagged"].contains(&second) {
                compare_as("b2sum", directory.path(), &[first, second, "mixed"], b"");
            }
        }
    }
}

#[test]
fn many_options() {
    let directory = tree();
    let mut random = random();
    for _ in 0..300 {
        let mut arguments: Vec<&str> = (0..2 + random(5)).map(|_| OPTIONS[random(OPTIONS.len())]).collect();
        arguments.insert(random(arguments.len()), LISTS[random(LISTS.len())]);
        compare_as("cksum", directory.path(), &arguments, b"");
        compare_as("cksum", directory.path(), &[&["-c"], &arguments[..]].concat(), b"");
        arguments.retain(|argument| !argument.starts_with("-a"));
        compare_as("b2sum", directory.path(), &[&arguments[..], &["-b"]].concat(), b"");
        compare_as("b2sum", directory.path(), &[&["-c"], &arguments[..]].concat(), b"");
    }
}

#[test]
fn wrong_arguments() {
    let directory = tree();
    for length in ["", "x", "7", "-8", "+8", " 8", "\t\n 16", "8 ", "8k", "0x8", "010", "520", "1e1", "+-8", "\u{b2}"]
        .into_iter()
        .chain(["18446744073709551615", "18446744073709551616", "99999999999999999999999k", "a'b\\\n"])
    {
        compare_as("b2sum", directory.path(), &["-l", length, "f"], b"");
        compare_as("b2sum", directory.path(), &["-c", &format!("--length={length}"), "mixed"], b"");
        compare_as("cksum", directory.path(), &["-a", "blake2b", "-l", length, "f"], b"");
        compare_as("cksum", directory.path(), &["-l", length, "f"], b"");
    }
    for algorithm in ["", "b", "bl", "sha", "MD5", "blake2b-256", "blake3", "sha512-256", "crc32", "it's\n\\"] {
        compare_as("cksum", directory.path(), &["-a", algorithm, "f"], b"");
        compare_as("cksum", directory.path(), &[&format!("--algo={algorithm}"), "f", "--foo"], b"");
    }
    for arguments in [
        &["-a"][..],
        &["-l"],
        &["-ca"],
        &["-zl"],
        &["--algorithm"],
        &["--length"],
        &["--al"],
        &["--l"],
        &["--=x"],
        &["--s"],
        &["--t"],
        &["--u", "f"],
        &["--d=1"],
        &["--tag="],
        &["-h"],
        &["-a", "--", "f"],
        &["-l", "--", "f"],
        &["-za", "sha1", "f"],
        &["-zl8", "f"],
        &["-l", "8", "-l", "0", "f"],
        &["-a", "md5", "-a", "sha1", "f"],
        &["-cz"],
        &["-a", "bsd", "-c", "-z", "f"],
        &["-a", "sysv", "-l8", "-c"],
        &["-l520", "--tag", "-t"],
        &["-x", "--help"],
    ] {
        compare_as("b2sum", directory.path(), arguments, b"");
        // Of its options, --=x lists those that came with 9.2 too.
        if !arguments.contains(&"--=x") && !arguments.contains(&"-t") {
            compare_as("cksum", directory.path(), arguments, b"");
        }
    }
    compare_as("b2sum", directory.path(), &[name(b"-l\xff\xe2\x82")], b"");
    compare_as("cksum", directory.path(), &[name(b"-a\xff\x07")], b"");
}
