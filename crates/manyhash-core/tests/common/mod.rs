//! The kernels of every family behind one type, so that a test is a plain loop over [`kernels`].

#![allow(dead_code, reason = "each test crate uses a part of it")]

use manyhash_core::family::{MAX_BLOCK_BYTES, MAX_DIGEST_BYTES};
use manyhash_core::kernel::MAX_LANES;
use manyhash_core::{Algorithm, Backend, Kernel, Kernels, LaneStates, Start, State, reference};

/// A kernel, with the states of one algorithm.
pub(crate) trait Lanes {
    /// The algorithm, the backend and the kernel, for the message of a failed assertion.
    fn name(&self) -> String;
    fn algorithm(&self) -> Algorithm;
    fn backend(&self) -> Backend;
    fn lanes(&self) -> usize;
    /// Puts the algorithm's initial state into `count` lanes.
    fn start(&mut self, first: usize, count: usize);
    /// Puts a state that no other lane has into each of the [`MAX_LANES`] lanes.
    fn scramble(&mut self);
    fn compress(&mut self, first: usize, messages: &[&[u8]], blocks: usize);
    /// The state, as [`Family::digest`] writes it, that [`Kernel::compress_one`] makes of the initial one by calls with
    /// these messages and numbers of blocks.
    fn compress_one(&self, calls: &[(&[u8], usize)]) -> [u8; MAX_DIGEST_BYTES];
    /// The state in a lane, as [`Family::digest`] writes it.
    fn state(&self, lane: usize) -> [u8; MAX_DIGEST_BYTES];
    /// The blocks that end a message.
    fn pad(&self, tail: &[u8], length: u128) -> Vec<u8>;
    /// [`Family::final_blocks`].
    fn final_blocks(&self, tail: usize) -> usize;
}

/// `with_family!(algorithm, F, start => body)`: the body with `F` the algorithm's family and `start` its initial state.
#[macro_export]
macro_rules! with_family {
    ($algorithm:expr, $family:ident, $start:ident => $body:expr) => {
        manyhash_core::families!(with_family ($algorithm) $family $start ($body) @)
    };
    (($algorithm:expr) $family:ident $start:ident ($body:expr) @ $($name:ident $($arch:literal $module:ident::$file:ident)*;)*) => {
        match $algorithm.start() {
            $(Start::$name($start) => {
                type $family = manyhash_core::$name;
                $body
            })*
        }
    };
}

/// Every kernel of every available backend, worst backend first.
pub(crate) fn kernels(algorithm: Algorithm) -> Vec<Box<dyn Lanes>> {
    with_family!(algorithm, F, start => family::<F>(algorithm, *start))
}

fn family<F: Kernels>(algorithm: Algorithm, start: State<F>) -> Vec<Box<dyn Lanes>> {
    let mut kernels: Vec<Box<dyn Lanes>> = Vec::new();
    for backend in Backend::available() {
        for kernel in F::kernels(backend).iter() {
            let states = LaneStates::default();
            kernels.push(Box::new(Subject { algorithm, backend, kernel, start, states }));
        }
    }
    kernels
}

struct Subject<F: Kernels> {
    algorithm: Algorithm,
    backend: Backend,
    kernel: Kernel<F>,
    start: State<F>,
    states: LaneStates<F>,
}

impl<F: Kernels> Lanes for Subject<F> {
    fn name(&self) -> String {
        format!("{} on {}, kernel `{}`", self.algorithm, self.backend, self.kernel.name())
    }

    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    fn backend(&self) -> Backend {
        self.backend
    }

    fn lanes(&self) -> usize {
        self.kernel.lanes()
    }

    fn start(&mut self, first: usize, count: usize) {
        for lane in first..first + count {
            self.states.set(lane, &self.start);
        }
    }

    fn scramble(&mut self) {
        let portable = Backend::available().next().expect("every CPU has a backend");
        let scalar = F::kernels(portable).iter().find(|kernel| kernel.lanes() == 1).expect("a kernel of one lane");
        self.start(0, MAX_LANES);
        for lane in 0..MAX_LANES {
            scalar.compress(&mut self.states, lane, &[&[lane as u8; MAX_BLOCK_BYTES]], 1);
        }
    }

    fn compress(&mut self, first: usize, messages: &[&[u8]], blocks: usize) {
        self.kernel.compress(&mut self.states, first, messages, blocks);
    }

    fn compress_one(&self, calls: &[(&[u8], usize)]) -> [u8; MAX_DIGEST_BYTES] {
        let mut state = self.start;
        for (message, blocks) in calls {
            self.kernel.compress_one(&mut state, message, *blocks);
        }
        assert_eq!(
            state.as_ref()[F::STATE_WORDS..],
            self.start.as_ref()[F::STATE_WORDS..],
            "{}: unused words",
            self.name()
        );
        *F::digest(&state)
    }

    fn state(&self, lane: usize) -> [u8; MAX_DIGEST_BYTES] {
        *F::digest(&self.states.get(lane))
    }

    fn pad(&self, tail: &[u8], length: u128) -> Vec<u8> {
        // What the buffer holds must not show in the blocks.
        let mut padded = [0xA5; 2 * MAX_BLOCK_BYTES];
        let blocks = F::pad(tail, length, &mut padded);
        padded[..blocks * F::BLOCK_BYTES].to_vec()
    }

    fn final_blocks(&self, tail: usize) -> usize {
        F::final_blocks(tail)
    }
}

impl dyn Lanes + '_ {
    /// The digests of messages that have equal numbers of whole blocks, hashed in the lanes from `first` on.
    ///
    /// The whole blocks are compressed in calls of as many as `pieces` says, then one call for the rest; the tails are
    /// padded and compressed last.
    pub(crate) fn hash(&mut self, first: usize, messages: &[&[u8]], pieces: &[usize]) -> Vec<Vec<u8>> {
        let block = self.algorithm().block_bytes();
        let blocks = messages[0].len() / block;
        assert!(messages.iter().all(|message| message.len() / block == blocks), "equal numbers of whole blocks");

        self.start(first, messages.len());
        let mut done = 0;
        for piece in pieces.iter().copied().chain([blocks]) {
            let piece = piece.min(blocks - done);
            let rest: Vec<&[u8]> = messages.iter().map(|message| &message[done * block..]).collect();
            self.compress(first, &rest, piece);
            done += piece;
        }

        let pad = |message: &&[u8]| self.pad(&message[blocks * block..], message.len() as u128);
        let ends: Vec<Vec<u8>> = messages.iter().map(pad).collect();
        let mut digests = vec![Vec::new(); messages.len()];
        let longest = ends.iter().map(Vec::len).max().unwrap_or_default();
        for i in 0..longest / block {
            // A lane that has ended repeats its last block, as its digest has been taken.
            let next: Vec<&[u8]> = ends.iter().map(|end| &end[(i * block).min(end.len() - block)..]).collect();
            self.compress(first, &next, 1);
            for (lane, end) in ends.iter().enumerate() {
                if end.len() == (i + 1) * block {
                    digests[lane] = self.state(first + lane)[..self.algorithm().digest_bytes()].to_vec();
                }
            }
        }
        digests
    }
}

/// The reference's digest.
pub(crate) fn expected(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    reference::digest(algorithm, message)[..algorithm.digest_bytes()].to_vec()
}
