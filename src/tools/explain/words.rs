//! Names of pieces, lists and material in words.

use std::cmp::Reverse;

use shakmaty::{Board, Color, Role, Square};

use crate::chess::{notation::color_name, see::value};

/// Names of the numbers from two to nine. Larger numbers are called `many`.
const NUMBERS: [&str; 8] = ["two", "three", "four", "five", "six", "seven", "eight", "nine"];

/// Returns the name of a role, `pawn` to `king`.
pub(super) const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

/// Describes a piece: `knight on c6`.
pub(super) fn piece(board: &Board, square: Square) -> String {
    format!("{} on {square}", board.role_at(square).map_or("piece", role_name))
}

/// Describes pieces, the most valuable first, each kind with its squares: `queen on d8`, `pawns on
/// d6 and f6`.
pub(super) fn pieces_on(board: &Board, squares: &[Square]) -> Vec<String> {
    let mut squares = squares.to_vec();
    squares.sort_by_key(|&square| Reverse(board.role_at(square)));
    let groups = squares.chunk_by(|&a, &b| board.role_at(a) == board.role_at(b));
    let group = |group: &[Square]| match group {
        &[one] => piece(board, one),
        more => {
            let name = board.role_at(more[0]).map_or("piece", role_name);
            format!("{name}s on {}", list(more.iter().map(ToString::to_string)))
        }
    };
    groups.map(group).collect()
}

/// Describes pieces with articles: `the king and the rook on a8`, `the pawns on d6 and f6`.
pub(super) fn the_pieces(board: &Board, squares: &[Square]) -> String {
    let kings = |name: &String| name.starts_with(role_name(Role::King));
    let the =
        |name: String| if kings(&name) { "the king".to_owned() } else { format!("the {name}") };
    list(pieces_on(board, squares).into_iter().map(the))
}

/// Describes a piece with an article: `the knight on c6`, `the king`.
pub(super) fn the(board: &Board, square: Square) -> String {
    match board.role_at(square) {
        Some(Role::King) => "the king".to_owned(),
        _ => format!("the {}", piece(board, square)),
    }
}

/// Describes a piece with its owner: `White's knight on c6`.
pub(super) fn owned(board: &Board, square: Square) -> String {
    let owner = board.color_at(square).map_or("", color_name);
    format!("{owner}'s {}", piece(board, square))
}

/// Joins items into a list: `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match &items[..] {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Describes material that a side has won and lost, by role from the pawn up: `a queen for a rook`.
/// A knight and a bishop cancel out. Returns `None` if nothing was won.
pub(super) fn trade(counts: [i32; 5]) -> Option<String> {
    let counts = cancelled(counts);
    let many = |sign: i32| {
        let many = |(role, count): (Role, i32)| {
            let (count, name) = (usize::try_from(count * sign).ok()?, role_name(role));
            match count {
                0 => None,
                1 => Some(format!("a {name}")),
                _ => Some(format!("{} {name}s", NUMBERS.get(count - 2).unwrap_or(&"many"))),
            }
        };
        list(Role::ALL.into_iter().zip(counts).rev().filter_map(many))
    };
    let [won, lost] = [1, -1].map(many);
    match (won.is_empty(), lost.is_empty()) {
        (true, _) => None,
        (false, true) => Some(won),
        (false, false) => Some(format!("{won} for {lost}")),
    }
}

/// Cancels the knights of one side against the bishops of the other.
fn cancelled(mut counts: [i32; 5]) -> [i32; 5] {
    let [_, knights, bishops, ..] = counts;
    let same = if knights * bishops < 0 { knights.abs().min(bishops.abs()) } else { 0 };
    counts[1] -= same * knights.signum();
    counts[2] -= same * bishops.signum();
    counts
}

/// Describes the difference in material: `White has a knight for two pawns.`, `Black is the
/// exchange up.` Returns `None` if there is none.
pub(super) fn material(board: &Board) -> Option<String> {
    let counts = counts(board, Color::White);
    let worth = total(counts);
    let black = worth < 0 || worth == 0 && counts[4] + counts[3] < 0;
    let (name, sign) = if black { ("Black", -1) } else { ("White", 1) };
    let counts = cancelled(counts.map(|count| count * sign));
    if let [pawns, 0, -1, 1, 0] | [pawns, -1, 0, 1, 0] = counts {
        let pawns_only = |count| trade([count, 0, 0, 0, 0]).unwrap_or_default();
        return Some(match pawns {
            0 => format!("{name} is the exchange up."),
            1.. => format!("{name} is the exchange and {} up.", pawns_only(pawns)),
            _ => format!("{name} is the exchange up for {}.", pawns_only(-pawns)),
        });
    }
    let trade = trade(counts)?;
    Some(if trade.contains(" for ") {
        format!("{name} has {trade}.")
    } else {
        format!("{name} is {trade} up.")
    })
}

/// Returns the exchange value of pieces, given by role from the pawn up, in centipawns.
pub(super) fn total(counts: [i32; 5]) -> i32 {
    Role::ALL.iter().zip(counts).map(|(&role, count)| value(role) * count).sum()
}

/// Returns by how many pieces `color` leads, by role from the pawn up.
pub(super) fn counts(board: &Board, color: Color) -> [i32; 5] {
    let count = |color, role| (board.by_color(color) & board.by_role(role)).count() as i32;
    let mut roles = Role::ALL.iter().map(|&role| count(color, role) - count(!color, role));
    std::array::from_fn(|_| roles.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::chess::position::{Position, START_FEN};

    #[test]
    fn material_in_words() {
        let words = |fen: &str| material(Position::from_fen(fen).unwrap().board());
        assert_eq!(words(START_FEN), None);
        let words = |fen: &str| words(fen).unwrap();
        let fen = "4k3/pp6/8/8/8/8/8/N3K3 w - - 0 1";
        assert_eq!(words(fen), "White has a knight for two pawns.");
        let fen = "4k3/8/8/8/8/8/8/RB2K3 w - - 0 1";
        assert_eq!(words(fen), "White is a rook and a bishop up.");
        assert_eq!(words("4k3/8/8/8/8/8/8/RQ2K3 w - - 0 1"), "White is a queen and a rook up.");
        assert_eq!(words("3qk3/8/8/8/8/8/8/R3K3 w - - 0 1"), "Black has a queen for a rook.");
        for (fen, text) in [
            ("2b1k3/8/8/8/8/8/8/R3K3 w - - 0 1", "White is the exchange up."),
            ("2b1k3/4p3/8/8/8/8/8/R3K3 w - - 0 1", "White is the exchange up for a pawn."),
            ("r3k3/pp6/8/8/8/8/8/1N2K3 w - - 0 1", "Black is the exchange and two pawns up."),
        ] {
            assert_eq!(words(fen), text);
        }
        let same = Position::from_fen("2b1k3/8/8/8/8/8/8/1N2K3 w - - 0 1");
        assert_eq!(material(same.unwrap().board()), None);
    }

    #[test]
    fn pieces_of_a_kind_share_a_name() {
        let fen = "4k3/8/3p1p2/8/8/8/8/R3K2R w - - 0 1";
        let position = Position::from_fen(fen).unwrap();
        let words = |squares: &[Square]| the_pieces(position.board(), squares);
        assert_eq!(words(&[Square::D6, Square::F6]), "the pawns on d6 and f6");
        assert_eq!(
            words(&[Square::A1, Square::D6, Square::H1]),
            "the rooks on a1 and h1 and the pawn on d6"
        );
        assert_eq!(words(&[Square::E8, Square::A1]), "the king and the rook on a1");
    }

    #[test]
    fn lists_end_with_and() {
        let list = |items: &[&str]| super::list(items.iter().map(|item| (*item).to_owned()));
        assert_eq!(list(&[]), "");
        assert_eq!([list(&["a"]), list(&["a", "b"])], ["a", "a and b"]);
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
