//! The figures of `threads` as a picture: a panel for each algorithm, a line for each subject.

use super::figure::ThreadsFigure;
use crate::error::Error;
use plotters::prelude::*;
use std::path::Path;

type Drawn<T> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

const PANEL: (u32, u32) = (800, 480);

/// The family that every viewer has one of, and the size.
const FONT: (&str, i32) = ("sans-serif", 16);

/// The legend's width, in distances between numbers of threads.
const LEGEND: f64 = 1.7;

/// Colours that differ for colour-blind eyes too (Okabe and Ito), in the order of subjects.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
];

/// Writes the picture to a file.
pub(crate) fn write(path: &Path, figures: &[ThreadsFigure]) -> Result<(), Error> {
    std::fs::write(path, svg(figures)?).map_err(|error| Error::Plot { path: path.into(), error })
}

fn svg(figures: &[ThreadsFigure]) -> Result<String, Error> {
    let panels: Vec<&[ThreadsFigure]> = figures.chunk_by(|a, b| a.algorithm == b.algorithm).collect();
    let mut text = String::new();
    {
        let size = (PANEL.0 * panels.len() as u32, PANEL.1);
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        for (area, figures) in area.split_evenly((1, panels.len())).iter().zip(panels) {
            panel(area, figures)?;
        }
        area.present()?;
    }
    Ok(text)
}

fn panel(area: &DrawingArea<SVGBackend, plotters::coord::Shift>, figures: &[ThreadsFigure]) -> Drawn<()> {
    let rows: Vec<&[ThreadsFigure]> = figures.chunk_by(|a, b| a.threads == b.threads).collect();
    let rates = || figures.iter().map(|figure| figure.median_hashes_per_s / 1e6);
    let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    let last = rows.len() - 1;
    let threads = |x: &f64| match rows.get(*x as usize) {
        Some(row) if x.fract() == 0.0 && *x >= 0.0 => row[0].threads.to_string(),
        _ => String::new(),
    };
    // Numbers of threads stand at equal distances, whatever they are, with room for the legend to their right; rates
    // differ by powers of ten.
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{}, 16 bytes each", figures[0].algorithm), ("sans-serif", 22))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(-0.2..last as f64 + LEGEND, (low / 1.5..high * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(rows.len() + 2)
        .x_label_formatter(&threads)
        .x_desc("threads")
        .label_style(FONT)
        .y_desc("million hashes a second")
        .y_label_formatter(&|rate| format!("{rate:.1}"))
        .draw()?;
    for (i, colour) in COLOURS.iter().enumerate().take(rows[0].len()) {
        let points = || rows.iter().enumerate().map(|(x, row)| (x as f64, row[i].median_hashes_per_s / 1e6));
        chart
            .draw_series(LineSeries::new(points(), colour.stroke_width(2)))?
            .label(rows[0][i].subject)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::MiddleRight)
        .label_font(FONT)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()
}

#[cfg(test)]
mod tests {
    use super::svg;
    use crate::threads::figure::tests::figures;

    #[test]
    fn the_picture_names_every_subject_and_algorithm() {
        let mut figures = figures();
        figures
            .extend(figures.clone().into_iter().map(|figure| super::ThreadsFigure { algorithm: "sha256", ..figure }));
        let text = svg(&figures).unwrap();
        for name in ["openssl", "engine-4096", "md5", "sha256", "million hashes"] {
            assert!(text.contains(name), "{name}");
        }
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"));
    }
}
