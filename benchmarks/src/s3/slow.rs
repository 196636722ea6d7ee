//! The memory that manyhash's server takes for uploads that are all under way at once.

use super::cell::{Cell, MIB, Place, Signing, size};
use super::clients::Clients;
use super::connection::Requests;
use super::error::S3LoadError;
use super::goal::{Bound, Goal};
use super::program::{Manyhash, Program};
use super::stage::Stage;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How often each client sends what it may.
const TICK: Duration = Duration::from_millis(50);

/// How long a server may take nothing at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is allowed.
const FIXED: f64 = 256.0;
const EACH: f64 = 64.0 / 1024.0;

#[derive(Debug, Serialize)]
pub(crate) struct SlowFigure {
    load: &'static str,
    #[serde(flatten)]
    cell: Cell,
    /// The most uploads of which a part had been sent, and no answer had come.
    most_in_progress: usize,
    seconds: f64,
    peak_bytes: u64,
    verified: bool,
}

/// Sends all of them as fast as it takes this long.
pub(crate) fn run(stage: &Stage) -> Result<Vec<SlowFigure>, S3LoadError> {
    let (cell, duration) = match stage.quick {
        false => (Cell::put(Signing::Unsigned, 10 * MIB, 1000, Place::Disk), Duration::from_secs(30)),
        true => (Cell::put(Signing::Unsigned, MIB, 50, Place::Disk), Duration::from_secs(1)),
    };
    let server = stage.server(Program::Manyhash, cell.place, Manyhash::default())?;
    let requests = Requests::new(cell, server.address);
    let mut clients = Clients::connect(server.address, &requests, 0)?;
    clients.all().for_each(|client| client.begin());
    let (begun, mut buffer) = (Instant::now(), vec![0; 1 << 16]);
    let (mut progress, mut most_in_progress) = ((0, begun), 0);
    let mut answered = vec![false; cell.clients];
    while answered.contains(&false) {
        let share = (begun.elapsed().as_secs_f64() / duration.as_secs_f64()).min(1.0);
        let (mut in_progress, mut sent) = (0, 0);
        for (client, answered) in clients.all().zip(&mut answered) {
            if !*answered {
                // Heads and all, a little more than the body, at last.
                let most = if share < 1.0 { (cell.length as f64 * share) as usize } else { usize::MAX };
                client.send(most)?;
                *answered = client.receive(&mut buffer)?.is_some();
            }
            in_progress += usize::from(client.sent > 0 && !*answered);
            sent += client.sent + usize::from(*answered);
        }
        most_in_progress = most_in_progress.max(in_progress);
        if sent > progress.0 {
            progress = (sent, Instant::now());
        } else if progress.1.elapsed() > PATIENCE {
            return Err(S3LoadError::Silent(PATIENCE));
        }
        std::thread::sleep(TICK);
    }
    let (seconds, peak_bytes) = (begun.elapsed().as_secs_f64(), server.process.peak()?);
    Ok(vec![SlowFigure { load: "s3", cell, most_in_progress, seconds, peak_bytes, verified: true }])
}

impl SlowFigure {
    pub(crate) fn goal(&self) -> Goal {
        let Cell { length, clients, .. } = self.cell;
        let asked = Bound::AtMost(FIXED + EACH * clients as f64);
        let what = format!("peak memory, {clients} uploads of {} at once", size(length));
        Goal::new(what, asked, "MiB", self.peak_bytes as f64 / MIB as f64)
    }
}

pub(crate) fn table(figures: &[SlowFigure]) -> String {
    let line = |figure: &SlowFigure| {
        let SlowFigure { cell, most_in_progress, seconds, .. } = figure;
        let peak = figure.peak_bytes as f64 / MIB as f64;
        format!("\nslowly, {cell}: {most_in_progress} in progress at once, peak {peak:.1} MiB, {seconds:.1} s\n")
    };
    figures.iter().map(line).collect()
}
