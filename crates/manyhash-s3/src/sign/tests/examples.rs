//! AWS's examples of 2013-05-24: "Signature Calculations for the Authorization Header", "Using Query Parameters".

use super::*;

const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn assert_signed(mut request: request::Parts, payload_hash: &str, names: &str, expected: &str) {
    let signature = sign(&mut request, &credentials(), REGION, payload_hash, now()).unwrap();
    assert_eq!(signature.to_string(), expected);
    assert_eq!(
        request.headers["authorization"],
        format!(
            "AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20130524/us-east-1/s3/aws4_request, SignedHeaders={names}, \
             Signature={expected}"
        )
    );
    assert!(request.headers["authorization"].is_sensitive());
    assert_eq!(verify(&request), Ok(signature));
}

#[test]
fn get_object() {
    let uri = "https://examplebucket.s3.amazonaws.com/test.txt";
    assert_signed(
        request(Method::GET, uri, &[("range", "bytes=0-9")]),
        EMPTY,
        "host;range;x-amz-content-sha256;x-amz-date",
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
}

#[test]
fn put_object() {
    let uri = "https://examplebucket.s3.amazonaws.com/test$file.text";
    let headers = [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")];
    assert_signed(
        request(Method::PUT, uri, &headers),
        &Payload::Sha256(sha256("Welcome to Amazon S3.")).as_str(),
        "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    );
}

#[test]
fn get_bucket_lifecycle() {
    assert_signed(
        request(Method::GET, "https://examplebucket.s3.amazonaws.com/?lifecycle", &[]),
        EMPTY,
        "host;x-amz-content-sha256;x-amz-date",
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    );
}

#[test]
fn list_objects() {
    assert_signed(
        request(Method::GET, "https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2", &[]),
        EMPTY,
        "host;x-amz-content-sha256;x-amz-date",
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    );
}

#[test]
fn put_object_in_chunks() {
    let headers = [
        ("content-encoding", "aws-chunked"),
        ("content-length", "66824"),
        ("x-amz-decoded-content-length", "66560"),
        ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
    ];
    assert_signed(
        request(Method::PUT, "https://s3.amazonaws.com/examplebucket/chunkObject.txt", &headers),
        &Payload::StreamingSigned.as_str(),
        "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;\
         x-amz-storage-class",
        "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    );
}

#[test]
fn put_object_in_chunks_with_a_trailer() {
    let headers = [
        ("content-encoding", "aws-chunked"),
        ("x-amz-decoded-content-length", "66560"),
        ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ("x-amz-trailer", "x-amz-checksum-crc32c"),
    ];
    assert_signed(
        request(Method::PUT, "https://s3.amazonaws.com/examplebucket/chunkObject.txt", &headers),
        &Payload::StreamingSignedTrailer.as_str(),
        "content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class;\
         x-amz-trailer",
        "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
    );
}

#[test]
fn presigned_url() {
    let uri = Uri::from_static("https://examplebucket.s3.amazonaws.com/test.txt");
    let url = presign(&Method::GET, &uri, &HeaderMap::new(), &credentials(), REGION, 86_400, now()).unwrap();
    assert_eq!(
        url.to_string(),
        "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
         &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
         &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
         &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    );
    verify(&request(Method::GET, &url.to_string(), &[])).unwrap();
}
