//! How full the lanes of manyhash's server are, by its own account.

use super::cell::{Cell, KIB, MIB, Place, Signing};
use super::error::S3LoadError;
use super::program::{Manyhash, Program};
use super::server::exchange;
use super::stage::Stage;
use serde::Serialize;

/// One algorithm in one cell.
#[derive(Debug, Serialize)]
pub(crate) struct LanesFigure {
    load: &'static str,
    #[serde(flatten)]
    cell: Cell,
    algorithm: String,
    /// Lanes in use, of those worth filling.
    occupancy: f64,
}

/// Has the server say it of some cells.
pub(crate) fn run(stage: &Stage) -> Result<Vec<LanesFigure>, S3LoadError> {
    let cells = [
        Cell::put(Signing::Unsigned, 64 * KIB, 64, Place::Memory),
        Cell::put(Signing::Unsigned, MIB, 64, Place::Memory),
        Cell::put(Signing::Chunks, 10 * MIB, 1, Place::Memory),
    ];
    let mut figures = Vec::new();
    for cell in &cells[..if stage.quick { 1 } else { 3 }] {
        let told = Manyhash { admin: true, ..Manyhash::default() };
        let server = stage.server(Program::Manyhash, cell.place, told)?;
        stage.taken(&server, *cell)?;
        let admin = server.admin.ok_or(S3LoadError::Ended)?;
        let (status, text) = exchange(admin, format!("GET /metrics HTTP/1.1\r\nhost: {admin}\r\n\r\n").as_bytes())?;
        let text = String::from_utf8_lossy(&text);
        if status != 200 {
            return Err(S3LoadError::Refused { status, said: text.into_owned() });
        }
        figures.extend(occupancy(&text).map(|(algorithm, occupancy)| LanesFigure {
            load: "s3",
            cell: *cell,
            algorithm: algorithm.to_owned(),
            occupancy,
        }));
    }
    Ok(figures)
}

/// The algorithms that were used, and their share of lanes, in metrics.
fn occupancy(metrics: &str) -> impl Iterator<Item = (&str, f64)> {
    metrics.lines().filter_map(|line| {
        let (_, label) = line.split_once("occupancy_ratio{algorithm=\"")?;
        let (algorithm, value) = label.split_once("\"} ")?;
        Some((algorithm, value.parse().ok()?))
    })
}

/// A row for each cell.
pub(crate) fn table(figures: &[LanesFigure]) -> String {
    let mut text = String::new();
    for of_cell in figures.chunk_by(|a, b| a.cell == b.cell) {
        let lanes: Vec<String> =
            of_cell.iter().map(|of| format!("{} {:.0} %", of.algorithm, 100.0 * of.occupancy)).collect();
        text += &format!("lanes in use, {}: {}\n", of_cell[0].cell, lanes.join(", "));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::occupancy;

    #[test]
    fn metrics_are_read() {
        let metrics = "# TYPE manyhash_occupancy_ratio gauge\n# HELP manyhash_occupancy_ratio Lanes\n\
                       manyhash_occupancy_ratio{algorithm=\"md5\"} 0.5\n\
                       manyhash_occupancy_ratio{algorithm=\"sha256\"} 1\nmanyhash_slots{state=\"free\"} 3\n";
        assert_eq!(occupancy(metrics).collect::<Vec<_>>(), [("md5", 0.5), ("sha256", 1.0)]);
    }
}
