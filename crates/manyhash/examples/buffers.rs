//! Hashes a vector of buffers with SHA-256 on all cores, and returns the digests in order.

use manyhash::{Algorithm, digest, digest_many};

fn main() {
    let buffers: Vec<Vec<u8>> = (0..1000).map(|i| vec![i as u8; 10 * i]).collect();
    let digests = digest_many(Algorithm::Sha256, &buffers);
    for (buffer, digest) in buffers.iter().zip(&digests).step_by(100) {
        println!("{digest}  {} bytes", buffer.len());
    }

    assert_eq!(digests[500], digest(Algorithm::Sha256, &buffers[500]));
}

#[test]
fn runs() {
    main();
}
