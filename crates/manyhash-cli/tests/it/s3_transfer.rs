//! `manyhash s3 upload`, `download` and `sync` against a server on this machine.

use crate::common::{Outcome, directory, manysum, run};
use crate::s3_bucket::{Bucket, MIB, bytes, write};
use manyhash_s3_client::http::Proof;
use manyhash_s3_client::remote::Remote;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Runs a tool, which must end like this and print this; what it says.
#[track_caller]
fn s3(bucket: &Bucket, root: &Path, arguments: &[&str], status: i32, expected: &str) -> String {
    said(bucket.s3(root, arguments), status, expected)
}

#[track_caller]
fn said(outcome: Outcome, status: i32, expected: &str) -> String {
    assert_eq!(outcome.status, Some(status), "{outcome:?}");
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "{outcome:?}");
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}

/// The objects that a tool speaks of as JSON, by their names.
fn records(outcome: &Outcome) -> BTreeMap<String, Value> {
    let text = String::from_utf8_lossy(&outcome.stdout);
    let values = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    values.map(|value| (value["name"].as_str().expect("a name").to_owned(), value)).collect()
}

/// The keys in the bucket.
fn keys(bucket: &Bucket) -> Vec<String> {
    let page = bucket.ask(async |client| client.list("", None).await.expect("a list"));
    page.objects.into_iter().map(|object| object.key).collect()
}

/// A tree with names and sizes of many kinds, in `tree`.
fn tree(root: &Path) {
    for name in ["one", "d/empty", "d.txt", "new\nline", "a b", "ä", "日本/語", "\u{1}", "back\\slash", "%41", "a+b"]
    {
        write(root, &format!("tree/{name}"), if name == "d/empty" { b"" } else { name.as_bytes() });
    }
    write(root, "tree/large", &bytes(21 * MIB));
    std::os::unix::fs::symlink("one", root.join("tree/link")).expect("a link");
}

#[test]
fn a_tree_there_and_back() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    tree(root);
    let upload = ["upload", "--part-size", "5M", "--manifest", "SUMS", "tree", "s3://bucket/p"];
    let messages = s3(&bucket, root, &upload, 0, "");
    // Each was asked for in the end.
    for words in ["12 objects: 12 uploaded", "11 PutObject", "5 UploadPart", "12 HeadObject"] {
        assert!(messages.contains(words), "{words}: {messages}");
    }
    s3(&bucket, root, &["verify", "--no-cache", "tree", "s3://bucket/p"], 0, "");
    let list = manysum(&root.join("tree"), &["--quiet", "--strict", "-c", "../SUMS"], b"");
    assert_eq!((list.status, list.stdout.len()), (Some(0), 0), "{list:?}");
    assert_eq!(fs::read_to_string(root.join("SUMS")).expect("a list").lines().count(), 12);

    let messages = s3(&bucket, root, &["download", "s3://bucket/p", "back"], 0, "");
    assert!(messages.contains("12 objects: 12 downloaded") && messages.contains("12 GetObject"), "{messages}");
    fs::remove_file(root.join("tree/link")).expect("a link");
    let compare = run(assert_cmd::Command::new("diff"), root, &["-r", "tree", "back"], b"");
    assert_eq!(compare.status, Some(0), "{compare:?}");
    let messages = s3(&bucket, root, &["download", "s3://bucket/p/", "back"], 0, "");
    assert!(messages.contains("0 downloaded, 12 same") && !messages.contains("GetObject"), "{messages}");
}

#[test]
fn json() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    write(root, "small", b"1");
    write(root, "large", &bytes(6 * MIB));
    let upload = ["upload", "--json", "--checksum", "sha256", "--part-size", "5M"];
    let outcome = bucket.s3(root, &[&upload[..], &["small", "large", "./small", "s3://bucket/"]].concat());
    // Two files would be one object, and nothing is uploaded.
    assert_eq!((outcome.status, outcome.stdout.len()), (Some(1), 0), "{outcome:?}");
    assert!(keys(&bucket).is_empty());
    let outcome = bucket.s3(root, &[&upload[..], &["small", "large", "s3://bucket/"]].concat());
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let found = records(&outcome);
    let small = &found["small"];
    assert_eq!((&small["status"], &small["key"], &small["size"]), (&"uploaded".into(), &"small".into(), &1.into()));
    assert_eq!(small["etag"], "c4ca4238a0b923820dcc509a6f75849b");
    assert_eq!(small["checksum"], "a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s=");
    assert_eq!((&small["checksum_algorithm"], &small["checksum_type"]), (&"SHA256".into(), &"FULL_OBJECT".into()));
    let large = &found["large"];
    assert_eq!((&large["parts"], &large["checksum_type"]), (&2.into(), &"COMPOSITE".into()));
    assert!(large["checksum"].as_str().is_some_and(|checksum| checksum.ends_with("=-2")), "{large}");

    bucket.put("../up", b"2", Proof::None);
    let outcome = bucket.s3(root, &["download", "--json", "s3://bucket", "back"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    let found = records(&outcome);
    assert_eq!((&found["small"]["status"], &found["small"]["compared"]), (&"downloaded".into(), &"sha256".into()));
    assert_eq!((&found["large"]["compared"], &found["large"]["parts"]), (&"sha256".into(), &2.into()));
    assert_eq!(found["../up"]["status"], "failed");
    assert!(found["../up"]["reason"].as_str().is_some_and(|why| why.contains("`..`")));
}

#[test]
fn standard_input() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    for (length, parts) in [(0, 0), (1000, 0), (11 * MIB, 2)] {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("manyhash");
        bucket.tell(&mut command);
        let outcome = run(command, root, &["s3", "upload", "-", "s3://bucket/d/k"], &bytes(length));
        let messages = said(outcome, 0, "");
        assert_eq!(messages.contains(&format!("{parts} UploadPart")), parts > 0, "{messages}");
        s3(&bucket, root, &["download", "--force", "s3://bucket/d/k", "back"], 0, "");
        assert!(fs::read(root.join("back")).expect("a file") == bytes(length));
    }
    let messages = s3(&bucket, root, &["upload", "-", "s3://bucket/d/"], 1, "");
    assert!(messages.contains("a key of its own"), "{messages}");
}

#[test]
fn a_killed_upload_goes_on() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    let parts = 60;
    // Each part is another.
    let file = fs::File::create(root.join("large")).expect("a file");
    file.set_len((parts * 5 * MIB) as u64).expect("space");
    for part in 0..parts {
        use std::os::unix::fs::FileExt;
        file.write_all_at(&[part as u8 + 1], (part * 5 * MIB) as u64).expect("space");
    }
    drop(file);
    let upload = ["s3", "upload", "--part-size", "5M", "--requests", "1", "--json", "large", "s3://bucket/p/large"];
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("manyhash"));
    bucket.tell_std(&mut command);
    let mut child = command.current_dir(root).args(upload).spawn().expect("a process");
    let sent = async |client: &manyhash_s3_client::http::Client| {
        let uploads = client.list_multipart_uploads("", None).await.expect("a list").uploads;
        match uploads.first() {
            Some(upload) => {
                client.list_parts("p/large", &upload.upload_id, None).await.map_or(0, |list| list.parts.len())
            }
            None => 0,
        }
    };
    while bucket.ask(sent) < 3 {
        assert!(child.try_wait().expect("a process").is_none(), "it ended before it was killed");
        std::thread::sleep(Duration::from_millis(2));
    }
    // SIGKILL.
    child.kill().expect("a process");
    child.wait().expect("a process");
    assert!(keys(&bucket).is_empty());
    let before = bucket.ask(sent);
    let outcome = bucket.s3(root, &upload[1..]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let kept = records(&outcome)["large"]["kept_parts"].as_u64().expect("a number") as usize;
    // One that was on its way may have been taken after it was counted.
    assert!(kept >= before && kept < parts, "{kept} of {before}");
    let messages = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(messages.contains(&format!("{} UploadPart", parts - kept)), "{messages}");
    s3(&bucket, root, &["verify", "--no-cache", ".", "s3://bucket/p"], 0, "");
}

#[test]
fn only_where_nothing_is() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    write(root, "a", b"1");
    write(root, "b", b"2");
    bucket.put("a", b"other", Proof::None);
    bucket.put("b", b"2", Proof::None);
    let messages = s3(&bucket, root, &["upload", "--if-none-match", "a", "b", "s3://bucket"], 1, "");
    assert!(messages.contains("a: there is an object already"), "{messages}");
    assert!(messages.contains("2 objects: 0 uploaded, 1 same, 1 failed"), "{messages}");
    let messages = s3(&bucket, root, &["upload", "--progress", "always", "a", "b", "s3://bucket"], 0, "");
    assert!(messages.contains("2 objects: 2 uploaded"), "{messages}");
    s3(&bucket, root, &["verify", "--no-cache", ".", "s3://bucket"], 0, "");
}

#[test]
fn a_manifest_has_what_arrived() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    write(root, "tree/a", b"1");
    let list = |name: &str| fs::read_to_string(root.join(name)).expect("a list");
    s3(&bucket, root, &["upload", "--manifest", "M", "tree", "s3://bucket/p"], 0, "");
    assert_eq!(list("M"), "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b  a\n");
    s3(&bucket, root, &["upload", "--manifest", "M", "-a", "md5", "tree/a", "s3://bucket/q/b"], 0, "");
    assert_eq!(list("M"), "c4ca4238a0b923820dcc509a6f75849b  a\n");
    // One of which nothing could be uploaded lists nothing, and the error is said.
    fs::write(root.join("tree/\u{1}"), "2").expect("a file");
    std::os::unix::fs::symlink("none", root.join("dangling")).expect("a link");
    let messages = s3(&bucket, root, &["upload", "--manifest", "M", "dangling", "s3://bucket"], 1, "");
    assert!(messages.contains("dangling: No such file or directory"), "{messages}");
    assert_eq!(list("M"), "c4ca4238a0b923820dcc509a6f75849b  a\n", "nothing was begun");
    let messages = s3(&bucket, root, &["upload", "--manifest", "no/M", "tree", "s3://bucket"], 1, "");
    assert!(messages.contains("no/M"), "{messages}");
    assert_eq!(keys(&bucket), ["p/a", "q/b"]);
}

#[test]
fn a_bucket_is_brought_up_to_a_tree() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    tree(root);
    s3(&bucket, root, &["sync", "--part-size", "5M", "tree", "s3://bucket/p"], 0, "");
    let messages = s3(&bucket, root, &["sync", "tree", "s3://bucket/p"], 0, "");
    assert!(messages.contains("12 objects: 12 same\n") && !messages.contains("PutObject"), "{messages}");
    // The same size, and a time that proves nothing.
    let large = root.join("tree/large");
    let modified = large.metadata().and_then(|metadata| metadata.modified()).expect("a time");
    let mut changed = bytes(21 * MIB);
    changed[12_345_678] ^= 1;
    fs::write(&large, changed).expect("a file");
    fs::File::options().write(true).open(&large).and_then(|file| file.set_modified(modified)).expect("a time");
    fs::remove_file(root.join("tree/one")).expect("a file");
    write(root, "tree/z\n", b"new");
    bucket.put("p/folder/", b"", Proof::None);
    bucket.put("pq", b"not below p/", Proof::None);
    let lines = "large: upload: differs: md5 of 5 parts\none: delete\n\\z\\n: upload: missing\n";
    let dry = ["sync", "--dry-run", "--delete", "tree", "s3://bucket/p"];
    let messages = s3(&bucket, root, &dry, 0, lines);
    assert!(messages.contains("10 same, 2 upload, 1 delete"), "{messages}");
    s3(&bucket, root, &dry, 0, lines);
    let messages = s3(&bucket, root, &["sync", "tree", "s3://bucket/p"], 0, "");
    assert!(messages.contains("10 same, 2 uploaded, 1 extra"), "{messages}");
    let outcome = bucket.s3(root, &["sync", "--delete", "--json", "tree", "s3://bucket/p"]);
    assert_eq!((outcome.status, &records(&outcome)["one"]["status"]), (Some(0), &"deleted".into()), "{outcome:?}");
    assert!(!keys(&bucket).contains(&"p/one".to_owned()));
    assert!(["p/folder/", "pq"].iter().all(|key| keys(&bucket).contains(&(*key).to_owned())));
    s3(&bucket, root, &["verify", "--no-cache", "tree", "s3://bucket/p"], 0, "");
}

#[test]
fn nothing_is_deleted_in_doubt() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    write(root, "tree/a", b"1");
    bucket.put("p/a", b"1", Proof::None);
    bucket.put("p/b", b"2", Proof::None);
    // A name that no key can be.
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff");
    fs::write(root.join("tree").join(name), "3").expect("a file");
    let messages = s3(&bucket, root, &["sync", "--delete", "tree", "s3://bucket/p"], 1, "");
    assert!(messages.contains("UTF-8") && messages.contains("nothing was deleted"), "{messages}");
    let messages = s3(&bucket, root, &["sync", "--delete", "none", "s3://bucket/p"], 1, "");
    assert!(messages.contains("nothing was deleted"), "{messages}");
    assert_eq!(keys(&bucket), ["p/a", "p/b"]);
}

#[test]
fn keys_that_lead_elsewhere() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    let wrong = ["p/../../x", "p//x", "p/./x", "p/a/../x", "p/file/x", "p/.."];
    for key in wrong {
        bucket.put(key, b"1", Proof::None);
    }
    for key in ["p/file", "p/good", "p/folder/"] {
        bucket.put(key, if key.ends_with('/') { b"" } else { b"2" }, Proof::None);
    }
    fs::create_dir_all(root.join("d/elsewhere")).expect("directories");
    std::os::unix::fs::symlink("elsewhere", root.join("d/link")).expect("a link");
    bucket.put("p/link/x", b"3", Proof::None);
    let messages = s3(&bucket, root, &["download", "s3://bucket/p", "d"], 1, "");
    for key in wrong.iter().chain(&["p/link/x"]) {
        assert!(messages.contains(&format!("manyhash: {key}: ")), "{key}: {messages}");
    }
    assert!(messages.contains("9 objects: 2 downloaded, 7 failed"), "{messages}");
    let compare = run(assert_cmd::Command::new("find"), root, &["-type", "f"], b"");
    let mut found: Vec<_> = compare.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    found.sort();
    assert_eq!(found, [&b"./d/file"[..], b"./d/good"], "{compare:?}");
}

#[test]
fn files_that_are_there() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    bucket.put("d/k", b"1", Proof::None);
    write(root, "d/k", b"2");
    write(root, "other", b"1");
    let messages = s3(&bucket, root, &["download", "s3://bucket/d/k", "d"], 1, "");
    assert!(messages.contains("there is a file already"), "{messages}");
    assert_eq!(fs::read(root.join("d/k")).expect("a file"), b"2");
    s3(&bucket, root, &["download", "--force", "s3://bucket/d/k", "d"], 0, "");
    assert_eq!(fs::read(root.join("d/k")).expect("a file"), b"1");
    let messages = s3(&bucket, root, &["download", "s3://bucket/d/k", "other"], 0, "");
    assert!(messages.contains("0 downloaded, 1 same"), "{messages}");
    s3(&bucket, root, &["download", "s3://bucket/d/k", "new/"], 0, "");
    assert_eq!(fs::read(root.join("new/k")).expect("a file"), b"1");
    for url in ["s3://bucket/none", "s3://bucket/d/k/", "s3://bucket/d/kk"] {
        let messages = s3(&bucket, root, &["download", url, "nothing"], 1, "");
        assert!(messages.contains("there is no object of this key"), "{messages}");
    }
    assert!(!root.join("nothing").exists());
}

#[test]
fn wrong_arguments() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    write(root, "a", b"1");
    for (arguments, words) in [
        (&["upload", "a", "b"][..], "b: expected s3://BUCKET/PREFIX/"),
        (&["upload", "none", "s3://bucket"], "none: No such file or directory"),
        (&["upload", "a", "s3://"], "the name of a bucket must follow"),
        (&["upload", "a", "s3://none/"], "NoSuchBucket"),
        (&["upload", "s3://bucket"], "Usage"),
        (&["upload", "--part-size", "4M", "a", "s3://bucket"], "5 MiB (5M) to 5 GiB"),
        (&["upload", "--checksum", "crc", "a", "s3://bucket"], "or auto, or none"),
        (&["upload", "-a", "md5", "a", "s3://bucket"], "--manifest"),
        (&["download", "bucket/a", "b"], "expected s3://BUCKET/KEY"),
        (&["download", "s3://none/a", "b"], "s3://none"),
        (&["sync", "a", "s3://bucket"], "not a directory"),
        (&["sync", "none", "s3://bucket"], "none"),
        (&["sync", ".", "bucket"], "expected s3://BUCKET/PREFIX"),
    ] {
        let messages = s3(&bucket, root, arguments, 1, "");
        assert!(messages.contains(words), "{arguments:?}: {messages}");
    }
    assert!(keys(&bucket).is_empty());
}
