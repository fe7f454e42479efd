//! Sentences about a position: pins, passed pawns, open files, the kings, the end of the game. To
//! add a kind of sentence, write a function and call it in [`on_the_board`].

use shakmaty::{Bitboard, Board, Color, File, Position as _, Rank, Square, attacks};

use super::{
    rules::{is_passed, is_pinned, pieces},
    sentence::{Kind, Sentence},
    words::{list, owned, piece, pieces_on},
};
use crate::chess::{
    notation::color_name,
    position::{Ending, Game, Position},
};

/// Number of pieces that must attack squares next to a king before a sentence says so.
const SIEGE: usize = 3;

/// With fewer pawns than this, open files are not mentioned.
const OPEN: usize = 8;

/// Describes the end of the game, if it is over.
pub(super) fn over(game: &Game) -> Option<String> {
    let mated = || format!("{} is checkmated.", color_name(game.position().turn()));
    game.ending()?;
    Some(drawn(game).map_or_else(mated, |why| format!("The game is drawn: {why}.")))
}

/// Returns the rule by which the game is drawn, if it is.
pub(crate) fn drawn(game: &Game) -> Option<&'static str> {
    let position = game.position();
    game.ending().filter(|&ending| ending == Ending::Draw)?;
    Some(if position.legal_moves().is_empty() {
        "stalemate"
    } else if position.is_insufficient_material() {
        "neither side has mating material"
    } else if position.halfmoves() >= 100 {
        "the fifty-move rule"
    } else {
        "the position has occurred three times"
    })
}

/// Returns sentences about the most important features of the board.
pub(super) fn on_the_board(at: &Position) -> Vec<Sentence> {
    let board = at.board();
    let pinned = Color::ALL.into_iter().flat_map(|color| pinned(board, color));
    let passed = Color::ALL.into_iter().filter_map(|color| passed_pawns(board, color));
    let files = Color::ALL.into_iter().filter_map(|color| open_file(board, color));
    let kings = Color::ALL.into_iter().flat_map(|color| king(at, color));
    pinned.chain(passed).chain(files).chain(kings).collect()
}

fn pinned(board: &Board, color: Color) -> Vec<Sentence> {
    let sliders = board.by_color(!color) & board.sliders();
    let pinned = |square| {
        let by = sliders.into_iter().find(|&by| is_pinned(board, square, by))?;
        let (pinned, by) = (owned(board, square), piece(board, by));
        let text = format!("{pinned} is pinned to its king by the {by}.");
        Some(Sentence::new(Kind::Pinned, text))
    };
    pieces(board, color).into_iter().filter_map(pinned).collect()
}

/// Describes the passed pawns of `color`, the most advanced first.
fn passed_pawns(board: &Board, color: Color) -> Option<Sentence> {
    let pawns = board.pawns() & board.by_color(color);
    let passed = pawns.into_iter().filter(|&pawn| is_passed(board, color, pawn));
    let mut passed: Vec<Square> = passed.collect();
    passed.sort_by_key(|pawn| color.fold_wb(-i32::from(pawn.rank()), i32::from(pawn.rank())));
    let (name, squares) = (color_name(color), list(passed.iter().map(ToString::to_string)));
    let pawns = if passed.len() == 1 { "a passed pawn" } else { "passed pawns" };
    let text = format!("{name} has {pawns} on {squares}.");
    (!passed.is_empty()).then(|| Sentence::new(Kind::PassedPawns, text))
}

/// Describes the first rook of `color` on a file without pawns and without enemy rooks or queens.
fn open_file(board: &Board, color: Color) -> Option<Sentence> {
    let rooks = board.rooks() & board.by_color(color);
    let against = board.pawns() | board.rooks_and_queens() & board.by_color(!color);
    let alone = |rook: &Square| board.pawns().count() >= OPEN && against.is_disjoint(rook.file());
    let rook = rooks.into_iter().find(alone)?;
    let (rook, file) = (owned(board, rook), rook.file().char());
    let text = format!("{rook} has the open {file}-file to itself.");
    Some(Sentence::new(Kind::OpenFile, text))
}

/// Describes the dangers for the king of `color`. No dangers are mentioned without an enemy queen
/// and two other pieces.
fn king(at: &Position, color: Color) -> Vec<Sentence> {
    let board = at.board();
    let (Some(king), theirs) = (board.king_of(color), pieces(board, !color)) else {
        return Vec::new();
    };
    if (theirs & board.queens()).is_empty() || theirs.count() < SIEGE {
        return Vec::new();
    }
    let (us, them) = (color_name(color), color_name(!color));
    let (file, rank) = (king.file(), king.rank());
    let mut said = Vec::new();
    if matches!(file, File::D | File::E) && !at.chess().castles().has_color(color) {
        said.push(format!("{us}'s king is in the centre and can no longer castle."));
    }
    let home = color.fold_wb(rank <= Rank::Second, rank >= Rank::Seventh);
    let pawns = board.pawns() & board.by_color(color);
    let bare = pawns.is_disjoint(shelter(king, color));
    if home && bare && !matches!(file, File::D | File::E) {
        said.push(format!("No pawn shelters {us}'s king."));
    }
    let ring = attacks::king_attacks(king);
    let near = theirs.into_iter().filter(|&from| board.attacks_from(from).intersects(ring));
    let near: Vec<Square> = near.collect();
    if near.len() >= SIEGE {
        let near = list(pieces_on(board, &near).into_iter());
        said.push(format!("{them}'s {near} attack squares next to {us}'s king."));
    }
    said.into_iter().map(|text| Sentence::new(Kind::King, text)).collect()
}

/// Returns the squares where pawns shelter a king.
fn shelter(king: Square, color: Color) -> Bitboard {
    let step = color.fold_wb(1, -1);
    let near = |square: &Square| {
        let ahead = (i32::from(square.rank()) - i32::from(king.rank())) * step;
        square.file().distance(king.file()) <= 1 && (1..=2).contains(&ahead)
    };
    Bitboard::FULL.into_iter().filter(near).collect()
}
