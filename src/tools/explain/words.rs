//! Names of pieces, and lists of them.

use shakmaty::{Board, Color, Role, Square};

use crate::chess::notation::color_name;

/// `pawn` to `king`.
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

/// `knight on c6`.
pub(super) fn piece(board: &Board, square: Square) -> String {
    format!("{} on {square}", board.role_at(square).map_or("piece", role_name))
}

/// `the knight on c6`, `the king`.
pub(super) fn the(board: &Board, square: Square) -> String {
    match board.role_at(square) {
        Some(Role::King) => "the king".to_owned(),
        _ => format!("the {}", piece(board, square)),
    }
}

/// `White's knight on c6`.
pub(super) fn owned(board: &Board, square: Square) -> String {
    let owner = board.color_at(square).map_or("", color_name);
    format!("{owner}'s {}", piece(board, square))
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match &items[..] {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Who has more of what: `White has a knight, Black two pawns.`; `None` if both have
/// the same.
pub(super) fn material(board: &Board) -> Option<String> {
    let more = |color: Color| {
        let extra = |role: Role| {
            let count = |color| (board.by_color(color) & board.by_role(role)).count();
            let extra = count(color).saturating_sub(count(!color));
            let name = role_name(role);
            let number = ["", "a", "two", "three", "four"].get(extra).copied();
            let number = number.map_or_else(|| extra.to_string(), str::to_owned);
            (extra > 0).then(|| format!("{number} {name}{}", if extra > 1 { "s" } else { "" }))
        };
        list(Role::ALL.into_iter().rev().filter_map(extra))
    };
    let [white, black] = Color::ALL.map(more);
    match (white.is_empty(), black.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("White has {white} more.")),
        (true, false) => Some(format!("Black has {black} more.")),
        (false, false) => Some(format!("White has {white}, Black {black}.")),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;
    use crate::chess::position::{Position, START_FEN};

    #[test]
    fn material_in_words() {
        let words =
            |fen: &str| material(Position::from_fen(fen, CastlingMode::Standard).unwrap().board());
        assert_eq!(words(START_FEN), None);
        let words = |fen: &str| words(fen).unwrap();
        let fen = "4k3/pp6/8/8/8/8/8/N3K3 w - - 0 1";
        assert_eq!(words(fen), "White has a knight, Black two pawns.");
        let fen = "4k3/8/8/8/8/8/8/RB2K3 w - - 0 1";
        assert_eq!(words(fen), "White has a rook and a bishop more.");
    }

    #[test]
    fn lists_end_with_and() {
        let list = |items: &[&str]| super::list(items.iter().map(|item| (*item).to_owned()));
        assert_eq!(list(&[]), "");
        assert_eq!([list(&["a"]), list(&["a", "b"])], ["a", "a and b"]);
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
