//! A function over RustCrypto's trait `digest::Digest`, with one of manyhash's types: the feature `digest`.
//!
//! One message at a time gains nothing from lanes. The types are for code that takes any `Digest`.

use digest::Digest;
use std::io::{self, Read};

/// Hashes everything that a reader yields.
fn digest_of<D: Digest>(mut reader: impl Read) -> io::Result<Vec<u8>> {
    let mut digest = D::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            return Ok(digest.finalize().to_vec());
        }
        digest.update(&buffer[..read]);
    }
}

fn main() -> io::Result<()> {
    let message = vec![7; 1 << 20];
    let ours = digest_of::<manyhash::Sha256>(&message[..])?;
    let theirs = digest_of::<sha2::Sha256>(&message[..])?;
    println!("{}", manyhash::digest(manyhash::Algorithm::Sha256, &message));

    assert_eq!(ours, theirs);
    Ok(())
}

#[test]
fn runs() -> io::Result<()> {
    main()
}
