//! Connections: accepted, limited, watched, and closed.

mod connections;
mod tls;
mod watched;

pub(crate) use connections::{Connection, ConnectionCounts, Connections};
pub(crate) use tls::acceptor;
pub(crate) use watched::Phase;

use crate::response::ResponseBody;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use watched::Watched;

/// What of a body is read at once, and what of an answer waits to be sent, at most.
const BUFFER: usize = 128 << 10;

/// The bytes of a head, at most: presigned addresses and 2 KB of metadata are in it.
const HEAD: usize = 32 << 10;

/// The header lines of a head, at most.
const HEADERS: usize = 128;

/// Answers the requests of every connection.
pub(crate) trait Answer: Send + Sync + 'static {
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        connection: Arc<Connection>,
    ) -> impl Future<Output = Response<ResponseBody>> + Send;
}

/// Accepts connections until it is told to stop, then lets those with a request finish.
pub(crate) async fn serve<A: Answer>(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    connections: Arc<Connections>,
    answer: Arc<A>,
    mut stop: watch::Receiver<bool>,
) {
    let sweeper = tokio::spawn(sweep(connections.clone()));
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Some((socket, connection)) = accepted else { continue };
        let (answer, tls, stop) = (answer.clone(), tls.clone(), stop.clone());
        tokio::spawn(async move {
            let ended = connection.ended();
            tokio::select! {
                () = run(socket, tls, connection.clone(), answer, stop) => {}
                () = ended => {}
            }
        });
    }
    drop(listener);
    connections.emptied().await;
    sweeper.abort();
}

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, connections: &Arc<Connections>) -> Option<(TcpStream, Arc<Connection>)> {
    connections.room().await;
    match listener.accept().await {
        Ok((socket, _)) => {
            // Answers are written whole; waiting for more would only delay them.
            let _ = socket.set_nodelay(true);
            Some((socket, connections.open()))
        }
        // The peer has left already, or there are no more file descriptors: others must end first.
        Err(_) => {
            tokio::time::sleep(Duration::from_millis(10)).await;
            None
        }
    }
}

async fn run<A: Answer>(
    socket: TcpStream,
    tls: Option<TlsAcceptor>,
    connection: Arc<Connection>,
    answer: Arc<A>,
    stop: watch::Receiver<bool>,
) {
    let socket = Watched::new(socket, connection.watch());
    match tls {
        None => speak(socket, connection, answer, stop).await,
        Some(tls) => {
            // A handshake counts as a head: whoever does not end it in time is closed.
            connection.watch().enter(Phase::Head);
            if let Ok(socket) = tls.accept(socket).await {
                connection.watch().enter(Phase::Idle);
                speak(socket, connection, answer, stop).await;
            }
        }
    }
}

/// Speaks HTTP until one side has had enough.
async fn speak<T, A>(socket: T, connection: Arc<Connection>, answer: Arc<A>, mut stop: watch::Receiver<bool>)
where
    T: AsyncRead + AsyncWrite + Unpin,
    A: Answer,
{
    let service = service_fn(|request| {
        let (answer, connection) = (answer.clone(), connection.clone());
        connection.watch().enter(Phase::Request);
        async move { Ok::<_, Infallible>(answer.answer(request, connection).await) }
    });
    let mut protocol = http1::Builder::new();
    protocol.max_buf_size(BUFFER).max_header_size(HEAD).max_headers(HEADERS).half_close(false);
    let mut protocol = pin!(protocol.serve_connection(TokioIo::new(socket), service));
    tokio::select! {
        // Errors are the client's: it left, or what it sent was not HTTP, which hyper has told it.
        _ = &mut protocol => return,
        _ = stop.wait_for(|stop| *stop) => {}
    }
    protocol.as_mut().graceful_shutdown();
    let _ = protocol.await;
}

/// Closes what has taken too long, once a second.
async fn sweep(connections: Arc<Connections>) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        ticks.tick().await;
        connections.sweep();
    }
}
