//! A level of a Merkle tree: the SHA-256 of pairs of nodes.

use super::{Construction, Contestant};
use crate::error::Error;
use crate::subject::{Evp, MANYHASH};
use manyhash::Algorithm;
use manyhash::merkle::{Node, parents};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A level, the same in every run.
pub(super) fn nodes(count: usize) -> Vec<Node> {
    let mut nodes = vec![Node::default(); count];
    Xoshiro256PlusPlus::seed_from_u64(6).fill_bytes(nodes.as_flattened_mut());
    nodes
}

/// manyhash with the whole level; the peers pair by pair.
pub(super) fn construction(nodes: &[Node]) -> Result<Construction<'_>, Error> {
    let pairs = || nodes.as_flattened().chunks_exact(2 * size_of::<Node>());
    let own = |output: &mut [u8]| {
        parents(nodes, output.as_chunks_mut().0).expect("there is room for half as many");
    };
    let mut evp = Evp::new(Algorithm::Sha256)?;
    let mut digest = [0; 64];
    let openssl = move |output: &mut [u8]| {
        for (pair, parent) in pairs().zip(output.as_chunks_mut::<32>().0) {
            evp.digest(pair, &mut digest).expect("OpenSSL hashes any message");
            parent.copy_from_slice(&digest[..32]);
        }
    };
    let aws_lc = move |output: &mut [u8]| {
        for (pair, parent) in pairs().zip(output.as_chunks_mut::<32>().0) {
            // SAFETY: pointer and length are a slice's, and a parent has room for the digest.
            unsafe { aws_lc_sys::SHA256(pair.as_ptr(), pair.len(), parent.as_mut_ptr()) };
        }
    };
    let rustcrypto = move |output: &mut [u8]| {
        for (pair, parent) in pairs().zip(output.as_chunks_mut::<32>().0) {
            *parent = Sha256::digest(pair).into();
        }
    };
    let contestants = vec![
        Contestant::new(MANYHASH, own),
        Contestant::new("openssl", openssl),
        Contestant::new("aws-lc", aws_lc),
        Contestant::new("rustcrypto", rustcrypto),
    ];
    let (algorithm, items) = (Algorithm::Sha256, nodes.len() / 2);
    Ok(Construction {
        name: "merkle",
        algorithm,
        item: "pairs of nodes",
        items,
        length: 2 * size_of::<Node>(),
        width: 32,
        contestants,
    })
}
