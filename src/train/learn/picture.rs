//! Picture of a lineage: Elo, positions and errors over time.

use plotters::prelude::{BLUE, RED, SeriesLabelPosition};

use super::{
    super::plot::{self, Chart, Curve},
    lineage::{Generation, Lineage},
};

/// Draws a lineage with at least one generation, as SVG.
///
/// # Errors
///
/// If the picture cannot be drawn.
pub fn svg(lineage: &Lineage) -> anyhow::Result<String> {
    let all = &lineage.generations;
    let curve = |name, color, value: fn(&Generation) -> Option<f64>| {
        let point = |one: &Generation| Some((one.hours, value(one)?));
        Curve::line(name, color, all.iter().filter_map(point).collect())
    };
    let elo = |promoted: bool| -> Vec<(f64, f64)> {
        let all = all.iter().zip(lineage.elo()).filter(|(one, _)| one.promoted == promoted);
        all.map(|(one, elo)| (one.hours, elo)).collect()
    };
    let line = [vec![(0.0, 0.0)], elo(true)].concat();
    let strength = vec![
        Curve { dots: elo(true), ..Curve::line("promoted", BLUE, line) },
        Curve { dots: elo(false), ..Curve::line("not promoted", RED, Vec::new()) },
    ];
    let pool = vec![curve("pool", BLUE, |one| Some(one.pool as f64 / 1e6))];
    let losses = vec![curve("training", BLUE, |one| Some(one.training_loss))];
    let exam = vec![curve("exam", RED, |one| one.exam_error)];
    let chart = |title, curves, legend| Chart { title, x: "hours", curves, legend };
    let (low, high) = (SeriesLabelPosition::LowerRight, SeriesLabelPosition::UpperRight);
    let mut charts = vec![
        chart("Elo above piece-square tables", strength, low.clone()),
        chart("million positions", pool, low),
        chart("training loss: mean squared error in winning probability", losses, high.clone()),
    ];
    if all.iter().any(|one| one.exam_error.is_some()) {
        charts.push(chart("error in winning probability on the exam", exam, high));
    }
    plot::svg(&charts)
}

#[cfg(test)]
mod tests {
    use super::{super::lineage::tests::lineage, *};

    #[test]
    fn charts_are_drawn() {
        let picture = svg(&lineage()).unwrap();
        assert!(picture.starts_with("<svg") && !picture.contains("NaN"));
        for word in ["Elo above", "million positions", "squared error", "not promoted", "hours"] {
            assert!(picture.contains(word), "{word}");
        }
        // The chart of the exam is there only if there is an exam.
        let mut none = lineage();
        none.generations.iter_mut().for_each(|one| one.exam_error = None);
        let pictures = [picture, svg(&none).unwrap()];
        assert_eq!(pictures.map(|picture| picture.contains("on the exam")), [true, false]);
    }
}
