//! Draws the evaluations of a game as an SVG picture: White's winning chances after every move,
//! with the errors marked.

use std::fmt::Write as _;

use super::judge::Error;
use crate::{
    chess::score::{Score, winning_chances},
    system::stdio::plain,
    tools::page,
};

/// Size of the picture. All lengths are in pixels.
const WIDTH: i32 = 960;
const HEIGHT: i32 = 440;
/// Edges of the plot in the picture.
const LEFT: i32 = 64;
const RIGHT: i32 = 904;
const TOP: i32 = 84;
const BOTTOM: i32 = 374;

/// Height of a label.
const LABEL: i32 = 16;
/// Distance between a label and its dot.
const GAP: i32 = 8;
/// Radius of a dot.
const DOT: i32 = 4;
/// Maximum number of move numbers below the plot.
const MOST_NUMBERS: usize = 16;
/// Maximum number of characters of a title, label or tooltip.
const LONGEST: usize = 80;

const GREY: &str = "#55534e";
/// Colour of an error whose mark in the game is not `?!`, `?` or `??`.
const OTHER: &str = "#7b5ea7";

/// The contents of a picture.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// The players and the result.
    pub title: String,
    /// The opening.
    pub subtitle: String,
    /// The players with their accuracy and average loss.
    pub players: [String; 2],
    /// Number of half-moves before the first move.
    pub ply: usize,
    /// The position before the first move, and the one after each move.
    pub points: Vec<Point>,
}

/// A position of the game.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    /// The score from White's point of view.
    pub score: Score,
    /// The move that led here, and its score.
    pub text: String,
    /// The sign of the move in the game, if the game or Lancet calls the move an error.
    pub sign: Option<&'static str>,
    /// Label beside the dot.
    pub label: Option<String>,
}

/// A rectangle: left, top, right and bottom edge.
#[derive(Clone, Copy, Debug)]
struct Area(i32, i32, i32, i32);

impl Area {
    const fn overlaps(self, other: Area) -> bool {
        self.0 < other.2 && other.0 < self.2 && self.1 < other.3 && other.1 < self.3
    }
}

impl Chart {
    /// Returns the picture as the text of an SVG file.
    pub(super) fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
        );
        let width = RIGHT - LEFT;
        let middle = (TOP + BOTTOM) / 2;
        text(&mut svg, (LEFT, 24), "font-size=\"18\"", &self.title);
        text(&mut svg, (LEFT, 44), "fill=\"#444\"", &self.subtitle);
        // The longest text about a player takes about 400 pixels.
        let second = LEFT + width / 2 + 20;
        for (x, fill, player) in
            [(LEFT, "#f5f3ee", &self.players[0]), (second, "#686662", &self.players[1])]
        {
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"58\" width=\"12\" height=\"12\" fill=\"{fill}\" \
                 stroke=\"{GREY}\"/>"
            );
            text(&mut svg, (x + 18, 68), "", player);
        }
        self.curve(&mut svg);
        self.grid(&mut svg);
        for (x, title) in [(16, "score in pawns"), (WIDTH - 8, "White's winning chances in %")] {
            let turn = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x} {middle})\"");
            text(&mut svg, (x, middle), &turn, title);
        }
        text(&mut svg, (LEFT + width / 2, BOTTOM + 34), "text-anchor=\"middle\"", "move");
        self.marks(&mut svg);
        self.tooltips(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    fn curve(&self, svg: &mut String) {
        let point = |(i, point): (usize, &Point)| format!("{},{}", self.x(i), y(point.score));
        let points: Vec<String> = self.points.iter().enumerate().map(point).collect();
        let (points, last) = (points.join(" "), self.x(self.points.len().saturating_sub(1)));
        let (width, height) = (RIGHT - LEFT, BOTTOM - TOP);
        let _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\" \
             fill=\"#686662\"/>\n\
             <polygon points=\"{points} {last},{BOTTOM} {LEFT},{BOTTOM}\" fill=\"#f5f3ee\"/>\n\
             <polyline points=\"{points}\" fill=\"none\" stroke=\"#3c3c3c\" stroke-width=\"2\"/>"
        );
    }

    /// Draws lines of equal score, and labels for scores, winning chances and moves.
    fn grid(&self, svg: &mut String) {
        for (label, share) in page::scale() {
            let (y, opacity) = (height(share), if label == "0" { 0.6 } else { 0.25 });
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {y}H{RIGHT}\" stroke=\"#000\" stroke-opacity=\"{opacity}\"/>"
            );
            text(svg, (LEFT - 6, y + 4), "text-anchor=\"end\"", &label);
        }
        for percent in [0, 25, 50, 75, 100] {
            let y = height(f64::from(percent) / 100.0);
            let _ = writeln!(svg, "<path d=\"M{RIGHT} {y}h4\" stroke=\"#000\"/>");
            text(svg, (RIGHT + 7, y + 4), "", &percent.to_string());
        }
        let moves = self.points.len().div_ceil(2);
        let mut steps = (0..).flat_map(|power| [1, 2, 5].map(|step| step * 10_usize.pow(power)));
        let step = steps.find(|step| moves <= MOST_NUMBERS * step).unwrap_or(moves);
        // Number the points after White's moves.
        for index in 1..self.points.len() {
            let ply = self.ply + index - 1;
            let number = ply / 2 + 1;
            if ply.is_multiple_of(2) && number.is_multiple_of(step) {
                let x = self.x(index);
                let _ = writeln!(svg, "<path d=\"M{x} {BOTTOM}v4\" stroke=\"#000\"/>");
                text(svg, (x, BOTTOM + 17), "text-anchor=\"middle\"", &number.to_string());
            }
        }
    }

    /// Draws the dots and labels of the errors, and the legend.
    fn marks(&self, svg: &mut String) {
        let dots = self.points.iter().enumerate().filter(|(_, point)| point.sign.is_some());
        let dots: Vec<_> = dots.map(|(i, point)| (self.x(i), y(point.score), point)).collect();
        let mut taken: Vec<Area> =
            dots.iter().map(|&(x, y, _)| Area(x - DOT, y - DOT, x + DOT, y + DOT)).collect();
        let mut labels = String::new();
        for &(x, y, point) in &dots {
            if let Some(label) = &point.label
                && let Some(area) = place(&taken, (x, y), label)
            {
                taken.push(area);
                let Area(left, top, right, bottom) = area;
                let (centre, edge) = ((left + right) / 2, if top > y { top } else { bottom });
                // Draw this line now, so that it is below all labels.
                let _ = writeln!(svg, "<path d=\"M{x} {y}L{centre} {edge}\" stroke=\"{GREY}\"/>");
                let _ = writeln!(
                    labels,
                    "<rect class=\"label\" x=\"{left}\" y=\"{top}\" width=\"{}\" \
                     height=\"{LABEL}\" rx=\"3\" fill=\"#fff\" fill-opacity=\".9\" \
                     stroke=\"{GREY}\" stroke-width=\".5\"/>",
                    right - left
                );
                text(&mut labels, (centre, bottom - 4), "text-anchor=\"middle\"", label);
            }
        }
        let dot = |svg: &mut String, x: i32, y: i32, fill| {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{DOT}\" fill=\"{fill}\" stroke=\"#fff\"/>"
            );
        };
        dots.iter().for_each(|&(x, y, point)| dot(svg, x, y, colour(point.sign)));
        svg.push_str(&labels);
        let own = dots.iter().any(|(.., point)| colour(point.sign) == OTHER);
        let errors = [Error::Inaccuracy, Error::Mistake, Error::Blunder];
        let legend = errors.map(|error| {
            let sign = error.nag().sign();
            (sign, format!("{} {}", sign.unwrap_or_default(), error.name().to_lowercase()))
        });
        let own = own.then(|| (None, "error that the game marks differently".to_owned()));
        for ((sign, name), x) in legend.into_iter().chain(own).zip((LEFT..).step_by(130)) {
            dot(svg, x + DOT, HEIGHT - 16, colour(sign));
            text(svg, (x + 14, HEIGHT - 12), "", &name);
        }
    }

    /// Adds a tooltip for each position.
    fn tooltips(&self, svg: &mut String) {
        for (i, point) in self.points.iter().enumerate() {
            let (left, right) = (self.x(i.saturating_sub(1)), self.x(i + 1).min(RIGHT));
            let (left, right) = ((left + self.x(i)) / 2, (right + self.x(i) + 1) / 2);
            let (width, height) = ((right - left).max(1), BOTTOM - TOP);
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\" \
                 fill-opacity=\"0\"><title>{}</title></rect>",
                xml(&point.text)
            );
        }
    }

    fn x(&self, index: usize) -> i32 {
        let last = self.points.len().saturating_sub(1).max(1);
        LEFT + ((RIGHT - LEFT) as usize * index / last) as i32
    }
}

/// Finds room for a label above or below its dot. Returns `None` if there is none.
fn place(taken: &[Area], (x, y): (i32, i32), label: &str) -> Option<Area> {
    // Assume eight pixels per letter: hardly any font is wider.
    let half = (8 * label.chars().count() as i32 + 6) / 2;
    let rows = (0..(BOTTOM - TOP) / LABEL).map(|row| GAP + row * (LABEL + 2));
    let near = rows.flat_map(|row| {
        let tops = [y - row - LABEL, y + row];
        tops.into_iter().flat_map(move |top| {
            [0, half, -half].map(|aside| {
                let centre = (x + aside).clamp(LEFT + half, RIGHT - half);
                Area(centre - half, top, centre + half, top + LABEL)
            })
        })
    });
    let mut inside = near.filter(|area| area.1 >= TOP && area.3 <= BOTTOM);
    inside.find(|area| !taken.iter().any(|other| area.overlaps(*other)))
}

fn colour(sign: Option<&str>) -> &'static str {
    match sign {
        Some("?!") => "#3f7fc4",
        Some("?") => "#e89614",
        Some("??") => "#d22828",
        _ => OTHER,
    }
}

fn y(white: Score) -> i32 {
    height(winning_chances(white))
}

/// Returns the y coordinate of White's winning chances, from 0 to 1.
fn height(share: f64) -> i32 {
    BOTTOM - (f64::from(BOTTOM - TOP) * share).round() as i32
}

fn text(svg: &mut String, (x, y): (i32, i32), attributes: &str, text: &str) {
    let text = xml(text);
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" {attributes}>{text}</text>");
}

/// Shortens a text to `longest` characters, with an ellipsis for the rest.
pub(super) fn shorten(text: &str, longest: usize) -> String {
    let mut short: String = text.chars().take(longest).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Escapes a text for XML, and shortens it to [`LONGEST`] characters.
fn xml(text: &str) -> String {
    plain(&shorten(text, LONGEST)).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::score::MATE;

    fn chart(points: Vec<Point>) -> Chart {
        let players = ["A & B, accuracy 90 %", "C, accuracy 80 %"].map(str::to_owned);
        let title = "A & B <1-0> \u{1b}\u{ffff}".to_owned();
        Chart { title, subtitle: "A00".to_owned(), players, ply: 0, points }
    }

    fn point(score: Score, sign: Option<&'static str>, label: Option<&str>) -> Point {
        Point { score, sign, text: "e4 +0.20".to_owned(), label: label.map(str::to_owned) }
    }

    /// Reads the areas of the labels in a picture.
    fn labels(svg: &str) -> Vec<Area> {
        let boxes = svg.lines().filter(|line| line.starts_with("<rect class=\"label\""));
        let number = |line: &str, name: &str| -> i32 {
            let value = line.split_once(&format!(" {name}=\"")).unwrap().1;
            value.split_once('"').unwrap().0.parse().unwrap()
        };
        let area = |line| {
            let [x, y, width, height] = ["x", "y", "width", "height"].map(|at| number(line, at));
            Area(x, y, x + width, y + height)
        };
        boxes.map(area).collect()
    }

    fn overlap(labels: &[Area]) -> bool {
        let pairs = (0..labels.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.into_iter().any(|(i, j)| labels[i].overlaps(labels[j]))
    }

    #[test]
    fn a_game_is_drawn() {
        let mut points: Vec<Point> = (0..81)
            .map(|i| 20 * i - 200)
            .chain([MATE - 1])
            .map(|at| point(at, None, None))
            .collect();
        points[3].sign = Some("?!");
        points[80] = point(900, Some("??"), Some("Qd5??"));
        let svg = chart(points).svg();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        // Some characters are not allowed in XML, even in escaped form.
        assert!(svg.contains("A &amp; B &lt;1-0&gt; \u{fffd}\u{fffd}"), "{svg}");
        // Two errors, three signs in the legend, and a tooltip for each position.
        assert_eq!((svg.matches("<circle").count(), svg.matches("<title>").count()), (5, 82));
        for label in ["+5", "-10", "40", "Qd5??", "move", "score in pawns", "?! inaccuracy"] {
            assert!(svg.contains(&format!(">{label}</text>")), "{label}");
        }
        // An annotator's mark that is not an error sign has its own entry in the legend.
        let own = chart(vec![point(0, None, None), point(0, Some("!?"), Some("e4!?"))]).svg();
        assert!(own.contains(OTHER) && own.contains("the game marks differently"), "{own}");
        // A game without moves.
        assert!(chart(vec![point(0, None, None)]).svg().contains("</svg>"));
    }

    #[test]
    fn six_blunders_in_ten_moves_are_labelled() {
        let scores = [0, 30, -500, 500, -MATE + 9, 900, -900, 20, 30, 10, 20];
        for moves in [10, 60] {
            let mut points = vec![point(0, None, None); moves + 1];
            for (at, score) in scores.into_iter().enumerate() {
                let blunder = (2..8).contains(&at);
                points[at] = point(score, blunder.then_some("??"), blunder.then_some("Qxd5=Q#??"));
            }
            let labels = labels(&chart(points).svg());
            assert!(labels.len() == 6 && !overlap(&labels), "{labels:?}");
        }
    }

    proptest! {
        #[test]
        fn labels_never_overlap(scores in prop::collection::vec(-2000..2000, 1..120)) {
            let blunder = |score| point(score, Some("??"), Some("Raxd5+??"));
            let labels = labels(&chart(scores.into_iter().map(blunder).collect()).svg());
            prop_assert!(!overlap(&labels), "{labels:?}");
            let inside = |area: &Area| area.0 >= LEFT && area.2 <= RIGHT && area.1 >= TOP;
            prop_assert!(labels.iter().all(inside), "{labels:?}");
        }
    }
}
