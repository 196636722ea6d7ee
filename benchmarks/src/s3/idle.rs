//! What connections that do nothing, and heads that never end, take from clients that work.

use super::cell::{Cell, KIB, Place, Signing};
use super::clients::Clients;
use super::connection::Requests;
use super::error::S3LoadError;
use super::goal::{Bound, Goal};
use super::program::{Manyhash, Program};
use super::server::Server;
use super::stage::{Sample, Stage};
use crate::measure::{median, turns};
use nix::sys::resource::{Resource, getrlimit};
use serde::Serialize;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The share of their rate that the others must keep.
const SHARE: f64 = 0.95;

/// Connections that send a byte of a head now and then, and how often.
const SLOW: usize = 64;
const TICK: Duration = Duration::from_millis(100);

/// How long a head may take at most until it is cut off, for all that is measured here.
const PATIENCE: Duration = Duration::from_secs(60);

/// Files that are open beside connections.
const OTHERS: usize = 1000;

#[derive(Debug, Serialize)]
pub(crate) struct IdleFigure {
    load: &'static str,
    #[serde(flatten)]
    cell: Cell,
    /// Connections that had been used once, and were then idle.
    idle: usize,
    /// The fewest of them that were open at the end of a round.
    held: usize,
    slow_heads: usize,
    median_requests_per_s: f64,
    median_requests_per_s_beside_idle: f64,
    /// The median of the ratios of each round.
    ratio: f64,
    /// Of the server.
    median_cpu_us_per_request: f64,
    median_cpu_us_per_request_beside_idle: f64,
    /// When the first head was cut off; none if that was not waited for.
    slow_head_seconds: Option<f64>,
    peak_bytes: u64,
    rounds: usize,
    verified: bool,
}

/// Measures clients alone and beside idle connections in turns.
pub(crate) fn run(stage: &Stage, rounds: usize) -> Result<Vec<IdleFigure>, S3LoadError> {
    let cell = Cell::put(Signing::Unsigned, 4 * KIB, 64, Place::Memory);
    let open = getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft);
    let room = usize::try_from(open).unwrap_or(usize::MAX).saturating_sub(OTHERS);
    let idle = room.min(if stage.quick { 200 } else { 10_000 });
    let told = Manyhash { connections: Some(idle + OTHERS), ..Manyhash::default() };
    let server = stage.server(Program::Manyhash, cell.place, told)?;
    let requests = Requests::new(cell, server.address);
    let mut clients = Clients::connect(server.address, &requests, 0)?;
    clients.run(stage.duration(cell) / 3)?;

    let mut samples: [Vec<Sample>; 2] = [vec![], vec![]];
    let mut held = idle;
    for round in 0..rounds {
        for at in turns(round, samples.len()) {
            let mut next = || stage.next(&server, &mut clients, stage.duration(cell));
            let sample = if at == 0 {
                next()?
            } else {
                let beside = Cell { clients: idle, ..cell };
                let requests = Requests::new(beside, server.address);
                // Clients of their own, with names of their own.
                let mut others = Clients::connect(server.address, &requests, 1000 + round * idle)?;
                others.run(Duration::ZERO)?;
                let sample = beside_slow_heads(&server, next)?;
                held = held.min(others.all().map(|client| usize::from(!client.is_closed())).sum());
                sample
            };
            samples[at].push(sample);
        }
    }
    let slow_head_seconds = if stage.quick { None } else { Some(cut_off(server.address)?.as_secs_f64()) };
    let [alone, beside] = samples;
    let over = |samples: &[Sample], of: fn(&Sample) -> f64| median(samples.iter().map(of).collect());
    let ratios = beside.iter().zip(&alone).map(|(beside, alone)| beside.requests_per_s() / alone.requests_per_s());
    let figure = IdleFigure {
        load: "s3",
        cell,
        idle,
        held,
        slow_heads: SLOW,
        ratio: median(ratios.collect()),
        median_requests_per_s: over(&alone, Sample::requests_per_s),
        median_requests_per_s_beside_idle: over(&beside, Sample::requests_per_s),
        median_cpu_us_per_request: over(&alone, Sample::cpu_us_per_request),
        median_cpu_us_per_request_beside_idle: over(&beside, Sample::cpu_us_per_request),
        slow_head_seconds,
        peak_bytes: server.process.peak()?,
        rounds,
        verified: true,
    };
    Ok(vec![figure])
}

/// Does something while heads come slowly.
fn beside_slow_heads<T>(server: &Server, work: impl FnOnce() -> Result<T, S3LoadError>) -> Result<T, S3LoadError> {
    let (stop, connected) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let slowly = scope.spawn(|| {
            let mut heads: Vec<Option<Head>> = (0..SLOW).map(|_| None).collect();
            while !stop.load(Relaxed) {
                for head in &mut heads {
                    if !head.as_mut().is_some_and(Head::go_on) {
                        *head = Some(Head::begin(server.address)?);
                    }
                }
                connected.store(SLOW, Relaxed);
                std::thread::sleep(TICK);
            }
            Ok::<_, S3LoadError>(())
        });
        while connected.load(Relaxed) == 0 && !slowly.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let outcome = work();
        stop.store(true, Relaxed);
        slowly.join().expect("slow heads do not panic")?;
        outcome
    })
}

/// How long a head that never ends may take.
fn cut_off(server: SocketAddr) -> Result<Duration, S3LoadError> {
    let (begun, mut head) = (Instant::now(), Head::begin(server)?);
    while head.go_on() {
        if begun.elapsed() > PATIENCE {
            return Err(S3LoadError::Silent(PATIENCE));
        }
        std::thread::sleep(TICK);
    }
    Ok(begun.elapsed())
}

/// A connection whose request never ends.
struct Head(TcpStream);

impl Head {
    fn begin(server: SocketAddr) -> Result<Self, S3LoadError> {
        let begin = || {
            let mut stream = TcpStream::connect(server)?;
            stream.set_nodelay(true)?;
            stream.write_all(b"PUT /bench/slow HTTP/1.1\r\nhost: localhost\r\nx-slow: ")?;
            stream.set_nonblocking(true)?;
            Ok(Head(stream))
        };
        begin().map_err(S3LoadError::Connection)
    }

    /// Sends a byte more. Returns whether the server still listens.
    fn go_on(&mut self) -> bool {
        let silent = matches!(self.0.read(&mut [0; 512]), Err(error) if error.kind() == ErrorKind::WouldBlock);
        silent && self.0.write_all(b"a").is_ok()
    }
}

impl IdleFigure {
    pub(crate) fn goals(&self) -> [Goal; 2] {
        let IdleFigure { cell, idle, slow_heads, .. } = self;
        let what = format!("rate beside {idle} idle connections, {slow_heads} slow heads, {} clients", cell.clients);
        let held = Goal::new("idle connections held".into(), Bound::AtLeast(*idle as f64), "", self.held as f64);
        [Goal::new(what, Bound::AtLeast(SHARE), "x", self.ratio), held]
    }
}

pub(crate) fn table(figures: &[IdleFigure]) -> String {
    let line = |figure: &IdleFigure| {
        let IdleFigure { cell, idle, held, slow_heads, .. } = figure;
        let [alone, beside] = [figure.median_requests_per_s, figure.median_requests_per_s_beside_idle];
        let cpu = [figure.median_cpu_us_per_request, figure.median_cpu_us_per_request_beside_idle];
        let peak = figure.peak_bytes as f64 / (1 << 20) as f64;
        let cut = figure.slow_head_seconds.map(|seconds| format!("; slow heads are cut off after {seconds:.1} s"));
        format!(
            "\nidle, {cell}: {alone:.0} requests/s alone, {beside:.0} beside {idle} idle connections and {slow_heads} slow \
             heads; CPU {:.1} us and {:.1} us a request; {held} held, peak {peak:.1} MiB{}\n",
            cpu[0],
            cpu[1],
            cut.unwrap_or_default()
        )
    };
    figures.iter().map(line).collect()
}
