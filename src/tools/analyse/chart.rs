//! The evaluations of a game as a picture (SVG): White's share of the winning
//! chances after every move, with the errors marked.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::judge::Error;
use crate::{
    chess::score::{Score, winning_chances},
    system::stdio::plain,
};

/// Pixels of the whole picture.
const SIZE: (u32, u32) = (960, 380);
/// The plot within it.
const LEFT: i32 = 56;
const RIGHT: i32 = 940;
const TOP: i32 = 56;
const BOTTOM: i32 = 340;

/// Scores with a line of their own, in pawns.
const PAWNS: [Score; 7] = [-10, -5, -2, 0, 2, 5, 10];

const WHITES_SHARE: RGBColor = RGBColor(245, 243, 238);
const BLACKS_SHARE: RGBColor = RGBColor(104, 102, 98);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What to draw.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// Who played whom.
    pub title: String,
    /// The opening, and how well it was played.
    pub subtitle: String,
    /// Half-moves before the first.
    pub ply: usize,
    /// Scores from White's point of view, before the first move and after each.
    pub scores: Vec<Score>,
    /// Moves that were errors, by their index, in SAN.
    pub errors: Vec<(usize, Error, String)>,
}

impl Chart {
    /// The picture as the text of an SVG file.
    ///
    /// # Errors
    ///
    /// What the plotting library says.
    pub(super) fn svg(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        self.draw(&SVGBackend::with_string(&mut text, SIZE).into_drawing_area())?;
        Ok(text)
    }

    fn draw(&self, root: &Area) -> anyhow::Result<()> {
        root.fill(&WHITE)?;
        root.draw_text(&plain(&self.title), &font(18), (LEFT, 10))?;
        root.draw_text(&self.subtitle, &font(12).color(&BLACK.mix(0.7)), (LEFT, 34))?;
        root.draw(&Rectangle::new([(LEFT, TOP), (RIGHT, BOTTOM)], BLACKS_SHARE.filled()))?;
        let curve: Vec<(i32, i32)> =
            self.scores.iter().enumerate().map(|(i, &score)| (self.x(i), y(score))).collect();
        if let (Some(first), Some(last)) = (curve.first(), curve.last()) {
            let mut share = curve.clone();
            share.extend([(last.0, BOTTOM), (first.0, BOTTOM)]);
            root.draw(&Polygon::new(share, WHITES_SHARE.filled()))?;
        }
        self.grid(root)?;
        root.draw(&PathElement::new(curve, RGBColor(60, 60, 60).stroke_width(2)))?;
        self.errors(root)?;
        Ok(root.present()?)
    }

    /// Lines of equal score, and move numbers.
    fn grid(&self, root: &Area) -> anyhow::Result<()> {
        let style = font(12);
        for pawns in PAWNS {
            let y = y(100 * pawns);
            let strength = if pawns == 0 { 0.5 } else { 0.18 };
            root.draw(&PathElement::new([(LEFT, y), (RIGHT, y)], BLACK.mix(strength)))?;
            let label = if pawns == 0 { "0".to_owned() } else { format!("{pawns:+}") };
            let anchor = style.pos(Pos::new(HPos::Right, VPos::Center));
            root.draw_text(&label, &anchor, (LEFT - 8, y))?;
        }
        let anchor = style.pos(Pos::new(HPos::Center, VPos::Top));
        // About ten numbers, at moves 5, 10 and so on.
        let step = self.scores.len().div_ceil(2).div_ceil(10).next_multiple_of(5);
        for (i, ply) in (0..self.scores.len()).zip(self.ply..) {
            let number = ply / 2 + 1;
            if ply.is_multiple_of(2) && number.is_multiple_of(step) {
                // The score after White's move of this number.
                let x = self.x(i + 1).min(RIGHT);
                root.draw_text(&number.to_string(), &anchor, (x, BOTTOM + 8))?;
            }
        }
        Ok(())
    }

    fn errors(&self, root: &Area) -> anyhow::Result<()> {
        let anchor = font(12).pos(Pos::new(HPos::Center, VPos::Bottom));
        for (index, error, san) in &self.errors {
            let Some(&score) = self.scores.get(index + 1) else { continue };
            let (x, y) = (self.x(index + 1), y(score));
            let color = match error {
                Error::Inaccuracy => RGBColor(86, 150, 214),
                Error::Mistake => RGBColor(232, 150, 20),
                Error::Blunder => RGBColor(210, 40, 40),
            };
            root.draw(&Circle::new((x, y), 4, color.filled()))?;
            if *error == Error::Blunder {
                let text = format!("{san}??");
                // Seven pixels a letter: near enough for a box around it.
                let half = 4 * text.len() as i32;
                let centre = x.clamp(LEFT + half, RIGHT - half);
                let bottom = if y > TOP + 24 { y - 7 } else { y + 23 };
                let corners = [(centre - half, bottom - 16), (centre + half, bottom)];
                root.draw(&Rectangle::new(corners, WHITE.mix(0.85).filled()))?;
                root.draw_text(&text, &anchor, (centre, bottom - 3))?;
            }
        }
        Ok(())
    }

    fn x(&self, index: usize) -> i32 {
        let last = self.scores.len().saturating_sub(1).max(1);
        LEFT + (RIGHT - LEFT) * index as i32 / last as i32
    }
}

fn y(white: Score) -> i32 {
    BOTTOM - (f64::from(BOTTOM - TOP) * winning_chances(white)).round() as i32
}

fn font(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::MATE;

    #[test]
    fn a_game_is_drawn() {
        let chart = Chart {
            title: "A & B <1-0> \u{1b}\u{ffff}".to_owned(),
            subtitle: "A00".to_owned(),
            ply: 0,
            scores: (0..81).map(|i| 20 * i - 200).chain([MATE - 1]).collect(),
            errors: vec![(3, Error::Inaccuracy, "e4".into()), (80, Error::Blunder, "Qd5".into())],
        };
        let svg = chart.svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        // Not all characters may be in XML, however they are written.
        assert!(svg.contains("A &amp; B &lt;1-0&gt; \u{fffd}\u{fffd}"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("<polygon") && svg.contains("Qd5??"));
        for label in ["+5", "-10", "40"] {
            assert!(svg.lines().any(|line| line.trim() == label), "{label}");
        }
        // A game without moves.
        let empty = Chart { scores: vec![0], errors: Vec::new(), ..chart };
        assert!(empty.svg().unwrap().contains("</svg>"));
    }
}
