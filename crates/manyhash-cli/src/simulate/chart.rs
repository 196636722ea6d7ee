//! Charts over time, as SVG that stands in a page.

use plotters::chart::SeriesAnno;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::error::Error;

/// In pixels.
const SIZE: (u32, u32) = (860, 300);

const FONT: (&str, u32) = ("sans-serif", 14);

/// For the curves of a chart, which are fewer. A palette that people who see fewer colours can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 5] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x56, 0xb4, 0xe9),
];

/// A curve: its name, and values over seconds.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// The axes.
pub(super) struct Axes<'a> {
    /// What the values are.
    pub(super) values: &'a str,
    /// The greatest value, if it is known before; otherwise that of the curves.
    pub(super) top: Option<f64>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Curves, each a line.
pub(super) fn lines(axes: &Axes, curves: &[Curve]) -> String {
    svg(|area| {
        let mut chart = chart(area, axes, curves)?;
        for (curve, colour) in curves.iter().zip(&COLOURS) {
            let line = LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2));
            label(chart.draw_series(line)?, &curve.name, *colour);
        }
        legend(&mut chart)
    })
}

/// Curves one on top of the other, the first at the bottom; they have values for the same seconds.
pub(super) fn stack(axes: &Axes, curves: &[Curve]) -> String {
    let mut sums: Vec<Curve> = Vec::new();
    for curve in curves {
        let mut points = curve.points.clone();
        if let Some(below) = sums.last() {
            points.iter_mut().zip(&below.points).for_each(|(point, below)| point.1 += below.1);
        }
        sums.push(Curve { name: curve.name.clone(), points });
    }
    svg(|area| {
        let mut chart = chart(area, axes, &sums)?;
        // From the top, so that each area covers what belongs to those below it.
        for (curve, colour) in sums.iter().zip(&COLOURS).rev() {
            let area = AreaSeries::new(curve.points.iter().copied(), 0.0, colour.filled());
            label(chart.draw_series(area)?, &curve.name, *colour);
        }
        legend(&mut chart)
    })
}

fn svg(draw: impl FnOnce(&Area) -> Result<(), Box<dyn Error>>) -> String {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    draw(&area).and_then(|()| Ok(area.present()?)).expect("a string takes any drawing");
    drop(area);
    text
}

fn chart<'a, 'b>(area: &'a Area<'b>, axes: &Axes, curves: &[Curve]) -> Result<Chart<'a, 'b>, Box<dyn Error>>
where
    'b: 'a,
{
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let greatest = |values: &mut dyn Iterator<Item = f64>| values.fold(1e-9, f64::max);
    let right = greatest(&mut points().map(|point| point.0));
    let top = axes.top.unwrap_or_else(|| 1.05 * greatest(&mut points().map(|point| point.1)));
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..right, 0.0..top)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc("seconds").y_desc(axes.values).label_style(FONT).axis_desc_style(FONT);
    mesh.light_line_style(TRANSPARENT).draw()?;
    Ok(chart)
}

fn label(series: &mut SeriesAnno<SVGBackend>, name: &str, colour: RGBColor) {
    series.label(name).legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.filled()));
}

fn legend<'a, 'b: 'a>(chart: &mut Chart<'a, 'b>) -> Result<(), Box<dyn Error>> {
    let mut labels = chart.configure_series_labels();
    labels.label_font(FONT).position(SeriesLabelPosition::LowerRight);
    labels.background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3));
    Ok(labels.draw()?)
}
