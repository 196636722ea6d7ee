//! What `manysum` prints and checks under the name `cksum` that coreutils 9.1 has not, and its sums of old by known answers.
#![cfg(unix)]

use crate::common::{compare_as, directory, manysum, manysum_as, run};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Digests of "123456789".
const B2: &str = "16e0bf1f85594a11e75030981c0b670370b3ad83a43f49ae58a2fd6f6513cde9";
const MD5: &str = "25f9e794323b453885f5181f1b624d0b";

/// A directory with a few files.
fn tree() -> TempDir {
    let directory = directory();
    for (name, content) in [("e", ""), ("f", "123456789"), ("new\nline", "123456789")] {
        fs::write(directory.path().join(name), content).expect("a file");
    }
    directory
}

/// What it does: status, standard output, standard error.
fn cksum(root: &Path, arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let outcome = run(manysum_as("cksum"), root, arguments, input);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (outcome.status, text(outcome.stdout), text(outcome.stderr))
}

/// `cksum` says the same of the sums of old as `manysum` does.
#[test]
fn sums_of_old() {
    let directory = tree();
    let root = directory.path();
    for (algorithm, hex, file, input) in [
        // POSIX's cksum; sum -r and sum -s of GNU coreutils.
        ("crc", "377a6011", "930766865 9 f\n4294967295 0 e\n", "930766865 9\n"),
        ("bsd", "d16f", "53615     1 f\n00000     0 e\n", "53615     1\n"),
        ("sysv", "01dd", "477 1 f\n0 0 e\n", "477 1\n"),
    ] {
        for program in ["manysum", "cksum"] {
            let said = |arguments: &[&str], input: &[u8]| {
                let outcome = run(manysum_as(program), root, &[&["-a", algorithm], arguments].concat(), input);
                assert_eq!((outcome.status, outcome.stderr.len()), (Some(0), 0), "{program} {algorithm}");
                String::from_utf8(outcome.stdout).expect("UTF-8")
            };
            assert_eq!(said(&["f", "e"], b""), file);
            assert_eq!(said(&[], b"123456789"), input);
            assert_eq!(said(&["-"], b"123456789"), input.replace('\n', " -\n"));
            assert_eq!(said(&["-z", "new\nline"], b""), input.replace('\n', " new\nline\0"));
        }
        // Where another form is asked for, the sum is a digest as any other.
        let tag = algorithm.to_uppercase();
        let tagged = manysum(root, &["-a", algorithm, "--tag", "f"], b"").stdout;
        assert_eq!(String::from_utf8_lossy(&tagged), format!("{tag} (f) = {hex}\n"));
        let several = manysum(root, &["-a", &format!("md5,{algorithm}"), "f"], b"").stdout;
        assert_eq!(String::from_utf8_lossy(&several), format!("MD5 (f) = {MD5}\n{tag} (f) = {hex}\n"));
        let json = manysum(root, &["-a", algorithm, "--json", "f"], b"").stdout;
        let due = format!("{{\"name\":\"f\",\"algorithm\":\"{algorithm}\",\"digest\":\"{hex}\"}}\n");
        assert_eq!(String::from_utf8_lossy(&json), due);
        assert_eq!(manysum(root, &["-a", algorithm, "-c"], &tagged).stdout, b"f: OK\n");
    }
}

/// coreutils 9.2 and later.
#[test]
fn base64_and_raw() {
    let directory = tree();
    let root = directory.path();
    let printed = |arguments: &[&str]| cksum(root, arguments, b"").1;
    // RFC 1321, A.5: MD5 of nothing; RFC 4648 by hand.
    assert_eq!(printed(&["-a", "md5", "--base64", "e"]), "MD5 (e) = 1B2M2Y8AsgTpgAmY7PhCfg==\n");
    assert_eq!(printed(&["-a", "md5", "--base64", "--untagged", "-z", "e"]), "1B2M2Y8AsgTpgAmY7PhCfg==  e\0");
    assert_eq!(printed(&["-a", "blake2b", "-l8", "--base64", "f"]), "BLAKE2b-8 (f) = +w==\n");
    // The sums of old have no digests to write otherwise.
    assert_eq!(printed(&["--base64", "f"]), "930766865 9 f\n");

    let raw =
        |arguments: &[&str]| run(manysum_as("cksum"), root, &[&["--raw"], arguments].concat(), b"123456789").stdout;
    assert_eq!(raw(&[]), 930_766_865_u32.to_be_bytes());
    assert_eq!(raw(&["-a", "bsd", "f"]), 53_615_u16.to_be_bytes());
    assert_eq!(raw(&["-a", "sysv", "-z", "f"]), 477_u16.to_be_bytes());
    assert_eq!(raw(&["-a", "blake2b", "-l8", "-"]), [0xfb]);

    let refused = |arguments: &[&str], message: &str| {
        assert_eq!(cksum(root, arguments, b""), (Some(1), String::new(), format!("cksum: {message}\n")));
    };
    let hint = "\nTry 'cksum --help' for more information.";
    refused(&["--raw", "e", "f"], "the --raw option is not supported with multiple files");
    refused(&["--raw", "--base64", "f"], &format!("--base64 and --raw are mutually exclusive{hint}"));
    refused(&["--raw", "gone"], "gone: No such file or directory");
}

#[test]
fn base64_is_checked() {
    let directory = tree();
    let root = directory.path();
    for algorithm in ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "sm3"] {
        for length in [&[][..], &["-l8"], &["-l16"], &["-l24"], &["-l32"]] {
            if algorithm != "blake2b" && !length.is_empty() {
                continue;
            }
            let list = cksum(root, &[&["-a", algorithm, "--base64", "f", "new\nline"], length].concat(), b"").1;
            let due = (Some(0), "f: OK\n\\new\\nline: OK\n".to_owned(), String::new());
            assert_eq!(cksum(root, &["-c"], list.as_bytes()), due, "{list}");
            assert_eq!(cksum(root, &["-c", "-a", algorithm], list.as_bytes()), due, "{list}");
        }
    }
    let checked = |list: &str, arguments: &[&str]| cksum(root, &[&["-c"], arguments].concat(), list.as_bytes()).1;
    assert_eq!(checked("1B2M2Y8AsgTpgAmY7PhCfg==  e\n", &["-a", "md5"]), "e: OK\n");
    // The same bytes, by digits that no encoder writes.
    assert_eq!(checked("MD5 (e) = 1B2M2Y8AsgTpgAmY7PhCfh==\n", &[]), "e: FAILED\n");
    for digits in
        ["1B2M2Y8AsgTpgAmY7PhCfg", "1B2M2Y8AsgTpgAmY7PhCfg=", "1B2M2Y8AsgTpgAmY7PhCf===", "1B2M2Y8A_gTpgAmY7PhCfg=="]
    {
        let (status, said, _) = cksum(root, &["-c"], format!("MD5 (e) = {digits}\n").as_bytes());
        assert_eq!((status, said.as_str()), (Some(1), ""), "{digits}");
    }
    // The other tools know no base64.
    let outcome = run(manysum_as("md5sum"), root, &["-c"], b"1B2M2Y8AsgTpgAmY7PhCfg==  e\n");
    assert_eq!((outcome.status, outcome.stdout.len()), (Some(1), 0));
}

#[test]
fn lengths_and_names_as_coreutils_reads_them() {
    let directory = tree();
    let root = directory.path();
    let digest = run(manysum_as("b2sum"), root, &["-l", "8", "e"], b"").stdout;
    let digest = String::from_utf8_lossy(&digest[..2]).into_owned();
    for length in ["8", "010", "08", "0x8", "0X8", "+8", " 8", "\t+010", "8 ", "8k", "-8", "0x", "16", "0", "", "1e1"] {
        for tool in ["b2sum", "cksum"] {
            compare_as(tool, root, &["-cw"], format!("BLAKE2b-{length} (e) = {digest}\n").as_bytes());
            compare_as(tool, root, &["-cw"], format!("BLAKE2b-{length}(e) = {digest}\n").as_bytes());
        }
    }
    // A line may end where a name would begin.
    for list in ["D \n", "DD \n", "\\D \n", "D  \n", "D *\n", "D \nD  e\n", "D  e\nD \n", "D \0e\n", "D\n", "M \n"] {
        let list = list.replace('D', &digest).replace('M', MD5);
        compare_as("b2sum", root, &["-c"], list.as_bytes());
        for algorithm in ["blake2b", "md5", "sm3"] {
            compare_as("cksum", root, &["-c", "-a", algorithm], list.as_bytes());
        }
        compare_as("md5sum", root, &["-c"], list.as_bytes());
    }
    for arguments in [&["-b", "f"][..], &["-t", "f"], &["-cb"], &["-bx"], &["-xb"], &["--bin"], &["--debug", "f"]] {
        compare_as("cksum", root, arguments, b"");
    }
}

/// Where `cksum` is better than coreutils 9.1.
#[test]
fn what_is_not_as_with_coreutils() {
    let directory = tree();
    let root = directory.path();
    // The few digits would pass for a match of the whole.
    let few = format!("MD5-8 (f) = 25\nMD5-64 (f) = {}\nSHA256-8 (f) = 15\n", &MD5[..16]);
    assert_eq!(cksum(root, &["-c", "--quiet"], few.as_bytes()).0, Some(1));
    // Of BLAKE2b no other lengths and functions are meant by these.
    let list = format!("BLAKE2bp-256 (f) = {B2}\nBLAKE2bx (f) = {B2}{B2}\n");
    assert_eq!(run(manysum_as("b2sum"), root, &["-c"], list.as_bytes()).status, Some(1));
    // It takes what it cannot read for an empty file.
    let said = (Some(1), String::new(), "cksum: .: Is a directory\n".to_owned());
    assert_eq!(cksum(root, &["."], b""), said);
}

/// coreutils 9.6 and 9.8.
#[test]
fn newer_names() {
    let directory = tree();
    let root = directory.path();
    // The check value of CRC-32/ISO-HDLC in the catalogue of CRCs, cbf43926.
    let sum = 0xcbf4_3926_u32;
    assert_eq!(cksum(root, &["-a", "crc32b", "f"], b"").1, format!("{sum} 9 f\n"));
    assert_eq!(cksum(root, &["-a", "crc32b", "--base64"], b"123456789").1, format!("{sum} 9\n"));
    assert_eq!(run(manysum_as("cksum"), root, &["-a", "crc32b", "--raw", "f"], b"").stdout, sum.to_be_bytes());
    let mut all = String::new();
    for length in ["224", "256", "384", "512"] {
        let line = cksum(root, &["-a", "sha2", "-l", length, "f"], b"").1;
        assert_eq!(line, cksum(root, &["-a", &format!("sha{length}"), "f"], b"").1);
        let (_, digest) = line.split_once(" = ").expect("a digest");
        all += &format!("{line}SHA2-{length} (f) = {digest}");
        all += &cksum(root, &["-a", "sha2", "-l", length, "--untagged", "f"], b"").1;
    }
    let due = |lines| (Some(0), "f: OK\n".repeat(lines), String::new());
    assert_eq!(cksum(root, &["-a", "sha2", "-c"], all.as_bytes()), due(12));
    let tagged: String = all.lines().filter(|line| line.contains('=')).map(|line| format!("{line}\n")).collect();
    assert_eq!(cksum(root, &["-c"], tagged.as_bytes()), due(8));
    for length in ["224", "256", "384", "512"] {
        let line = cksum(root, &["-a", "sha3", "--length", length, "f"], b"").1;
        let digest = manysum(root, &["-a", &format!("sha3-{length}"), "f"], b"").stdout;
        let digest = String::from_utf8_lossy(&digest).replace("  f\n", "");
        assert_eq!(line, format!("SHA3-{length} (f) = {digest}\n"));
        let base64 = cksum(root, &["-a", "sha3", "--length", length, "--untagged", "--base64", "f"], b"").1;
        let list = format!("{line}{digest}  f\n{base64}");
        assert_eq!(cksum(root, &["-a", "sha3", "-c"], list.as_bytes()), due(3));
        assert_eq!(cksum(root, &["-c"], line.as_bytes()), due(1));
        let wrong = format!("SHA3-{length} (f) = {}\n", "0".repeat(digest.len()));
        assert_eq!(cksum(root, &["-c", "--status"], wrong.as_bytes()), (Some(1), String::new(), String::new()));
    }
    for (arguments, message) in [
        (&["-a", "sha2", "f"][..], "--algorithm=sha2 requires specifying --length 224, 256, 384, or 512\n"),
        (
            &["-a", "sha3", "-l", "128", "f"],
            "invalid length: '128'\ncksum: digest length for 'SHA3' must be 224, 256, 384, or 512\n",
        ),
        (&["-a", "crc32b", "-c"], "--check is not supported with --algorithm={bsd,sysv,crc,crc32b}\n"),
        (&["-a", "sha256", "-l", "256"], "--length is only supported with --algorithm=blake2b\n"),
    ] {
        assert_eq!(cksum(root, arguments, b""), (Some(1), String::new(), format!("cksum: {message}")));
    }
}

#[test]
fn help_version_and_debug() {
    let directory = tree();
    let root = directory.path();
    for (tool, own) in [("b2sum", "-b, --binary"), ("cksum", "-a, --algorithm=TYPE")] {
        for arguments in [&["--help"][..], &["-l", "8", "--he", "--foo"]] {
            let help = run(manysum_as(tool), root, arguments, b"");
            let text = String::from_utf8(help.stdout).expect("UTF-8");
            assert!(
                text.starts_with(&format!("Usage: {tool} "))
                    && text.contains(&format!("\n  {own} "))
                    && text.contains("\n  -l, --length=BITS ")
            );
            assert_eq!((help.status, help.stderr.len()), (Some(0), 0));
        }
        let version = run(manysum_as(tool), root, &["--version"], b"").stdout;
        assert!(version.starts_with(format!("{tool} (manyhash) ").as_bytes()));
    }
    let backend = manyhash::backend().expect("a backend");
    assert_eq!(cksum(root, &["--debug", "-a", "md5", "f"], b"").2, format!("cksum: using {backend}\n"));
    assert_eq!(cksum(root, &["--debug", "-a", "blake2b", "f"], b"").2, "");
}
