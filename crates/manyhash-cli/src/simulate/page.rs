//! What came out, as a page that needs nothing but itself.

use super::chart::{self, Axes, Curve};
use super::outcome::{Experiment, Figures};
use super::series::Point;
use super::table;
use manyhash::engine::SlotState;
use std::fmt::Write;

const STYLE: &str = "body { font: 16px/1.5 sans-serif; margin: 2em auto; max-width: 880px; padding: 0 1em; color: #222; \
background: #fff } table { border-collapse: collapse } th, td { padding: .15em 1em .15em 0; text-align: right; \
font-variant-numeric: tabular-nums } th:first-child { text-align: left; font-weight: normal } svg { width: 100%; height: auto }";

/// The page, in HTML.
pub(super) fn page(outcome: &Experiment) -> String {
    let Experiment { load, subjects, .. } = outcome;
    let mut body = String::new();
    let mut section = |title: &str, text: &str, figure: &str| {
        body.push_str(&format!("<h2>{title}</h2>\n<p>{text}</p>\n{figure}\n"));
    };
    section("Figures", "The digests of all producers were checked.", &figures(subjects));
    section(
        "Throughput over time",
        "Bytes hashed, in decimal units.",
        &chart::lines(&Axes { values: "GB/s", top: None }, &throughput(subjects)),
    );
    section(
        "Threads and lanes over time",
        "Busy: the share of their time that the hashing threads spent hashing. Lanes: the share of the SIMD lanes that \
         had a message, while anything was hashed.",
        &chart::lines(&Axes { values: "%", top: Some(105.0) }, &shares(subjects)),
    );
    for subject in subjects {
        section(
            &format!("Slots over time, {}", subject.name),
            "Each producer's message has a slot: filling while nothing is left to hash, ready when something is, \
             hashing while a thread hashes it, done while its digest waits to be fetched. The other slots are free.",
            &chart::stack(&Axes { values: "slots", top: Some(1.05 * load.producers as f64) }, &slots(subject)),
        );
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>manyhash simulate: {load}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>manyhash simulate</h1>\n<p>{load}.<br>{}.</p>\n{body}</body>\n\
         </html>\n",
        outcome.machine()
    )
}

/// The table.
fn figures(subjects: &[Figures]) -> String {
    let mut table = String::from("<table>\n<tr><th></th>");
    let mut cells = |row: &mut dyn Iterator<Item = String>| {
        row.for_each(|cell| {
            // A string takes everything.
            let _ = write!(table, "{cell}");
        });
        table.push_str("</tr>\n");
    };
    cells(&mut subjects.iter().map(|subject| format!("<th>{}</th>", subject.name)));
    for (label, value) in table::rows() {
        let label = std::iter::once(format!("<tr><th>{label}</th>"));
        cells(&mut label.chain(subjects.iter().map(|subject| format!("<td>{}</td>", value(subject)))));
    }
    table + "</table>"
}

fn throughput(subjects: &[Figures]) -> Vec<Curve> {
    subjects.iter().map(|subject| curve(subject, "", |point| Some(point.bytes_per_s / 1e9))).collect()
}

fn shares(subjects: &[Figures]) -> Vec<Curve> {
    let busy = subjects.iter().map(|subject| curve(subject, " busy", |point| Some(100.0 * point.busy_share)));
    let lanes = subjects
        .iter()
        .map(|subject| curve(subject, " lanes", |point| point.lane_occupancy.map(|occupancy| 100.0 * occupancy)));
    busy.chain(lanes).filter(|curve| !curve.points.is_empty()).collect()
}

fn curve(subject: &Figures, suffix: &str, value: impl Fn(&Point) -> Option<f64>) -> Curve {
    let points = subject.samples.iter().filter_map(|point| Some((point.time_s, value(point)?)));
    Curve { name: format!("{}{suffix}", subject.name), points: points.collect() }
}

/// Of all states but free.
fn slots(subject: &Figures) -> Vec<Curve> {
    let states = SlotState::ALL.iter().copied().filter(|state| *state != SlotState::Free);
    let of =
        |state: SlotState| subject.samples.iter().map(move |point| (point.time_s, point.slots[state as usize] as f64));
    states.map(|state| Curve { name: state.name().to_owned(), points: of(state).collect() }).collect()
}
