//! A bucket on a server on this machine, and what tests put there.

use crate::common::{Outcome, run};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use manyhash_s3::sign::Credentials;
use manyhash_s3::xml::CompletedPart;
use manyhash_s3_client::http::{Client, Completion, Config, Content, Identity, Options, Proof};
use manyhash_server::Server;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tokio::runtime::Runtime;

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

    pub(crate) fn put_in_parts(&self, key: &str, parts: &[&[u8]], checksum: Option<(ChecksumAlgorithm, ChecksumType)>) {
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
    pub(crate) fn verify(&self, root: &Path, arguments: &[&str], status: i32, expected: &str) -> String {
        let outcome = self.s3(root, &[&["verify", "--no-cache"], arguments].concat());
        assert_eq!(outcome.status, Some(status), "{outcome:?}");
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "{outcome:?}");
        String::from_utf8_lossy(&outcome.stderr).into_owned()
    }
}
