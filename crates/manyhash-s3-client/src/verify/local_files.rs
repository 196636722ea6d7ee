//! Local files read in lanes, for whoever asks for one after another.
//!
//! A thread takes what has been asked for so far and hands it to [`local::Files`](crate::local::Files), which draws on
//! as long as there is more: it never waits for a question while it has files in hand, whose answers may be what the next
//! question waits for.

use super::claim::Layout;
use super::files::{Computed, Files};
use super::function::{Function, value};
use super::plan::Value;
use crate::local::{self, Cut, Digested, Wanted};
use manyhash::file::{self, Source};
use manyhash::{Digest, HashFunction};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use manyhash_s3::etag::ETag;
use std::fs::Metadata;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// Computes values of local files on threads of its own.
pub struct LocalFiles {
    threads: Option<NonZeroUsize>,
    cache: Option<Arc<dyn DigestCache>>,
    /// The way to the thread, which begins with the first question.
    questions: OnceLock<io::Result<mpsc::Sender<Question>>>,
}

/// Digests of whole files that are known already.
pub trait DigestCache: Send + Sync {
    /// Returns the size and the digest of a file that is as it was when the digest was kept.
    fn find(&self, path: &Path, function: HashFunction) -> Option<(u64, Digest)>;

    /// Keeps the digest of a file that was as `metadata` says before and after it was read.
    fn keep(&self, path: &Path, metadata: &Metadata, function: HashFunction, digest: &Digest);
}

enum Question {
    Compute { path: PathBuf, values: Vec<Value>, answer: oneshot::Sender<io::Result<Computed>> },
    Guess { path: PathBuf, etag: ETag, answer: oneshot::Sender<io::Result<Option<u64>>> },
}

/// Files that are read before what is asked for in other ways has its turn.
const RUN: usize = 4096;

type Computing = (PathBuf, Vec<Value>, oneshot::Sender<io::Result<Computed>>);

impl LocalFiles {
    /// Creates a `LocalFiles` with so many threads, or one per core.
    pub fn new(threads: impl Into<Option<NonZeroUsize>>) -> LocalFiles {
        LocalFiles { threads: threads.into(), cache: None, questions: OnceLock::new() }
    }

    /// Looks up digests of whole files before files are read, and keeps what was computed.
    #[must_use]
    pub fn with_cache(self, cache: Arc<dyn DigestCache>) -> LocalFiles {
        LocalFiles { cache: Some(cache), ..self }
    }

    fn ask(&self, question: Question) -> io::Result<()> {
        let start = || {
            let (sender, receiver) = mpsc::channel();
            let reader = Reader { threads: self.threads, cache: self.cache.clone() };
            let builder = thread::Builder::new().name("manyhash-files".to_owned());
            builder.spawn(move || reader.run(receiver)).map(|_| sender)
        };
        match self.questions.get_or_init(start) {
            Ok(sender) => sender.send(question).map_err(|_| lost()),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    fn known(&self, path: &Path, values: &[Value]) -> Option<Computed> {
        let cache = self.cache.as_ref()?;
        let mut computed = Computed { size: 0, values: Vec::with_capacity(values.len()) };
        for value in values {
            let Value::Whole(Function::Hash(function)) = value else { return None };
            let (size, digest) = cache.find(path, *function)?;
            computed.size = size;
            computed.values.push(digest);
        }
        Some(computed)
    }
}

impl Files for LocalFiles {
    async fn compute(&self, path: &Path, values: Vec<Value>) -> io::Result<Computed> {
        if let Some(known) = self.known(path, &values) {
            return Ok(known);
        }
        let (answer, answered) = oneshot::channel();
        self.ask(Question::Compute { path: path.to_owned(), values, answer })?;
        answered.await.map_err(|_| lost())?
    }

    async fn guess(&self, path: &Path, etag: &ETag) -> io::Result<Option<u64>> {
        let (answer, answered) = oneshot::channel();
        self.ask(Question::Guess { path: path.to_owned(), etag: etag.clone(), answer })?;
        answered.await.map_err(|_| lost())?
    }
}

fn lost() -> io::Error {
    io::Error::other("the thread that reads files is gone")
}

/// The thread.
struct Reader {
    threads: Option<NonZeroUsize>,
    cache: Option<Arc<dyn DigestCache>>,
}

impl Reader {
    fn run(&self, questions: mpsc::Receiver<Question>) {
        // The threads that read draw on it by turns.
        let questions = Mutex::new(questions);
        let questions = || questions.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Ok(first) = questions().recv() else { return };
            let (mut guesses, mut others) = (Vec::new(), Vec::new());
            let mut first = Some(first);
            let files = std::iter::from_fn(|| {
                loop {
                    match first.take().or_else(|| questions().try_recv().ok())? {
                        Question::Guess { path, etag, answer } => guesses.push((path, etag, answer)),
                        Question::Compute { path, values, answer } => match wanted(&values) {
                            Some(wanted) => return Some(((path.clone(), values, answer), path, wanted)),
                            None => others.push((path, values, answer)),
                        },
                    }
                }
            });
            // The rest has its turn after so many, if there is no end to them.
            self.files().digest(files.fuse().take(RUN), |(path, values, answer), digested| {
                let _ = answer.send(self.answer(&path, &values, digested));
                ControlFlow::Continue(())
            });
            self.compute_others(others);
            for (path, etag, answer) in guesses {
                let _ = answer.send(self.guess(&path, &etag));
            }
        }
    }

    fn files(&self) -> local::Files<'_> {
        local::Files::new().threads(self.threads)
    }

    fn answer(&self, path: &Path, values: &[Value], digested: Result<Digested, local::Error>) -> io::Result<Computed> {
        let digested = digested.map_err(io_error)?;
        let digests = values.iter().map(|value| read(&digested, value)).collect::<Option<Vec<_>>>();
        let digests = digests.ok_or_else(|| io::Error::other("a digest was not computed"))?;
        if let (Some(cache), Some(metadata)) = (&self.cache, digested.metadata()) {
            for (value, digest) in values.iter().zip(&digests) {
                if let Value::Whole(Function::Hash(function)) = value {
                    cache.keep(path, metadata, *function, digest);
                }
            }
        }
        Ok(Computed { size: digested.size(), values: digests })
    }

    fn guess(&self, path: &Path, etag: &ETag) -> io::Result<Option<u64>> {
        let found = self.files().guess(path, etag).map_err(io_error)?;
        Ok(found.and_then(|(cut, _)| match cut {
            Cut::Every(part_bytes) => Some(part_bytes.get()),
            _ => None,
        }))
    }

    /// Functions that S3 does not have, which `manyhash::file` computes.
    fn compute_others(&self, mut questions: Vec<Computing>) {
        let functions = |values: &[Value]| {
            let function = |value: &Value| match value {
                Value::Whole(Function::Hash(function)) => Some(*function),
                _ => None,
            };
            values.iter().map(function).collect::<Option<Vec<_>>>()
        };
        while let Some((_, values, _)) = questions.first() {
            let of = functions(values);
            let (batch, rest): (Vec<_>, Vec<_>) =
                questions.into_iter().partition(|(_, values, _)| functions(values) == of);
            questions = rest;
            let Some(of) = of else {
                for (.., answer) in batch {
                    let _ = answer.send(Err(io::Error::other("values of S3 and of others in one question")));
                }
                continue;
            };
            let files = batch.into_iter().map(|(path, _, answer)| ((path.clone(), answer), Source::Path(path)));
            file::Files::new(&of).threads(self.threads).digest(files, |(path, answer), digested| {
                let _ = answer.send(self.answer_others(&path, &of, digested));
                ControlFlow::Continue(())
            });
        }
    }

    fn answer_others(
        &self,
        path: &Path,
        functions: &[HashFunction],
        digested: io::Result<file::Digested>,
    ) -> io::Result<Computed> {
        let file::Digested { digests, bytes, settled, .. } = digested?;
        let metadata = settled.ok_or_else(|| io_error(local::Error::Changed))?;
        if let Some(cache) = &self.cache {
            for (function, digest) in functions.iter().zip(&digests) {
                cache.keep(path, &metadata, *function, digest);
            }
        }
        Ok(Computed { size: bytes, values: digests })
    }
}

/// What is asked for, in words of S3. `None` if S3 has none for a part of it.
fn wanted(values: &[Value]) -> Option<Wanted> {
    let mut wanted = Wanted::new();
    for value in values {
        let (cut, algorithm) = in_words_of_s3(value)?;
        wanted.checksum(cut, algorithm);
    }
    Some(wanted)
}

fn in_words_of_s3(value: &Value) -> Option<(Cut, ChecksumAlgorithm)> {
    match value {
        Value::Whole(function) => Some((Cut::Whole, function.checksum_algorithm()?)),
        Value::Parts(algorithm, Layout::Equal { part_bytes, .. }) => Some((Cut::every(*part_bytes)?, *algorithm)),
        Value::Parts(algorithm, Layout::Sizes(sizes)) => Some((Cut::of_sizes(sizes.iter().copied())?, *algorithm)),
    }
}

fn read(digested: &Digested, of: &Value) -> Option<Digest> {
    let (cut, algorithm) = in_words_of_s3(of)?;
    let kind = match of {
        Value::Whole(_) => ChecksumType::FullObject,
        Value::Parts(..) => ChecksumType::Composite,
    };
    Some(value(&digested.checksum(&cut, algorithm, kind)?.checksum))
}

fn io_error(error: local::Error) -> io::Error {
    match error {
        local::Error::Read(error) => error,
        local::Error::Changed | local::Error::Size { .. } => io::Error::new(io::ErrorKind::ResourceBusy, error),
        error => io::Error::other(error),
    }
}
