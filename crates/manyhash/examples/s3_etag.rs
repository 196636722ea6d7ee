//! Computes the ETag that S3 gives an object: the MD5 of its bytes or, for a multipart upload, the MD5 of its parts'
//! MD5s and the number of parts.
//!
//! The parts are hashed side by side. One part alone gains nothing from lanes.

use manyhash::{Algorithm, Batch, Md5, digest};

/// Number of bytes in every part except the last: the AWS CLI's default.
const PART: usize = 8 << 20;

fn etag(object: &[u8]) -> String {
    if object.len() < PART {
        return format!("\"{}\"", digest(Algorithm::Md5, object));
    }
    let parts: Vec<&[u8]> = object.chunks(PART).collect();
    let digests = Batch::new(Algorithm::Md5).digest_many_packed(&parts);
    format!("\"{}-{}\"", digest(Algorithm::Md5, digests.as_bytes()), parts.len())
}

fn main() {
    let object = vec![7; 2 * PART + 1];
    println!("{} of {} bytes", etag(&object[..1000]), 1000);
    println!("{} of {} bytes", etag(&object), object.len());

    let digests = object.chunks(PART).map(Md5::digest).collect::<Vec<_>>();
    assert_eq!(etag(&object), format!("\"{}-3\"", digest(Algorithm::Md5, digests.as_flattened())));
}

#[test]
fn runs() {
    main();
}
