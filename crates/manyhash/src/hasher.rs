//! Messages that arrive in pieces.

use crate::family::with_family;
use crate::lanes::{self, Advance, Finals, Job, Planned, RowCounts, Source};
use crate::running::{Prefix, Running, whole_blocks};
use crate::{Algorithm, Digest};
use manyhash_core::family::{MAX_DIGEST_BYTES, StateBytes};
use manyhash_core::{Family, LaneStates, Start, State};
use std::io;

/// Hashes one message that arrives in pieces.
///
/// A hasher can be cloned at any point. [`update_many`] advances many hashers in SIMD lanes.
///
/// ```
/// use manyhash::{Algorithm, Hasher};
///
/// let mut hasher = Hasher::new(Algorithm::Sha1);
/// hasher.update("a");
/// hasher.update("bc");
/// assert_eq!(hasher.finalize().to_hex(), "a9993e364706816aba3e25717850c26c9cd0d89d");
/// ```
#[derive(Clone)]
pub struct Hasher {
    algorithm: Algorithm,
    running: AnyRunning,
}

/// A family's own variant of [`AnyRunning`].
pub(crate) trait Variant: Planned {
    fn of(hasher: &mut Hasher) -> Option<&mut Running<Self>>;
    fn of_ref(hasher: &Hasher) -> Option<&Running<Self>>;
    fn rows(rows: &FamilyRows) -> &RowCounts;

    /// A hasher of whole blocks as what stands before other messages.
    fn after(hasher: &Hasher) -> Option<Prefix<Self>> {
        let running = Self::of_ref(hasher)?;
        Some(Prefix { state: *running.state(), bytes: running.length() as usize })
    }
}

macro_rules! variants {
    ($($family:ident $($arch:literal $module:ident::$file:ident)*;)*) => {
        #[derive(Clone)]
        enum AnyRunning {
            $($family(Running<manyhash_core::$family>),)*
        }

        impl AnyRunning {
            fn new(algorithm: Algorithm) -> Self {
                match algorithm.start() {
                    $(Start::$family(start) => AnyRunning::$family(Running::new(*start)),)*
                }
            }

            fn update(&mut self, bytes: &[u8]) {
                match self {
                    $(AnyRunning::$family(running) => running.update(bytes),)*
                }
            }

            fn finalize(&self) -> StateBytes {
                match self {
                    $(AnyRunning::$family(running) => running.finalize(),)*
                }
            }

            fn wipe(&mut self) {
                match self {
                    $(AnyRunning::$family(running) => running.wipe(),)*
                }
            }
        }

        $(
            impl Variant for manyhash_core::$family {
                fn of(hasher: &mut Hasher) -> Option<&mut Running<Self>> {
                    match &mut hasher.running {
                        AnyRunning::$family(running) => Some(running),
                        _ => None,
                    }
                }

                fn of_ref(hasher: &Hasher) -> Option<&Running<Self>> {
                    match &hasher.running {
                        AnyRunning::$family(running) => Some(running),
                        _ => None,
                    }
                }

                fn rows(rows: &FamilyRows) -> &RowCounts {
                    &rows.$family
                }
            }
        )*

        /// How full the lanes of each family have been.
        #[derive(Clone, Debug, Default)]
        #[allow(non_snake_case, reason = "the families' own names")]
        pub(crate) struct FamilyRows {
            $($family: RowCounts,)*
        }

        impl FamilyRows {
            pub(crate) fn add_all(&self, other: &FamilyRows) {
                $(self.$family.add_all(&other.$family);)*
            }
        }

        /// Advances all hashers of each message by bytes of its own, many messages side by side in SIMD lanes.
        pub(crate) fn update_messages(messages: &mut [(&mut [Hasher], &[u8])], rows: &FamilyRows) {
            $(update_family::<manyhash_core::$family>(messages, rows);)*
        }

        /// The digests of hashers of any algorithms, in their order, many side by side in SIMD lanes.
        pub(crate) fn finalize_many(hashers: &[&Hasher], rows: &FamilyRows) -> Vec<Digest> {
            let mut digests = vec![Digest::default(); hashers.len()];
            $(finalize_family::<manyhash_core::$family>(hashers, rows, &mut digests);)*
            digests
        }
    };
}

manyhash_core::families!(variants);

fn update_family<F: Variant>(messages: &mut [(&mut [Hasher], &[u8])], rows: &FamilyRows) {
    let (mut running, mut chunks) = (Vec::new(), Vec::new());
    for (hashers, bytes) in messages {
        let before = running.len();
        running.extend(hashers.iter_mut().filter_map(F::of));
        chunks.resize(chunks.len() + running.len() - before, *bytes);
    }
    match &mut running[..] {
        [] => {}
        [running] => {
            F::rows(rows).add(1, chunks[0].len() / F::BLOCK_BYTES);
            running.update(chunks[0]);
        }
        running => update_running(&F::rows(rows).of(F::plan()), running, &chunks),
    }
}

fn finalize_family<F: Variant>(hashers: &[&Hasher], rows: &FamilyRows, digests: &mut [Digest]) {
    let mut running = hashers.iter().enumerate().filter_map(|(i, hasher)| Some((i, F::of_ref(hasher)?)));
    let Some(first) = running.next() else { return };
    let Some(second) = running.next() else {
        digests[first.0] = Digest::new(&first.1.finalize(), hashers[first.0].algorithm);
        return;
    };
    let plan = F::rows(rows).of(F::plan());
    let mut finals = Finals::<F, usize>::new();
    let mut done = |i: usize, bytes: &[u8; MAX_DIGEST_BYTES]| digests[i] = Digest::new(bytes, hashers[i].algorithm);
    for (i, running) in [first, second].into_iter().chain(running) {
        finals.push(&plan, running.state(), running.tail(), running.length(), i, &mut done);
    }
    finals.flush(&plan, &mut done);
}

impl Hasher {
    /// Creates a hasher for a new message.
    pub fn new(algorithm: Algorithm) -> Self {
        Hasher { algorithm, running: AnyRunning::new(algorithm) }
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Appends bytes to the message.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.running.update(bytes.as_ref());
    }

    /// Ends the message and returns its digest.
    pub fn finalize(self) -> Digest {
        Digest::new(&self.digest_bytes(), self.algorithm)
    }

    /// The digest so far, and what follows it in the state.
    pub(crate) fn digest_bytes(&self) -> StateBytes {
        self.running.finalize()
    }

    /// Leaves nothing of the message in memory.
    pub(crate) fn wipe(&mut self) {
        self.running.wipe();
    }

    /// Discards the message and starts a new one.
    pub fn reset(&mut self) {
        self.running = AnyRunning::new(self.algorithm);
    }
}

/// Shows only the algorithm. The message may be a secret.
impl std::fmt::Debug for Hasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hasher").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// Appends everything written to the message. Writing never fails.
impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Advances each hasher by its own chunk, of any length, many side by side in SIMD lanes.
///
/// The result is the same as updating each hasher alone, only sooner, and the two can be mixed. Algorithms with the
/// same compression function, such as SHA-224 and SHA-256, share lanes; others are advanced one algorithm after
/// another. Hashing runs on the caller's thread. To use several threads, divide the hashers and call this on each
/// thread.
///
/// ```
/// use manyhash::{Algorithm, Hasher, update_many};
///
/// let mut hashers = vec![Hasher::new(Algorithm::Md5); 2];
/// update_many(hashers.iter_mut().zip([&b"one message"[..], b"another"]));
/// ```
pub fn update_many<'h, 'c>(hashers_and_chunks: impl IntoIterator<Item = (&'h mut Hasher, &'c [u8])>) {
    let mut left: Vec<(&mut Hasher, &[u8])> = hashers_and_chunks.into_iter().collect();
    while let Some((first, _)) = left.first() {
        with_family!(first.algorithm, F, _start => {
            let (mut running, mut chunks) = (Vec::with_capacity(left.len()), Vec::with_capacity(left.len()));
            let mut others = Vec::new();
            for (hasher, chunk) in left {
                if F::of_ref(hasher).is_none() {
                    others.push((hasher, chunk));
                } else if let Some(own) = F::of(hasher) {
                    running.push(own);
                    chunks.push(chunk);
                }
            }
            match &mut running[..] {
                [running] => running.update(chunks[0]),
                running => update_running(F::plan(), running, &chunks),
            }
            left = others;
        });
    }
}

/// Whole blocks of chunks, taken from the end, and the messages that they belong to.
struct Chunks<'r, 's, 'c, F: Family> {
    jobs: Vec<Job<'c, F, usize>>,
    running: &'r mut [&'s mut Running<F>],
}

impl<'c, F: Planned> Source<'c, F> for Chunks<'_, '_, 'c, F> {
    type Tag = usize;

    fn next(&mut self) -> Option<Job<'c, F, usize>> {
        self.jobs.pop()
    }

    fn done(&mut self, message: usize, state: &State<F>) {
        self.running[message].set_state(state);
    }
}

fn update_running<F: Planned>(plan: &impl Advance<F>, running: &mut [&mut Running<F>], chunks: &[&[u8]]) {
    // Blocks that were begun before are completed first, a group of lanes at a time: one row for all of them.
    let mut whole = Vec::new();
    let mut rests = Vec::with_capacity(chunks.len());
    for (i, (running, chunk)) in running.iter_mut().zip(chunks).enumerate() {
        let (is_whole, rest) = running.begin(chunk);
        whole.extend(is_whole.then_some(i));
        rests.push(rest);
    }
    let mut states = LaneStates::default();
    for group in whole.chunks(plan.width()) {
        let mut buffers = Vec::with_capacity(group.len());
        for (lane, i) in group.iter().enumerate() {
            states.set(lane, running[*i].state());
            buffers.push(running[*i].buffer());
        }
        plan.compress(&mut states, &buffers, 1);
        for (lane, i) in group.iter().enumerate() {
            running[*i].set_state(&states.get(lane));
        }
    }

    let mut jobs: Vec<Job<F, usize>> = Vec::with_capacity(rests.len());
    for (i, rest) in rests.iter().enumerate().filter(|(_, rest)| rest.len() >= F::BLOCK_BYTES) {
        jobs.push(Job { state: *running[i].state(), blocks: whole_blocks::<F>(rest), tag: i });
    }
    // Taken from the end, the longest first, so that all lanes end at about the same time.
    jobs.sort_by_key(|job| job.blocks.len());
    lanes::run(plan, plan.width(), &mut Chunks { jobs, running });
    for (running, rest) in running.iter_mut().zip(rests) {
        running.end(rest);
    }
}
