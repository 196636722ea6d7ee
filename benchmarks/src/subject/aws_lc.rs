//! AWS-LC: its calls for a whole message, which `aws_lc_rs::digest::digest` wraps too.

use super::{Buffer, Grain, Hasher, Job, Split, Subject, Task};
use crate::error::Error;
use manyhash::Algorithm;

pub(crate) struct AwsLc;

impl Subject for AwsLc {
    fn name(&self) -> &'static str {
        "aws-lc"
    }

    fn supports(&self, algorithm: Algorithm) -> bool {
        one_shot(algorithm).is_some()
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        let digest = one_shot(job.algorithm).expect("a task is made for supported algorithms only");
        aws_lc_sys::init();
        Split::task(job, Grain::Fine, || Ok(AwsLcDigest(digest)))
    }
}

/// Message, its length, and room for the digest.
type OneShot = unsafe extern "C" fn(*const u8, usize, *mut u8) -> *mut u8;

fn one_shot(algorithm: Algorithm) -> Option<OneShot> {
    Some(match algorithm {
        Algorithm::Md5 => aws_lc_sys::MD5,
        Algorithm::Sha1 => aws_lc_sys::SHA1,
        Algorithm::Sha224 => aws_lc_sys::SHA224,
        Algorithm::Sha256 => aws_lc_sys::SHA256,
        Algorithm::Sha384 => aws_lc_sys::SHA384,
        Algorithm::Sha512 => aws_lc_sys::SHA512,
        Algorithm::Sha512_256 => aws_lc_sys::SHA512_256,
        _ => return None,
    })
}

struct AwsLcDigest(OneShot);

impl Hasher for AwsLcDigest {
    type Digest = Buffer;

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [Buffer]) {
        for (message, digest) in messages.iter().zip(digests) {
            // SAFETY: the pointer and length are a slice's, and no digest of `one_shot` is longer than the 64 bytes.
            unsafe { (self.0)(message.as_ptr(), message.len(), digest.0.as_mut_ptr()) };
        }
    }
}
