//! From a request to its answer.

use crate::auth::Caller;
use crate::call::Call;
use crate::front::{self, Connection};
use crate::metrics::Answered;
use crate::request::{Operation, Query, Target};
use crate::response::{Answer, Content, Finished, ResponseBody};
use crate::state::State;
use crate::{auth, headers, operations};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use manyhash_s3::error::{ErrorCode, S3Error};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much of a body that is not wanted is read, so that its connection can be used again.
const UNWANTED: u64 = 1 << 20;

/// How long that may take, and how long the next piece of a larger body is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a larger body is read while its client is told that it is refused.
const LINGER: Duration = Duration::from_secs(30);

/// Answers the requests of all connections.
pub(crate) struct Requests(Arc<State>);

impl Requests {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Requests(state)
    }
}

impl front::Answer for Requests {
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        connection: Arc<Connection>,
    ) -> Response<ResponseBody> {
        let started = Instant::now();
        let state = self.0.clone();
        let id = state.request_id();
        let (parts, body) = request.into_parts();
        let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
        let mut asked = Asked { operation: None, again: true };
        let outcome = answer(&state, parts, body, &mut asked).await;
        let code = outcome.as_ref().err().map_or("", |error| error.code.code());
        let mut answer = match outcome {
            Ok(answer) => answer,
            Err(error) => refuse(&error, &path, &id, &method),
        };
        if method == Method::HEAD
            && let Content::Bytes(bytes) = &answer.content
        {
            answer.content = Content::Length(bytes.len() as u64);
        }
        if !asked.again {
            answer.set("connection", "close");
        }
        let answered = Answered::new(state.metrics.clone(), asked.operation, answer.status, code, started);
        answer.with("x-amz-request-id", id).with("server", "manyhash").respond(Finished { connection, answered })
    }
}

/// What is known of a request once it is answered.
struct Asked {
    operation: Option<Operation>,
    /// Whether its connection can be used again.
    again: bool,
}

async fn answer(state: &Arc<State>, mut parts: Parts, body: Incoming, asked: &mut Asked) -> Result<Answer, S3Error> {
    let waits = parts.headers.contains_key("expect");
    let (operation, target, query, caller) = match admit(state, &mut parts, asked) {
        Ok(admitted) => admitted,
        Err(error) => {
            asked.again = dismiss(body, waits).await;
            return Err(error);
        }
    };
    let name = target.to_string();
    let mut call = Call { state: state.clone(), operation, parts, target, query, caller, body, is_asked_for: false };
    let outcome = operations::perform(&mut call).await;
    asked.again = dismiss(call.body, waits && !call.is_asked_for).await;
    if let Err(error) = &outcome
        && operation.takes_body()
    {
        state.metrics.refused(state.world.now().as_second(), operation, name, error);
    }
    outcome
}

/// Finds out what is asked for, and whether whoever asks may.
fn admit(state: &State, parts: &mut Parts, asked: &mut Asked) -> Result<(Operation, Target, Query, Caller), S3Error> {
    expect_small_head(&parts.headers)?;
    headers::expect_clear_claims(&parts.headers)?;
    let (target, query) = (Target::of_path(parts.uri.path())?, Query::of(&parts.uri)?);
    let operation = Operation::of(&parts.method, &target, &query, &parts.headers)?;
    asked.operation = Some(operation);
    let caller = auth::authenticate(state, parts)?;
    query.hoist(&mut parts.headers)?;
    headers::expect_clear_claims(&parts.headers)?;
    headers::refuse_what_is_not_done(&parts.headers)?;
    auth::authorize(&caller, operation, &target, &query)?;
    auth::expect_owner(&caller, &parts.headers, "x-amz-expected-bucket-owner")?;
    Ok((operation, target, query, caller))
}

/// The bytes of header lines, at most, as S3 has it.
const HEADERS: usize = 8 << 10;

fn expect_small_head(headers: &HeaderMap) -> Result<(), S3Error> {
    // With ": " between them and the end of the line.
    let bytes = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
    if bytes <= HEADERS {
        return Ok(());
    }
    Err(S3Error::new(ErrorCode::RequestHeaderSectionTooLarge).with("MaxSizeAllowed", HEADERS))
}

/// Gets rid of what is left of a body, and says whether the connection can be used again.
///
/// A client that sends while it is refused would not hear why if the connection were closed with bytes unread: the system
/// would reset it. So a small body is read to its end, and what comes of a large one is read for a while, beside the answer.
async fn dismiss(mut body: Incoming, waits: bool) -> bool {
    if body.is_end_stream() {
        return true;
    }
    // It was not asked to send, and must not be now.
    if waits {
        return false;
    }
    if body.size_hint().upper().is_some_and(|bytes| bytes <= UNWANTED) {
        let reading = async { while let Some(Ok(_)) = body.frame().await {} };
        return tokio::time::timeout(PATIENCE, reading).await.is_ok();
    }
    tokio::spawn(tokio::time::timeout(LINGER, async move {
        while let Ok(Some(Ok(_))) = tokio::time::timeout(PATIENCE, body.frame()).await {}
    }));
    false
}

fn refuse(error: &S3Error, path: &str, id: &str, method: &Method) -> Answer {
    let status = error.status();
    let mut headers = HeaderMap::new();
    let text = if *method == Method::HEAD || status == http::StatusCode::NOT_MODIFIED {
        Bytes::new()
    } else {
        headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/xml"));
        error.to_xml(path, id, None).into()
    };
    if status == http::StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(http::header::RETRY_AFTER, http::HeaderValue::from_static("1"));
    }
    Answer { status, headers, content: Content::Bytes(text) }
}
