//! Clients that write: objects, copies, deletions.

use super::Soak;
use super::model::{Held, KEYS, Model, Outcome, Piece, Version};
use super::wire::{Connection, Delivery, Ending, Framing, Lie, Outgoing};
use crate::client::Incoming;
use manyhash_s3::checksum::{ChecksumAlgorithm, digest};
use manyhash_s3::sign::Payload;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// A client, which does one thing after another.
pub(super) struct Client {
    pub(super) soak: Arc<Soak>,
    pub(super) connection: Connection,
    pub(super) random: SmallRng,
}

/// The right to write to a key.
type Writing = OwnedMutexGuard<()>;

impl Client {
    pub(super) fn new(soak: Arc<Soak>, seed: u64) -> Self {
        Client { soak, connection: Connection::default(), random: SmallRng::seed_from_u64(seed) }
    }

    pub(super) async fn run(mut self) {
        while !self.soak.is_over() {
            match self.random.random_range(0..100) {
                0..36 => self.put().await,
                36..41 => self.upload().await,
                41..47 => self.copy().await,
                47..53 => self.delete().await,
                53..55 => self.delete_many().await,
                55..75 => self.get().await,
                75..82 => self.get_some().await,
                82..87 => self.head().await,
                87..91 => self.attributes().await,
                91..93 => self.turn_away().await,
                _ => self.list().await,
            }
        }
    }

    pub(super) fn one_in(&mut self, count: u32) -> bool {
        self.random.random_ratio(1, count)
    }

    pub(super) fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.random_range(0..of.len())]
    }

    pub(super) async fn ask(&mut self, server: SocketAddr, what: &str, request: &Outgoing) -> Option<Incoming> {
        self.soak.clone().ask(server, &mut self.connection, what, request).await
    }

    /// A key that nobody writes to, if the first look finds one.
    fn free_key(&mut self) -> Option<(usize, Writing)> {
        let key = self.random.random_range(0..KEYS);
        let writing = self.soak.model.writers[key].clone().try_lock_owned().ok()?;
        (!self.soak.model.is_haunted(key)).then_some((key, writing))
    }

    fn length(&mut self) -> usize {
        let range = match self.random.random_range(0..100) {
            0..4 => 0..16,
            4..50 => 16..4096,
            50..70 => 4096..128 << 10,
            70..80 => (128 << 10) - 1..(128 << 10) + 2,
            80..97 => 128 << 10..1 << 20,
            _ => 1 << 20..4 << 20,
        };
        self.random.random_range(range)
    }

    /// The content of some object.
    pub(super) fn known(&mut self) -> Option<Piece> {
        let key = self.random.random_range(0..KEYS);
        match &*self.soak.model.certain(key)??.pieces {
            [piece] => Some(*piece),
            _ => None,
        }
    }

    /// Chooses how a body is framed, and what is said of it.
    pub(super) fn frame(&mut self, request: &mut Outgoing) {
        let payload = self.any(&[
            Payload::Unsigned,
            Payload::Sha256([0; 32]),
            Payload::StreamingSigned,
            Payload::StreamingSignedTrailer,
            Payload::StreamingUnsignedTrailer,
        ]);
        let chunk = self.random.random_range(8 << 10..128 << 10);
        request.framing = Framing { payload, chunk, is_open: payload.is_streaming() && self.one_in(2) };
        request.checksum = (payload.has_trailers() || self.one_in(2)).then(|| self.any(&ChecksumAlgorithm::ALL));
        request.says_md5 = self.one_in(4);
    }

    /// Makes a request that is framed already one that must be refused, and says how.
    pub(super) fn spoil(&mut self, request: &mut Outgoing) -> String {
        if self.one_in(2) {
            let ending = self.any(&Ending::ALL);
            request.delivery = Delivery::Cut(ending, self.random.random_range(0..=1000));
            return format!("cut, {ending:?}");
        }
        let lies: Vec<Lie> = Lie::ALL.into_iter().filter(|lie| lie.fits(&request.framing)).collect();
        let lie = self.any(&lies);
        request.lie = Some(lie);
        // It may be true of something that is stored already.
        if let Some(known) = self.known().filter(|known| known.length >= 16 && self.one_in(2)) {
            request.other = known.bytes();
        }
        format!("lie, {lie:?}")
    }

    async fn put(&mut self) {
        let Some((key, _writing)) = self.free_key() else { return };
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        let uri = format!("/soak/{}", Model::name(key));
        if self.one_in(4) {
            let piece = soak.model.fresh(self.length().max(16));
            let bytes = piece.bytes();
            let mut request = Outgoing::new("PUT", uri).body(bytes.clone());
            self.frame(&mut request);
            let what = self.spoil(&mut request);
            soak.model.lie(&bytes, format!("{what}: {:?}", request.framing));
            let answer = self.ask(*server, "PutObject, spoilt", &request).await;
            soak.expect_refusal(answer.as_ref(), &what, &request);
            return;
        }
        let length = self.length();
        let known = if self.one_in(6) { self.known() } else { None };
        let piece = known.unwrap_or_else(|| soak.model.fresh(length));
        let bytes = piece.bytes();
        let mut request = Outgoing::new("PUT", uri).body(bytes.clone());
        self.frame(&mut request);
        request.delivery = match self.random.random_range(0..30) {
            0 => Delivery::Unheard(self.any(&Ending::ALL)),
            1 => Delivery::Slowly,
            _ => Delivery::Whole,
        };
        let succeeds = self.put_condition(key, &mut request);
        let new = Version::whole(piece, &bytes, request.checksum);
        let etag = new.etag.clone();
        let answer = self.write(*server, "PutObject", key, &request, Some(Arc::new(new)), succeeds).await;
        if let Some(answer) = answer.filter(|answer| answer.status == 200)
            && answer.header("etag") != Some(&*etag)
        {
            soak.fail(format!("the ETag of {} is {:?}, not {etag}", Model::name(key), answer.header("etag")));
        }
    }

    /// Adds a condition sometimes, and says whether it holds. The caller may write to the key.
    fn put_condition(&mut self, key: usize, request: &mut Outgoing) -> bool {
        let Some(held) = self.soak.model.certain(key).filter(|_| self.one_in(5)) else { return true };
        match (held, self.one_in(2)) {
            (held, true) => {
                request.headers.push(("if-none-match", "*".to_owned()));
                held.is_none()
            }
            (Some(version), false) if self.one_in(2) => {
                request.headers.push(("if-match", version.etag.clone()));
                true
            }
            (_, false) => {
                request.headers.push(("if-match", "\"none has this\"".to_owned()));
                false
            }
        }
    }

    /// Sends a request that writes to a key, and takes note of what came of it.
    async fn write(
        &mut self,
        server: SocketAddr,
        what: &str,
        key: usize,
        request: &Outgoing,
        new: Held,
        succeeds: bool,
    ) -> Option<Incoming> {
        let soak = self.soak.clone();
        let new = [new];
        soak.model.begin(key, &new);
        let answer = self.ask(server, what, request).await;
        let outcome = outcome(answer.as_ref());
        let is_heard = !matches!(request.delivery, Delivery::Unheard(_));
        if is_heard && matches!((outcome, succeeds), (Outcome::Refused, true) | (Outcome::Made, false)) {
            soak.fail(format!("{what}, to {}: {answer:?} to {:?}", Model::name(key), request.headers));
        }
        soak.model.settle(key, outcome, &new);
        answer
    }

    async fn delete(&mut self) {
        let Some((key, _writing)) = self.free_key() else { return };
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        let request = Outgoing::new("DELETE", format!("/soak/{}", Model::name(key)));
        self.write(*server, "DeleteObject", key, &request, None, true).await;
    }

    async fn delete_many(&mut self) {
        let count = self.random.random_range(1..6);
        let mut keys: Vec<(usize, Writing)> = (0..count).filter_map(|_| self.free_key()).collect();
        keys.sort_by_key(|(key, _)| *key);
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        if keys.is_empty() {
            return;
        }
        let objects: String =
            keys.iter().map(|(key, _)| format!("<Object><Key>{}</Key></Object>", Model::name(*key))).collect();
        let mut request =
            Outgoing::new("POST", "/soak?delete").body(format!("<Delete>{objects}</Delete>").into_bytes());
        request.says_md5 = true;
        for (key, _) in &keys {
            soak.model.begin(*key, &[None]);
        }
        let answer = self.ask(*server, "DeleteObjects", &request).await;
        let text = answer.as_ref().map(Incoming::text).unwrap_or_default();
        for (key, _) in &keys {
            let name = format!("<Key>{}</Key>", Model::name(*key));
            let is_in = |start: &str, end: &str| {
                text.split(start).skip(1).filter_map(|rest| rest.split(end).next()).any(|entry| entry.contains(&name))
            };
            let outcome = match outcome(answer.as_ref()) {
                Outcome::Made if is_in("<Deleted>", "</Deleted>") => Outcome::Made,
                Outcome::Made if is_in("<Error>", "</Error>") => {
                    soak.expect_excuse("DeleteObjects");
                    Outcome::Doubtful
                }
                Outcome::Made | Outcome::Refused => {
                    soak.fail(format!("DeleteObjects: {answer:?}"));
                    Outcome::Doubtful
                }
                outcome => outcome,
            };
            soak.model.settle(*key, outcome, &[None]);
        }
    }

    async fn copy(&mut self) {
        let (Some((source, _reading)), Some((key, _writing))) = (self.free_key(), self.free_key()) else { return };
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        let Some(held) = soak.model.certain(source) else { return };
        let mut request = Outgoing::new("PUT", format!("/soak/{}", Model::name(key)))
            .header("x-amz-copy-source", format!("/soak/{}", Model::name(source)));
        let Some(held) = held else {
            let answer = self.ask(*server, "CopyObject", &request).await;
            if outcome(answer.as_ref()) == Outcome::Made {
                soak.fail(format!("{} was copied, and holds nothing", Model::name(source)));
            }
            return;
        };
        let mut checksum = held.checksum.clone();
        if self.one_in(3) {
            let algorithm = self.any(&ChecksumAlgorithm::ALL);
            request = request.header("x-amz-checksum-algorithm", algorithm.name());
            if checksum.as_ref().is_none_or(|(had, _)| *had != algorithm) {
                checksum = Some((algorithm, digest(algorithm, &held.bytes()).to_string()));
            }
        }
        let new = Version {
            pieces: held.pieces.clone(),
            length: held.length,
            etag: held.etag.clone(),
            checksum,
            is_multipart: held.is_multipart,
        };
        self.write(*server, "CopyObject", key, &request, Some(Arc::new(new)), true).await;
    }
}

/// What an answer says of a write.
pub(super) fn outcome(answer: Option<&Incoming>) -> Outcome {
    match answer.map(|answer| answer.status) {
        None => Outcome::Unanswered,
        Some(200..300) => Outcome::Made,
        Some(500..) => Outcome::Doubtful,
        Some(_) => Outcome::Refused,
    }
}
