//! From a request to its answer.

use crate::call::Call;
use crate::front::{self, Connection};
use crate::metrics::Answered;
use crate::request::{Operation, Query, Target};
use crate::response::{Answer, Content, Finished, ResponseBody};
use crate::state::State;
use crate::{auth, operations};
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

/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(2);

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
        let (operation, outcome) = answer(&state, parts, body).await;
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
        let answered = Answered::new(state.metrics.clone(), operation, answer.status, code, started);
        answer.with("x-amz-request-id", id).with("server", "manyhash").respond(Finished { connection, answered })
    }
}

/// Answers, and says which operation it was.
async fn answer(state: &Arc<State>, parts: Parts, body: Incoming) -> (Option<Operation>, Result<Answer, S3Error>) {
    let waits = parts.headers.contains_key("expect");
    let described = expect_small_head(&parts.headers)
        .and_then(|()| Target::of_path(parts.uri.path()))
        .and_then(|target| Query::of(&parts.uri).map(|query| (target, query)))
        .and_then(|(target, query)| {
            let operation = Operation::of(&parts.method, &target, &query, &parts.headers)?;
            Ok((operation, target, query))
        });
    let (operation, target, query) = match described {
        Ok(described) => described,
        Err(error) => {
            drain(body, waits).await;
            return (None, Err(error));
        }
    };
    let caller = auth::authenticate(state, &parts);
    let caller = caller.and_then(|caller| {
        auth::authorize(&caller, operation, &target, &query)?;
        auth::expect_owner(&caller, &parts.headers, "x-amz-expected-bucket-owner")?;
        Ok(caller)
    });
    let outcome = match caller {
        Err(error) => {
            drain(body, waits).await;
            Err(error)
        }
        Ok(caller) => {
            let described = target.clone();
            let mut call = Call { state: state.clone(), operation, parts, target, query, caller, body };
            let outcome = operations::perform(&mut call).await;
            drain(call.body, waits).await;
            if let Err(error) = &outcome
                && operation.takes_body()
            {
                let [bucket, key] = [described.bucket, described.key].map(Option::unwrap_or_default);
                let now = state.world.now().as_second();
                state.metrics.refused(now, operation, format!("{bucket}/{key}"), error);
            }
            outcome
        }
    };
    (Some(operation), outcome)
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

/// Reads what is left of a small body. A client that waits for `100 Continue` sends none, and is not asked to.
async fn drain(mut body: Incoming, waits: bool) {
    if waits || body.is_end_stream() || body.size_hint().upper().is_none_or(|bytes| bytes > UNWANTED) {
        return;
    }
    let reading = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = tokio::time::timeout(PATIENCE, reading).await;
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
