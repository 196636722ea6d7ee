//! A server that runs, on a store of its own that goes with it.

use super::cell::{Cell, Operation, Place, Signing};
use super::clients::Clients;
use super::connection::Requests;
use super::error::S3LoadError;
use super::process::Process;
use super::program::{Manyhash, Program, Programs};
use super::signer::Signer;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(30);

/// It has an empty bucket when it was started.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    /// Where its metrics are, if it has some.
    pub(crate) admin: Option<SocketAddr>,
    directory: Option<TempDir>,
    place: Place,
}

impl Server {
    /// Starts one, with its store in a directory of its own within this one.
    pub(crate) fn start(
        programs: &Programs,
        program: Program,
        place: Place,
        within: &Path,
        manyhash: Manyhash,
    ) -> Result<Self, S3LoadError> {
        let directory = tempfile::Builder::new().prefix("manyhash-bench-").tempdir_in(within);
        let directory = directory.map_err(S3LoadError::of(within))?;
        let (mut command, address) = programs.command(program, directory.path(), manyhash)?;
        let mut process = Process::start(&mut command)?;
        let (address, admin) = match address {
            Some(address) => (address, None),
            None => endpoint(&mut process, manyhash.admin)?,
        };
        let mut server = Server { process, address, admin, directory: Some(directory), place };
        server.create_bucket()?;
        Ok(server)
    }

    /// Creates the bucket as soon as the server can.
    fn create_bucket(&mut self) -> Result<(), S3LoadError> {
        let begun = Instant::now();
        loop {
            let problem = match exchange(self.address, &Signer::new(self.address).create_bucket()) {
                Ok((200, _)) => return Ok(()),
                Ok((status, said)) => {
                    S3LoadError::Refused { status, said: String::from_utf8_lossy(&said).into_owned() }
                }
                Err(error) => error,
            };
            if self.process.alive().is_err() || begun.elapsed() > PATIENCE {
                let log = self.directory.as_ref().map(|directory| directory.path().join("log"));
                let said = log.and_then(|log| fs::read_to_string(log).ok()).unwrap_or_default();
                return Err(S3LoadError::NotReady { problem: Box::new(problem), said });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Puts the objects that will be got.
    pub(crate) fn fill(&self, get: &Requests) -> Result<(), S3LoadError> {
        let cell = Cell { operation: Operation::Put, signing: Signing::Unsigned, clients: 1, ..get.cell };
        let put = Requests::new(cell, self.address);
        let mut clients = Clients::connect(self.address, &put, 0)?;
        (0..cell.objects()).try_for_each(|_| clients.run(Duration::ZERO).map(drop))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What it still has to write goes with its files.
        self.process.kill();
        drop(self.directory.take());
        if self.place == Place::Disk {
            // The next finds a disk that has nothing to do.
            nix::unistd::sync();
        }
    }
}

/// Where our own says that it listens: `endpoint    http://127.0.0.1:9000`, and then `live page   http://...`.
fn endpoint(process: &mut Process, admin: bool) -> Result<(SocketAddr, Option<SocketAddr>), S3LoadError> {
    let output = process.child().stdout.take().ok_or(S3LoadError::Ended)?;
    let mut lines = BufReader::new(output).lines();
    let mut next = |word: &str| {
        let line = lines.next().transpose().map_err(S3LoadError::Run)?.unwrap_or_default();
        let address = line.strip_prefix(word).and_then(|rest| rest.trim().strip_prefix("http://")?.parse().ok());
        address.ok_or(S3LoadError::NoEndpoint(line))
    };
    Ok((next("endpoint")?, if admin { Some(next("live page")?) } else { None }))
}

/// Sends a request on a connection of its own. Returns the status and what followed the head.
pub(crate) fn exchange(server: SocketAddr, request: &[u8]) -> Result<(u16, Vec<u8>), S3LoadError> {
    let exchange = || {
        let mut stream = TcpStream::connect(server)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(request)?;
        let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut response = httparse::Response::new(&mut headers);
            let parsed = response.parse(&answer).map_err(|_| ErrorKind::InvalidData)?;
            if let httparse::Status::Complete(end) = parsed {
                let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
                let length = length.and_then(|header| str::from_utf8(header.value).ok()?.parse().ok()).unwrap_or(0);
                if answer.len() >= end + length {
                    let status = response.code.unwrap_or_default();
                    return Ok((status, answer.split_off(end)));
                }
            }
            match stream.read(&mut buffer)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                received => answer.extend_from_slice(&buffer[..received]),
            }
        }
    };
    exchange().map_err(S3LoadError::Connection)
}
