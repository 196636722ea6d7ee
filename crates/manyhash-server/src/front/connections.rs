//! The connections that are open, and which of them must go.

use super::watched::{Phase, Watch};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long the head of a request, or a handshake, may take, in milliseconds.
const HEAD: u64 = 10_000;

/// How long a head may take, in milliseconds, while there is no room for others.
const SLOW_HEAD: u64 = 1000;

/// The time in which a client that is waited for must take [`LEAST`] bytes of an answer.
const WINDOW: Duration = Duration::from_secs(30);

/// One KiB a second.
const LEAST: u64 = 30 << 10;

/// All connections that are open.
pub(crate) struct Connections {
    started: Instant,
    most: usize,
    open: Mutex<Open>,
    /// Told whenever a connection ends.
    left: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Arc<Watching>>,
    /// Closed for one that came while all places were taken.
    reaped: u64,
    /// Closed because a head, a handshake or an answer took too long.
    slow: u64,
}

/// What can be said to a connection from outside.
struct Watching {
    watch: Arc<Watch>,
    end: Notify,
    /// When the client was last quick enough, and how much it had taken by then.
    quick: Mutex<(Instant, u64)>,
}

impl Watching {
    /// Whether a head, a handshake or an answer takes too long.
    fn is_slow(&self, now: Instant) -> bool {
        let (phase, lasted) = self.watch.phase();
        if phase == Phase::Head && lasted > HEAD {
            return true;
        }
        let taken = self.watch.taken();
        let mut quick = self.quick.lock().unwrap_or_else(PoisonError::into_inner);
        if self.watch.blocked().is_none() || taken - quick.1 >= LEAST {
            *quick = (now, taken);
        }
        now.saturating_duration_since(quick.0) > WINDOW
    }
}

/// A connection, for as long as this exists.
pub(crate) struct Connection {
    number: u64,
    watching: Arc<Watching>,
    connections: Arc<Connections>,
}

/// How many connections there are in each phase, and how many were closed.
#[derive(Clone, Copy, Default, Debug, serde::Serialize)]
pub(crate) struct ConnectionCounts {
    pub(crate) idle: usize,
    pub(crate) head: usize,
    pub(crate) request: usize,
    pub(crate) reaped: u64,
    pub(crate) slow: u64,
    pub(crate) accepted: u64,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Connections {
            started: Instant::now(),
            most: most.max(1),
            open: Mutex::default(),
            left: Notify::new(),
        })
    }

    /// Waits until one more may be accepted. If all places are taken, the connection idle longest is closed. One with
    /// a request never is.
    pub(super) async fn room(&self) {
        loop {
            let left = self.left.notified();
            {
                let mut open = self.lock();
                if open.connections.len() < self.most {
                    return;
                }
                // Of an answer, something may still be on its way when its request is over. And if all have begun a
                // head, whoever takes long over it may not keep others out.
                let dispensable = open.connections.values().filter_map(|watching| match watching.watch.phase() {
                    (Phase::Idle, lasted) if watching.watch.blocked().is_none() => Some((true, lasted, watching)),
                    (Phase::Head, lasted) if lasted > SLOW_HEAD => Some((false, lasted, watching)),
                    _ => None,
                });
                let longest = dispensable.max_by_key(|(is_idle, lasted, _)| (*is_idle, *lasted));
                if let Some(longest) = longest.map(|(.., watching)| watching.clone()) {
                    longest.end.notify_one();
                    open.reaped += 1;
                }
            }
            // Heads grow old without anybody leaving.
            let _ = tokio::time::timeout(Duration::from_millis(100), left).await;
        }
    }

    pub(super) fn open(self: &Arc<Self>) -> Arc<Connection> {
        let watching = Arc::new(Watching {
            watch: Arc::new(Watch::new(self.started)),
            end: Notify::new(),
            quick: Mutex::new((Instant::now(), 0)),
        });
        let mut open = self.lock();
        let number = open.next;
        open.next += 1;
        open.connections.insert(number, watching.clone());
        Arc::new(Connection { number, watching, connections: self.clone() })
    }

    /// Ends the connections whose head or handshake takes too long, and those whose client takes next to nothing.
    pub(super) fn sweep(&self) {
        let mut open = self.lock();
        let (now, mut ended) = (Instant::now(), 0);
        for watching in open.connections.values().filter(|watching| watching.is_slow(now)) {
            watching.end.notify_one();
            ended += 1;
        }
        open.slow += ended;
    }

    /// Waits until no connection is open.
    pub(super) async fn emptied(&self) {
        loop {
            let left = self.left.notified();
            if self.lock().connections.is_empty() {
                return;
            }
            left.await;
        }
    }

    pub(crate) fn counts(&self) -> ConnectionCounts {
        let open = self.lock();
        let mut counts =
            ConnectionCounts { reaped: open.reaped, slow: open.slow, accepted: open.next, ..Default::default() };
        for watching in open.connections.values() {
            match watching.watch.phase().0 {
                Phase::Idle => counts.idle += 1,
                Phase::Head => counts.head += 1,
                Phase::Request => counts.request += 1,
            }
        }
        counts
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    pub(crate) fn watch(&self) -> Arc<Watch> {
        self.watching.watch.clone()
    }

    /// Waits until the connection is to be closed.
    pub(super) fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let watching = self.watching.clone();
        async move { watching.end.notified().await }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.lock().connections.remove(&self.number);
        self.connections.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Poll;

    #[tokio::test]
    async fn the_connection_idle_longest_goes_and_one_with_a_request_stays() {
        let connections = Connections::new(3);
        let busy = connections.open();
        busy.watch().enter(Phase::Request);
        tokio::time::sleep(Duration::from_millis(5)).await;
        let old = connections.open();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let young = connections.open();

        let ended = old.ended();
        let (_, ()) = tokio::join!(connections.room(), async {
            ended.await;
            drop(old);
        });
        let counts = connections.counts();
        assert_eq!((counts.idle, counts.request, counts.reaped), (1, 1, 1));
        drop((busy, young));
        connections.emptied().await;
    }

    #[test]
    fn a_client_that_takes_next_to_nothing_is_slow() {
        let connections = Connections::new(1);
        let connection = connections.open();
        let (watching, now) = (&connection.watching, Instant::now());
        let later = |windows: u32| now + windows * (WINDOW + Duration::from_secs(1));
        assert!(!watching.is_slow(later(1)));
        watching.watch.wrote(&Poll::Pending);
        assert!(!watching.is_slow(later(1)) && watching.is_slow(later(2)));
        // A little does not help, enough does.
        watching.watch.wrote(&Poll::Ready(Ok(1)));
        watching.watch.wrote(&Poll::Pending);
        assert!(watching.is_slow(later(2)));
        watching.watch.wrote(&Poll::Ready(Ok(LEAST as usize)));
        watching.watch.wrote(&Poll::Pending);
        assert!(!watching.is_slow(later(2)) && watching.is_slow(later(3)));
    }

    #[tokio::test]
    async fn nobody_is_accepted_while_all_have_requests() {
        let connections = Connections::new(1);
        let busy = connections.open();
        busy.watch().enter(Phase::Request);
        let waits = tokio::time::timeout(Duration::from_millis(20), connections.room());
        assert!(waits.await.is_err());
        drop(busy);
        connections.room().await;
    }
}
