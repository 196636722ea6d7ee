//! What may be visible under each key, at every moment.
//!
//! A key is written by one client at a time, and each of its contents is known beforehand. While a write is under way, or
//! if nobody knows what came of it, what was there before and what it writes are permitted. A reader may see what was
//! permitted at any moment from its question to its answer. What it sees settles a doubt: the other is not permitted any
//! more. A write whose client did not wait for the answer may still come true, so nobody writes to its key until it has,
//! or until the server that had it is over.

use crate::client::noise;
use manyhash::Algorithm;
use manyhash_s3::checksum::{ChecksumAlgorithm, digest};
use manyhash_s3::etag;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How many keys there are.
pub(super) const KEYS: usize = 40;

/// For how long it is remembered what was permitted: longer than any client waits.
const MEMORY: Duration = Duration::from_secs(200);

/// The longest piece of a content.
pub(super) const LONGEST: usize = 6 << 20;

/// Some bytes that are made again whenever they are needed. No two of different seeds are alike, from 16 bytes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) seed: u64,
    pub(super) length: usize,
}

impl Piece {
    pub(super) fn bytes(self) -> Vec<u8> {
        static POOL: OnceLock<Vec<u8>> = OnceLock::new();
        let pool = POOL.get_or_init(|| noise(LONGEST + (1 << 20), 1));
        let start = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 20);
        let mut bytes = pool[start as usize..][..self.length].to_vec();
        let mark = [self.seed, !self.seed].map(u64::to_le_bytes).concat();
        bytes.iter_mut().zip(mark).for_each(|(byte, mark)| *byte = mark);
        bytes
    }
}

/// What a key may hold.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) pieces: Vec<Piece>,
    pub(super) length: usize,
    /// With its quotes.
    pub(super) etag: String,
    /// What the client has said, and is given back.
    pub(super) checksum: Option<(ChecksumAlgorithm, String)>,
    pub(super) is_multipart: bool,
}

impl Version {
    /// A content that is uploaded whole.
    pub(super) fn whole(piece: Piece, bytes: &[u8], algorithm: Option<ChecksumAlgorithm>) -> Self {
        Version {
            pieces: vec![piece],
            length: bytes.len(),
            etag: format!("\"{}\"", etag::single(&md5(bytes))),
            checksum: algorithm.map(|algorithm| (algorithm, digest(algorithm, bytes).to_string())),
            is_multipart: false,
        }
    }

    /// A content that is uploaded in parts.
    pub(super) fn of_parts(
        pieces: Vec<Piece>,
        md5s: &[[u8; 16]],
        checksum: Option<(ChecksumAlgorithm, String)>,
    ) -> Self {
        let length = pieces.iter().map(|piece| piece.length).sum();
        Version { pieces, length, etag: format!("\"{}\"", etag::multipart(md5s)), checksum, is_multipart: true }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| piece.bytes()).collect()
    }

    /// Whether no reader can tell them apart.
    fn looks_like(&self, other: &Version) -> bool {
        self.etag == other.etag && self.length == other.length && self.checksum == other.checksum
    }
}

pub(super) fn md5(bytes: &[u8]) -> [u8; 16] {
    manyhash::digest(Algorithm::Md5, bytes).as_bytes().try_into().unwrap()
}

/// What a key holds: a content, or nothing.
pub(super) type Held = Option<Arc<Version>>;

fn is_like(one: &Held, other: &Held) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.looks_like(other),
        (None, None) => true,
        _ => false,
    }
}

/// What a reader sees of a key.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    Nothing,
    Object { etag: String, length: usize },
}

impl Seen {
    fn is(&self, held: &Held) -> bool {
        match (self, held) {
            (Seen::Nothing, None) => true,
            (Seen::Object { etag, length }, Some(version)) => *etag == version.etag && *length == version.length,
            _ => false,
        }
    }
}

/// What came of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Made,
    Refused,
    /// The server failed: it was made, or not, and that is settled.
    Doubtful,
    /// Nobody has heard of it. It may still be made.
    Unanswered,
}

#[derive(Debug)]
struct Key {
    permitted: Vec<Held>,
    before: Vec<Held>,
    /// What was permitted, and the moment at which it was no longer.
    gone: VecDeque<(u64, Instant, Held)>,
    is_being_written: bool,
    /// What may still come true.
    ghost: Option<Held>,
    /// Counts what is learned of it.
    edition: u64,
}

/// A moment from which on a reader looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    moment: u64,
    edition: u64,
}

pub(super) struct Model {
    keys: Vec<Mutex<Key>>,
    /// Who holds one writes to the key.
    pub(super) writers: Vec<Arc<tokio::sync::Mutex<()>>>,
    moment: AtomicU64,
    next_seed: AtomicU64,
    /// The MD5 of bodies that clients have lied about, or not sent whole.
    lies: Mutex<HashMap<String, String>>,
}

impl Model {
    pub(super) fn new() -> Self {
        let key = || Key {
            permitted: vec![None],
            before: Vec::new(),
            gone: VecDeque::new(),
            is_being_written: false,
            ghost: None,
            edition: 0,
        };
        Model {
            keys: (0..KEYS).map(|_| Mutex::new(key())).collect(),
            writers: (0..KEYS).map(|_| Arc::default()).collect(),
            moment: AtomicU64::new(0),
            next_seed: AtomicU64::new(1),
            lies: Mutex::default(),
        }
    }

    /// The key of a number. Some share prefixes.
    pub(super) fn name(key: usize) -> String {
        format!("{}{key:02}", ["a/", "b/c/", ""][key % 3])
    }

    /// The number of a key.
    pub(super) fn number(name: &str) -> Option<usize> {
        let key = name.rsplit('/').next()?.parse().ok()?;
        (key < KEYS && Model::name(key) == name).then_some(key)
    }

    /// A content that there was not yet.
    pub(super) fn fresh(&self, length: usize) -> Piece {
        Piece { seed: self.next_seed.fetch_add(1, Ordering::Relaxed), length }
    }

    fn key(&self, key: usize) -> MutexGuard<'_, Key> {
        self.keys[key].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a key holds, if there is no doubt.
    pub(super) fn certain(&self, key: usize) -> Option<Held> {
        let key = self.key(key);
        match &*key.permitted {
            [held] if !key.is_being_written => Some(held.clone()),
            _ => None,
        }
    }

    /// All that a key may hold.
    pub(super) fn permitted(&self, key: usize) -> Vec<Held> {
        self.key(key).permitted.clone()
    }

    /// Whether a write may still come true.
    pub(super) fn is_haunted(&self, key: usize) -> bool {
        self.key(key).ghost.is_some()
    }

    /// Remembers a body that must never be seen.
    pub(super) fn lie(&self, bytes: &[u8], what: String) {
        let etag = format!("\"{}\"", etag::single(&md5(bytes)));
        self.lies.lock().unwrap_or_else(PoisonError::into_inner).insert(etag, what);
    }

    /// Permits what a write may make of a key. The caller holds its lock of `writers`.
    pub(super) fn begin(&self, key: usize, new: &[Held]) {
        let mut key = self.key(key);
        assert!(!key.is_being_written && key.ghost.is_none());
        key.before = key.permitted.clone();
        for new in new {
            if !key.permitted.iter().any(|held| is_like(held, new)) {
                key.permitted.push(new.clone());
            }
        }
        (key.is_being_written, key.edition) = (true, key.edition + 1);
    }

    /// Takes note of what came of a write: one of `new`, if there are several.
    pub(super) fn settle(&self, key: usize, outcome: Outcome, new: &[Held]) {
        let mut key = self.key(key);
        let remain = match outcome {
            Outcome::Made => new.to_vec(),
            Outcome::Refused => key.before.clone(),
            Outcome::Doubtful | Outcome::Unanswered => key.permitted.clone(),
        };
        if outcome == Outcome::Unanswered {
            key.ghost = new.first().cloned();
        }
        (key.is_being_written, key.edition) = (false, key.edition + 1);
        self.permit(&mut key, remain);
    }

    /// Permits this and nothing else.
    fn permit(&self, key: &mut Key, remain: Vec<Held>) {
        let moment = self.moment.fetch_add(1, Ordering::SeqCst) + 1;
        let now = Instant::now();
        while key.gone.front().is_some_and(|(_, when, _)| now.duration_since(*when) > MEMORY) {
            key.gone.pop_front();
        }
        for held in std::mem::replace(&mut key.permitted, remain) {
            if !key.permitted.iter().any(|remains| is_like(remains, &held)) {
                key.gone.push_back((moment, now, held));
            }
        }
    }

    /// The moment from which on a reader of a key looks.
    pub(super) fn start(&self, key: usize) -> Start {
        let key = self.key(key);
        Start { moment: self.moment.load(Ordering::SeqCst), edition: key.edition }
    }

    /// Whether what a reader sees was permitted at any moment since it began to look: then what it may be.
    ///
    /// # Errors
    /// It was not. The text says what it is.
    pub(super) fn judge(&self, number: usize, start: Start, seen: &Seen) -> Result<Vec<Held>, Violation> {
        let mut key = self.key(number);
        let gone = key.gone.iter().filter(|(moment, ..)| *moment > start.moment).map(|(.., held)| held);
        let found: Vec<Held> = key.permitted.iter().chain(gone).filter(|held| seen.is(held)).cloned().collect();
        if found.is_empty() {
            return Err(self.violation(number, &key, seen));
        }
        let is_current = key.edition == start.edition && !key.is_being_written;
        match &key.ghost {
            // It has come true, if it is not what was there before.
            Some(ghost) if is_current && seen.is(ghost) && !key.before.iter().any(|held| seen.is(held)) => {
                let ghost = ghost.clone();
                (key.ghost, key.edition) = (None, key.edition + 1);
                self.permit(&mut key, vec![ghost]);
            }
            None if is_current && key.permitted.len() > 1 => {
                key.edition += 1;
                let remain = key.permitted.iter().filter(|held| seen.is(held)).cloned().collect();
                self.permit(&mut key, remain);
            }
            _ => {}
        }
        Ok(found)
    }

    /// Takes note that the server is over: what it has not done will not be done.
    pub(super) fn server_is_over(&self) {
        for key in 0..KEYS {
            let mut key = self.key(key);
            assert!(!key.is_being_written);
            (key.ghost, key.edition) = (None, key.edition + 1);
        }
    }

    fn violation(&self, number: usize, key: &Key, seen: &Seen) -> Violation {
        let show = |held: &Held| {
            held.as_ref().map_or("nothing".to_owned(), |held| format!("{} of {} bytes", held.etag, held.length))
        };
        let permitted: Vec<String> = key.permitted.iter().map(show).collect();
        let lies = self.lies.lock().unwrap_or_else(PoisonError::into_inner);
        let lie = match seen {
            Seen::Nothing => None,
            Seen::Object { etag, .. } => lies.get(etag),
        };
        let was = key.gone.iter().any(|(.., held)| seen.is(held));
        let why = match lie {
            Some(lie) => format!("never verified: {lie}"),
            None if was => "permitted before".to_owned(),
            None => "never permitted".to_owned(),
        };
        let name = Model::name(number);
        let text = format!("{name} holds {seen:?}, {why}; permitted: {}", permitted.join(", "));
        Violation { text, is_unverified: lie.is_some() }
    }
}

/// Something is visible that must not be.
#[derive(Debug)]
pub(super) struct Violation {
    pub(super) text: String,
    /// Whether it is what a client has lied about.
    pub(super) is_unverified: bool,
}
