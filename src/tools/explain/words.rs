//! Names of pieces, and lists of them.

use shakmaty::{Board, Color, Role, Square};

/// `pawn` to `king`.
pub const fn role_name(role: Role) -> &'static str {
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
pub fn piece(board: &Board, square: Square) -> String {
    format!("{} on {square}", board.role_at(square).map_or("piece", role_name))
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match &items[..] {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Who has more of what: `White has a knight, Black two pawns.`; `None` if both have
/// the same.
pub fn material(board: &Board) -> Option<String> {
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
    match (more(Color::White), more(Color::Black)) {
        (white, black) if white.is_empty() && black.is_empty() => None,
        (white, black) if black.is_empty() => Some(format!("White has {white} more.")),
        (white, black) if white.is_empty() => Some(format!("Black has {black} more.")),
        (white, black) => Some(format!("White has {white}, Black {black}.")),
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
