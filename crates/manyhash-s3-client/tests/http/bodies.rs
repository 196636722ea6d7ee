//! Bodies in all their forms, over TLS and without it.

use crate::setup::{Fake, Running, answer, noise};
use bytes::Bytes;
use futures_util::{TryStreamExt, stream};
use http::HeaderMap;
use manyhash_s3::checksum::{ChecksumAlgorithm, digest};
use manyhash_s3_client::http::{Client, Content, Error, Identity, Proof};
use manyhash_s3_client::remote::ReadRequest;
use manyhash_server::TlsFiles;
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/http/tls").join(name)
}

/// Content that is read in pieces of this many bytes.
fn streamed(body: &[u8], piece: usize) -> Content {
    let pieces: Vec<Bytes> = body.chunks(piece).map(Bytes::copy_from_slice).collect();
    let make = move || Box::pin(stream::iter(pieces.clone().into_iter().map(Ok))) as _;
    Content::from_stream(body.len() as u64, make)
}

/// Puts bodies in every form, and reads them.
async fn every_form(client: &Client) {
    let lengths = [0, 1, 8191, 8192, 65_535, 65_536, 65_537, 200_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 2_500_000];
    for (i, length) in lengths.into_iter().enumerate() {
        let body = noise(length, i as u64);
        let algorithm = ChecksumAlgorithm::ALL[i % 10];
        let sha256 = manyhash::digest(manyhash::Algorithm::Sha256, &body).as_bytes().try_into().unwrap();
        let md5 = manyhash::digest(manyhash::Algorithm::Md5, &body).as_bytes().try_into().unwrap();
        let contents = [
            Content::from(body.clone()),
            Content::from_pieces(body.chunks(777).map(Bytes::copy_from_slice)),
            streamed(&body, 1000),
            streamed(&body, 100_000),
            streamed(&body, 1000).with_sha256(sha256),
        ];
        let checksum = digest(algorithm, &body);
        let proofs = [Proof::None, Proof::Header(checksum), Proof::Trailer(algorithm), Proof::ContentMd5(md5)];
        for content in &contents {
            for proof in proofs {
                let about = format!("{length} bytes, {proof:?}");
                let mut headers = HeaderMap::new();
                headers.insert("content-encoding", "gzip".parse().unwrap());
                let written = client.put_object("k", content, proof, &headers).await.expect(&about);
                if matches!(proof, Proof::Header(_) | Proof::Trailer(_)) {
                    assert_eq!(written.checksums[0].checksum, checksum, "{about}");
                }
            }
        }
        let got: Vec<Bytes> =
            client.get_object("k", ReadRequest::default()).await.unwrap().try_collect().await.unwrap();
        assert!(got.concat() == body, "{length}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tls() {
    let server = Running::start(None).await;
    every_form(&server.client(|_| {}).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tls() {
    let tls = TlsFiles { certificate: file("certificate.pem"), key: file("key.pem") };
    let server = Running::start(Some(tls)).await;
    let client = server.client(|options| options.ca_bundle = Some(file("certificate.pem"))).await;
    every_form(&client).await;

    // Nothing is sent to whom nobody vouches for, and no attempt is made again.
    let identity = Identity::Keys(server.credentials.clone());
    let stranger = crate::setup::client(&server.endpoint, |options| options.identity = identity).await;
    let error = stranger.list_objects("", None).await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    assert_eq!(stranger.counts().total(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_algorithm_in_a_trailer() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let body = noise(150_000, 7);
    for algorithm in ChecksumAlgorithm::ALL {
        let content = streamed(&body, 999);
        let written = client.put_object("k", &content, Proof::Trailer(algorithm), &HeaderMap::new()).await.unwrap();
        assert_eq!(written.checksums[0].checksum, digest(algorithm, &body));
        let wrong = Proof::Header(digest(algorithm, b"other"));
        let error = client.put_object("k", &content, wrong, &HeaderMap::new()).await.unwrap_err();
        assert_eq!(error.refusal().unwrap().code, "BadDigest");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_told() {
    let fake = Fake::script(vec![answer(200, &[], "")]).await;
    let client = fake.client().await;
    let put = async |content: Content| client.put_object("k", &content, Proof::None, &HeaderMap::new()).await;
    let failing = || Box::pin(stream::iter([Ok(Bytes::from_static(b"abc")), Err(std::io::Error::other("torn"))])) as _;
    let error = put(Content::from_stream(10, failing)).await.unwrap_err();
    assert!(matches!(error, Error::Content { .. }) && error.to_string().contains("torn"), "{error}");
    for (length, words) in [(9, "longer"), (11, "shorter")] {
        let make = || Box::pin(stream::iter([Ok(Bytes::from_static(b"0123456789"))])) as _;
        let error = put(Content::from_stream(length, make)).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(client.counts().total(), 3, "no attempt is made again");
    assert!(fake.got().is_empty(), "nothing came whole");
}
