//! The picture of a run, as SVG: nodes by depth relative to the first row, and nodes relative to
//! the replayed tree.

use clap::ValueEnum;
use lancet::chess::notation::counted;
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

// Sizes in pixels.
const WIDTH: u32 = 860;
const CURVES_HEIGHT: u32 = 480;
const BAR_HEIGHT: u32 = 26;
const BAR_LEFT: i32 = 330;
/// Space to the right of the curves, for their names.
const NAMES_WIDTH: u32 = 330;
const NAME_HEIGHT: i32 = 24;
/// Font size of the plotting library, which divides it by 1.24 to get pixels.
const FONT: i32 = 20;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws the run and returns the text of an SVG file.
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

/// Draws the nodes by depth, relative to the first row. In a picture of the absolute numbers,
/// differences of a few percent would not be visible. Rows that coincide share a curve.
fn curves(report: &Report, area: &Area<'_>) -> anyhow::Result<()> {
    let rows = algorithms(report).into_iter().filter(|row| row.depth == report.depth);
    let rows: Vec<&Measurement> = rows.collect();
    let Some(first) = rows.first() else { return Ok(()) };
    let over_first = |row: &Measurement| -> Vec<f64> {
        let pairs = row.nodes_by_depth.iter().zip(&first.nodes_by_depth);
        pairs.map(|(&n, &of)| n.max(1) as f64 / of.max(1) as f64).collect()
    };
    let mut groups: Vec<(String, Vec<f64>)> = Vec::new();
    for row in &rows {
        let (name, ratios) = (label(&row.cell), over_first(row));
        let same = |known: &[f64]| known.iter().zip(&ratios).all(|(a, b)| (a - b).abs() < 0.004);
        match groups.iter_mut().find(|(_, known)| same(known)) {
            Some((names, _)) => *names += &format!(", {name}"),
            None => groups.push((name, ratios)),
        }
    }
    let all = groups.iter().flat_map(|(_, ratios)| ratios);
    let (low, high) = all.fold((1.0_f64, 1.0_f64), |(low, high), &n| (low.min(n), high.max(n)));
    let margin = 0.06 * (high - low).max(0.1);
    let depth = f64::from(report.depth.max(2));
    let title = format!(
        "Nodes of an iteration relative to {}: {}, {} leaves",
        label(&first.cell),
        counted(report.positions, "position"),
        report.leaf
    );
    area.draw_text(&title, &("sans-serif", FONT + 2).into_font().color(&BLACK), (12, 12))?;
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_top(44)
        .margin_right(NAMES_WIDTH)
        .x_label_area_size(48)
        .y_label_area_size(60)
        .build_cartesian_2d(1.0..depth, low - margin..high + margin)?;
    chart
        .configure_mesh()
        .x_desc("depth (plies)")
        .x_labels(report.depth.max(2) as usize)
        .y_labels(8)
        .label_style(("sans-serif", FONT))
        .x_label_formatter(&|depth| format!("{depth:.0}"))
        .y_label_formatter(&|ratio| format!("{ratio:.2}"))
        .light_line_style(TRANSPARENT)
        .draw()?;
    groups.sort_by(|a, b| {
        b.1.last().copied().unwrap_or(1.0).total_cmp(&a.1.last().copied().unwrap_or(1.0))
    });
    // A name is at the end of its curve, or in the first free space below it.
    let mut free = 40;
    for (i, (name, ratios)) in groups.iter().enumerate() {
        let color = hue(i, groups.len());
        let points = (1..).zip(ratios).map(|(d, &ratio)| (f64::from(d), ratio));
        let end = (depth, ratios.last().copied().unwrap_or(1.0));
        let (x, y) = chart.backend_coord(&end);
        chart.draw_series(LineSeries::new(points, color.stroke_width(3)).point_size(4))?;
        let at = y.max(free);
        free = at + NAME_HEIGHT;
        area.draw(&PathElement::new(vec![(x, y), (x + 14, at)], color.stroke_width(1)))?;
        let style = ("sans-serif", FONT).into_font().color(&color);
        let style = style.pos(Pos::new(HPos::Left, VPos::Center));
        area.draw_text(&format!("{:.2} {name}", end.1), &style, (x + 18, at))?;
    }
    Ok(())
}

/// Returns one of `count` colours that contrast with white and with black.
fn hue(index: usize, count: usize) -> RGBAColor {
    HSLColor(index as f64 / count as f64, 0.65, 0.45).to_rgba()
}

/// Draws the nodes relative to the replayed tree, one bar per cell.
fn bars(rows: &[&Measurement], area: &Area<'_>) -> anyhow::Result<()> {
    let font = |size: i32| ("sans-serif", size).into_font().color(&BLACK);
    let right_middle = Pos::new(HPos::Right, VPos::Center);
    let left_middle = Pos::new(HPos::Left, VPos::Center);
    area.draw_text(
        "Nodes relative to the same search with every best move known beforehand",
        &font(FONT + 2),
        (30, 12),
    )?;
    let ratio = |row: &Measurement| row.replay_ratio.unwrap_or(1.0);
    let longest = rows.iter().map(|row| ratio(row)).fold(1.0, f64::max);
    let scale = f64::from(WIDTH as i32 - BAR_LEFT - 80) / longest;
    for (i, row) in rows.iter().enumerate() {
        let top = 44 + (i as u32 * BAR_HEIGHT) as i32;
        let middle = top + BAR_HEIGHT as i32 / 2;
        let end = BAR_LEFT + (ratio(row) * scale) as i32;
        let name = label(&row.cell);
        area.draw_text(&name, &font(FONT).pos(right_middle), (BAR_LEFT - 8, middle))?;
        let color = hue(row.cell.interior as usize, Interior::value_variants().len());
        let corners = [(BAR_LEFT, top + 2), (end, top + BAR_HEIGHT as i32 - 2)];
        area.draw(&Rectangle::new(corners, color.filled()))?;
        let value = format!("{:.2}", ratio(row));
        area.draw_text(&value, &font(FONT).pos(left_middle), (end + 6, middle))?;
    }
    let one = BAR_LEFT + scale as i32;
    let bottom = 44 + (rows.len() as u32 * BAR_HEIGHT) as i32;
    area.draw(&PathElement::new(vec![(one, 40), (one, bottom)], BLACK.mix(0.6)))?;
    Ok(())
}
