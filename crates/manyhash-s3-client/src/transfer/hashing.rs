//! What is computed of a part before it is sent: all in lanes from one reading, and by the CPU's own instructions where
//! there are some for a function.

use super::error::Error;
use crate::http::{Content, Proof};
use bytes::Bytes;
use manyhash::engine::Engine;
use manyhash::{Algorithm, Digest};
use manyhash_s3::checksum::{self, Checksum, ChecksumAlgorithm};

/// Bytes that go to a connection at a time. A connection counts as silent if nothing of a piece leaves for a minute.
const PIECE: usize = 256 << 10;

/// What is known of a part, or of an object in one upload.
#[derive(Clone, Debug)]
pub(super) struct PartDigests {
    pub(super) md5: [u8; 16],
    /// For the signature of the request, where it is signed.
    sha256: Option<[u8; 32]>,
    pub(super) checksum: Option<Checksum>,
    /// What else was asked for.
    pub(super) digest: Option<Digest>,
}

/// Computes what is known of bytes. `signs` asks for the SHA-256 that is signed, and `also` for a digest of the caller's.
pub(super) async fn digests(
    engine: &Engine,
    bytes: &Bytes,
    checksum: Option<ChecksumAlgorithm>,
    signs: bool,
    also: Option<Algorithm>,
) -> Result<PartDigests, Error> {
    let mut algorithms = vec![Algorithm::Md5];
    let others = [signs.then_some(Algorithm::Sha256), checksum.and_then(ChecksumAlgorithm::lanes), also];
    for algorithm in others.into_iter().flatten() {
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    let digesting = engine.digest(algorithms.clone(), bytes.clone());
    // While the engine waits for others to share lanes with.
    let own = checksum.filter(|checksum| checksum.lanes().is_none());
    let own = own.map(|algorithm| checksum::digest(algorithm, bytes));
    let digests = digesting.await?;
    let of = |algorithm: Algorithm| {
        let found = algorithms.iter().zip(&digests).find(|(candidate, _)| **candidate == algorithm);
        found.map(|(_, digest)| *digest)
    };
    let in_lanes = checksum.and_then(|algorithm| {
        let digest = of(algorithm.lanes()?)?;
        Checksum::new(algorithm, digest.as_bytes()).ok()
    });
    let md5 = of(Algorithm::Md5).and_then(|digest| digest.as_bytes().try_into().ok());
    let sha256 = if signs { of(Algorithm::Sha256) } else { None };
    Ok(PartDigests {
        // The engine returns what it was asked for.
        md5: md5.unwrap_or_default(),
        sha256: sha256.and_then(|digest| digest.as_bytes().try_into().ok()),
        checksum: own.or(in_lanes),
        digest: also.and_then(of),
    })
}

impl PartDigests {
    /// What is sent.
    pub(super) fn content(&self, bytes: &Bytes) -> Content {
        let pieces = (0..bytes.len()).step_by(PIECE).map(|at| bytes.slice(at..bytes.len().min(at + PIECE)));
        let content = Content::from_pieces(pieces);
        match self.sha256 {
            Some(sha256) => content.with_sha256(sha256),
            None => content,
        }
    }

    /// What it is sent with: its checksum, or where there is none its MD5, which every service compares.
    pub(super) fn proof(&self) -> Proof {
        self.checksum.map_or(Proof::ContentMd5(self.md5), Proof::Header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyhash::{Md5, Sha256};

    #[tokio::test]
    async fn all_of_one_reading() {
        let engine = Engine::builder().build().unwrap();
        for length in [0, 1, 1000, PIECE - 1, PIECE, 3 * PIECE + 1] {
            let bytes = Bytes::from(vec![length as u8; length]);
            for algorithm in ChecksumAlgorithm::ALL.map(Some).into_iter().chain([None]) {
                for (signs, also) in [(false, None), (true, None), (true, Some(Algorithm::Sha256))] {
                    let found = digests(&engine, &bytes, algorithm, signs, also).await.unwrap();
                    assert_eq!(found.md5, Md5::digest(&bytes));
                    assert_eq!(found.sha256, signs.then(|| Sha256::digest(&bytes)));
                    assert_eq!(found.checksum, algorithm.map(|algorithm| checksum::digest(algorithm, &bytes)));
                    assert_eq!(found.digest, also.map(|also| manyhash::digest(also, &bytes)));
                    assert_eq!(found.content(&bytes).length(), length as u64);
                    let proof = algorithm.map(|algorithm| Proof::Header(checksum::digest(algorithm, &bytes)));
                    assert_eq!(found.proof(), proof.unwrap_or(Proof::ContentMd5(Md5::digest(&bytes))));
                }
            }
        }
    }
}
