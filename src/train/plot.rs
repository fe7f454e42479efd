//! Loss curves as CSV and SVG.

use std::path::Path;

use plotters::prelude::*;

use super::{FileError, checkpoint::replace, trainer::Point};

/// Writes the points as comma-separated values.
///
/// # Errors
///
/// If the file cannot be written.
pub fn csv(path: &Path, history: &[Point]) -> Result<(), FileError> {
    let mut text = "step,positions,rate,result_weight,training_loss,validation_loss\n".to_owned();
    for point in history {
        let Point { step, positions, rate, result_weight, training, validation } = point;
        text += &format!(
            "{step},{positions},{rate:e},{result_weight:.4},{training:.7},{validation:.7}\n"
        );
    }
    replace(path, text.as_bytes())
}

/// Draws the points.
///
/// # Errors
///
/// If the file cannot be written.
pub fn svg(path: &Path, history: &[Point], title: &str) -> Result<(), FileError> {
    let mut picture = String::new();
    draw(&mut picture, history, title).map_err(|error| FileError::new(path, error))?;
    replace(path, picture.as_bytes())
}

fn draw(
    picture: &mut String,
    history: &[Point],
    title: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    type Curve = (&'static str, RGBColor, fn(&Point) -> f64);
    let curves: [Curve; 2] =
        [("training", BLUE, |point| point.training), ("validation", RED, |point| point.validation)];
    let millions = |point: &Point| point.positions as f64 / 1e6;
    let losses =
        || curves.iter().flat_map(|(_, _, f)| history.iter().map(f)).filter(|l| l.is_finite());
    let low = losses().fold(f64::INFINITY, f64::min);
    let high = losses().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return Err("no finite loss to draw".into());
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
        let points = history.iter().map(|point| (millions(point), loss(point)));
        chart
            .draw_series(LineSeries::new(points.filter(|(_, loss)| loss.is_finite()), color))?
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
                validation: if step < 3 { f64::NAN } else { 0.12 / step as f64 },
            })
            .collect();
        let mut picture = String::new();
        draw(&mut picture, &history, "768-64x2-1").unwrap();
        assert!(picture.starts_with("<svg") && picture.contains("</svg>"));
        assert!(picture.matches("<polyline").count() >= 2);
        assert!(picture.contains("768-64x2-1") && !picture.contains("NaN"));
        assert!(draw(&mut String::new(), &[], "").is_err());
    }
}
