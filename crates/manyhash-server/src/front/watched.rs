//! A connection's bytes, watched: whether a request is on its way, since when, and whether the client takes what it is
//! sent.
//!
//! hyper's own limit for heads runs while a connection is idle too, and would close what keep-alive holds open. So each
//! connection keeps its state in two atomics, and one task looks at all of them once a second: no timer is set for a
//! request.

use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing of a next request has arrived.
    Idle,
    /// A part of a request's head has arrived.
    Head,
    /// A request is being answered.
    Request,
}

/// The state of one connection. All times are milliseconds since the server started.
#[derive(Debug)]
pub(crate) struct Watch {
    started: Instant,
    /// The phase in the lowest two bits, since when above.
    phase: AtomicU64,
    /// Since when the client has taken nothing of what is ready for it, and one more; 0 while it takes.
    blocked: AtomicU64,
    /// Bytes that the client has taken.
    taken: AtomicU64,
}

impl Watch {
    pub(crate) fn new(started: Instant) -> Self {
        let watch = Watch { started, phase: AtomicU64::new(0), blocked: AtomicU64::new(0), taken: AtomicU64::new(0) };
        watch.enter(Phase::Idle);
        watch
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(self.now() << 2 | phase as u64, Relaxed);
    }

    /// The phase, and the milliseconds it has lasted.
    pub(crate) fn phase(&self) -> (Phase, u64) {
        let value = self.phase.load(Relaxed);
        let phase = match value & 3 {
            0 => Phase::Idle,
            1 => Phase::Head,
            _ => Phase::Request,
        };
        (phase, self.now().saturating_sub(value >> 2))
    }

    /// For how many milliseconds the client has taken nothing of what is ready for it.
    pub(crate) fn blocked(&self) -> Option<u64> {
        let since = self.blocked.load(Relaxed).checked_sub(1)?;
        Some(self.now().saturating_sub(since))
    }

    /// How many bytes the client has taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX >> 2)
    }

    fn received(&self, bytes: usize) {
        if bytes > 0 && self.phase.load(Relaxed) & 3 == Phase::Idle as u64 {
            self.enter(Phase::Head);
        }
    }

    pub(super) fn wrote(&self, result: &Poll<std::io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = result {
            self.taken.fetch_add(*bytes as u64, Relaxed);
        }
        match result {
            Poll::Pending if self.blocked.load(Relaxed) == 0 => self.blocked.store(self.now() + 1, Relaxed),
            Poll::Ready(_) if self.blocked.load(Relaxed) != 0 => self.blocked.store(0, Relaxed),
            _ => {}
        }
    }
}

/// A socket that tells its [`Watch`] what passes.
pub(super) struct Watched<T> {
    inner: T,
    watch: Arc<Watch>,
}

impl<T> Watched<T> {
    pub(super) fn new(inner: T, watch: Arc<Watch>) -> Self {
        Watched { inner, watch }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let result = Pin::new(&mut this.inner).poll_read(cx, buffer);
        this.watch.received(buffer.filled().len().saturating_sub(before));
        result
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Watched<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.watch.wrote(&result);
        result
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.inner).poll_write_vectored(cx, slices);
        this.watch.wrote(&result);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn phases_and_times_follow_what_passes() {
        let watch = Watch::new(Instant::now() - Duration::from_secs(100));
        assert_eq!(watch.phase().0, Phase::Idle);
        watch.received(0);
        assert_eq!(watch.phase().0, Phase::Idle);
        watch.received(1);
        assert_eq!(watch.phase().0, Phase::Head);
        watch.enter(Phase::Request);
        watch.received(1);
        let (phase, lasted) = watch.phase();
        assert!(phase == Phase::Request && lasted < 60_000);

        assert_eq!(watch.blocked(), None);
        watch.wrote(&Poll::Pending);
        assert!(watch.blocked().is_some_and(|lasted| lasted < 60_000));
        watch.wrote(&Poll::Ready(Ok(7)));
        assert_eq!((watch.blocked(), watch.taken()), (None, 7));
    }
}
