//! Looks for what may be worth saying of a position, a move and a line, most
//! important first. What is found is said only if it is [true](super::claim).

use std::mem::discriminant;

use shakmaty::{Chess, Color, Move, Position as _, Role, Square};

use super::claim::{Fact, Point, hangs, is_worthy, passed, pieces, ring};
use crate::chess::see::value;

/// Sentences about a move.
const ABOUT_A_MOVE: usize = 4;
/// Hanging pieces of a side that are told, the dearest first.
const HANGING: usize = 3;

/// What is true of the move `m`, played in `at`, each with its sentence; `m` is the first of
/// `line`. `last` is the move before it, if it is known. `subject` stands for the move.
pub fn about_move(
    at: &Chess,
    m: Move,
    line: &[Move],
    last: Option<Move>,
    subject: &str,
) -> Vec<(Point, String)> {
    let mut points = vec![Point::Mate, Point::Draw, Point::MateIn(line.to_vec())];
    points.extend(m.promotion().map(Point::Promotes));
    points.extend(used_fork(at, line));
    points.extend(squares(at).map(Point::PinnedDefender));
    points.extend(last.map(Point::TakesBack));
    points.push(Point::Takes);
    points.push(Point::Offers);
    points.extend(squares(at).map(Point::Pins));
    points.extend(uncovered(at, m));
    points.extend(free_moves(at, m).into_iter().map(Point::ThreatensMate));
    points.extend(their_moves(at).into_iter().map(Point::Stops));
    points.extend(attacked(at, m));
    points.push(Point::Checks);
    let own = at.board().by_color(at.turn());
    points.extend(own.into_iter().map(Point::Saves));
    points.push(Point::Castles);
    let mut said: Vec<(Point, String)> = Vec::new();
    for point in points {
        // What ends the game leaves nothing else to say.
        if matches!(said.last(), Some((Point::Mate | Point::Draw, _))) || said.len() == ABOUT_A_MOVE
        {
            break;
        }
        if !is_said_already(&point, &said)
            && let Some(text) = point.said(at, m, subject)
        {
            said.push((point, text));
        }
    }
    said
}

/// Has a point of this kind been said, or one that says as much?
fn is_said_already(point: &Point, said: &[(Point, String)]) -> bool {
    said.iter().any(|(other, _)| match (point, other) {
        (Point::Takes, Point::TakesBack(_) | Point::PinnedDefender(_))
        | (Point::Attacks(_), Point::Forks(_))
        | (Point::Saves(_), Point::Takes) => true,
        _ => discriminant(point) == discriminant(other),
    })
}

/// A fork by the first move of a line in which the same piece then takes one of the
/// pieces attacked, the king apart.
fn used_fork(at: &Chess, line: &[Move]) -> Option<Point> {
    let (&m, rest) = line.split_first()?;
    let after = at.clone().play(m).ok()?;
    let mut targets = targets(&after, m.to());
    targets.retain(|&target| is_worthy(after.board(), m.to(), target));
    let taken = rest.get(1).filter(|next| next.from() == Some(m.to()) && next.is_capture())?;
    // The piece may have moved away: then another of them is taken.
    (targets.contains(&taken.to())).then_some(Point::Forks(targets))
}

/// Enemy pieces that the piece on `from` attacks, the dearest first.
fn targets(after: &Chess, from: Square) -> Vec<Square> {
    let board = after.board();
    let enemies = board.attacks_from(from) & board.by_color(after.turn());
    let mut targets: Vec<Square> = enemies.into_iter().collect();
    let dear = |square: &Square| board.role_at(*square).map_or(0, rank);
    targets.sort_by_key(|square| std::cmp::Reverse(dear(square)));
    targets
}

/// A role's value, the king's above all others.
fn rank(role: Role) -> i32 {
    if role == Role::King { 10_000 } else { value(role) }
}

/// What the moved piece attacks anew.
fn attacked(at: &Chess, m: Move) -> Option<Point> {
    let after = at.clone().play(m).ok()?;
    let from = m.from()?;
    let mut targets = targets(&after, m.to());
    targets.retain(|&square| {
        after.board().role_at(square) != Some(Role::King)
            && (m.is_promotion() || !at.board().attacks_from(from).contains(square))
            && (is_worthy(after.board(), m.to(), square) || hangs(&after, square))
    });
    (!targets.is_empty()).then_some(Point::Attacks(targets))
}

/// What other pieces attack because the moved one is out of the way.
fn uncovered(at: &Chess, m: Move) -> Vec<Point> {
    let board = at.board();
    let sliders = board.by_color(at.turn()) & board.sliders();
    let enemies = pieces(board, !at.turn());
    let pairs = sliders.into_iter().flat_map(|by| enemies.into_iter().map(move |to| (by, to)));
    pairs.filter(|&(by, _)| Some(by) != m.from()).map(|(by, to)| Point::Uncovers(by, to)).collect()
}

/// The enemy's pieces but pawns and king.
fn squares(at: &Chess) -> impl Iterator<Item = Square> {
    pieces(at.board(), !at.turn()).into_iter()
}

/// What the side of `m` could play next if the opponent passed.
fn free_moves(at: &Chess, m: Move) -> Vec<Move> {
    let after = at.clone().play(m).ok();
    after
        .and_then(|after| passed(&after))
        .map_or_else(Vec::new, |at| at.legal_moves().into_iter().collect())
}

/// What the opponent could play if the side to move passed.
fn their_moves(at: &Chess) -> Vec<Move> {
    passed(at).map_or_else(Vec::new, |at| at.legal_moves().into_iter().collect())
}

/// Forks and pinned defenders that come later in a line, by its first side: `Then
/// Nc7+ forks the king and the rook on a8.`
pub fn later(at: &Chess, line: &[Move]) -> Vec<String> {
    let mut said = Vec::new();
    let mut position = at.clone();
    for (number, &m) in line.iter().enumerate() {
        if number > 0 && number % 2 == 0 {
            let subject = shakmaty::san::SanPlus::from_move(position.clone(), m);
            let pinned = squares(&position).map(Point::PinnedDefender);
            let points = used_fork(&position, &line[number..]).into_iter().chain(pinned);
            let text = |point: Point| point.said(&position, m, &format!("Later {subject}"));
            said.extend(points.filter_map(text).take(1));
        }
        let Ok(next) = position.play(m) else { break };
        position = next;
    }
    said
}

/// What stands out on the board: the hanging, the pinned and the passed, and the
/// kings. The opponent's chances first, since those are overlooked.
pub fn on_the_board(at: &Chess) -> Vec<String> {
    let mut said = Vec::new();
    for color in [at.turn(), !at.turn()] {
        said.extend(hanging(at, color));
    }
    let mut facts = Vec::new();
    for color in Color::ALL {
        facts.extend(pinned(at, color));
    }
    for color in Color::ALL {
        facts.push(passed_pawns(at, color));
    }
    for color in Color::ALL {
        facts.extend([Fact::Uncastled(color), Fact::Bare(color)]);
        let heavy = at.board().rooks_and_queens() & at.board().by_color(!color);
        facts.extend(heavy.into_iter().map(|by| Fact::OpenFile { king: color, by }).take(4));
        facts.extend(siege(at, color));
    }
    said.extend(facts.iter().filter_map(|fact| fact.said(at)));
    said
}

/// The pieces of `color` that could be taken at once: for nothing, or by less.
fn hanging(at: &Chess, color: Color) -> Vec<String> {
    let moves = if at.turn() == color { their_moves(at) } else { at.legal_moves().to_vec() };
    let mut takes: Vec<Move> = moves.into_iter().filter(|m| m.is_capture()).collect();
    let dear = |m: &Move| m.capture().map_or(0, value);
    takes.sort_by_key(|m| (std::cmp::Reverse(dear(m)), value(m.role())));
    let mut seen = Vec::new();
    let mut said = Vec::new();
    for fact in [Fact::Hangs, Fact::Outclassed] {
        for &m in &takes {
            if !seen.contains(&m.to())
                && said.len() < HANGING
                && let Some(text) = fact(m).said(at)
            {
                seen.push(m.to());
                said.push(text);
            }
        }
    }
    said
}

fn pinned(at: &Chess, color: Color) -> Vec<Fact> {
    let board = at.board();
    let sliders = board.by_color(!color) & board.sliders();
    let pairs = pieces(board, color)
        .into_iter()
        .flat_map(|piece| sliders.into_iter().map(move |by| Fact::Pinned { piece, by }));
    pairs.collect()
}

/// The passed pawns of `color`, those first that are nearest to the last rank.
fn passed_pawns(at: &Chess, color: Color) -> Fact {
    let board = at.board();
    let pawns = board.pawns() & board.by_color(color);
    let passed = |&pawn: &Square| Fact::Passed(color, vec![pawn]).said(at).is_some();
    let mut pawns: Vec<Square> = pawns.into_iter().filter(passed).collect();
    pawns.sort_by_key(|pawn| color.fold_wb(-i32::from(pawn.rank()), i32::from(pawn.rank())));
    Fact::Passed(color, pawns)
}

fn siege(at: &Chess, king: Color) -> Option<Fact> {
    let board = at.board();
    let ring = ring(board.king_of(king)?);
    let bears = |&from: &Square| (board.attacks_from(from) & ring).any();
    let by: Vec<Square> = pieces(board, !king).into_iter().filter(bears).collect();
    Some(Fact::Besieged(king, by))
}
