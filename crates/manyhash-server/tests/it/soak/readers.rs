//! Clients that read, and compare what they see with what may be there.

use super::clients::Client;
use super::model::{Held, KEYS, Model, Seen, Start};
use super::wire::{Delivery, Ending, Outgoing};
use crate::client::Incoming;
use rand::RngExt;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;

impl Client {
    pub(super) async fn get(&mut self) {
        let key = self.random.random_range(0..KEYS);
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        self.get_whole(*server, key).await;
    }

    /// Reads what a key holds, and says whether that was possible.
    pub(super) async fn get_whole(&mut self, server: SocketAddr, key: usize) -> bool {
        let start = self.soak.model.start(key);
        let request = Outgoing::new("GET", uri(key)).header("x-amz-checksum-mode", "ENABLED");
        let answer = self.ask(server, "GetObject", &request).await;
        self.compare(key, start, answer)
    }

    /// Reads a range or a part.
    pub(super) async fn get_some(&mut self) {
        let key = self.random.random_range(0..KEYS);
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        let start = soak.model.start(key);
        let Some(version) = soak.model.permitted(key).into_iter().flatten().next() else { return };
        let request = if version.is_multipart && self.one_in(2) {
            let part = self.random.random_range(0..version.pieces.len());
            Outgoing::new("GET", format!("{}?partNumber={}", uri(key), 1 + 3 * part))
        } else {
            let first = self.random.random_range(0..version.length.max(1));
            let last = self.random.random_range(first..=version.length);
            let range = match self.random.random_range(0..4) {
                0 => format!("bytes={first}-"),
                1 => format!("bytes=-{last}"),
                _ => format!("bytes={first}-{last}"),
            };
            Outgoing::new("GET", uri(key)).header("range", range)
        };
        let answer = self.ask(*server, "GetObject, some", &request).await;
        self.compare(key, start, answer);
    }

    /// Compares an answer to a read with what the key may hold. Says whether there was one.
    fn compare(&mut self, key: usize, start: Start, answer: Option<Incoming>) -> bool {
        let Some(answer) = answer else { return false };
        let (first, total) = match answer.status {
            200 => (0, answer.body.len()),
            206 => match answer.header("content-range").and_then(parse_range) {
                Some(range) => range,
                None => return self.strange(key, &answer),
            },
            404 if answer.text().contains("<Code>NoSuchKey</Code>") => {
                return self.judge(key, start, &Seen::Nothing).is_some();
            }
            // What the key holds now is shorter, or has fewer parts.
            416 => return true,
            500.. => return false,
            _ => return self.strange(key, &answer),
        };
        let seen = Seen::Object { etag: answer.header("etag").unwrap_or_default().to_owned(), length: total };
        let Some(found) = self.judge(key, start, &seen) else { return true };
        let Some(Some(version)) = found.first() else { return true };
        let expected = version.bytes();
        if expected.get(first..first + answer.body.len()) != Some(&answer.body[..]) {
            self.soak.fail(format!("{} holds {seen:?} with other bytes from {first}", Model::name(key)));
        }
        if answer.status == 200 {
            self.soak.counts.verified.fetch_add(1, Relaxed);
            self.compare_checksum(key, &found, &answer);
        }
        true
    }

    fn strange(&self, key: usize, answer: &Incoming) -> bool {
        let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(1000)]).into_owned();
        self.soak.fail(format!("{} answers {}: {text}", Model::name(key), answer.status));
        true
    }

    /// What a key may hold of what is seen. If that is nothing, the soak has failed.
    fn judge(&self, key: usize, start: Start, seen: &Seen) -> Option<Vec<Held>> {
        match self.soak.model.judge(key, start, seen) {
            Ok(found) => Some(found),
            Err(violation) => {
                if violation.is_unverified {
                    self.soak.counts.unverified.fetch_add(1, Relaxed);
                }
                self.soak.fail(violation.text);
                None
            }
        }
    }

    /// Compares the checksum that comes with an object.
    fn compare_checksum(&self, key: usize, found: &[Held], answer: &Incoming) {
        let is_given = |held: &Held| match held.as_ref().and_then(|version| version.checksum.as_ref()) {
            Some((algorithm, value)) => answer.header(algorithm.header()) == Some(&**value),
            // The server has chosen it.
            None => true,
        };
        if !found.iter().any(is_given) {
            let expected: Vec<_> = found.iter().flatten().map(|version| &version.checksum).collect();
            self.soak.fail(format!("{} comes with another checksum than {expected:?}", Model::name(key)));
        }
    }

    pub(super) async fn head(&mut self) {
        let key = self.random.random_range(0..KEYS);
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        let start = soak.model.start(key);
        let request = Outgoing::new("HEAD", uri(key)).header("x-amz-checksum-mode", "ENABLED");
        let Some(answer) = self.ask(*server, "HeadObject", &request).await else { return };
        let length = answer.header("content-length").and_then(|length| length.parse().ok());
        match (answer.status, answer.header("etag"), length) {
            (200, Some(etag), Some(length)) => {
                let seen = Seen::Object { etag: etag.to_owned(), length };
                if let Some(found) = self.judge(key, start, &seen) {
                    self.compare_checksum(key, &found, &answer);
                }
            }
            (404, ..) => drop(self.judge(key, start, &Seen::Nothing)),
            (500.., ..) => {}
            _ => drop(self.strange(key, &answer)),
        }
    }

    pub(super) async fn attributes(&mut self) {
        let key = self.random.random_range(0..KEYS);
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        let start = soak.model.start(key);
        let request = Outgoing::new("GET", format!("{}?attributes", uri(key)))
            .header("x-amz-object-attributes", "ETag,ObjectSize");
        let Some(answer) = self.ask(*server, "GetObjectAttributes", &request).await else { return };
        match answer.status {
            200 => {
                let etag = format!("\"{}\"", unquoted(&answer.element("ETag")));
                let seen = Seen::Object { etag, length: answer.element("ObjectSize").parse().unwrap() };
                self.judge(key, start, &seen);
            }
            404 => drop(self.judge(key, start, &Seen::Nothing)),
            500.. => {}
            _ => drop(self.strange(key, &answer)),
        }
    }

    /// Asks for an object and leaves.
    pub(super) async fn turn_away(&mut self) {
        let key = self.random.random_range(0..KEYS);
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        let mut request = Outgoing::new("GET", uri(key));
        request.delivery = Delivery::Unheard(self.any(&Ending::ALL));
        self.ask(*server, "GetObject, not read", &request).await;
    }

    pub(super) async fn list(&mut self) {
        let prefix = self.any(&["", "", "a/", "b/", "b/c/1"]);
        let (per_page, is_v2) = (self.random.random_range(3..60), self.one_in(2));
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        self.list_all(*server, prefix, per_page, is_v2).await;
    }

    /// Lists all keys of a prefix in pages, and says whether that was possible.
    pub(super) async fn list_all(&mut self, server: SocketAddr, prefix: &str, per_page: usize, is_v2: bool) -> bool {
        let starts: Vec<Start> = (0..KEYS).map(|key| self.soak.model.start(key)).collect();
        let (what, kind) = if is_v2 { ("ListObjectsV2", "&list-type=2") } else { ("ListObjects", "") };
        let prefix_text = prefix.replace('/', "%2F");
        let mut found: BTreeMap<usize, Seen> = BTreeMap::new();
        let mut after = String::new();
        let is_whole = loop {
            let request = Outgoing::new("GET", format!("/soak?max-keys={per_page}&prefix={prefix_text}{kind}{after}"));
            let Some(page) = self.ask(server, what, &request).await else { break false };
            if page.status != 200 {
                if page.status < 500 {
                    self.soak.fail(format!("{what}: {page:?}"));
                }
                break false;
            }
            let mut last = String::new();
            for entry in page.text().split("<Contents>").skip(1) {
                let element = |name: &str| {
                    let (_, rest) = entry.split_once(&format!("<{name}>")).unwrap();
                    rest.split_once('<').unwrap().0.to_owned()
                };
                last = element("Key");
                let etag = format!("\"{}\"", unquoted(&element("ETag")));
                let seen = Seen::Object { etag, length: element("Size").parse().unwrap() };
                let is_new = Model::number(&last).is_some_and(|key| found.insert(key, seen).is_none());
                if !is_new || !last.starts_with(prefix) {
                    self.soak.fail(format!("{what} has {last}, which is twice there or nobody's"));
                }
            }
            if page.element("IsTruncated") == "false" {
                break true;
            }
            after = if is_v2 {
                format!("&continuation-token={}", page.element("NextContinuationToken"))
            } else {
                format!("&marker={}", last.replace('/', "%2F"))
            };
        };
        for key in (0..KEYS).filter(|key| Model::name(*key).starts_with(prefix)) {
            match found.get(&key) {
                Some(seen) => drop(self.judge(key, starts[key], seen)),
                None if is_whole => drop(self.judge(key, starts[key], &Seen::Nothing)),
                None => continue,
            }
            self.soak.counts.listed.fetch_add(1, Relaxed);
        }
        is_whole
    }
}

fn uri(key: usize) -> String {
    format!("/soak/{}", Model::name(key))
}

fn unquoted(etag: &str) -> String {
    etag.replace("&quot;", "").replace('"', "")
}

/// Where a range starts, and the length of the whole.
fn parse_range(text: &str) -> Option<(usize, usize)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    Some((range.split_once('-')?.0.parse().ok()?, total.parse().ok()?))
}
