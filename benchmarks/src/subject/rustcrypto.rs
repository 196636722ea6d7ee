//! RustCrypto's crates, one for each family.

use super::{Grain, Hasher, Job, Split, Subject, Task};
use crate::error::Error;
use manyhash::Algorithm;
use sha2::Digest;
use sha2::digest::Output;
use std::marker::PhantomData;

pub(crate) struct RustCrypto;

impl Subject for RustCrypto {
    fn name(&self) -> &'static str {
        "rustcrypto"
    }

    fn supports(&self, _: Algorithm) -> bool {
        true
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        match job.algorithm {
            Algorithm::Md5 => task::<md5::Md5>(job),
            Algorithm::Sha1 => task::<sha1::Sha1>(job),
            Algorithm::Sha224 => task::<sha2::Sha224>(job),
            Algorithm::Sha256 => task::<sha2::Sha256>(job),
            Algorithm::Sha384 => task::<sha2::Sha384>(job),
            Algorithm::Sha512 => task::<sha2::Sha512>(job),
            Algorithm::Sha512_256 => task::<sha2::Sha512_256>(job),
            Algorithm::Sha3_224 => task::<sha3::Sha3_224>(job),
            Algorithm::Sha3_256 => task::<sha3::Sha3_256>(job),
            Algorithm::Sha3_384 => task::<sha3::Sha3_384>(job),
            Algorithm::Sha3_512 => task::<sha3::Sha3_512>(job),
            Algorithm::Keccak256 => task::<sha3::Keccak256>(job),
            Algorithm::Sm3 => task::<sm3::Sm3>(job),
            Algorithm::Ripemd160 => task::<ripemd::Ripemd160>(job),
            other => unreachable!("{other} has no peer here"),
        }
    }
}

fn task<'a, D: Digest + Send + 'a>(job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error>
where
    Output<D>: Send,
{
    Split::task(job, Grain::Fine, || Ok(OneShot::<D>(PhantomData)))
}

struct OneShot<D>(PhantomData<D>);

impl<D: Digest + Send> Hasher for OneShot<D>
where
    Output<D>: Send,
{
    type Digest = Output<D>;

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [Output<D>]) {
        for (message, digest) in messages.iter().zip(digests) {
            *digest = D::digest(message);
        }
    }
}
