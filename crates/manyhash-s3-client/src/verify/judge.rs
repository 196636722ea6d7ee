//! One name on both sides: questions asked, answers taken in, until there is nothing to ask.

use super::claim::{Form, Layout, Origin};
use super::download::Hashing;
use super::entry::{Entry, Place};
use super::evidence::{Changed, Evidence};
use super::files::{Computed, Files};
use super::outcome::{Check, Outcome, State, Unverified};
use super::plan::{Next, Question, Value, What};
use super::planner::Planner;
use super::{Remembered, Settings};
use crate::remote::{Attributes, Head, HeadRequest, ReadRequest, Remote, RemoteError, RemoteErrorKind};
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream;
use manyhash::Digest;
use manyhash::engine::{BuildError, Engine};
use manyhash_s3::checksum::ChecksumAlgorithm;
use manyhash_s3::etag::{ETag, ETagKind};
use manyhash_s3::limits::MAX_PARTS;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;

/// Objects that are downloaded at a time.
const DOWNLOADS: usize = 8;

/// Parts whose sizes are asked for at a time, of one object.
const PARTS_AT_ONCE: usize = 16;

/// How often a download that stops is taken up again.
const RESUMED: usize = 3;

/// More questions than any pair of sides can lead to.
const ROUNDS: usize = 64;

/// What is the same for all names.
pub(super) struct Judge<R, F> {
    remotes: [Option<Arc<R>>; 2],
    files: F,
    planner: Planner,
    remembered: Option<Remembered>,
    /// For what is downloaded, if anything is.
    engine: OnceLock<Result<Engine, BuildError>>,
    downloads: Semaphore,
}

/// What ends an attempt.
enum Stop {
    /// A side is not what it was.
    Changed,
    Unverified(Unverified),
}

impl From<Changed> for Stop {
    fn from(_: Changed) -> Self {
        Stop::Changed
    }
}

enum Answer {
    Head(Box<Head>),
    Attributes(Attributes),
    Sizes(Option<Vec<u64>>),
    Computed(Computed),
    Guessed(Option<u64>),
    Downloaded(Digest),
    /// The service cannot tell.
    Nothing,
}

impl<R: Remote, F: Files> Judge<R, F> {
    pub(super) fn new(remotes: [Option<Arc<R>>; 2], files: F, settings: Settings) -> Self {
        Judge {
            planner: Planner::new(&remotes, settings.download),
            remotes,
            files,
            remembered: settings.remembered,
            engine: OnceLock::new(),
            downloads: Semaphore::new(DOWNLOADS),
        }
    }

    pub(super) fn planner(&self) -> &Planner {
        &self.planner
    }

    /// Finds out how two sides of a name are.
    pub(super) async fn judge(&self, entries: [Entry; 2]) -> Outcome {
        let stamp = entries[0].pair_stamp(&entries[1]);
        let size = entries[0].size.or(entries[1].size);
        let name = entries[0].name.clone();
        let is_remembered = |stamp| self.remembered.as_ref().is_some_and(|remembered| remembered(stamp));
        if stamp.as_ref().is_some_and(is_remembered) {
            return Outcome { name, size, state: State::Same(Check::Remembered), stamp };
        }
        let mut evidence = [0, 1].map(|side| self.planner.evidence(side, &entries[side]));
        match self.attempt(&mut evidence).await {
            Ok(state) => Outcome { name, size, state, stamp },
            Err(Stop::Unverified(why)) => Outcome { name, size, state: State::Unverified(why), stamp: None },
            Err(Stop::Changed) => Outcome { name, size, state: self.again(entries).await, stamp: None },
        }
    }

    /// The same for what changed while it was looked at.
    async fn again(&self, entries: [Entry; 2]) -> State {
        let looks = join_all([0, 1].map(|side| self.look(side, &entries[side]))).await;
        let mut evidence = Vec::with_capacity(2);
        for look in looks {
            match look {
                Ok(look) => evidence.push(look),
                Err(why) => return State::Unverified(why),
            }
        }
        let mut evidence = match <[_; 2]>::try_from(evidence) {
            Ok([Some(a), Some(b)]) => [a, b],
            Ok([Some(_), None]) => return State::Missing,
            Ok([None, Some(_)]) => return State::Extra,
            _ => return State::Unverified(Unverified::Changing),
        };
        match self.attempt(&mut evidence).await {
            Ok(state) => state,
            Err(Stop::Changed) => State::Unverified(Unverified::Changing),
            Err(Stop::Unverified(why)) => State::Unverified(why),
        }
    }

    /// What there is now. `None` if there is nothing.
    async fn look(&self, side: usize, entry: &Entry) -> Result<Option<Evidence>, Unverified> {
        match (&entry.place, &self.remotes[side]) {
            (Place::File(path), _) => match std::fs::symlink_metadata(path) {
                Ok(metadata) if metadata.is_file() => {
                    let entry = Entry::file(entry.name.clone(), path.clone(), &metadata);
                    Ok(Some(self.planner.evidence(side, &entry)))
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file_error(path, error)),
                _ => Ok(None),
            },
            (Place::Object(key), Some(remote)) => {
                let head = match remote.head(key, HeadRequest { part_number: None, checksums: true }).await {
                    Ok(head) => head,
                    Err(error) if error.kind() == RemoteErrorKind::NotFound => return Ok(None),
                    Err(error) => return Err(Unverified::Remote(error)),
                };
                let mut entry = entry.clone();
                entry.size = Some(head.size.unwrap_or(head.content_length));
                entry.etag = head.etag.clone();
                entry.algorithms = head.checksums.iter().map(|checksum| checksum.checksum.algorithm()).collect();
                entry.checksum_type = head.checksum_type;
                let mut evidence = self.planner.evidence(side, &entry);
                evidence.learn_head(&head).map_err(|_| Unverified::Changing)?;
                Ok(Some(evidence))
            }
            _ => Ok(Some(self.planner.evidence(side, entry))),
        }
    }

    async fn attempt(&self, evidence: &mut [Evidence; 2]) -> Result<State, Stop> {
        for _ in 0..ROUNDS {
            let questions = match self.planner.next(evidence) {
                Next::Same(check) => return Ok(State::Same(check)),
                Next::Differs(difference) => return Ok(State::Differs(difference)),
                Next::Unverified(why) => return Ok(State::Unverified(why)),
                Next::Ask(questions) => questions,
            };
            let asked = questions.iter().map(|question| self.ask(question, evidence));
            let answers = join_all(asked).await;
            for (question, answer) in questions.into_iter().zip(answers) {
                self.learn(evidence, question, answer?)?;
            }
        }
        Err(Stop::Unverified(Unverified::NothingInCommon))
    }

    async fn ask(&self, question: &Question, evidence: &[Evidence; 2]) -> Result<Answer, Stop> {
        let Question { side, what } = question;
        let of = &evidence[*side];
        match (&of.place, &self.remotes[*side]) {
            (Place::File(path), _) => self.ask_file(path, what, &evidence[1 - side]).await,
            (Place::Object(key), Some(remote)) => self.ask_object(&**remote, key, what, of).await,
            _ => Ok(Answer::Nothing),
        }
    }

    async fn ask_file(&self, path: &Path, what: &What, other: &Evidence) -> Result<Answer, Stop> {
        let answer = match (what, &other.etag) {
            (What::Compute(value), _) => self.files.compute(path, vec![value.clone()]).await.map(Answer::Computed),
            (What::Guess, Some(etag)) => self.files.guess(path, etag).await.map(Answer::Guessed),
            _ => return Ok(Answer::Nothing),
        };
        answer.map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy | io::ErrorKind::NotFound => Stop::Changed,
            _ => Stop::Unverified(file_error(path, error)),
        })
    }

    async fn ask_object(&self, remote: &R, key: &str, what: &What, of: &Evidence) -> Result<Answer, Stop> {
        let part = async |number| {
            let answer = remote.head(key, HeadRequest { part_number: Some(number), checksums: true }).await;
            answer.map(|head| Answer::Head(Box::new(head)))
        };
        let answer = match what {
            What::Head => {
                let answer = remote.head(key, HeadRequest { part_number: None, checksums: true }).await;
                return answer.map(|head| Answer::Head(Box::new(head))).map_err(stop);
            }
            What::FirstPart => part(1).await,
            What::LastPart => part(of.parts().unwrap_or(1)).await,
            What::Sizes => return self.sizes(remote, key, of).await,
            What::Attributes => attributes(remote, key).await.map(Answer::Attributes),
            What::Download(value) => return self.download(remote, key, value, of).await,
            What::Compute(_) | What::Guess => return Ok(Answer::Nothing),
        };
        // What only some services know and some callers may do is asked in other ways after that.
        match answer {
            Err(error) if matches!(error.kind(), RemoteErrorKind::NotFound) => Err(Stop::Changed),
            Err(error) if matches!(error.kind(), RemoteErrorKind::Unsupported | RemoteErrorKind::Denied) => {
                Ok(Answer::Nothing)
            }
            answer => answer.map_err(stop),
        }
    }

    /// The sizes of all parts, with a request for each.
    async fn sizes(&self, remote: &R, key: &str, of: &Evidence) -> Result<Answer, Stop> {
        let Some(parts) = of.parts().filter(|parts| *parts <= MAX_PARTS) else { return Ok(Answer::Sizes(None)) };
        let of_part = |number| async move {
            let head = remote.head(key, HeadRequest { part_number: Some(number), checksums: false }).await;
            let head = head.map_err(stop)?;
            let is_other =
                head.etag.as_ref().zip(of.etag.as_ref()).is_some_and(|(told, due)| told.as_str() != due.as_str());
            if is_other { Err(Stop::Changed) } else { Ok(head.content_length) }
        };
        let mut asked = stream::iter(1..=parts).map(of_part).buffered(PARTS_AT_ONCE);
        let mut sizes = Vec::new();
        while let Some(size) = asked.next().await {
            sizes.push(size?);
        }
        Ok(Answer::Sizes(Some(sizes)))
    }

    async fn download(&self, remote: &R, key: &str, value: &Value, of: &Evidence) -> Result<Answer, Stop> {
        let Some(size) = of.size else { return Ok(Answer::Nothing) };
        // It is never closed.
        let _permit = self.downloads.acquire().await;
        let engine = match self.engine.get_or_init(|| Engine::builder().build()) {
            Ok(engine) => engine,
            Err(error) => return Err(failed(error.to_string())),
        };
        let Some(mut hashing) = Hashing::new(engine, value, size) else { return Ok(Answer::Nothing) };
        let (mut done, mut resumed) = (0, 0);
        while done < size {
            let request = ReadRequest { range: Some(done..size), if_match: of.etag.clone() };
            let mut body = remote.read(key, request).await.map_err(stop)?;
            let before = done;
            let error = loop {
                match body.next().await {
                    Some(Ok(bytes)) => {
                        done += bytes.len() as u64;
                        if done > size {
                            return Err(Stop::Changed);
                        }
                        hashing.update(bytes).await.map_err(failed)?;
                    }
                    Some(Err(error)) => break Some(error),
                    None => break None,
                }
            };
            if done == size {
                break;
            }
            resumed += 1;
            // What ends early without an error, or brings nothing at all, does not get better.
            match error {
                Some(error) if resumed > RESUMED || done == before => return Err(stop(error)),
                Some(_) => {}
                None => return Err(Stop::Changed),
            }
        }
        hashing.finish().await.map(Answer::Downloaded).map_err(failed)
    }

    fn learn(&self, evidence: &mut [Evidence; 2], question: Question, answer: Answer) -> Result<(), Stop> {
        let Question { side, what } = question;
        let hints = &self.planner.hints[side];
        let [of, other] = evidence.get_disjoint_mut([side, 1 - side]).map_err(|_| Stop::Changed)?;
        let was = of.layout.clone();
        match (what, answer) {
            (What::Head, Answer::Head(head)) => of.learn_head(&head)?,
            (What::FirstPart, Answer::Head(head)) => {
                of.learn_part(1, &head)?;
                if of.layout.is_none() && !of.is_uneven {
                    hints.no_part_numbers.store(true, Ordering::Relaxed);
                }
            }
            (What::LastPart, Answer::Head(head)) => of.learn_part(of.parts().unwrap_or(1).max(2), &head)?,
            (What::Attributes, Answer::Attributes(attributes)) => of.learn_attributes(&attributes)?,
            (What::Sizes, Answer::Sizes(sizes)) => of.learn_sizes(sizes),
            (What::Compute(value), Answer::Computed(computed)) => learn_computed(of, value, &computed)?,
            (What::Guess, Answer::Guessed(guessed)) => learn_guess(of, other, guessed),
            (What::Download(value), Answer::Downloaded(digest)) => {
                if let Some(form) = value.form(of.size.unwrap_or(0)) {
                    of.claim(form, digest, Origin::Download);
                }
            }
            (What::FirstPart, _) => {
                of.asked.first_part = true;
                hints.no_part_numbers.store(true, Ordering::Relaxed);
            }
            (What::LastPart, _) => of.asked.last_part = true,
            (What::Attributes, _) => {
                of.asked.attributes = true;
                hints.no_attributes.store(true, Ordering::Relaxed);
            }
            (What::Sizes, _) => of.asked.sizes = true,
            (What::Guess, _) => of.asked.guess = true,
            // Without an answer there is nothing to go on with, and it would be asked again.
            (What::Head | What::Compute(_) | What::Download(_), _) => {
                return Err(Stop::Unverified(Unverified::NoFunction));
            }
        }
        if of.is_object() && of.is_tag_opaque() {
            hints.opaque_tags.store(true, Ordering::Relaxed);
        }
        // What was computed for parts as they were taken to be is of no use for others.
        let is_moved = match (&was, &of.layout) {
            (Some(was), Some(is)) => !was.is_same(is, of.size.unwrap_or(0)),
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_moved {
            other.forget_parts();
        }
        Ok(())
    }
}

fn learn_computed(of: &mut Evidence, value: Value, computed: &Computed) -> Result<(), Stop> {
    if of.size.is_some_and(|size| size != computed.size) {
        return Err(Stop::Changed);
    }
    let form = value.form(computed.size);
    let (Some(form), [digest]) = (form, &computed.values[..]) else {
        return Err(Stop::Unverified(Unverified::NoFunction));
    };
    of.claim(form, *digest, Origin::File);
    Ok(())
}

/// A file whose parts of this size give the other side's tag has that tag.
fn learn_guess(of: &mut Evidence, other: &mut Evidence, guessed: Option<u64>) {
    of.asked.guess = true;
    let (Some(part_bytes), ETagKind::Multipart { md5, parts }) = (guessed, other.tag_kind()) else { return };
    let form = Form::Parts { algorithm: ChecksumAlgorithm::Md5, parts: parts.get() };
    other.layout = Some(Layout::Equal { part_bytes, is_sure: true });
    of.claim(form, Digest::from_bytes(&md5).unwrap_or_default(), Origin::File);
}

/// What GetObjectAttributes tells, all pages of it.
async fn attributes<R: Remote>(remote: &R, key: &str) -> Result<Attributes, RemoteError> {
    let mut all = remote.attributes(key, None).await?;
    while let Some(marker) = all.next_part_marker.take() {
        let page = remote.attributes(key, Some(marker)).await?;
        let is_same = page.etag.as_ref().map(ETag::as_str) == all.etag.as_ref().map(ETag::as_str);
        let goes_on = page.next_part_marker.is_none_or(|next| next > marker && next <= MAX_PARTS);
        if !is_same || !goes_on || all.parts.len() > MAX_PARTS as usize {
            // Pages of two objects, or without an end: the parts are not known.
            all.parts.clear();
            all.parts_count = None;
            break;
        }
        all.parts.extend(page.parts);
        all.next_part_marker = page.next_part_marker;
    }
    Ok(all)
}

/// The hashing itself failed.
fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Stop {
    Stop::Unverified(Unverified::Unreadable(io::Error::other(error)))
}

fn stop(error: RemoteError) -> Stop {
    match error.kind() {
        RemoteErrorKind::NotFound | RemoteErrorKind::Changed => Stop::Changed,
        _ => Stop::Unverified(Unverified::Remote(error)),
    }
}

fn file_error(path: &Path, error: io::Error) -> Unverified {
    Unverified::File { path: path.to_owned(), error }
}
