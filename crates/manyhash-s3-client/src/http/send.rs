//! A request sent until it is answered, or until it is of no use to send it again.

use super::body::{Sent, Unreadable};
use super::call::{Answer, AnswerForm, Call};
use super::client::Client;
use super::error::{Error, Refusal, Target};
use super::limiter::Permit;
use super::progress::Progress;
use super::retry::{Class, classify, retry_after};
use super::transport::{BoxError, Outgoing};
use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use jiff::{SignedDuration, Timestamp};
use manyhash_s3::chunked::SignatureChain;
use manyhash_s3::sign::{encode_path, sign};
use manyhash_s3::time::parse_http_date;
use manyhash_s3::xml::ErrorResponse;
use std::sync::Arc;
use std::time::Duration;

/// Bytes in the longest document of an answer: more than a page of 1,000 keys can have.
const MAX_DOCUMENT_BYTES: usize = 16 << 20;

/// Clocks that differ by more are the reason why a request without a code was refused. The service allows 15 minutes.
const SKEW: SignedDuration = SignedDuration::from_mins(10);

/// An attempt that failed.
pub(super) struct Failure {
    error: Error,
    class: Class,
    /// How long the service asks to wait.
    after: Option<Duration>,
    /// The region that it says the bucket is in.
    region: Option<String>,
    /// Its clock.
    date: Option<Timestamp>,
}

impl Failure {
    fn new(error: Error, class: Class) -> Box<Failure> {
        Box::new(Failure { error, class, after: None, region: None, date: None })
    }
}

/// What an attempt was made with. Another request may have put it right meanwhile.
#[derive(Default)]
struct Used {
    region: String,
    moment: Option<Timestamp>,
    access_key: String,
}

/// What was put right, each once for a request.
#[derive(Default)]
struct Corrected {
    region: bool,
    clock: bool,
    credentials: bool,
}

impl Client {
    pub(super) fn target(&self, call: &Call<'_>) -> Target {
        let key = call.key.map(str::to_owned);
        Target { operation: call.operation, bucket: self.bucket_name().to_owned(), key }
    }

    /// Sends a request until it is answered.
    pub(super) async fn send(&self, call: &Call<'_>) -> Result<Answer, Error> {
        if let Some(reason) = &call.invalid {
            return Err(Error::Request { target: self.target(call), reason: reason.clone() });
        }
        let service = self.service();
        let policy = service.config.retry;
        let (mut attempt, mut paid, mut corrected) = (1, None, Corrected::default());
        let mut is_again = false;
        loop {
            let permit = service.limiter.acquire().await;
            service.counters.add(call.operation, is_again);
            is_again = true;
            let mut used = Used::default();
            let failure = match self.attempt(call, permit, &mut used).await {
                Ok(answer) => {
                    service.budget.earn(paid);
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            if self.correct(&failure, &used, &mut corrected) {
                continue;
            }
            if failure.class == Class::Final || attempt >= policy.attempts {
                return Err(failure.error);
            }
            paid = service.budget.spend(failure.class);
            if paid.is_none() {
                return Err(failure.error);
            }
            tokio::time::sleep(policy.wait(attempt, failure.after, fastrand::f64())).await;
            attempt += 1;
        }
    }

    /// Puts right what the refusal tells to be wrong with the request. Returns whether there was anything.
    fn correct(&self, failure: &Failure, used: &Used, corrected: &mut Corrected) -> bool {
        let Some(refusal) = failure.error.refusal() else { return false };
        if let Some(region) = &failure.region
            && *region != used.region
            && !std::mem::replace(&mut corrected.region, true)
        {
            return self.move_to(region);
        }
        let is_about_time = matches!(&*refusal.code, "RequestTimeTooSkewed" | "RequestExpired")
            || (refusal.status == StatusCode::FORBIDDEN && refusal.code == "Forbidden");
        if is_about_time
            && let (Some(date), Some(moment)) = (failure.date, used.moment)
            && date.duration_since(moment).abs() > SKEW
            && !std::mem::replace(&mut corrected.clock, true)
        {
            self.service().set_clock(date);
            return true;
        }
        matches!(&*refusal.code, "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired")
            && !std::mem::replace(&mut corrected.credentials, true)
            && self.service().config.source.forget(&used.access_key)
    }

    async fn attempt(&self, call: &Call<'_>, permit: Permit, used: &mut Used) -> Result<Answer, Box<Failure>> {
        let transport = &self.service().config.transport;
        let silence = transport.timeouts.silence;
        let progress = Progress::new();
        let request = self.request(call, &progress, used).await?;
        let endpoint = self.place().to_string();
        let timeout = || {
            let seconds = silence.as_secs();
            Failure::new(
                Error::Timeout { target: self.target(call), endpoint: endpoint.clone(), seconds },
                Class::Timeout,
            )
        };
        let broken = |error: BoxError| {
            let class = if is_hopeless(&*error) { Class::Final } else { Class::Transient };
            let (target, endpoint) = (self.target(call), endpoint.clone());
            Failure::new(Error::Connection { target, endpoint, source: error }, class)
        };
        let response = progress.watch(silence, transport.send(request)).await.ok_or_else(timeout)?;
        let response = response.map_err(|error| match find::<Unreadable>(&error) {
            Some(Unreadable(source)) => {
                let source = source.clone();
                Failure::new(Error::Content { target: self.target(call), source }, Class::Final)
            }
            None => broken(error.into()),
        })?;
        let (parts, body) = response.into_parts();
        if parts.status.is_success() && call.answer == AnswerForm::Bytes {
            permit.answered();
            let (status, headers) = (parts.status, parts.headers);
            return Ok(Answer { status, headers, document: Bytes::new(), stream: Some((body, permit)) });
        }
        let document = match collect(body, silence).await {
            Collected::All(document) => document,
            Collected::Silence => return Err(timeout()),
            Collected::Broken(error) => return Err(broken(error.into())),
            Collected::TooLong => {
                let reason = format!("is longer than {MAX_DOCUMENT_BYTES} bytes");
                let target = self.target(call);
                return Err(Failure::new(Error::Answer { target, endpoint, reason }, Class::Final));
            }
        };
        // An error can follow when the answer was begun.
        let is_refused = !parts.status.is_success()
            || (call.answer == AnswerForm::Document && ErrorResponse::from_xml(document.trim_ascii()).is_ok());
        if !is_refused {
            permit.answered();
            let (status, headers) = (parts.status, parts.headers);
            return Ok(Answer { status, headers, document, stream: None });
        }
        let failure = self.refused(call, &Response::from_parts(parts, document), &endpoint);
        if failure.class == Class::Throttled {
            permit.refused();
        }
        Err(failure)
    }

    /// Makes a signed request.
    async fn request(
        &self,
        call: &Call<'_>,
        progress: &Arc<Progress>,
        used: &mut Used,
    ) -> Result<Request<Outgoing>, Box<Failure>> {
        let service = self.service();
        let failure = |error| Failure::new(error, Class::Final);
        let credentials = service.config.source.get().await;
        let credentials =
            credentials.map_err(|source| failure(Error::Credentials { target: self.target(call), source }))?;
        let invalid = |reason: &str| failure(Error::Request { target: self.target(call), reason: reason.to_owned() });

        let form = call.form(service.config.is_tls(), credentials.is_some());
        let key = call.key.map(encode_path);
        let (region, place) = self.region_and_place();
        let uri = place.uri(key.as_deref(), &call.query);
        let mut request = Request::new(());
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = uri.map_err(|_| invalid("the key is too long to be sent"))?;
        *request.headers_mut() = call.headers.clone();
        let (mut parts, ()) = request.into_parts();
        parts.headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        if call.content.is_none() && call.method == Method::POST {
            // Some services want it even where nothing follows.
            parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        if let Some(content) = call.content {
            let length = form.encoded_length(content.length()).ok_or_else(|| invalid("the content is too long"))?;
            parts.headers.insert(header::CONTENT_LENGTH, length.into());
            if form.payload.is_streaming() {
                let encoding = encoding(parts.headers.get(header::CONTENT_ENCODING));
                parts.headers.insert(header::CONTENT_ENCODING, encoding);
                parts.headers.insert("x-amz-decoded-content-length", content.length().into());
            }
        }

        let payload = form.payload.as_str();
        let now = service.now();
        (used.region, used.moment) = (region.clone(), Some(now));
        let chain = match credentials {
            None => {
                if form.payload.is_streaming() {
                    let payload = HeaderValue::from_str(&payload).map_err(|_| invalid("the payload has no form"))?;
                    parts.headers.insert("x-amz-content-sha256", payload);
                }
                None
            }
            Some(credentials) => {
                used.access_key = credentials.access_key().to_owned();
                let signed = sign(&mut parts, &credentials, &region, &payload, now);
                let signature =
                    signed.map_err(|source| failure(Error::Signing { target: self.target(call), source }))?;
                let is_chained = form.payload.has_signed_chunks();
                is_chained.then(|| SignatureChain::of_request(&credentials, &region, now, signature))
            }
        };
        let body = match call.content {
            None => Empty::new().map_err(|never| match never {}).boxed_unsync(),
            Some(content) => Sent::new(content, form, chain, progress.clone()).map_err(BoxError::from).boxed_unsync(),
        };
        Ok(Request::from_parts(parts, body))
    }

    /// Reads a refusal.
    fn refused(&self, call: &Call<'_>, answer: &Response<Bytes>, endpoint: &str) -> Box<Failure> {
        let (status, headers) = (answer.status(), answer.headers());
        let said = ErrorResponse::from_xml(answer.body().trim_ascii()).ok();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let reason = status.canonical_reason().unwrap_or("no reason given");
        let (code, message) = match &said {
            Some(said) => (said.code.clone(), said.message.clone()),
            // As botocore names them, with the words of HTTP.
            None => (reason.replace(' ', ""), reason.to_owned()),
        };
        let region = text("x-amz-bucket-region").or_else(|| said.as_ref().and_then(|said| said.region.clone()));
        let request_id = said.and_then(|said| said.request_id).or_else(|| text("x-amz-request-id"));
        let date = headers.get(header::DATE).and_then(|value| parse_http_date(value.to_str().ok()?).ok());
        let class = classify(status, &code);
        let target = self.target(call);
        let mut refusal = Refusal { target, status, code, message, request_id, advice: None };
        refusal.advise(endpoint, self.service().config.source.is_anonymous());
        let is_elsewhere = status.is_redirection() || status == StatusCode::BAD_REQUEST;
        Box::new(Failure {
            class,
            after: retry_after(headers, self.service().now()),
            // Every answer tells the bucket's region, also if nothing is wrong with it.
            region: region.filter(|_| is_elsewhere),
            date,
            error: Error::Refused(Box::new(refusal)),
        })
    }
}

const USER_AGENT: &str = concat!("manyhash-s3-client/", env!("CARGO_PKG_VERSION"));

/// The encoding of a body in chunks: the content's own stays.
fn encoding(own: Option<&HeaderValue>) -> HeaderValue {
    let chunked = HeaderValue::from_static("aws-chunked");
    let Some(own) = own else { return chunked };
    HeaderValue::from_bytes(&[b"aws-chunked,", own.as_bytes()].concat()).unwrap_or(chunked)
}

enum Collected {
    All(Bytes),
    Silence,
    Broken(hyper::Error),
    TooLong,
}

/// Receives a document.
async fn collect(mut body: Incoming, silence: Duration) -> Collected {
    let mut document = BytesMut::new();
    loop {
        match tokio::time::timeout(silence, body.frame()).await {
            Err(_) => return Collected::Silence,
            Ok(None) => return Collected::All(document.freeze()),
            Ok(Some(Err(error))) => return Collected::Broken(error),
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    if document.len() + data.len() > MAX_DOCUMENT_BYTES {
                        return Collected::TooLong;
                    }
                    document.extend_from_slice(&data);
                }
            }
        }
    }
}

/// Finds an error among the causes of another.
pub(super) fn find<'e, E: std::error::Error + 'static>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // The source of an `io::Error` is not the error that it wraps but that one's source.
        next = match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}

/// Whether a further attempt would end the same: the other side's certificate is not trusted, or it speaks no TLS.
fn is_hopeless(error: &(dyn std::error::Error + 'static)) -> bool {
    find::<rustls::Error>(error).is_some()
}
