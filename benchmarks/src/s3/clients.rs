//! Clients that all ask at once, each for the next thing when it has its answer. A thread for each core drives them.

use super::connection::{Client, Requests};
use super::error::S3LoadError;
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes that are received at once.
const BUFFER: usize = 256 << 10;

/// Bytes of bodies after which a sample ends, since a store in memory must have room for them.
const MOST: usize = 5 << 30;

/// How long a server may do nothing at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// Connected clients.
pub(crate) struct Clients<'r>(Vec<Driver<'r>>);

struct Driver<'r> {
    poll: Poll,
    clients: Vec<Client<'r>>,
}

impl<'r> Clients<'r> {
    /// Connects as many as the cell has, the first of which has that place.
    pub(crate) fn connect(server: SocketAddr, requests: &'r Requests, first: usize) -> Result<Self, S3LoadError> {
        let count = requests.cell.clients;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count);
        let connect = |thread: usize| {
            let poll = Poll::new().map_err(S3LoadError::Client)?;
            let mut clients = Vec::new();
            for place in (first..first + count).skip(thread).step_by(threads) {
                // Waits until it is connected, so that a sample begins with clients that are.
                let stream = std::net::TcpStream::connect(server).map_err(S3LoadError::Connection)?;
                stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true)).map_err(S3LoadError::Client)?;
                let mut stream = TcpStream::from_std(stream);
                let interest = Interest::READABLE | Interest::WRITABLE;
                poll.registry().register(&mut stream, Token(clients.len()), interest).map_err(S3LoadError::Client)?;
                clients.push(Client::new(requests, stream, place));
            }
            Ok(Driver { poll, clients })
        };
        (0..threads).map(connect).collect::<Result<_, _>>().map(Clients)
    }

    /// Has every client ask until the time is over, at least once. Returns how long each request took.
    pub(crate) fn run(&mut self, duration: Duration) -> Result<Vec<Duration>, S3LoadError> {
        let (until, next) = (Instant::now() + duration, AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let drive = |driver: &'_ mut Driver<'r>| driver.run(until, &next);
            let threads: Vec<_> = self.0.iter_mut().map(|driver| scope.spawn(move || drive(driver))).collect();
            let mut latencies = Vec::new();
            for thread in threads {
                latencies.extend(thread.join().expect("no client panics")?);
            }
            Ok(latencies)
        })
    }

    /// All of them.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut Client<'r>> {
        self.0.iter_mut().flat_map(|driver| &mut driver.clients)
    }
}

impl Driver<'_> {
    /// Counts the requests after each client's first in `next`, with all other drivers.
    fn run(&mut self, until: Instant, next: &AtomicUsize) -> Result<Vec<Duration>, S3LoadError> {
        let most = self.clients.first().map_or(0, |client| MOST / client.length());
        let (mut latencies, mut buffer) = (Vec::new(), vec![0; BUFFER]);
        for client in &mut self.clients {
            client.begin();
            client.send(usize::MAX)?;
        }
        let mut active = self.clients.len();
        let mut events = Events::with_capacity(1024);
        while active > 0 {
            match self.poll.poll(&mut events, Some(PATIENCE)) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                outcome => outcome.map_err(S3LoadError::Client)?,
            }
            if events.is_empty() {
                return Err(S3LoadError::Silent(PATIENCE));
            }
            for event in &events {
                let client = &mut self.clients[event.token().0];
                if event.is_writable() {
                    client.send(usize::MAX)?;
                }
                // An answer that is all there is followed by nothing, so what else comes is another event.
                if is_readable(event)
                    && let Some(latency) = client.receive(&mut buffer)?
                {
                    latencies.push(latency);
                    if Instant::now() < until && next.fetch_add(1, Relaxed) < most {
                        client.begin();
                        client.send(usize::MAX)?;
                    } else {
                        active -= 1;
                    }
                }
            }
        }
        Ok(latencies)
    }
}

fn is_readable(event: &Event) -> bool {
    event.is_readable() || event.is_read_closed() || event.is_error()
}

#[cfg(test)]
mod tests {
    use super::Clients;
    use crate::s3::cell::{CHUNK, Cell, MIB, Operation, Place, Signing};
    use crate::s3::connection::Requests;
    use crate::s3::error::S3LoadError;
    use crate::s3::fake::{Fake, Fault};
    use std::time::Duration;

    fn run(fake: &Fake, cell: Cell, duration: Duration) -> Result<Vec<Duration>, S3LoadError> {
        let requests = Requests::new(cell, fake.address);
        Clients::connect(fake.address, &requests, 0)?.run(duration)
    }

    #[test]
    fn what_is_put_can_be_got() {
        for length in [1024, CHUNK, CHUNK + 1024, MIB] {
            let fake = Fake::start(Fault::None);
            let put = Cell { clients: 5, ..Cell::put(Signing::Unsigned, length, 5, Place::Memory) };
            assert_eq!(run(&fake, put, Duration::ZERO).unwrap().len(), 5);
            let fill = Cell { clients: 1, ..put };
            let requests = Requests::new(fill, fake.address);
            let mut clients = Clients::connect(fake.address, &requests, 0).unwrap();
            for _ in 0..fill.objects() {
                clients.run(Duration::ZERO).unwrap();
            }
            let get = Cell { operation: Operation::Get, ..put };
            let latencies = run(&fake, get, Duration::from_millis(100)).unwrap();
            assert!(latencies.len() >= 5 && latencies.iter().all(|latency| *latency < Duration::from_secs(10)));
        }
    }

    #[test]
    fn whatever_is_not_right_is_an_error() {
        let put = Cell::put(Signing::Signed, 3 * CHUNK, 2, Place::Memory);
        let outcome = |fault, cell| run(&Fake::start(fault), cell, Duration::from_millis(50)).map(drop);
        assert!(matches!(outcome(Fault::ETag, put), Err(S3LoadError::WrongETag { .. })));
        assert!(matches!(outcome(Fault::Close, put), Err(S3LoadError::Closed | S3LoadError::Connection(_))));
        let refused = outcome(Fault::Refuse, put);
        assert!(matches!(&refused, Err(S3LoadError::Refused { status: 503, said }) if said == "slowly"), "{refused:?}");
        assert!(matches!(outcome(Fault::Length, put), Err(S3LoadError::WrongLength { expected: 0 })));

        let fake = Fake::start(Fault::Body);
        let fill = Cell { clients: 1, ..put };
        let requests = Requests::new(fill, fake.address);
        let mut clients = Clients::connect(fake.address, &requests, 0).unwrap();
        (0..fill.objects()).for_each(|_| drop(clients.run(Duration::ZERO).unwrap()));
        let get = Cell { operation: Operation::Get, ..put };
        assert!(matches!(run(&fake, get, Duration::from_millis(50)), Err(S3LoadError::WrongBody { .. })));
    }
}
