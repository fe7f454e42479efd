//! The picture of a run, as SVG: nodes against depth, and what foreknowledge
//! of the best moves would have saved. No numbers are computed here.

use clap::ValueEnum;
use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{
    interior::Interior,
    output::{algorithms, label},
    suite::{Measurement, Report},
};
use lancet::chess::notation::short;

/// Pixels.
const WIDTH: u32 = 900;
const CURVES_HEIGHT: u32 = 560;
const BAR_HEIGHT: u32 = 18;
const BAR_LEFT: i32 = 330;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws the run, as the text of an SVG file.
///
/// # Errors
///
/// If the plotting library fails.
pub fn svg(report: &Report) -> anyhow::Result<String> {
    let barred: Vec<&Measurement> =
        report.rows.iter().filter(|row| row.replay_ratio.is_some()).collect();
    let height = if barred.is_empty() { 0 } else { 60 + BAR_HEIGHT * barred.len() as u32 };
    let mut text = String::new();
    {
        let size = (WIDTH, CURVES_HEIGHT + height);
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        root.fill(&WHITE)?;
        let (upper, lower) = root.split_vertically(CURVES_HEIGHT);
        curves(report, &upper)?;
        if !barred.is_empty() {
            bars(&barred, &lower)?;
        }
        root.present()?;
    }
    Ok(text)
}

/// Nodes against depth, one curve per algorithm.
fn curves(report: &Report, area: &Area<'_>) -> anyhow::Result<()> {
    let exhaustive = report.rows.iter().filter(|row| row.depth < report.depth && row.depth > 1);
    let rows: Vec<&Measurement> = exhaustive.chain(algorithms(report)).collect();
    let positions = report.positions.max(1) as f64;
    let mean = |nodes: u64| nodes.max(1) as f64 / positions;
    let all = rows.iter().flat_map(|row| row.nodes_by_depth.iter().map(|&n| mean(n)));
    let (low, high) = all.fold((f64::MAX, 2.0), |(low, high), n| (n.min(low), n.max(high)));
    let title = format!(
        "Nodes per position and iteration: {} positions, {} leaves",
        report.positions, report.leaf
    );
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(
            1.0..f64::from(report.depth.max(2)) + 0.04,
            (low * 0.8..high * 1.3).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("depth (plies)")
        .y_desc("nodes (log scale)")
        .x_labels(report.depth.max(2) as usize)
        .x_label_formatter(&|depth| format!("{depth:.0}"))
        .y_label_formatter(&|nodes| short(*nodes))
        .light_line_style(WHITE)
        .draw()?;
    for (i, row) in rows.iter().enumerate() {
        let color = hue(i, rows.len());
        let points = (1..).zip(&row.nodes_by_depth).map(|(d, &n)| (f64::from(d), mean(n)));
        let series = LineSeries::new(points, color.stroke_width(2)).point_size(3);
        let name = format!(
            "{} ({})",
            label(&row.cell),
            short(mean(*row.nodes_by_depth.last().unwrap_or(&0)))
        );
        chart.draw_series(series)?.label(name).legend(move |(x, y)| {
            PathElement::new(vec![(x, y), (x + 18, y)], color.stroke_width(3))
        });
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 13))
        .draw()?;
    Ok(())
}

/// One of `count` colours that are all dark enough for thin lines on white.
fn hue(index: usize, count: usize) -> RGBAColor {
    HSLColor(index as f64 / count as f64, 0.75, 0.42).to_rgba()
}

/// Nodes over those of the replayed tree, one bar per cell.
fn bars(rows: &[&Measurement], area: &Area<'_>) -> anyhow::Result<()> {
    let font = |size: i32| ("sans-serif", size).into_font().color(&BLACK);
    let right_middle = Pos::new(HPos::Right, VPos::Center);
    let left_middle = Pos::new(HPos::Left, VPos::Center);
    area.draw_text(
        "Nodes relative to the replayed tree (the same search, every best move known beforehand)",
        &font(17),
        (30, 12),
    )?;
    let ratio = |row: &Measurement| row.replay_ratio.unwrap_or(1.0);
    let longest = rows.iter().map(|row| ratio(row)).fold(1.0, f64::max);
    let scale = f64::from(WIDTH as i32 - BAR_LEFT - 80) / longest;
    for (i, row) in rows.iter().enumerate() {
        let top = 44 + (i as u32 * BAR_HEIGHT) as i32;
        let middle = top + BAR_HEIGHT as i32 / 2;
        let end = BAR_LEFT + (ratio(row) * scale) as i32;
        let name = format!("{} (depth {})", label(&row.cell), row.depth);
        area.draw_text(&name, &font(12).pos(right_middle), (BAR_LEFT - 8, middle))?;
        let color = hue(row.cell.interior as usize, Interior::value_variants().len());
        let corners = [(BAR_LEFT, top + 2), (end, top + BAR_HEIGHT as i32 - 2)];
        area.draw(&Rectangle::new(corners, color.filled()))?;
        let value = format!("{:.2}", ratio(row));
        area.draw_text(&value, &font(12).pos(left_middle), (end + 6, middle))?;
    }
    let one = BAR_LEFT + scale as i32;
    let bottom = 44 + (rows.len() as u32 * BAR_HEIGHT) as i32;
    area.draw(&PathElement::new(vec![(one, 40), (one, bottom)], BLACK.mix(0.6)))?;
    Ok(())
}
