//! The tasks that receive: each has a connection, asks for an object, hashes its chunks as they come, and so on until
//! the sample's time is over.

use super::hashing::{Expected, Hashing, IngestSubject};
use super::sender::Sender;
use crate::error::Error;
use crate::sample::{Begun, Sample};
use bytes::Bytes;
use manyhash::engine::Engine;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// Bytes in a chunk, but for an object's last.
const CHUNK: usize = 64 << 10;

/// Room behind each chunk, so that not all begin at the same place in a page, where lanes would contend for one part of
/// the cache.
const STAGGER: usize = 192;

/// Connections to a sender, and a runtime with a thread for each core.
pub(crate) struct Receiver {
    runtime: Runtime,
    sender: Sender,
    connections: Vec<TcpStream>,
}

impl Receiver {
    pub(crate) fn new(sender: Sender) -> Result<Self, Error> {
        let runtime = Runtime::new().map_err(Error::Runtime)?;
        Ok(Receiver { runtime, sender, connections: vec![] })
    }

    /// Connects so many tasks, instead of those before.
    pub(crate) fn connect(&mut self, tasks: usize) -> Result<(), Error> {
        self.connections.clear();
        self.connections = self.runtime.block_on(connect(self.sender.address, tasks)).map_err(Error::Receive)?;
        Ok(())
    }

    /// Receives and hashes for so long: then each task ends its object, and has received one at least.
    pub(crate) fn sample(
        &mut self,
        subject: IngestSubject,
        engine: &Engine,
        expected: &Arc<Expected>,
        duration: Duration,
    ) -> Result<Sample, Error> {
        let hashing = self.connections.iter().map(|_| Hashing::new(subject, engine, expected));
        let hashing = hashing.collect::<Result<Vec<_>, Error>>()?;
        let connections = std::mem::take(&mut self.connections).into_iter().zip(hashing);
        let begun = Begun::now();
        let end = begun.time + duration;
        let (connections, latencies) = self.runtime.block_on(async {
            let task = |(stream, hashing)| tokio::spawn(receive(stream, hashing, expected.length(), end));
            let tasks: Vec<_> = connections.map(task).collect();
            let (mut connections, mut latencies) = (vec![], vec![]);
            for task in tasks {
                let (connection, of_task) = task.await??;
                connections.push(connection);
                latencies.extend(of_task);
            }
            Ok::<_, Error>((connections, latencies))
        })?;
        let sample = begun.ended(latencies);
        self.connections = connections;
        Ok(sample)
    }
}

async fn connect(address: SocketAddr, tasks: usize) -> std::io::Result<Vec<TcpStream>> {
    let mut connections = vec![];
    for _ in 0..tasks {
        let connection = TcpStream::connect(address).await?;
        connection.set_nodelay(true)?;
        connections.push(connection);
    }
    Ok(connections)
}

/// One task: objects until `end`, and the time that each took.
async fn receive(
    mut stream: TcpStream,
    mut hashing: Hashing,
    length: usize,
    end: Instant,
) -> Result<(TcpStream, Vec<Duration>), Error> {
    let mut latencies = vec![];
    loop {
        let start = Instant::now();
        stream.write_u64(length as u64).await.map_err(Error::Receive)?;
        hashing.start()?;
        let mut left = length;
        while left > 0 {
            let chunk = chunk(&mut stream, left.min(CHUNK)).await.map_err(Error::Receive)?;
            left -= chunk.len();
            hashing.update(chunk).await?;
        }
        hashing.finish().await?;
        latencies.push(start.elapsed());
        if Instant::now() >= end {
            return Ok((stream, latencies));
        }
    }
}

/// The next bytes, so many, in a buffer of their own.
async fn chunk(stream: &mut TcpStream, length: usize) -> std::io::Result<Bytes> {
    let mut buffer = Buffer::take();
    let bytes = &mut buffer.0[..length];
    stream.read_exact(bytes).await?;
    Ok(Bytes::from_owner(buffer).slice(..length))
}

/// Room for a chunk that goes from hand to hand and comes back when the last one drops it, as servers keep it: without
/// that, what is measured is how an allocator returns pages that another thread has freed.
struct Buffer(Box<[u8]>);

/// Buffers that nobody has, the last one used on top.
static BUFFERS: Mutex<Vec<Box<[u8]>>> = Mutex::new(Vec::new());

impl Buffer {
    fn take() -> Self {
        let kept = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Buffer(kept.unwrap_or_else(|| vec![0; CHUNK + STAGGER].into_boxed_slice()))
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        BUFFERS.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, connect, receive};
    use crate::error::Error;
    use crate::ingest::expected;
    use crate::ingest::hashing::{Hashing, IngestSubject};
    use crate::ingest::sender::{content, tests::serve};
    use manyhash::Algorithm;
    use manyhash::engine::Engine;
    use std::num::NonZeroUsize;
    use std::time::Instant;
    use tokio::runtime::Runtime;

    const LONGEST: usize = 3 * CHUNK;

    /// Receives an object with each subject, with one or two algorithms, and hands over what comes of it.
    fn each_subject(object: &[u8], mut outcome: impl FnMut(IngestSubject, Result<usize, Error>)) {
        let runtime = Runtime::new().unwrap();
        let engine = Engine::builder().threads(NonZeroUsize::MIN).build().unwrap();
        let address = serve(&runtime, LONGEST);
        for algorithms in [&[Algorithm::Md5][..], &[Algorithm::Md5, Algorithm::Sha256]] {
            let expected = expected(algorithms, object).unwrap();
            for subject in IngestSubject::ALL {
                let received = runtime.block_on(async {
                    let stream = connect(address, 1).await.unwrap().remove(0);
                    let hashing = Hashing::new(subject, &engine, &expected)?;
                    receive(stream, hashing, object.len(), Instant::now()).await
                });
                outcome(subject, received.map(|(_, latencies)| latencies.len()));
            }
        }
    }

    #[test]
    fn every_subject_is_right_at_the_edges_of_chunks() {
        for length in [1, 4096, CHUNK - 1, CHUNK, CHUNK + 1, LONGEST] {
            each_subject(&content(length), |subject, received| {
                assert_eq!(received.unwrap(), 1, "{subject:?}, {length} bytes");
            });
        }
    }

    #[test]
    fn a_wrong_digest_is_an_error() {
        let mut object = content(LONGEST);
        object[CHUNK] ^= 1;
        each_subject(&object, |subject, received| match subject {
            IngestSubject::None => assert_eq!(received.unwrap(), 1),
            _ => assert!(matches!(received, Err(Error::WrongDigest { length: LONGEST, .. })), "{subject:?}"),
        });
    }

    #[test]
    fn a_connection_that_ends_is_an_error() {
        each_subject(&content(LONGEST + 1), |_, received| assert!(matches!(received, Err(Error::Receive(_)))));
    }
}
