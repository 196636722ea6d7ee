//! What can be asked of every experiment. A load has the same among its own: clap tells by them whether there is one.

use serde::Serialize;

/// How much is measured, and how it is reported.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Options {
    /// Rounds, in each of which every subject is measured once [default: by what is measured, fewer with --quick]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Seconds instead of minutes: fewer rounds, fewer or smaller points
    #[arg(long)]
    pub(crate) quick: bool,
    /// A JSON object a line instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

impl Options {
    /// The rounds asked for, or so many, or with `--quick` so many.
    pub(crate) fn rounds(&self, full: usize, quick: usize) -> usize {
        self.rounds.map_or(if self.quick { quick } else { full }, |rounds| rounds as usize)
    }

    /// Figures as they are asked for: a JSON object a line, or the table.
    pub(crate) fn text<F: Serialize>(&self, figures: &[F], table: fn(&[F]) -> String) -> String {
        if !self.json {
            return table(figures);
        }
        let line = |figure| serde_json::to_string(figure).expect("names and numbers are JSON") + "\n";
        figures.iter().map(line).collect()
    }

    /// One round of what is quick.
    #[cfg(test)]
    pub(crate) fn least() -> Self {
        Options { rounds: Some(1), quick: true, json: false }
    }
}
