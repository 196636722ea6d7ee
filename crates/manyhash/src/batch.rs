//! Many messages in memory to digests.
//!
//! A batch is cut into tasks: each long message is one, so that the longest start first and all lanes end at about
//! the same time; the others go in runs of neighbours of about equal bytes. Every core takes task after task into its
//! own lanes until none is left. A task carries the piece of the output that it fills, so that no two cores share one.

pub(crate) mod pool;
mod tasks;

use crate::family::{with_family, with_length};
use crate::lanes::{self, Advance, Finals, Planned};
use crate::running::{self, Prefix, whole_blocks};
use crate::short::{self, Done, GROUP, Shorts, TooLong};
use crate::{Digest, Digests};
use manyhash_core::algorithm::MAX_DIGEST_BYTES;
use manyhash_core::{Algorithm, Family};
use pool::Cores;
use std::cell::RefCell;
use std::marker::PhantomData;
use tasks::{Place, Queue, Reader};

/// Fewer bytes than this are hashed one message after another: setting lanes up costs about as much.
const WORTH_LANES: usize = 4 << 10;

/// Bytes for which another core is woken: it costs about as much as to hash half of them.
const WORTH_CORES: usize = 512 << 10;

/// The digest of one message.
///
/// One message alone gains nothing from lanes; it is hashed by the best code for one.
///
/// ```
/// let digest = manyhash::digest(manyhash::Algorithm::Sha256, "abc");
/// assert_eq!(digest.to_hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// ```
pub fn digest(algorithm: Algorithm, message: impl AsRef<[u8]>) -> Digest {
    let bytes = with_family!(algorithm, F, start => running::digest::<F>(start, 0, message.as_ref()));
    Digest::new(&bytes, algorithm)
}

/// The digests of many messages, in their order, computed on all cores.
///
/// ```
/// use manyhash::{Algorithm, digest_many};
///
/// let digests = digest_many(Algorithm::Md5, &["a", "b", "c"]);
/// assert_eq!(digests[0].to_hex(), "0cc175b9c0f1b6a831c399e269772661");
/// ```
pub fn digest_many<M: AsRef<[u8]> + Sync>(algorithm: Algorithm, messages: &[M]) -> Vec<Digest> {
    Batch::new(algorithm).digest_many(messages)
}

/// As [`digest_many`], into the caller's slice: nothing is allocated per message.
///
/// # Errors
/// If the slices differ in length; nothing is written then.
pub fn digest_many_into<M: AsRef<[u8]> + Sync>(
    algorithm: Algorithm,
    messages: &[M],
    digests: &mut [Digest],
) -> Result<(), OutputLengthError> {
    Batch::new(algorithm).digest_many_into(messages, digests)
}

/// How a batch of messages is hashed.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    algorithm: Algorithm,
    threads: usize,
}

impl Batch {
    /// On all cores.
    pub fn new(algorithm: Algorithm) -> Self {
        Batch { algorithm, threads: 0 }
    }

    /// On at most this many threads, the caller's among them: 1 stays on the caller's, 0 is one for every core. Cores
    /// that hash another batch are not counted on, nor are any in a process that was forked after its first batch.
    pub fn threads(self, threads: usize) -> Self {
        Batch { threads, ..self }
    }

    /// The digests, in the order of the messages.
    pub fn digest_many<M: AsRef<[u8]> + Sync>(&self, messages: &[M]) -> Vec<Digest> {
        let mut digests = vec![Digest::default(); messages.len()];
        self.fill_digests(messages, &mut digests);
        digests
    }

    /// The digests, in the order of the messages, into the caller's slice.
    ///
    /// # Errors
    /// If the slices differ in length; nothing is written then.
    pub fn digest_many_into<M: AsRef<[u8]> + Sync>(
        &self,
        messages: &[M],
        digests: &mut [Digest],
    ) -> Result<(), OutputLengthError> {
        OutputLengthError::check(messages.len(), digests.len())?;
        self.fill_digests(messages, digests);
        Ok(())
    }

    /// The digests, in the order of the messages, side by side: as many bytes a message as the algorithm's digest has, and
    /// no [`Digest`] for each. For millions of short messages that is a quarter of the memory with MD5, and some two thirds
    /// of the time.
    ///
    /// ```
    /// use manyhash::{Algorithm, Batch, Md5};
    ///
    /// let digests = Batch::new(Algorithm::Md5).digest_many_packed(&["a", "b", "c"]);
    /// assert_eq!(digests[2], Md5::digest("c"));
    /// assert_eq!(digests.as_bytes(), Md5::digest_many(&["a", "b", "c"]).as_flattened());
    /// ```
    pub fn digest_many_packed<M: AsRef<[u8]> + Sync>(&self, messages: &[M]) -> Digests {
        let mut digests = Digests::zeros(self.algorithm, messages.len());
        self.fill_packed(messages, digests.as_mut_bytes());
        digests
    }

    /// As [`digest_many_packed`](Self::digest_many_packed), into the caller's bytes: nothing is allocated per message.
    /// Digest `i` of `n` bytes each goes to the bytes from `i * n` on; [`Algorithm::digest_bytes`] is `n`.
    ///
    /// # Errors
    /// If there is not room for exactly one digest a message; nothing is written then.
    pub fn digest_many_packed_into<M: AsRef<[u8]> + Sync>(
        &self,
        messages: &[M],
        digests: &mut [u8],
    ) -> Result<(), OutputLengthError> {
        OutputLengthError::check_bytes(messages.len(), digests, self.algorithm.digest_bytes())?;
        self.fill_packed(messages, digests);
        Ok(())
    }

    fn fill_packed<M: AsRef<[u8]> + Sync>(&self, messages: &[M], digests: &mut [u8]) {
        with_length!(self.algorithm, F, N, start => {
            let (digests, _) = digests.as_chunks_mut::<N>();
            self.fill::<F, M, [u8; N]>(Prefix::none(*start), messages, digests, head);
        });
    }

    fn fill_digests<M: AsRef<[u8]> + Sync>(&self, messages: &[M], digests: &mut [Digest]) {
        let digest = |bytes: &[u8; MAX_DIGEST_BYTES]| Digest::new(bytes, self.algorithm);
        with_family!(self.algorithm, F, start => self.fill::<F, M, Digest>(Prefix::none(*start), messages, digests, digest));
    }
}

/// The digest itself, which the bytes of a state begin with.
pub(crate) fn head<const N: usize>(bytes: &[u8; MAX_DIGEST_BYTES]) -> [u8; N] {
    let mut digest = [0; N];
    digest.copy_from_slice(&bytes[..N]);
    digest
}

/// There is not room for exactly one digest a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{messages} messages, but room for {digests} digests")]
pub struct OutputLengthError {
    messages: usize,
    digests: usize,
}

impl OutputLengthError {
    pub(crate) fn check(messages: usize, digests: usize) -> Result<(), Self> {
        if messages == digests { Ok(()) } else { Err(OutputLengthError { messages, digests }) }
    }

    /// Of digests of so many bytes each, side by side.
    pub(crate) fn check_bytes(messages: usize, digests: &[u8], width: usize) -> Result<(), Self> {
        // Whatever is left over counts as one more, so that it is never taken for the right number.
        Self::check(messages, digests.len().div_ceil(width))?;
        Self::check(messages, digests.len() / width)
    }
}

impl Batch {
    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The cores for so many messages of so many bytes.
    pub(crate) fn cores(&self, messages: usize, bytes: usize) -> Cores {
        let wanted = if self.threads == 0 { usize::MAX } else { self.threads };
        Cores::promised(wanted.min(messages).min(bytes / WORTH_CORES + 1))
    }

    /// Writes the digest of each message, made of its bytes by `digest`, to the same place in `output`.
    pub(crate) fn fill<F: Planned, M: AsRef<[u8]> + Sync, O: Send>(
        &self,
        prefix: Prefix<F>,
        messages: &[M],
        output: &mut [O],
        digest: impl Fn(&[u8; MAX_DIGEST_BYTES]) -> O + Sync,
    ) {
        let bytes = total(messages);
        let cores = self.cores(messages.len(), bytes);
        if cores.count() == 1 {
            return fill_here(F::plan, prefix, messages, output, digest);
        }
        let plan = F::plan();
        // Half-full lanes on two cores end sooner than full lanes on one.
        let width = messages.len().div_ceil(cores.count()).min(plan.width());
        let queue = Queue::new(messages, output, bytes, cores.count(), width);
        cores.run(|| work(plan, prefix, width, &queue, &digest));
    }
}

/// As [`Batch::fill`], on the caller's thread alone, in the lanes that `lanes` gives if they are worth having.
pub(crate) fn fill_here<F: Planned, M: AsRef<[u8]>, O, A: Advance<F>>(
    lanes: impl FnOnce() -> A,
    prefix: Prefix<F>,
    messages: &[M],
    output: &mut [O],
    digest: impl Fn(&[u8; MAX_DIGEST_BYTES]) -> O,
) {
    let bytes = total(messages);
    if messages.len() <= 1 || bytes.saturating_add(messages.len().saturating_mul(F::BLOCK_BYTES)) < WORTH_LANES {
        for (message, output) in messages.iter().zip(output) {
            *output = digest(&running::digest::<F>(&prefix.state, prefix.bytes, message.as_ref()));
        }
        return;
    }
    let lanes = lanes();
    let width = messages.len().min(lanes.width());
    let queue = Queue::new(messages, output, bytes, 1, width);
    work(&lanes, prefix, width, &queue, &digest);
}

fn total<M: AsRef<[u8]>>(messages: &[M]) -> usize {
    messages.iter().fold(0_usize, |sum, message| sum.saturating_add(message.as_ref().len()))
}

/// One core's share: tasks from the queue until it is empty.
fn work<F: Planned, M: AsRef<[u8]>, O, A: Advance<F>>(
    plan: &A,
    prefix: Prefix<F>,
    width: usize,
    queue: &Queue<M, O>,
    digest: &impl Fn(&[u8; MAX_DIGEST_BYTES]) -> O,
) {
    /// A message in the lanes, and where its digest goes.
    #[derive(Clone, Copy)]
    struct Tag<'a> {
        message: &'a [u8],
        place: tasks::Place,
    }

    let reader = RefCell::new(Reader::new(queue, short::most::<F>()));
    let mut finals = Finals::<F, Tag>::new();
    let mut write = |tag: Tag, bytes: &[u8; MAX_DIGEST_BYTES]| reader.borrow_mut().write(tag.place, digest(bytes));
    let written = || Written { reader: &reader, digest, plan, family: PhantomData::<F> };
    let mut done = written();
    let shorts = RefCell::new(Shorts::new(prefix));
    let group = |messages: &[&[u8]; GROUP], output: &mut [O]| {
        let rows = shorts.borrow_mut().whole_group(messages, |i, bytes| output[i] = digest(bytes));
        if let Some((lanes, rows)) = rows {
            plan.count(lanes, rows);
        }
        rows.is_some()
    };
    let next = || {
        loop {
            let (message, place) = reader.borrow_mut().next(group)?;
            if shorts.borrow_mut().push(message, place, &mut done) == Err(TooLong) {
                let tag = Tag { message, place };
                return Some(lanes::Job { state: prefix.state, blocks: whole_blocks::<F>(message), tag });
            }
        }
    };
    lanes::run(plan, width, next, |tag, state| {
        let message = tag.message;
        let rest = &message[whole_blocks::<F>(message).len()..];
        finals.push(plan, state, rest, prefix.bytes as u128 + message.len() as u128, tag, &mut write);
    });
    finals.flush(plan, &mut write);
    shorts.into_inner().flush(&mut written());
}

/// Digests of short messages on their way to their places.
struct Written<'r, 'q, 'a, F, M, O, D, A> {
    reader: &'r RefCell<Reader<'q, 'a, M, O>>,
    digest: &'r D,
    plan: &'r A,
    family: PhantomData<F>,
}

impl<F: Family, M: AsRef<[u8]>, O, D, A> Done<Place> for Written<'_, '_, '_, F, M, O, D, A>
where
    D: Fn(&[u8; MAX_DIGEST_BYTES]) -> O,
    A: Advance<F>,
{
    #[inline]
    fn digest(&mut self, place: Place, digest: &[u8; MAX_DIGEST_BYTES]) {
        self.reader.borrow_mut().write(place, (self.digest)(digest));
    }

    fn rows(&mut self, lanes: usize, rows: usize) {
        self.plan.count(lanes, rows);
    }
}
