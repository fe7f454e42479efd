//! Loss curves of a run, as CSV and SVG.

use plotters::prelude::{BLUE, RED, SeriesLabelPosition};

use super::{
    plot::{self, Chart, Curve},
    trainer::Point,
};

/// Returns the points as comma-separated values.
pub fn csv(history: &[Point]) -> String {
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
    text
}

/// Returns the points as a picture in SVG.
///
/// # Errors
///
/// If no loss is finite, or the picture cannot be drawn.
pub fn svg(history: &[Point], network: &str) -> anyhow::Result<String> {
    let curve = |name, color, loss: fn(&Point) -> Option<f64>| {
        let point = |point: &Point| Some((point.positions as f64 / 1e6, loss(point)?));
        Curve::line(name, color, history.iter().filter_map(point).collect())
    };
    let curves = vec![
        curve("training", BLUE, |point| Some(point.training)),
        curve("validation", RED, |point| point.validation),
    ];
    let title = format!("{network}: mean squared error in winning probability");
    let (x, legend) = ("million positions", SeriesLabelPosition::UpperRight);
    plot::svg(&[Chart { title: &title, x, curves, legend }])
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
        let picture = svg(&history, "768-64x2-1").unwrap();
        assert!(picture.starts_with("<svg") && picture.contains("</svg>"));
        assert!(picture.matches("<polyline").count() >= 2);
        assert!(picture.contains("768-64x2-1") && !picture.contains("NaN"));
        assert!(picture.contains("validation"));
        assert_eq!(csv(&history).lines().count(), 20);
        let examined = Point { exam: Some(0.25), ..history[2] };
        let text = csv(&[history[0], examined]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "step,positions,rate,result_weight,training_loss,validation_loss,exam_error",
                "1,16384,1e-3,0.3000,0.1000000,,",
                "3,49152,1e-3,0.3000,0.0333333,0.0400000,0.2500000",
            ]
        );
        let alone: Vec<Point> =
            history.into_iter().map(|point| Point { validation: None, ..point }).collect();
        let picture = svg(&alone, "").unwrap();
        assert!(picture.contains("training") && !picture.contains("validation"));
        assert!(svg(&[], "").is_err());
        let diverged = Point { training: f64::NAN, ..alone[0] };
        assert!(svg(&[diverged], "").is_err());
        assert!(!svg(&[diverged, alone[1]], "").unwrap().contains("NaN"));
    }
}
