//! OpenSSL's EVP: the algorithm fetched once, a context kept for all messages of a part.

use super::{Buffer, Grain, Hasher, Job, Split, Subject, Task};
use crate::error::Error;
use foreign_types::ForeignTypeRef;
use manyhash::Algorithm;
use openssl::error::ErrorStack;
use openssl::md::Md;
use openssl::md_ctx::MdCtx;

pub(crate) struct OpenSsl;

impl Subject for OpenSsl {
    fn name(&self) -> &'static str {
        "openssl"
    }

    fn supports(&self, algorithm: Algorithm) -> bool {
        // It has no Keccak-256, and its builds may leave out more.
        Md::fetch(None, algorithm.name(), None).is_ok()
    }

    fn task<'a>(&self, job: &Job<'a>) -> Result<Box<dyn Task + 'a>, Error> {
        Split::task(job, Grain::Fine, || Ok(Evp::new(job.algorithm)?))
    }
}

/// A context, which is kept from message to message.
pub(crate) struct Evp {
    algorithm: Md,
    context: MdCtx,
}

impl Evp {
    pub(crate) fn new(algorithm: Algorithm) -> Result<Self, ErrorStack> {
        Ok(Evp { algorithm: Md::fetch(None, algorithm.name(), None)?, context: MdCtx::new()? })
    }

    pub(crate) fn start(&mut self) -> Result<(), ErrorStack> {
        self.context.digest_init(&self.algorithm)
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) -> Result<(), ErrorStack> {
        self.context.digest_update(bytes)
    }

    /// The digest is followed by bytes that mean nothing.
    pub(crate) fn finish(&mut self, digest: &mut [u8; 64]) -> Result<(), ErrorStack> {
        // SAFETY: `context` is live; if no message was started OpenSSL says so. `digest` has room for EVP_MAX_MD_SIZE,
        // 64 bytes, and the length may be null. `MdCtx::digest_final` would do, were it not EVP_DigestFinal, which
        // frees the state.
        let done = unsafe {
            openssl_sys::EVP_DigestFinal_ex(self.context.as_ptr(), digest.as_mut_ptr(), std::ptr::null_mut())
        };
        if done == 1 { Ok(()) } else { Err(ErrorStack::get()) }
    }

    pub(crate) fn digest(&mut self, message: &[u8], digest: &mut [u8; 64]) -> Result<(), ErrorStack> {
        self.start()?;
        self.update(message)?;
        self.finish(digest)
    }
}

impl Hasher for Evp {
    type Digest = Buffer;

    fn hash(&mut self, messages: &[&[u8]], digests: &mut [Buffer]) {
        for (message, digest) in messages.iter().zip(digests) {
            self.digest(message, &mut digest.0).expect("OpenSSL hashes any message");
        }
    }
}
