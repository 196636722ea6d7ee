//! `manyhash s3 etag --like` of an object on a server on this machine.

use crate::common::{directory, run};
use manyhash_s3::sign::Credentials;
use manyhash_s3::xml::CompletedPart;
use manyhash_s3_client::http::{Client, Completion, Config, Content, Identity, Options, Proof};
use manyhash_server::Server;
use std::fs;
use std::path::Path;

/// Serves a bucket, and puts an object of these parts there; the endpoint, and the keys to it.
async fn serve(objects: &Path, parts: &[&[u8]]) -> (String, Credentials) {
    let mut config = manyhash_server::Config::new(objects);
    config.listen = ([127, 0, 0, 1], 0).into();
    (config.admin, config.reserve) = (None, 0);
    let server = Server::bind(config).await.expect("a server");
    let (endpoint, credentials) = (server.endpoint(), server.temporary_key().expect("a key").clone());
    tokio::spawn(server.run(std::future::pending()));
    let mut options = Options::default();
    (options.endpoint, options.region) = (Some(endpoint.clone()), Some("us-east-1".to_owned()));
    options.identity = Identity::Keys(credentials.clone());
    let client = Client::new(Config::load(options).await.expect("settings"), "bucket").expect("a bucket");
    let headers = Default::default();
    client.put_object("", &"".into(), Proof::None, &headers).await.expect("a bucket");
    client.put_object("whole", &"1".into(), Proof::None, &headers).await.expect("an object");
    let upload = client.create_multipart_upload("parts", None, &headers).await.expect("an upload");
    let mut completion = Completion::default();
    for (number, part) in (1..).zip(parts) {
        let content = Content::from(part.to_vec());
        let written = client.upload_part("parts", &upload, number, &content, Proof::None).await.expect("a part");
        let etag = written.etag.expect("a tag");
        completion.parts.push(CompletedPart { part_number: number as i32, etag, checksums: Default::default() });
    }
    client.complete_multipart_upload("parts", &upload, completion).await.expect("an object");
    (endpoint, credentials)
}

#[test]
fn the_service_tells_the_cut() {
    let directory = directory();
    let root = directory.path();
    let bytes: Vec<u8> = (0..12_000_001_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    // A size that no guess would try.
    let part_size = 5 * 1024 * 1024 + 77;
    let parts: Vec<&[u8]> = bytes.chunks(part_size).collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (endpoint, credentials) = runtime.block_on(serve(&root.join("objects"), &parts));
    let etag = |like: &str, file: &str| {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("manyhash");
        command
            .env("AWS_ACCESS_KEY_ID", credentials.access_key())
            .env("AWS_SECRET_ACCESS_KEY", credentials.secret_key())
            .env("AWS_REGION", "us-east-1")
            .env("AWS_CONFIG_FILE", "/dev/null")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env_remove("AWS_CA_BUNDLE");
        run(command, root, &["s3", "etag", "--json", "--endpoint-url", &endpoint, "--like", like, file], b"")
    };
    fs::write(root.join("file"), &bytes).expect("a file");
    let outcome = etag("s3://bucket/parts", "file");
    let line = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.status == Some(0) && line.contains(&format!("-3\",\"part_size\":{part_size}}}")), "{outcome:?}");
    fs::write(root.join("file"), &bytes[1..]).expect("a file");
    let outcome = etag("s3://bucket/parts", "file");
    assert_eq!((outcome.status, outcome.stdout.len()), (Some(1), 0), "{outcome:?}");
    fs::write(root.join("file"), "1").expect("a file");
    let outcome = etag("s3://bucket/whole", "file");
    let expected = "{\"name\":\"file\",\"size\":1,\"etag\":\"c4ca4238a0b923820dcc509a6f75849b\"}\n";
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "{outcome:?}");
    let outcome = etag("s3://bucket/none", "file");
    assert!(outcome.status == Some(1) && outcome.stderr.starts_with(b"manyhash: --like: "), "{outcome:?}");
}
