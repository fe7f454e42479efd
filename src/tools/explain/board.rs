//! What can be said of a position: what hangs, pins, passed pawns, the kings, the end of the
//! game. A new kind of sentence is a function that [`on_the_board`] calls.

use std::cmp::Reverse;

use shakmaty::{Bitboard, Board, Color, File, Move, Position as _, Rank, Square, attacks};

use super::{
    rules::{is_pinned, pieces, taken_on, takes_dearer, takes_for_nothing, turned},
    words::{list, owned, piece, role_name},
};
use crate::chess::{
    notation::{color_name, san},
    position::{Ending, Game, Position},
    see::value,
};

/// Hanging pieces of a side that are told, the dearest first.
const HANGING: usize = 3;
/// Pieces around a king that are worth telling.
const SIEGE: usize = 3;

/// How the game is over, if it is.
pub(super) fn over(game: &Game) -> Option<String> {
    let position = game.position();
    let us = color_name(position.turn());
    Some(match game.ending()? {
        Ending::Checkmate => format!("{us} is checkmated."),
        Ending::Draw if position.legal_moves().is_empty() => {
            format!("{us} is stalemated: the game is drawn.")
        }
        Ending::Draw if position.is_insufficient_material() => {
            "Neither side can mate: the game is drawn.".to_owned()
        }
        Ending::Draw if position.halfmoves() >= 100 => {
            "The game is drawn by the fifty-move rule.".to_owned()
        }
        Ending::Draw => "The game is drawn by repetition.".to_owned(),
    })
}

/// What stands out on the board. The opponent's chances come first, since those are
/// overlooked.
pub(super) fn on_the_board(at: &Position) -> Vec<String> {
    let (board, turn) = (at.board(), at.turn());
    let hanging = [turn, !turn].into_iter().flat_map(|color| hanging(at, color));
    let pinned = Color::ALL.into_iter().flat_map(|color| pinned(board, color));
    let passed = Color::ALL.into_iter().filter_map(|color| passed_pawns(board, color));
    let kings = Color::ALL.into_iter().flat_map(|color| king(at, color));
    hanging.chain(pinned).chain(passed).chain(kings).collect()
}

/// The pieces of `color` that could be taken at once: for nothing, or by less.
fn hanging(at: &Position, color: Color) -> Vec<String> {
    let Some(theirs) = turned(at, !color) else { return Vec::new() };
    let moves = theirs.legal_moves().into_iter();
    let mut takes: Vec<Move> = moves.filter(|m| m.is_capture()).collect();
    takes.sort_by_key(|m| (Reverse(m.capture().map_or(0, value)), value(m.role())));
    let free = takes.iter().filter(|&&m| takes_for_nothing(&theirs, m));
    let free = free.map(|&m| (m, format!("hangs: {}, and nothing takes back", san(&theirs, m))));
    let cheap = takes
        .iter()
        .filter(|&&m| takes_dearer(m))
        .map(|&m| (m, format!("is attacked by a {} ({})", role_name(m.role()), san(&theirs, m))));
    let mut seen = Bitboard::EMPTY;
    let mut said = Vec::new();
    for (m, why) in free.chain(cheap) {
        let square = taken_on(m);
        if said.len() < HANGING && !seen.contains(square) {
            seen.add(square);
            said.push(format!("{} {why}.", owned(at.board(), square)));
        }
    }
    said
}

fn pinned(board: &Board, color: Color) -> Vec<String> {
    let sliders = board.by_color(!color) & board.sliders();
    let pinned = |square| {
        let by = sliders.into_iter().find(|&by| is_pinned(board, square, by))?;
        let (pinned, by) = (owned(board, square), piece(board, by));
        Some(format!("{pinned} is pinned to its king by the {by}."))
    };
    pieces(board, color).into_iter().filter_map(pinned).collect()
}

/// The passed pawns of `color`, those first that are nearest to the last rank.
fn passed_pawns(board: &Board, color: Color) -> Option<String> {
    let pawns = board.pawns() & board.by_color(color);
    let passed = pawns.into_iter().filter(|&pawn| is_passed(board, color, pawn));
    let mut passed: Vec<Square> = passed.collect();
    passed.sort_by_key(|pawn| color.fold_wb(-i32::from(pawn.rank()), i32::from(pawn.rank())));
    let (name, squares) = (color_name(color), list(passed.iter().map(ToString::to_string)));
    let pawns = if passed.len() == 1 { "a passed pawn" } else { "passed pawns" };
    (!passed.is_empty()).then(|| format!("{name} has {pawns} on {squares}."))
}

/// Are no enemy pawns before the pawn of `color` on `square`, nor own ones?
fn is_passed(board: &Board, color: Color, square: Square) -> bool {
    let ahead = |rank: Rank| color.fold_wb(rank > square.rank(), rank < square.rank());
    let is_free = |color: Color, files: u32| {
        !(board.pawns() & board.by_color(color))
            .into_iter()
            .any(|pawn| pawn.file().distance(square.file()) <= files && ahead(pawn.rank()))
    };
    is_free(!color, 1) && is_free(color, 0)
}

/// The dangers for the king of `color`. Without a queen, and a piece to help her, he is in
/// none but from many pieces.
fn king(at: &Position, color: Color) -> Vec<String> {
    let board = at.board();
    let Some(king) = board.king_of(color) else { return Vec::new() };
    let (us, them) = (color_name(color), color_name(!color));
    let (file, rank, theirs) = (king.file(), king.rank(), pieces(board, !color));
    let mut said = Vec::new();
    if (theirs & board.queens()).any() && theirs.more_than_one() {
        if matches!(file, File::D | File::E | File::F) && !at.chess().castles().has_color(color) {
            said.push(format!("{us}'s king stands in the middle and may not castle."));
        }
        let home = color.fold_wb(rank <= Rank::Second, rank >= Rank::Seventh);
        let pawns = board.pawns() & board.by_color(color);
        let bare = pawns.is_disjoint(shelter(king, color));
        if home && bare && !matches!(file, File::D | File::E) {
            said.push(format!("No pawn shelters {us}'s king."));
        }
        for by in theirs & board.rooks_and_queens() {
            let open = board.pawns().is_disjoint(Bitboard::from(by.file()));
            if open && file.distance(by.file()) <= 1 {
                let (piece, file) = (owned(board, by), by.file().char());
                said.push(format!(
                    "{piece} stands on the open {file}-file, which leads to {us}'s king."
                ));
            }
        }
    }
    let ring = attacks::king_attacks(king).with(king);
    let near = theirs.into_iter().filter(|&from| board.attacks_from(from).intersects(ring));
    let near: Vec<String> = near.map(|from| piece(board, from)).collect();
    if near.len() >= SIEGE {
        let near = list(near.into_iter());
        said.push(format!("{them}'s {near} bear on squares at {us}'s king."));
    }
    said
}

/// The squares where pawns shelter a king.
fn shelter(king: Square, color: Color) -> Bitboard {
    let step = color.fold_wb(1, -1);
    let near = |square: &Square| {
        let ahead = (i32::from(square.rank()) - i32::from(king.rank())) * step;
        square.file().distance(king.file()) <= 1 && (1..=2).contains(&ahead)
    };
    Bitboard::FULL.into_iter().filter(near).collect()
}
