//! Charts of curves and dots, as SVG.

use std::ops::Range;

use anyhow::ensure;
use plotters::{coord::Shift, prelude::*};

/// A chart with two axes.
pub struct Chart<'a> {
    /// Title above the chart.
    pub title: &'a str,
    /// Name of the horizontal axis.
    pub x: &'a str,
    /// Curves, drawn in this order.
    pub curves: Vec<Curve>,
    /// Position of the legend.
    pub legend: SeriesLabelPosition,
}

/// A named curve with dots. Points that are not finite are left out.
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Colour of line and dots.
    pub color: RGBColor,
    /// Points joined by a line.
    pub line: Vec<(f64, f64)>,
    /// Points drawn as dots.
    pub dots: Vec<(f64, f64)>,
}

impl Curve {
    /// Creates a curve without dots.
    pub fn line(name: &str, color: RGBColor, line: Vec<(f64, f64)>) -> Curve {
        Curve { name: name.to_owned(), color, line, dots: Vec::new() }
    }
}

/// Draws the charts in one picture, one below the other, and returns it as SVG.
///
/// # Errors
///
/// If a chart has no finite point or cannot be drawn.
pub fn svg(charts: &[Chart]) -> anyhow::Result<String> {
    let mut picture = String::new();
    {
        let size = (900, 120 + 360 * charts.len() as u32);
        let root = SVGBackend::with_string(&mut picture, size).into_drawing_area();
        root.fill(&WHITE)?;
        for (area, chart) in root.split_evenly((charts.len(), 1)).iter().zip(charts) {
            draw(area, chart)?;
        }
        root.present()?;
    }
    // plotters leaves spaces at the ends of lines.
    Ok(picture.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n")
}

fn draw(area: &DrawingArea<SVGBackend<'_>, Shift>, chart: &Chart) -> anyhow::Result<()> {
    let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    let points = || {
        let all = chart.curves.iter().flat_map(|curve| curve.line.iter().chain(&curve.dots));
        all.copied().filter(finite)
    };
    ensure!(points().next().is_some(), "{}: no finite numbers to draw", chart.title);
    let low = points().map(|(_, y)| y).fold(f64::INFINITY, f64::min);
    let high = points().map(|(_, y)| y).fold(f64::NEG_INFINITY, f64::max);
    let left = points().map(|(x, _)| x).fold(0.0, f64::min);
    let right = points().map(|(x, _)| x).fold(1e-6, f64::max);
    let margin = ((high - low) * 0.05).max(1e-6);
    let (x, y) = (left..right * 1.02, low - margin..high + margin);
    let [x_label, y_label] = [&x, &y].map(label);
    let mut context = ChartBuilder::on(area)
        .caption(chart.title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)?;
    context
        .configure_mesh()
        .x_desc(chart.x)
        .x_label_formatter(&x_label)
        .y_label_formatter(&y_label)
        .draw()?;
    for &Curve { ref name, color, ref line, ref dots } in &chart.curves {
        let [line, dots] =
            [line, dots].map(|points| points.iter().copied().filter(finite).collect::<Vec<_>>());
        if line.is_empty() && dots.is_empty() {
            continue;
        }
        context.draw_series(dots.iter().map(|&dot| Circle::new(dot, 3, color.filled())))?;
        context
            .draw_series(LineSeries::new(line, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color));
    }
    context
        .configure_series_labels()
        .position(chart.legend.clone())
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

/// Returns the formatter of the tick labels of an axis, with enough digits to distinguish them.
/// plotters draws at most eleven ticks, at steps of 1, 2 or 5 times a power of ten.
fn label(axis: &Range<f64>) -> impl Fn(&f64) -> String + use<> {
    let digits = (11.0 / (axis.end - axis.start)).log10().ceil().max(0.0);
    let unit = 10_f64.powf(digits);
    // Adding 0.0 turns -0 into 0.
    move |value| format!("{:.*}", digits as usize, (value * unit).round() / unit + 0.0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn tick_labels_are_distinct() {
        let ranges = [(0.0, 1e-6), (0.0030001, 0.0030002), (-1.0, 1.0), (0.0, 3e9), (7.0, 7.0)];
        for (low, high) in ranges {
            let curves = vec![Curve::line("a", BLUE, vec![(0.0, low), (high, high)])];
            let legend = SeriesLabelPosition::UpperRight;
            let picture = svg(&[Chart { title: "b", x: "c", curves, legend }]).unwrap();
            for axis in ["text-anchor=\"end\"", "text-anchor=\"middle\""] {
                let texts = picture.split("<text ").filter(|text| text.contains(axis));
                let labels = texts.filter_map(|text| text.lines().nth(1));
                let labels: Vec<&str> = labels.filter(|text| text.parse::<f64>().is_ok()).collect();
                assert!((3..=11).contains(&labels.len()), "{labels:?}");
                let different: HashSet<&str> = labels.iter().copied().collect();
                assert_eq!(different.len(), labels.len(), "{labels:?}");
            }
        }
    }
}
