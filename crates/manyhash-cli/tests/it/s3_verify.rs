//! `manyhash s3 verify` and `ls` against a server on this machine.

use crate::common::{Outcome, directory, run};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use manyhash_s3::sign::Credentials;
use manyhash_s3::xml::CompletedPart;
use manyhash_s3_client::http::{Client, Completion, Config, Content, Identity, Options, Proof};
use manyhash_server::Server;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A bucket that is there as long as the test: `bucket`.
pub(crate) struct Bucket {
    runtime: Runtime,
    endpoint: String,
    credentials: Credentials,
    client: Client,
    _directory: TempDir,
}

impl Bucket {
    pub(crate) fn start() -> Bucket {
        let runtime = Runtime::new().expect("a runtime");
        let directory = tempfile::tempdir().expect("a directory");
        let (endpoint, credentials, client) = runtime.block_on(async {
            let mut config = manyhash_server::Config::new(directory.path().join("objects"));
            config.listen = ([127, 0, 0, 1], 0).into();
            (config.admin, config.reserve) = (None, 0);
            let server = Server::bind(config).await.expect("a server");
            let (endpoint, credentials) = (server.endpoint(), server.temporary_key().expect("a key").clone());
            tokio::spawn(server.run(std::future::pending()));
            let mut options = Options::default();
            (options.endpoint, options.region) = (Some(endpoint.clone()), Some("us-east-1".to_owned()));
            options.identity = Identity::Keys(credentials.clone());
            let client = Client::new(Config::load(options).await.expect("settings"), "bucket").expect("a bucket");
            // To make a bucket is to put an object without a key.
            client.put_object("", &"".into(), Proof::None, &Default::default()).await.expect("a bucket");
            (endpoint, credentials, client)
        });
        Bucket { runtime, endpoint, credentials, client, _directory: directory }
    }

    pub(crate) fn put(&self, key: &str, bytes: &[u8], proof: Proof) {
        let content = Content::from(bytes.to_vec());
        self.runtime.block_on(self.client.put_object(key, &content, proof, &Default::default())).expect("an object");
    }

    fn put_in_parts(&self, key: &str, parts: &[&[u8]], checksum: Option<(ChecksumAlgorithm, ChecksumType)>) {
        self.runtime.block_on(async {
            let headers = Default::default();
            let upload = self.client.create_multipart_upload(key, checksum, &headers).await.expect("an upload");
            let mut completion = Completion::default();
            for (i, part) in parts.iter().enumerate() {
                let proof = checksum.map_or(Proof::None, |(algorithm, _)| Proof::Trailer(algorithm));
                let number = i as u32 + 1;
                let content = Content::from(part.to_vec());
                let written = self.client.upload_part(key, &upload, number, &content, proof).await.expect("a part");
                completion.parts.push(CompletedPart {
                    part_number: i as i32 + 1,
                    etag: written.etag.expect("a tag"),
                    checksums: written.checksums.first().map(|checksum| checksum.checksum).into(),
                });
            }
            self.client.complete_multipart_upload(key, &upload, completion).await.expect("an object");
        });
    }

    pub(crate) fn s3(&self, root: &Path, arguments: &[&str]) -> Outcome {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("manyhash");
        self.tell(&mut command);
        run(command, root, &[&["s3"], arguments].concat(), b"")
    }

    /// What a client of the bucket comes to.
    pub(crate) fn ask<T>(&self, ask: impl AsyncFnOnce(&Client) -> T) -> T {
        self.runtime.block_on(ask(&self.client))
    }

    /// Tells a program of the service, and of nothing else.
    pub(crate) fn tell(&self, command: &mut assert_cmd::Command) {
        command.envs(self.variables()).env_remove("AWS_PROFILE").env_remove("AWS_SESSION_TOKEN");
        command.env_remove("AWS_CA_BUNDLE");
    }

    /// The same for a program that is not waited for.
    pub(crate) fn tell_std(&self, command: &mut std::process::Command) {
        command.envs(self.variables()).env_remove("AWS_PROFILE").env_remove("AWS_SESSION_TOKEN");
        command.env_remove("AWS_CA_BUNDLE");
    }

    fn variables(&self) -> [(&str, &str); 7] {
        let Bucket { endpoint, credentials, .. } = self;
        [
            ("AWS_ACCESS_KEY_ID", credentials.access_key()),
            ("AWS_SECRET_ACCESS_KEY", credentials.secret_key()),
            ("AWS_ENDPOINT_URL_S3", endpoint),
            ("AWS_REGION", "us-east-1"),
            ("AWS_CONFIG_FILE", "/dev/null"),
            ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ]
    }

    #[track_caller]
    fn verify(&self, root: &Path, arguments: &[&str], status: i32, expected: &str) -> String {
        let outcome = self.s3(root, &[&["verify", "--no-cache"], arguments].concat());
        assert_eq!(outcome.status, Some(status), "{outcome:?}");
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "{outcome:?}");
        String::from_utf8_lossy(&outcome.stderr).into_owned()
    }
}

/// Bytes that no two parts have in common.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

pub(crate) fn write(root: &Path, name: &str, bytes: &[u8]) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
    fs::write(path, bytes).expect("a file");
}

pub(crate) const MIB: usize = 1 << 20;

/// A tree, and a bucket with the same under `p/`.
fn same() -> (TempDir, Bucket) {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    let large = bytes(11 * MIB);
    write(root, "tree/one", b"1");
    bucket.put("p/one", b"1", Proof::None);
    write(root, "tree/d/empty", b"");
    bucket.put("p/d/empty", b"", Proof::None);
    write(root, "tree/d.txt", b"before d/");
    bucket.put("p/d.txt", b"before d/", Proof::Trailer(ChecksumAlgorithm::Sha256));
    write(root, "tree/new\nline", b"2");
    bucket.put("p/new\nline", b"2", Proof::None);
    write(root, "tree/parts", &large);
    bucket.put_in_parts("p/parts", &large.chunks(5 * MIB).collect::<Vec<_>>(), None);
    write(root, "tree/uneven", &large);
    let (a, rest) = large.split_at(5 * MIB);
    let (b, c) = rest.split_at(5 * MIB + 77);
    let composite = Some((ChecksumAlgorithm::Sha256, ChecksumType::Composite));
    bucket.put_in_parts("p/uneven", &[a, b, c], composite);
    write(root, "tree/crc", &large);
    let crc = Some((ChecksumAlgorithm::Crc64Nvme, ChecksumType::FullObject));
    bucket.put_in_parts("p/crc", &[&large[..6 * MIB], &large[6 * MIB..]], crc);
    (directory, bucket)
}

#[test]
fn a_tree_and_a_bucket() {
    let (directory, bucket) = same();
    let root = directory.path();
    let said = bucket.verify(root, &["tree", "s3://bucket/p"], 0, "");
    assert!(said.contains("7 names: 7 same"), "{said}");
    assert!(said.contains("1 ListObjectsV2") && !said.contains("GetObject,"), "{said}");
    bucket.verify(root, &["s3://bucket/p/", "tree"], 0, "");
    bucket.verify(root, &["s3://bucket/p", "s3://bucket/p"], 0, "");

    // Everything that can differ, of the same size but for one.
    for name in ["one", "d.txt", "new\nline", "parts", "uneven", "crc"] {
        let path = root.join("tree").join(name);
        let mut bytes = fs::read(&path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).expect("a file");
    }
    write(root, "tree/d/empty", b"no more");
    write(root, "tree/e", b"e");
    bucket.put("p/f", b"f", Proof::None);
    let expected = "crc: differs\nd.txt: differs\nd/empty: differs\ne: missing\nf: extra\n\\new\\nline: differs\n\
                    one: differs\nparts: differs\nuneven: differs\n";
    let said = bucket.verify(root, &["tree", "s3://bucket/p"], 2 + 4 + 16, expected);
    assert!(said.contains("9 names: 0 same, 7 differ, 1 missing, 1 extra"), "{said}");
}

#[test]
fn what_was_compared() {
    let (directory, bucket) = same();
    let root = directory.path();
    let outcome = bucket.s3(root, &["verify", "--no-cache", "--json", "tree", "s3://bucket/p"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let lines: Vec<Value> = outcome
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("an object"))
        .collect();
    let of = |name: &str| lines.iter().find(|line| line["name"] == name).expect("a line").clone();
    assert_eq!(of("d/empty")["compared"], "empty");
    assert_eq!((&of("one")["compared"], &of("one")["from"]), (&"md5".into(), &serde_json::json!(["file", "etag"])));
    let parts = of("parts");
    assert_eq!(
        (&parts["compared"], &parts["parts"], &parts["part_size"]),
        (&"md5".into(), &3.into(), &(5 * MIB).into())
    );
    let uneven = of("uneven");
    assert_eq!((&uneven["compared"], &uneven["from"]), (&"sha256".into(), &serde_json::json!(["file", "checksum"])));
}

#[test]
fn lists_and_states() {
    let (directory, bucket) = same();
    let root = directory.path();
    let mut list = String::new();
    for (name, content) in [("d.txt", &b"before d/"[..]), ("one", b"1")] {
        list += &format!("{}  ./{name}\n", manyhash::digest(manyhash::Algorithm::Sha256, content));
    }
    list += &format!("{}  parts\n", manyhash::digest(manyhash::Algorithm::Sha256, bytes(11 * MIB)));
    write(root, "list", list.as_bytes());
    let others = "crc: extra\nd/empty: extra\n\\new\\nline: extra\n";
    // What S3 adds by itself is no SHA-256: the ETag of `one` is an MD5, and `parts` has neither.
    let outcome = bucket.s3(root, &["verify", "--no-cache", "list", "s3://bucket/p"]);
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    assert_eq!(outcome.status, Some(16 + 32), "{outcome:?}");
    assert!(text.contains("\none: unverified: ") && text.contains("\nparts: unverified: "), "{text}");
    assert!(!text.contains("d.txt"), "{text}");
    assert_eq!(
        bucket.s3(root, &["verify", "--no-cache", "--allow-unverified", "list", "s3://bucket/p"]).status,
        Some(16)
    );
    let expected = others.to_owned() + "uneven: extra\n";
    bucket.verify(root, &["--download", "list", "s3://bucket/p"], 16, &expected);
    write(root, "list", list.replace("  parts", "  partz").as_bytes());
    let expected = others.to_owned() + "parts: extra\npartz: missing\nuneven: extra\n";
    bucket.verify(root, &["--download", "list", "s3://bucket/p"], 4 + 16, &expected);
    // A tree against it, without a bucket.
    let missing =
        "crc: missing\nd/empty: missing\n\\new\\nline: missing\nparts: missing\npartz: extra\nuneven: missing\n";
    bucket.verify(root, &["tree", "list"], 4 + 16, missing);
}

#[test]
fn a_second_run_asks_for_lists_only() {
    let (directory, bucket) = same();
    let root = directory.path();
    let estimate = bucket.s3(root, &["verify", "--no-cache", "--dry-run", "--json", "tree", "s3://bucket/p"]);
    let estimate: Value = serde_json::from_slice(&estimate.stdout).expect("an object");
    assert_eq!((&estimate["ListObjectsV2"], &estimate["HeadObject"]), (&1.into(), &2.into()), "{estimate}");
    assert_eq!((&estimate["GetObjectAttributes"], &estimate["names"]), (&1.into(), &7.into()), "{estimate}");
    // A file of this moment is not remembered.
    std::thread::sleep(std::time::Duration::from_millis(3100));
    let said = bucket.verify(root, &["--state", "state", "tree", "s3://bucket/p"], 0, "");
    assert!(said.contains("2 HeadObject") && said.contains("1 GetObjectAttributes"), "{said}");
    let said = bucket.verify(root, &["--state", "state", "tree", "s3://bucket/p"], 0, "");
    assert!(said.contains("1 request: 1 ListObjectsV2\n"), "{said}");
    bucket.put("p/one", b"2", Proof::None);
    let said = bucket.verify(root, &["--state", "state", "tree", "s3://bucket/p"], 2, "one: differs\n");
    assert!(said.contains("1 HeadObject"), "{said}");
    let outcome = bucket.s3(root, &["verify", "--no-cache", "--state", "state", "tree", "s3://bucket/q"]);
    assert_eq!(outcome.status, Some(1));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("of another comparison"), "{outcome:?}");
}

#[test]
fn sides_that_are_none() {
    let (directory, bucket) = (directory(), Bucket::start());
    let root = directory.path();
    write(root, "tree/one", b"1");
    write(root, "text", b"no list\n");
    for (arguments, words) in [
        (["tree", "s3://"], "must follow s3://"),
        (["nowhere", "tree"], "No such file"),
        (["tree", "s3://no-such-bucket"], "no-such-bucket"),
        (["tree", "text"], "no properly formatted line"),
    ] {
        let outcome = bucket.s3(root, &[&["verify", "--no-cache"], &arguments[..]].concat());
        assert_eq!(outcome.status.map(|status| status & 1), Some(1), "{arguments:?} {outcome:?}");
        assert!(String::from_utf8_lossy(&outcome.stderr).contains(words), "{arguments:?} {outcome:?}");
    }
}

#[test]
fn objects_and_their_checksums() {
    let (directory, bucket) = same();
    let root = directory.path();
    let outcome = bucket.s3(root, &["ls", "s3://bucket/p/d"]);
    let expected = format!(
        "{:>14}  {}  p/d.txt\n{:>14}  d41d8cd98f00b204e9800998ecf8427e  p/d/empty\n",
        9,
        manyhash::digest(manyhash::Algorithm::Md5, "before d/"),
        0
    );
    assert_eq!((outcome.status, String::from_utf8_lossy(&outcome.stdout).into_owned()), (Some(0), expected));
    let outcome = bucket.s3(root, &["ls", "--checksums", "--json", "s3://bucket/p/"]);
    let lines: Vec<Value> = String::from_utf8_lossy(&outcome.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert_eq!(lines.len(), 7);
    let uneven = lines.last().expect("a line");
    assert_eq!((&uneven["name"], &uneven["size"]), (&"p/uneven".into(), &(11 * MIB).into()));
    assert_eq!(uneven["checksums"][0]["algorithm"], "SHA256");
    assert!(uneven["checksums"][0]["value"].as_str().is_some_and(|value| value.ends_with("-3")), "{uneven}");
    let outcome = bucket.s3(root, &["ls", "bucket"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
}
