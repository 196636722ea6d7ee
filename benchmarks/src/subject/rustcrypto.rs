//! RustCrypto's `md-5`, `sha1` and `sha2`.

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

    fn supports(&self, algorithm: Algorithm) -> bool {
        use Algorithm::{Md5, Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_256};
        matches!(algorithm, Md5 | Sha1 | Sha224 | Sha256 | Sha384 | Sha512 | Sha512_256)
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
            _ => unreachable!("a task is made for supported algorithms only"),
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
