//! PBKDF2 with HMAC, RFC 8018 (5.2): keys of many passwords or salts at once.
//!
//! Each block of a key is a serial chain of iterations. Lanes carry chains side by side, each with its own password and
//! salt, and cores multiply that. In the lanes a tag is already the next message: nothing is moved between iterations.

use crate::batch::pool::Cores;
use crate::family::with_family;
use crate::hasher::Variant;
use crate::hmac::HmacKey;
use crate::lanes::Planned;
use crate::running::{self, Prefix};
use crate::short::ShortPlan;
use crate::{Algorithm, Digest};
use manyhash_core::family::MAX_DIGEST_BYTES;
use manyhash_core::{Chains, State, Word};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

/// The requested key is longer than PBKDF2 can make it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot derive a key of {bytes} bytes: PBKDF2 makes at most {most} with this algorithm")]
pub struct KeyLengthError {
    bytes: usize,
    most: u64,
}

/// A block of a key.
struct Chain {
    key: HmacKey,
    first: Digest,
}

/// Derives a key of `length` bytes from each password and salt, on all cores, and returns the keys in order.
///
/// ```
/// use manyhash::{Algorithm, pbkdf2_many};
/// use std::num::NonZeroU32;
///
/// let iterations = NonZeroU32::new(2).expect("it is not 0");
/// let keys = pbkdf2_many(Algorithm::Sha1, &[("password", "salt"), ("other", "salt")], iterations, 20)?;
/// assert_eq!(keys[0][..4], [0xea, 0x6c, 0x01, 0x4d]); // RFC 6070
/// # Ok::<(), manyhash::KeyLengthError>(())
/// ```
///
/// # Errors
/// Returns an error if a key would be longer than 2^32 - 1 digests.
pub fn pbkdf2_many<P: AsRef<[u8]>, S: AsRef<[u8]>>(
    algorithm: Algorithm,
    passwords_and_salts: &[(P, S)],
    iterations: NonZeroU32,
    length: usize,
) -> Result<Vec<Vec<u8>>, KeyLengthError> {
    let bytes = algorithm.digest_bytes();
    let blocks = length.div_ceil(bytes);
    let too_long = KeyLengthError { bytes: length, most: u64::from(u32::MAX) * bytes as u64 };
    let blocks = u32::try_from(blocks).map_err(|_| too_long)?;
    let mut chains = Vec::new();
    for (password, salt) in passwords_and_salts {
        let (key, salt) = (HmacKey::new(algorithm, password.as_ref()), salt.as_ref());
        for block in 1..=blocks {
            let mut message = key.inner();
            message.update(salt);
            message.update(block.to_be_bytes());
            let first = Digest::new(&key.finish(message), algorithm);
            chains.push(Chain { key: key.clone(), first });
        }
    }
    let mut tags = vec![[0; MAX_DIGEST_BYTES]; chains.len()];
    with_family!(algorithm, F, _start => iterate::<F>(&chains, iterations.get() - 1, bytes, &mut tags));
    let key = |tags: &[[u8; MAX_DIGEST_BYTES]]| {
        let mut key = Vec::with_capacity(length);
        tags.iter().for_each(|tag| key.extend_from_slice(&tag[..bytes.min(length - key.len())]));
        key
    };
    // No blocks at all make keys of no bytes.
    Ok(passwords_and_salts
        .iter()
        .enumerate()
        .map(|(i, _)| key(&tags[i * blocks as usize..][..blocks as usize]))
        .collect())
}

/// Writes the sum of each chain's tags, the first included, after so many more iterations.
fn iterate<F: Planned + Variant>(chains: &[Chain], iterations: u32, bytes: usize, sums: &mut [[u8; MAX_DIGEST_BYTES]]) {
    let plan = F::short_plan();
    let cores = Cores::promised(chains.len().div_ceil(plan.worth().max(1)));
    // Half-full lanes on two cores end sooner than full lanes on one.
    let group = chains.len().div_ceil(cores.count()).clamp(1, plan.kernel().lanes());
    let tasks = Mutex::new(chains.chunks(group).zip(sums.chunks_mut(group)));
    cores.run(|| {
        loop {
            let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((chains, sums)) = task else { return };
            if chains.len() >= plan.worth() {
                in_lanes::<F>(plan, chains, iterations, bytes, sums);
            } else {
                chains.iter().zip(sums).for_each(|(chain, sum)| *sum = alone::<F>(chain, iterations, bytes));
            }
        }
    });
}

/// The state that is written as a digest.
fn state<F: Planned>(digest: &Digest) -> State<F> {
    // The last word of some digests is not whole.
    let mut bytes = [0; MAX_DIGEST_BYTES];
    bytes[..digest.as_bytes().len()].copy_from_slice(digest.as_bytes());
    let mut state = F::zero();
    for (word, bytes) in state.as_mut().iter_mut().zip(bytes.chunks_exact(F::Word::BYTES)) {
        *word = F::Word::read(F::BIG_ENDIAN, bytes);
    }
    state
}

fn in_lanes<F: Planned + Variant>(
    plan: &ShortPlan<F>,
    chains: &[Chain],
    iterations: u32,
    bytes: usize,
    sums: &mut [[u8; MAX_DIGEST_BYTES]],
) {
    let mut lanes = Box::new(Chains::<F>::default());
    for (lane, chain) in chains.iter().enumerate() {
        let [inner, outer] = chain.key.prefixes::<F>();
        lanes.inner.set(lane, &inner.state);
        lanes.outer.set(lane, &outer.state);
        let first = state::<F>(&chain.first);
        lanes.tags.set(lane, &first);
        lanes.sums.set(lane, &first);
    }
    plan.kernel().iterate(&mut lanes, bytes, iterations);
    for (lane, sum) in sums.iter_mut().enumerate() {
        *sum = *F::digest(&lanes.sums.get(lane));
    }
}

/// One chain, as the best code for one message does it.
fn alone<F: Planned + Variant>(chain: &Chain, iterations: u32, bytes: usize) -> [u8; MAX_DIGEST_BYTES] {
    let [inner, outer]: [Prefix<F>; 2] = chain.key.prefixes();
    let mut tag = [0; MAX_DIGEST_BYTES];
    tag[..bytes].copy_from_slice(chain.first.as_bytes());
    let mut sum = tag;
    for _ in 0..iterations {
        tag = *running::digest::<F>(&inner.state, inner.bytes, &tag[..bytes]);
        tag = *running::digest::<F>(&outer.state, outer.bytes, &tag[..bytes]);
        sum.iter_mut().zip(&tag).for_each(|(sum, tag)| *sum ^= tag);
    }
    sum
}
