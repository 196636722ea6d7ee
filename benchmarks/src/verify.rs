//! Digests are checked before anything is timed: a fast wrong answer is no answer.
//!
//! What the digests should be is said by OpenSSL, and confirmed for each message by one that shares no code with it:
//! the reference implementation for short messages, RustCrypto for those it is too slow for.

use crate::error::Error;
use crate::subject::{self, Job, Kind, Subject};
use manyhash::Algorithm;
use manyhash_core::reference;

/// The longest message that the reference implementation hashes, in bytes.
const REFERENCE_MAX: usize = 4096;

/// The digests that every standard subject must agree on.
pub(crate) struct Expected(Vec<Vec<u8>>);

impl Expected {
    /// The digests, in the order of the messages.
    pub(crate) fn digests(self) -> Vec<Vec<u8>> {
        self.0
    }
}

/// What a digest is of.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) subject: &'static str,
    pub(crate) algorithm: Algorithm,
    pub(crate) load: &'static str,
    /// The message's number, and how many bytes it has.
    pub(crate) message: usize,
    pub(crate) length: usize,
}

impl Origin {
    /// # Errors
    /// If the digest, which may be followed by unused bytes, is not the one expected.
    pub(crate) fn same(self, digest: &[u8], expected: &[u8]) -> Result<(), Error> {
        let digest = digest.get(..expected.len()).unwrap_or(digest);
        if digest == expected {
            return Ok(());
        }
        let Origin { subject, algorithm, load, message, length } = self;
        Err(Error::WrongDigest {
            subject,
            algorithm,
            load,
            message,
            length,
            wrong: hex(digest),
            expected: hex(expected),
        })
    }
}

/// Asks the witnesses.
///
/// # Errors
/// If they disagree.
pub(crate) fn expected(load: &'static str, job: &Job) -> Result<Expected, Error> {
    let confirmed = digests(job, &subject::RUSTCRYPTO)?;
    let has_openssl = subject::OPENSSL.supports(job.algorithm);
    let expected = if has_openssl { digests(job, &subject::OPENSSL)? } else { confirmed.clone() };
    for (i, message) in job.messages.iter().enumerate() {
        let origin = origin(load, job, "openssl", i);
        if message.len() <= REFERENCE_MAX {
            let digest = reference::digest(job.algorithm, message);
            origin.same(&expected[i], &digest[..job.algorithm.digest_bytes()])?;
        } else {
            origin.same(&expected[i], &confirmed[i])?;
        }
    }
    Ok(Expected(expected))
}

fn digests(job: &Job, witness: &dyn Subject) -> Result<Vec<Vec<u8>>, Error> {
    let mut task = witness.task(job)?;
    task.run(1);
    Ok(task.digests().iter().map(|digest| digest[..job.algorithm.digest_bytes()].to_vec()).collect())
}

/// Checks a subject's digests: whether they were checked, for there may be none.
///
/// # Errors
/// If one is wrong.
pub(crate) fn check(
    load: &'static str,
    job: &Job,
    subject: &dyn Subject,
    expected: &Expected,
    digests: &[&[u8]],
) -> Result<Option<bool>, Error> {
    assert_eq!(digests.len(), job.messages.len(), "a task yields a digest for each message");
    for (i, (digest, message)) in digests.iter().zip(job.messages).enumerate() {
        let origin = origin(load, job, subject.name(), i);
        match subject.kind() {
            Kind::Standard => origin.same(digest, &expected.0[i])?,
            Kind::Orientation(digest_again) => origin.same(digest, &digest_again(message))?,
            Kind::Ceiling => return Ok(None),
        }
    }
    Ok(Some(true))
}

fn origin(load: &'static str, job: &Job, subject: &'static str, message: usize) -> Origin {
    Origin { subject, algorithm: job.algorithm, load, message, length: job.messages[message].len() }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Expected, check, expected};
    use crate::error::Error;
    use crate::subject::{ALL, Call, Job, Threads};
    use manyhash::Algorithm;

    fn job(algorithm: Algorithm, threads: usize) -> Job<'static> {
        let call = if threads == 1 { Call::One } else { Call::Many };
        Job { algorithm, messages: &[b"", b"abc", &[7; 5000]], call, threads: Threads::new(threads).unwrap() }
    }

    #[test]
    fn every_subject_is_right() {
        for algorithm in Algorithm::ALL.iter().copied() {
            for job in [job(algorithm, 1), job(algorithm, 2)] {
                let expected = expected("hot", &job).unwrap();
                for subject in ALL.into_iter().filter(|subject| subject.supports(algorithm)) {
                    let mut task = subject.task(&job).unwrap();
                    task.run(2);
                    let verified = check("hot", &job, subject, &expected, &task.digests()).unwrap();
                    assert_eq!(verified, (subject.name() != "read").then_some(true));
                }
            }
        }
    }

    #[test]
    fn a_wrong_digest_is_an_error() {
        let job = job(Algorithm::Md5, 1);
        let Expected(mut digests) = expected("hot", &job).unwrap();
        let expected = Expected(digests.clone());
        digests[1][3] ^= 1;
        let digests: Vec<&[u8]> = digests.iter().map(Vec::as_slice).collect();
        let error = check("hot", &job, ALL[0], &expected, &digests).unwrap_err();
        assert!(matches!(error, Error::WrongDigest { subject: "manyhash", message: 1, length: 3, .. }), "{error}");
    }
}
