//! What is asked of manyhash's server, and what of it a run has reached.

use super::cell::{Cell, KIB, MIB, Place, Signing};
use super::figure::S3Figure;
use super::program::Program;
use serde::Serialize;

/// A figure that is asked for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Goal {
    pub(crate) load: &'static str,
    pub(crate) goal: String,
    #[serde(flatten)]
    pub(crate) asked: Bound,
    pub(crate) unit: &'static str,
    pub(crate) reached: f64,
    pub(crate) is_met: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    pub(crate) fn new(goal: String, asked: Bound, unit: &'static str, reached: f64) -> Self {
        let is_met = match asked {
            Bound::AtMost(most) => reached <= most,
            Bound::AtLeast(least) => reached >= least,
        };
        Goal { load: "s3", goal, asked, unit, reached, is_met }
    }
}

/// What is compared with a peer, as manyhash's share of the peer's.
#[derive(Clone, Copy)]
enum Quantity {
    Cpu,
    Requests,
    Median,
    /// manyhash's p99 to the peer's median.
    Tail,
}

/// What is asked for in the cells: the cell, the peer, and the share.
fn asked() -> Vec<(Cell, Program, Quantity, f64)> {
    use Place::{Disk, Memory};
    use Program::{Minio, Versitygw};
    use Quantity::{Cpu, Median, Requests, Tail};
    use Signing::{Chunks, Signed, Unsigned};
    let small = Cell::put(Unsigned, 4 * KIB, 64, Disk);
    let mut asked = vec![(small, Versitygw, Cpu, 0.5), (small, Minio, Cpu, 0.125)];
    let long = [(64 * KIB, 2.5), (MIB, 3.0), (10 * MIB, 2.5)];
    asked.extend(long.map(|(length, of)| (Cell::put(Unsigned, length, 64, Memory), Versitygw, Cpu, 1.0 / of)));
    asked.extend(
        long[..2].iter().map(|(length, of)| (Cell::put(Unsigned, *length, 64, Disk), Versitygw, Cpu, 1.0 / of)),
    );
    asked.extend(long.map(|(length, _)| (Cell::put(Signed, length, 64, Memory), Versitygw, Cpu, 0.4)));
    asked.extend(long.map(|(length, _)| (Cell::put(Chunks, length, 1, Memory), Versitygw, Cpu, 0.5)));
    for clients in [64, 256] {
        let cell = Cell { clients, ..small };
        asked.extend([(cell, Minio, Requests, 3.0), (cell, Versitygw, Requests, 1.0), (cell, Minio, Tail, 1.0)]);
    }
    asked.extend([4 * KIB, 10 * MIB].map(|length| (Cell::put(Unsigned, length, 1, Memory), Versitygw, Median, 1.0)));
    asked.push((Cell::get(MIB, 64, Memory), Versitygw, Requests, 1.0));
    asked
}

/// What the cells that were measured say of that.
pub(crate) fn of_cells(figures: &[S3Figure]) -> Vec<Goal> {
    let find = |cell, program| figures.iter().find(|figure| figure.cell == cell && figure.subject == program);
    let goal = |(cell, peer, quantity, share): (Cell, Program, Quantity, f64)| {
        let (own, other) = find(cell, Program::Manyhash).zip(find(cell, peer))?;
        let (what, bound, reached) = match quantity {
            Quantity::Cpu => ("CPU of", Bound::AtMost(share), other.manyhash_cpu_ratio?),
            Quantity::Requests => ("rate of", Bound::AtLeast(share), other.manyhash_requests_ratio?),
            Quantity::Median => ("p50 of", Bound::AtMost(share), own.p50_us / other.p50_us),
            Quantity::Tail => ("p99 to the p50 of", Bound::AtMost(share), own.p99_us / other.p50_us),
        };
        Some(Goal::new(format!("{cell}: {what} {}", peer.name()), bound, "x", reached))
    };
    asked().into_iter().filter_map(goal).collect()
}

/// A row for each.
pub(crate) fn table(goals: &[Goal]) -> String {
    if goals.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{:<68}{:>14}{:>12}\n", "goal", "asked", "reached");
    for goal in goals {
        let asked = match goal.asked {
            Bound::AtMost(most) => format!("<= {}", number(most, goal.unit)),
            Bound::AtLeast(least) => format!(">= {}", number(least, goal.unit)),
        };
        let reached = number(goal.reached, goal.unit);
        text += &format!("{:<68}{asked:>14}{reached:>12}{}\n", goal.goal, if goal.is_met { "" } else { "  missed" });
    }
    let met = goals.iter().filter(|goal| goal.is_met).count();
    text + &format!("{met} of {} reached\n", goals.len())
}

fn number(value: f64, unit: &str) -> String {
    if unit == "x" { format!("{value:.3} x") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::{Bound, Goal, asked, of_cells, table};
    use crate::s3::cell::{Cell, KIB, MIB, Place, Signing};
    use crate::s3::figure::tests::made;
    use crate::s3::program::Program;

    #[test]
    fn what_is_asked_for_is_measured() {
        let cells = Cell::all();
        assert!(asked().iter().all(|(cell, ..)| cells.contains(cell)));
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        assert!(of_cells(&[]).is_empty() && table(&[]).is_empty());
        let other = Cell::put(Signing::Signed, 3 * KIB, 7, Place::Disk);
        assert!(of_cells(&made(other, [(9, 9); 3], Program::Minio, [(9, 9); 3])).is_empty());
    }

    #[test]
    fn what_is_reached_is_on_the_right_side() {
        let small = Cell::put(Signing::Unsigned, 4 * KIB, 64, Place::Disk);
        // A third of the rate at a twentieth of the CPU time.
        let goals = of_cells(&made(small, [(100, 1); 3], Program::Minio, [(300, 60); 3]));
        let outcomes: Vec<(bool, f64)> = goals.iter().map(|goal| (goal.is_met, goal.reached)).collect();
        assert_eq!(outcomes.len(), 3);
        assert!(outcomes[0].0 && (outcomes[0].1 - 0.05).abs() < 1e-9, "{outcomes:?}");
        assert!(!outcomes[1].0 && (outcomes[1].1 - 1.0 / 3.0).abs() < 1e-9, "{outcomes:?}");
        assert!(outcomes[2].0 && (outcomes[2].1 - 99.0 / 150.0).abs() < 1e-9, "{outcomes:?}");

        let get = Cell::get(MIB, 64, Place::Memory);
        let text = table(&of_cells(&made(get, [(300, 9); 3], Program::Versitygw, [(200, 9); 3])));
        let line = text.lines().nth(2).unwrap();
        assert!(line.starts_with("GET 1 MiB, 64 clients, tmpfs: rate of versitygw "), "{line}");
        assert!(line.ends_with("    >= 1.000 x     1.500 x"), "{line}");
        let missed = table(&[Goal::new("memory".into(), Bound::AtMost(10.0), "MiB", 12.0)]);
        assert!(missed.contains("    <= 10.0 MiB    12.0 MiB  missed\n0 of 1 reached\n"), "{missed}");
    }
}
