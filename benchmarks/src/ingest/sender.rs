//! The process that sends: this program once more.
//!
//! The protocol: a client connects, and sends the length of an object as 8 bytes, most significant first. So many bytes
//! of the content come back, and the next request may follow. Every object begins with the content's first byte, so
//! that its digest is known. Whoever asks for more than the content is disconnected.

use crate::error::Error;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// What the sending process is told.
#[derive(clap::Args)]
pub(crate) struct SenderArgs {
    /// Bytes in the content
    length: usize,
}

/// The name of its subcommand.
const SUBCOMMAND: &str = "sender";

/// Pseudo-random bytes, the same in every process; a shorter content is the beginning of a longer.
pub(crate) fn content(length: usize) -> Vec<u8> {
    let mut content = vec![0; length];
    Xoshiro256PlusPlus::seed_from_u64(4).fill_bytes(&mut content);
    content
}

/// A sending process, which ends when this is dropped.
pub(crate) struct Sender {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Sender {
    /// Starts one whose content has so many bytes.
    pub(crate) fn start(length: usize) -> Result<Self, Error> {
        let start = || {
            let mut process = Command::new(std::env::current_exe()?)
                .args([SUBCOMMAND, &length.to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let mut line = String::new();
            BufReader::new(process.stdout.take().expect("it is piped")).read_line(&mut line)?;
            let address = line.trim_end().parse().map_err(|_| ErrorKind::UnexpectedEof)?;
            Ok(Sender { process, address })
        };
        start().map_err(Error::Sender)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // It ends with its standard input, also when this process is killed.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// The sending process: prints its address, and serves until its standard input ends.
pub(crate) fn send(args: &SenderArgs) -> Result<(), Error> {
    let content = content(args.length).into();
    let runtime = Runtime::new().map_err(Error::Sender)?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).map_err(Error::Sender)?;
    println!("{}", listener.local_addr().map_err(Error::Sender)?);
    runtime.spawn(accept(listener, content));
    std::io::stdin().read_to_end(&mut Vec::new()).map_err(Error::Sender)?;
    runtime.shutdown_background();
    Ok(())
}

async fn accept(listener: TcpListener, content: Arc<[u8]>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(serve(client, content.clone()));
    }
}

/// Serves one connection until either side ends it; an error is the client's to report.
async fn serve(mut client: TcpStream, content: Arc<[u8]>) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    loop {
        let length = client.read_u64().await?;
        let object = usize::try_from(length).ok().and_then(|length| content.get(..length));
        client.write_all(object.ok_or(ErrorKind::InvalidInput)?).await?;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{accept, content};
    use std::net::{Ipv4Addr, SocketAddr};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::runtime::Runtime;

    /// Serves from this process, as long as the runtime lives.
    pub(crate) fn serve(runtime: &Runtime, length: usize) -> SocketAddr {
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(accept(listener, content(length).into()));
        address
    }

    #[test]
    fn a_shorter_content_is_the_beginning_of_a_longer() {
        let long = content(1001);
        for length in [0, 1, 7, 8, 13, 1000] {
            assert_eq!(content(length), long[..length]);
        }
    }

    #[test]
    fn a_client_gets_what_it_asks_for_and_no_more() {
        let runtime = Runtime::new().unwrap();
        let address = serve(&runtime, 100_000);
        runtime.block_on(async {
            let mut stream = TcpStream::connect(address).await.unwrap();
            for length in [100_000, 0, 5, 70_000] {
                stream.write_u64(length).await.unwrap();
                let mut object = vec![0; length as usize];
                stream.read_exact(&mut object).await.unwrap();
                assert_eq!(object, content(length as usize));
            }
            stream.write_u64(100_001).await.unwrap();
            assert_eq!(stream.read(&mut [0; 10]).await.unwrap(), 0);
        });
    }
}
