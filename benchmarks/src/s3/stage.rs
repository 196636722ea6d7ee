//! Where samples are taken: the servers, and the directories of their stores.

use super::cell::{Cell, Operation, Place, Places};
use super::clients::Clients;
use super::connection::Requests;
use super::error::S3LoadError;
use super::program::{Manyhash, Program, Programs};
use super::server::Server;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) struct Stage {
    pub(crate) programs: Programs,
    pub(crate) places: Places,
    pub(crate) quick: bool,
}

/// What a server did for its clients.
pub(crate) struct Sample {
    /// From the first request to the last answer.
    pub(crate) time: Duration,
    /// Of the server.
    pub(crate) cpu: Duration,
    /// From request to answer, for each.
    pub(crate) latencies: Vec<Duration>,
    /// The server's resident memory since it was started, in bytes.
    pub(crate) peak: u64,
}

impl Sample {
    pub(crate) fn requests_per_s(&self) -> f64 {
        self.latencies.len() as f64 / self.time.as_secs_f64()
    }

    pub(crate) fn cpu_us_per_request(&self) -> f64 {
        1e6 * self.cpu.as_secs_f64() / self.latencies.len() as f64
    }
}

impl Stage {
    /// Takes a sample of a server that was started for it.
    pub(crate) fn sample(&self, program: Program, cell: Cell) -> Result<Sample, S3LoadError> {
        let sample = || self.taken(&self.server(program, cell.place, Manyhash::default())?, cell);
        sample().map_err(|error| S3LoadError::In { program, what: cell.to_string(), error: Box::new(error) })
    }

    pub(crate) fn server(&self, program: Program, place: Place, told: Manyhash) -> Result<Server, S3LoadError> {
        // Whoever asks has looked whether there is one.
        let within = self.places.path(place).unwrap_or(Path::new("/dev/shm"));
        Server::start(&self.programs, program, place, within, told)
    }

    /// Takes a sample of this server.
    pub(crate) fn taken(&self, server: &Server, cell: Cell) -> Result<Sample, S3LoadError> {
        let requests = Requests::new(cell, server.address);
        if cell.operation == Operation::Get {
            server.fill(&requests)?;
        }
        let mut clients = Clients::connect(server.address, &requests, 0)?;
        let duration = self.duration(cell);
        clients.run(duration / 3)?;
        self.next(server, &mut clients, duration)
    }

    /// Takes a sample with clients that are there.
    pub(crate) fn next(
        &self,
        server: &Server,
        clients: &mut Clients<'_>,
        duration: Duration,
    ) -> Result<Sample, S3LoadError> {
        let (before, begun) = (server.process.cpu()?, Instant::now());
        let latencies = clients.run(duration)?;
        let time = begun.elapsed();
        Ok(Sample { time, cpu: server.process.cpu()? - before, latencies, peak: server.process.peak()? })
    }

    /// How long a sample takes at least.
    pub(crate) fn duration(&self, cell: Cell) -> Duration {
        if self.quick { Duration::from_millis(300) } else { cell.duration() }
    }

    /// Whether there is such a place. Says so on standard error if not.
    pub(crate) fn has(&self, place: Place, what: &str) -> bool {
        let has = self.places.path(place).is_some();
        if !has {
            eprintln!("manyhash-bench: {what} left out: no tmpfs at /dev/shm");
        }
        has
    }
}
