//! Loss curves as CSV and SVG.

use std::path::Path;

use anyhow::bail;
use plotters::prelude::*;

use super::{replace, trainer::Point};

/// Writes the points as comma-separated values.
///
/// # Errors
///
/// If the file cannot be written.
pub fn csv(path: &Path, history: &[Point]) -> anyhow::Result<()> {
    let mut text =
        "step,positions,rate,result_weight,training_loss,validation_loss,exam_error\n".to_owned();
    for point in history {
        let Point { step, positions, rate, result_weight, training, validation, exam } = point;
        let [validation, exam] = [validation, exam]
            .map(|loss| loss.map(|loss| format!("{loss:.7}")).unwrap_or_default());
        text += &format!(
            "{step},{positions},{rate:e},{result_weight:.4},{training:.7},{validation},{exam}\n"
        );
    }
    replace(path, text)
}

/// Draws the points.
///
/// # Errors
///
/// If the file cannot be written.
pub fn svg(path: &Path, history: &[Point], title: &str) -> anyhow::Result<()> {
    let mut picture = String::new();
    draw(&mut picture, history, title)?;
    replace(path, picture)
}

fn draw(picture: &mut String, history: &[Point], title: &str) -> anyhow::Result<()> {
    type Curve = (&'static str, RGBColor, fn(&Point) -> Option<f64>);
    let curves: [Curve; 2] = [
        ("training", BLUE, |point| Some(point.training)),
        ("validation", RED, |point| point.validation),
    ];
    let millions = |point: &Point| point.positions as f64 / 1e6;
    let finite = |loss: &f64| loss.is_finite();
    let losses =
        || curves.iter().flat_map(|(_, _, loss)| history.iter().filter_map(loss)).filter(finite);
    let low = losses().fold(f64::INFINITY, f64::min);
    let high = losses().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        bail!("no finite loss to draw");
    }
    let margin = ((high - low) * 0.05).max(1e-6);
    let right = history.iter().map(millions).fold(1e-6, f64::max);

    let root = SVGBackend::with_string(picture, (900, 540)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..right, low - margin..high + margin)?;
    chart
        .configure_mesh()
        .x_desc("million positions")
        .y_desc("squared error of the winning probability")
        .y_label_formatter(&|loss| format!("{loss:.4}"))
        .draw()?;
    for (name, color, loss) in curves {
        let points = history
            .iter()
            .filter_map(|point| Some((millions(point), loss(point).filter(finite)?)))
            .collect::<Vec<_>>();
        if points.is_empty() {
            continue;
        }
        chart
            .draw_series(LineSeries::new(points, color))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color));
    }
    chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_drawn() {
        let history: Vec<Point> = (1..20)
            .map(|step| Point {
                step,
                positions: step * 16384,
                rate: 1e-3,
                result_weight: 0.3,
                training: 0.1 / step as f64,
                validation: (step >= 3).then_some(0.12 / step as f64),
                exam: None,
            })
            .collect();
        let mut picture = String::new();
        draw(&mut picture, &history, "768-64x2-1").unwrap();
        assert!(picture.starts_with("<svg") && picture.contains("</svg>"));
        assert!(picture.matches("<polyline").count() >= 2);
        assert!(picture.contains("768-64x2-1") && !picture.contains("NaN"));
        assert!(picture.contains("validation"));
        let alone: Vec<Point> =
            history.into_iter().map(|point| Point { validation: None, ..point }).collect();
        let mut picture = String::new();
        draw(&mut picture, &alone, "").unwrap();
        assert!(picture.contains("training") && !picture.contains("validation"));
        assert!(draw(&mut String::new(), &[], "").is_err());
    }
}
