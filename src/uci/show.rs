//! What people at a terminal ask for: the board, the evaluation, perft.

use std::sync::Arc;

use shakmaty::{
    CastlingMode, Chess, Color, File, FromSetup, Position as _, PositionError, Rank, Square,
};

use super::{
    command::{BenchCommand, COMMANDS},
    format::move_text,
};
use crate::{
    eval::{Evaluator, nnue::Network},
    position::{Ending, Game, Position},
    report::Signals,
    tools::{bench, perft},
};

/// The board, white below.
fn board(position: &Position) -> Vec<String> {
    let mut lines = Vec::with_capacity(10);
    for rank in Rank::ALL.into_iter().rev() {
        let mut line = format!(" {} ", rank.char());
        for file in File::ALL {
            let piece = position.board().piece_at(Square::from_coords(file, rank));
            line.push(' ');
            line.push(piece.map_or('.', shakmaty::Piece::char));
        }
        lines.push(line);
    }
    lines.push("    a b c d e f g h".to_owned());
    lines
}

const fn name(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// Board, FEN, key, checkers and state of the game.
pub fn display(game: &Game) -> Vec<String> {
    let position = game.position();
    let mut lines = board(position);
    lines.push(String::new());
    lines.push(format!("Fen: {}", position.fen()));
    lines.push(format!("Key: {:016X}", position.key()));
    let checkers: Vec<String> =
        position.checkers().into_iter().map(|square| square.to_string()).collect();
    lines.push(format!("Checkers: {}", checkers.join(" ")).trim_end().to_owned());
    lines.push(match game.ending() {
        Some(Ending::Checkmate) => format!("{} is checkmated", name(position.turn())),
        Some(Ending::Draw) => "Drawn by the rules".to_owned(),
        None => format!("{} to move", name(position.turn())),
    });
    lines
}

/// Board and static evaluation.
pub fn evaluation(position: &Position) -> Vec<String> {
    let mut lines = board(position);
    lines.push(String::new());
    let own = Evaluator::default().evaluate(position, 0);
    let white = if position.turn() == Color::White { own } else { -own };
    let pawns = f64::from(white) / 100.0;
    lines.push(format!("Evaluation: {pawns:+.2} pawns for White ({own} cp for the side to move)"));
    if position.is_check() {
        lines.push("The king is in check: the search does not evaluate here".to_owned());
    }
    lines
}

/// The commands and what they do.
pub fn help() -> Vec<String> {
    COMMANDS
        .iter()
        .flat_map(|(name, arguments, text)| {
            let usage = format!("{name} {arguments}");
            // Long usages get a line of their own.
            if usage.len() > 40 {
                vec![usage, format!("    {text}")]
            } else {
                vec![format!("{} - {text}", usage.trim_end())]
            }
        })
        .collect()
}

/// Mirrored top to bottom with colours swapped; the other side is to move.
pub fn flip(position: &Position) -> Option<Game> {
    let setup = position.chess().to_setup(shakmaty::EnPassantMode::Legal).into_mirrored();
    let flipped = Chess::from_setup(setup, position.mode())
        .or_else(PositionError::ignore_impossible_check)
        .ok()?;
    Some(Game::from(Position::from(flipped)))
}

/// Writes the number of paths of `depth` plies below each move, and their sum.
pub fn perft(
    position: &Position,
    depth: u32,
    mode: CastlingMode,
    signals: &Signals,
    line: &dyn Fn(&str),
) {
    let mut total = 0;
    if depth == 0 {
        total = 1;
    } else {
        for m in position.legal_moves() {
            let Some(nodes) = paths(&position.play(m), depth - 1, signals) else { return };
            line(&format!("{}: {nodes}", move_text(m, mode)));
            total += nodes;
        }
    }
    line("");
    line(&format!("Nodes searched: {total}"));
}

/// Plies that are counted in well under a second, without looking for a stop.
const QUICK: u32 = 4;

/// Paths of `depth` plies; `None` if told to stop.
fn paths(position: &Position, depth: u32, signals: &Signals) -> Option<u64> {
    if signals.is_stopped() {
        return None;
    }
    if depth <= QUICK {
        return Some(perft::count(position.chess(), depth));
    }
    position.legal_moves().iter().map(|&m| paths(&position.play(m), depth - 1, signals)).sum()
}

/// Runs the benchmark with the evaluation in use.
pub fn bench(
    arguments: BenchCommand,
    network: Option<Arc<Network>>,
    signals: &Arc<Signals>,
    line: &dyn Fn(&str),
) {
    let defaults = bench::Args::default();
    let args = bench::Args {
        depth: arguments.depth.unwrap_or(defaults.depth),
        threads: arguments.threads.unwrap_or(defaults.threads),
        hash: arguments.hash.unwrap_or(defaults.hash),
    };
    if let Err(error) = bench::bench(&args, network, signals, line) {
        line(&super::format::string(&error.to_string()));
    }
}

/// The search parameters as OpenBench's SPSA wants them.
#[cfg(feature = "tune")]
pub fn spsa() -> Vec<String> {
    let line = |p: &crate::search::params::Param| {
        format!("{}, int, {}, {}, {}, {}, 0.002", p.name, p.default, p.min, p.max, p.step)
    };
    crate::search::params::ALL.iter().map(line).collect()
}
