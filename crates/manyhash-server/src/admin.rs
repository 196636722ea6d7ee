//! What an operator looks at: `/metrics`, `/healthz`, and a page that shows the server at work.
//!
//! It has an address of its own, and no keys: whoever reaches the address sees the names of refused objects.

mod events;

use crate::state::State;
use bytes::Bytes;
use events::Events;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The page: one file, which asks for nothing but `/events`.
const PAGE: &str = include_str!("admin/page.html");

/// Connections at once. Operators and their tools are few.
const CONNECTIONS: usize = 64;

/// How long the head of a request may take, or the next one be waited for.
const HEAD: Duration = Duration::from_secs(60);

type Page = Either<Full<Bytes>, Events>;

pub(crate) async fn serve(listener: TcpListener, state: Arc<State>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let state = state.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let answer = answer(&request, &state);
                async { Ok::<_, Infallible>(answer) }
            });
            let mut protocol = http1::Builder::new();
            protocol.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // Whoever leaves early is no error.
            let _ = protocol.serve_connection(TokioIo::new(socket), service).await;
            drop(place);
        });
    }
}

fn answer(request: &Request<Incoming>, state: &Arc<State>) -> Response<Page> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return text(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET\n");
    }
    match request.uri().path() {
        "/" => text(StatusCode::OK, "text/html; charset=utf-8", PAGE),
        "/metrics" => {
            text(StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", state.to_prometheus())
        }
        "/healthz" => match state.store.buckets() {
            Ok(_) => text(StatusCode::OK, "text/plain", "ok\n"),
            Err(error) => text(StatusCode::SERVICE_UNAVAILABLE, "text/plain", format!("{error}\n")),
        },
        "/events" => {
            let mut response = Response::new(Either::Right(Events::new(state.clone())));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/event-stream"));
            headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
            response
        }
        _ => text(StatusCode::NOT_FOUND, "text/plain", "there are /, /metrics, /healthz and /events\n"),
    }
}

fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Page> {
    let mut response = Response::new(Either::Left(Full::new(text.into())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    // The page runs its own script and nothing else.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'";
    let policy = header::HeaderValue::from_static(policy);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}
