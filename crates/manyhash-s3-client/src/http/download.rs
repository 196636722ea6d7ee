//! The bytes of an object, across connections that break.

use super::call::{Answer, AnswerForm, Call};
use super::client::Client;
use super::error::Error;
use super::headers::content_range;
use super::limiter::Permit;
use super::operation::Operation;
use crate::remote::{Body, ReadRequest, RemoteError};
use bytes::Bytes;
use futures_util::stream;
use http::{Method, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use manyhash_s3::etag::ETag;
use std::ops::Range;

/// An object that is being received.
struct Download {
    client: Client,
    key: String,
    /// What is still to come.
    left: Range<u64>,
    /// The tag that the rest must have too.
    etag: Option<ETag>,
    stream: Option<(Incoming, Permit)>,
    /// Connections that broke since bytes came.
    broken: u32,
}

/// Asks for the bytes.
pub(super) async fn open(client: Client, key: String, request: ReadRequest) -> Result<Body, Error> {
    let call = call(&key, request.range.as_ref(), request.if_match.as_ref());
    let answer = client.send(&call).await?;
    let left = expected(&answer, request.range.as_ref()).map_err(|reason| client.contradiction(&call, reason))?;
    let etag = answer.headers.get(header::ETAG).and_then(|value| value.to_str().ok()).map(ETag::parse);
    let etag = etag.or(request.if_match);
    let download = Download { client: client.clone(), key: key.clone(), left, etag, stream: answer.stream, broken: 0 };
    Ok(Box::pin(stream::unfold(Some(download), |download| async {
        let mut download = download?;
        match download.next().await {
            Ok(Some(bytes)) => Some((Ok(bytes), Some(download))),
            Ok(None) => None,
            Err(error) => Some((Err(RemoteError::from(error)), None)),
        }
    })))
}

fn call<'a>(key: &'a str, range: Option<&Range<u64>>, etag: Option<&ETag>) -> Call<'a> {
    let mut call = Call::new(Operation::GetObject, Method::GET, Some(key), AnswerForm::Bytes);
    if let Some(range) = range {
        call = call.header("range", format!("bytes={}-{}", range.start, range.end.saturating_sub(1)));
    }
    if let Some(etag) = etag {
        call = call.header("if-match", etag.to_string());
    }
    call
}

/// The bytes that an answer has, which must be those that were asked for.
fn expected(answer: &Answer, range: Option<&Range<u64>>) -> Result<Range<u64>, &'static str> {
    let length = answer.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let length: u64 = length.ok_or("has no content-length")?;
    let Some(asked) = range else { return Ok(0..length) };
    let told = content_range(&answer.headers).map(|(told, _)| told);
    match (answer.status, told) {
        // The object may end within the range.
        (StatusCode::PARTIAL_CONTENT, Some(told))
            if told.start == asked.start && told.end <= asked.end && told.end - told.start == length =>
        {
            Ok(told)
        }
        (StatusCode::PARTIAL_CONTENT, _) => Err("has another range than was asked for"),
        // All is the range that was asked for.
        _ if asked.start == 0 && length == asked.end => Ok(0..length),
        _ => Err("has all bytes where a range was asked for"),
    }
}

impl Download {
    /// Returns the next bytes, or `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        while !self.left.is_empty() {
            let failure = match self.receive().await {
                Ok(bytes) => {
                    self.broken = 0;
                    self.left.start += bytes.len() as u64;
                    return Ok(Some(bytes));
                }
                Err(failure) => failure,
            };
            self.stream = None;
            self.broken += 1;
            let policy = self.client.service().config.retry;
            // Without a tag, the rest might be of another object.
            if self.etag.is_none() || self.broken >= policy.attempts {
                return Err(failure);
            }
            tokio::time::sleep(policy.wait(self.broken, None, fastrand::f64())).await;
            let call = call(&self.key, Some(&self.left), self.etag.as_ref());
            let answer = self.client.send(&call).await?;
            if expected(&answer, Some(&self.left)).ok().as_ref() != Some(&self.left) {
                return Err(self.client.contradiction(&call, "has another range than was asked for"));
            }
            self.stream = answer.stream;
        }
        // An end that is not read closes the connection.
        if let Some((body, _permit)) = &mut self.stream {
            let silence = self.client.service().config.transport.timeouts.silence;
            let _ = tokio::time::timeout(silence, body.frame()).await;
        }
        self.stream = None;
        Ok(None)
    }

    /// Returns the next bytes of this connection, at least one.
    async fn receive(&mut self) -> Result<Bytes, Error> {
        let silence = self.client.service().config.transport.timeouts.silence;
        let left = self.left.end - self.left.start;
        let call = call(&self.key, None, None);
        let error = |reason: &str| self.client.contradiction(&call, reason);
        let Some((body, _permit)) = &mut self.stream else { return Err(error("has no bytes")) };
        loop {
            let frame = tokio::time::timeout(silence, body.frame()).await;
            let (target, endpoint) = (self.client.target(&call), self.client.place().to_string());
            match frame {
                Err(_) => return Err(Error::Timeout { target, endpoint, seconds: silence.as_secs() }),
                Ok(None) => return Err(error("ended early")),
                Ok(Some(Err(source))) => return Err(Error::Connection { target, endpoint, source: source.into() }),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) if bytes.len() as u64 > left => return Err(error("is longer than it announced")),
                    Ok(bytes) if !bytes.is_empty() => return Ok(bytes),
                    _ => {}
                },
            }
        }
    }
}
