//! A lineage as one picture: Elo, positions and loss over hours.

use plotters::{coord::Shift, prelude::*};

use super::lineage::{Generation, Lineage};

/// A point: hours and a value.
type Point = (f64, f64);

/// A line with its name and the points on and beside it.
struct Curve {
    name: &'static str,
    color: RGBColor,
    line: Vec<Point>,
    beside: Vec<Point>,
}

/// The SVG of a lineage with at least one generation.
///
/// # Errors
///
/// If it cannot be drawn.
pub fn svg(lineage: &Lineage) -> anyhow::Result<String> {
    let all = &lineage.generations;
    let of = |value: fn(&Generation) -> Option<f64>| -> Vec<Point> {
        all.iter().filter_map(|one| Some((one.hours, value(one)?))).collect()
    };
    let curve = |name, color, line| Curve { name, color, line, beside: Vec::new() };
    let elo = || all.iter().zip(lineage.elo());
    let points = |promoted: bool| {
        elo().filter(move |(one, _)| one.promoted == promoted).map(|(one, elo)| (one.hours, elo))
    };
    let strength = Curve {
        name: "promoted",
        color: BLUE,
        line: std::iter::once((0.0, 0.0)).chain(points(true)).collect(),
        beside: points(false).collect(),
    };
    let pool = curve("window", BLUE, of(|one| Some(one.pool as f64 / 1e6)));
    let losses = [
        curve("training", BLUE, of(|one| Some(one.training_loss))),
        curve("validation", RED, of(|one| one.validation_loss)),
    ];
    let mut picture = String::new();
    {
        let root = SVGBackend::with_string(&mut picture, (900, 1000)).into_drawing_area();
        root.fill(&WHITE)?;
        let areas = root.split_evenly((3, 1));
        draw(&areas[0], "Elo above piece-square tables", &[strength])?;
        draw(&areas[1], "million positions", &[pool])?;
        draw(&areas[2], "squared error of the winning probability", &losses)?;
        root.present()?;
    }
    Ok(picture)
}

fn draw(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    curves: &[Curve],
) -> anyhow::Result<()> {
    let points = || curves.iter().flat_map(|curve| curve.line.iter().chain(&curve.beside));
    let low = points().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = points().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let right = points().map(|point| point.0).fold(1e-3, f64::max);
    let margin = ((high - low) * 0.05).max(1e-6);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..right * 1.02, low - margin..high + margin)?;
    chart.configure_mesh().x_desc("hours").draw()?;
    for &Curve { name, color, ref line, ref beside } in curves {
        chart
            .draw_series(LineSeries::new(line.iter().copied(), color).point_size(3))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color));
        if !beside.is_empty() {
            chart
                .draw_series(beside.iter().map(|&point| Cross::new(point, 4, RED)))?
                .label("lost its match")
                .legend(|(x, y)| Cross::new((x + 10, y), 4, RED));
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::lineage::tests::lineage, *};

    #[test]
    fn three_charts() {
        let picture = svg(&lineage()).unwrap();
        assert!(picture.starts_with("<svg") && !picture.contains("NaN"));
        for word in ["Elo above", "million positions", "squared error", "lost its match", "hours"] {
            assert!(picture.contains(word), "{word}");
        }
    }
}
