//! Endings with known results, for which no tablebases are needed.

use std::{collections::HashMap, sync::LazyLock};

use shakmaty::{Bitboard, Color, File, Move, Rank, Role, Square, attacks};

use super::rules::mating_move;
use crate::{
    chess::position::Position,
    eval::endings::{Technique, against_bare_king, promotion_square, technique},
};

/// Number of plies in which a king must reach the corner that it defends.
const APPROACH: u32 = 6;
/// Number of plies in which a bare king may win a bishop or a knight.
const HUNT: u32 = 8;
/// Minimum distance between the kings at which a queen is assumed not to stop a pawn.
const FAR: u32 = 5;
/// Halfmove clock from which a win may come too late for the fifty-move rule.
const LATE: u32 = 30;

/// The known result of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    /// The winner; `None` for a draw.
    pub(super) winner: Option<Color>,
    /// Whether the result is proved.
    pub(super) certain: bool,
    /// The reason.
    pub(super) why: &'static str,
}

/// Returns the known result of a position, if there is one. Late wins are left out because of the
/// fifty-move rule.
pub(super) fn known(at: &Position) -> Option<Ending> {
    in_the_book(at).filter(|known| known.winner.is_none() || at.halfmoves() < LATE)
}

fn in_the_book(at: &Position) -> Option<Ending> {
    let draw = |certain, why| Some(Ending { winner: None, certain, why });
    let board = at.board();
    if board.pawns().count() == 1 && board.occupied().count() == 3 {
        let winner = three_men(at)?;
        let why = if winner.is_some() {
            "the pawn promotes by force"
        } else {
            "the pawn cannot be promoted by force"
        };
        return Some(Ending { winner, certain: true, why });
    }
    if let Some(strong) = against_bare_king(board) {
        let bare = !strong;
        let pieces = board.occupied() & !board.kings();
        if pieces == board.knights() && pieces.count() == 2 {
            let mates = |at: &Position| mating_move(at).is_some();
            let lost = if at.turn() == strong {
                mates(at)
            } else {
                at.legal_moves().iter().all(|&m| mates(&at.play(m)))
            };
            return if lost { None } else { draw(true, "two knights cannot force mate") };
        }
        let is_held = |at: &Position, plies| is_corner_held(at, bare, plies);
        if holds(at, bare, APPROACH, &is_held, &mut HashMap::new()) {
            return draw(true, "the king holds the corner in which the pawn would promote");
        }
        if can_be_mated(at, bare) {
            let why = "the remaining pieces can force mate";
            return Some(Ending { winner: Some(!bare), certain: true, why });
        }
    }
    let pieces = board.occupied() & !board.kings() & !board.pawns();
    if board.occupied().count() == 4
        && let (Some(rook), Some(minor)) =
            (board.rooks().single_square(), (board.knights() | board.bishops()).single_square())
        && let Some(weak) = board.color_at(minor)
        && board.color_at(rook) != Some(weak)
    {
        let plies = if at.turn() == weak { 1 } else { 2 };
        let is_held = |at: &Position, plies| is_minor_held(at, weak, plies);
        if holds(at, weak, plies, &is_held, &mut HashMap::new()) {
            return draw(false, "the king protects its minor piece against the rook");
        }
    }
    if is_queen_late(at) == Some(true) {
        return draw(false, "the king is too far away to help the queen against the pawn");
    }
    let opposite = pieces == board.bishops()
        && Color::ALL.map(|color| (pieces & board.by_color(color)).count()) == [1, 1]
        && (pieces & Bitboard::DARK_SQUARES).count() == 1;
    let [white, black] = Color::ALL.map(|color| (board.pawns() & board.by_color(color)).count());
    if opposite && white.abs_diff(black) <= 1 && white + black <= 8 {
        return draw(false, "the bishops are of opposite colours, and there are few pawns");
    }
    None
}

/// The moves that keep a proved result.
pub(super) struct Keeping {
    pub(super) ending: Ending,
    /// With three pieces on the board, all such moves. Otherwise, those that are known to keep it.
    pub(super) moves: Vec<Move>,
    /// Whether every other move spoils the result.
    pub(super) all: bool,
}

/// Returns the moves that keep the result, if it is certain. With more than three pieces, returns
/// them only for a draw.
pub(super) fn keeping(at: &Position) -> Option<Keeping> {
    let all = at.board().occupied().count() == 3;
    let ending = known(at).filter(|known| known.certain && (all || known.winner.is_none()))?;
    let keeps = |m: &Move| {
        let next = at.play(*m);
        if all {
            three_men(&next) == Some(ending.winner)
        } else {
            next.is_insufficient_material()
                || known(&next).is_some_and(|known| known.certain && known.winner.is_none())
        }
    };
    let moves = at.legal_moves().into_iter().filter(keeps).collect();
    Some(Keeping { ending, moves, all })
}

/// Returns the winner with three pieces on the board, one of them a pawn, a rook or a queen. The
/// inner `None` is a draw, and the outer one means that the result is unknown.
fn three_men(at: &Position) -> Option<Option<Color>> {
    if at.is_insufficient_material() {
        return Some(None);
    }
    let (board, turn) = (at.board(), at.turn());
    let strong = against_bare_king(board)?;
    let square = (board.by_color(strong) & !board.kings()).single_square()?;
    if board.role_at(square) != Some(Role::Pawn) {
        let moves = at.legal_moves();
        let stalemate = moves.is_empty() && !at.is_check();
        let drawn = turn != strong && (stalemate || moves.iter().any(|m| m.is_capture()));
        return Some((!drawn).then_some(strong));
    }
    let seen = |square: Square| strong.fold_wb(square, square.flip_vertical());
    let [king, bare] = [strong, !strong].map(|color| board.king_of(color).map(seen));
    let (white, black) = &PAWN_ENDINGS[usize::from(seen(square))];
    let won = if turn == strong { white } else { black };
    Some(won[usize::from(king?)].contains(bare?).then_some(strong))
}

/// For each square of White's king, the squares of Black's king with which White wins.
type Won = [Bitboard; 64];

/// King and pawn against king, by the pawn's square: the wins with White to move, and those with
/// Black to move.
static PAWN_ENDINGS: LazyLock<Vec<(Won, Won)>> = LazyLock::new(|| {
    let mut all = vec![([Bitboard::EMPTY; 64], [Bitboard::EMPTY; 64]); 64];
    for pawn in Square::ALL.into_iter().rev() {
        if !matches!(pawn.rank(), Rank::First | Rank::Eighth) {
            all[usize::from(pawn)] = with_pawn_on(pawn, &all);
        }
    }
    all
});

/// Solves the ending with White's pawn on `pawn`. `all` has the results for the ranks above it.
fn with_pawn_on(pawn: Square, all: &[(Won, Won)]) -> (Won, Won) {
    let ahead = Square::from_coords(pawn.file(), pawn.rank().offset(1).unwrap_or(Rank::Eighth));
    let double = Square::from_coords(pawn.file(), Rank::Fourth);
    let (mut white, mut black) = ([Bitboard::EMPTY; 64], [Bitboard::EMPTY; 64]);
    loop {
        let old = (white, black);
        for king in Square::ALL.into_iter().filter(|&king| king != pawn) {
            let near = attacks::king_attacks(king);
            let mut won = Bitboard::EMPTY;
            for to in near.without(pawn) {
                won |= black[usize::from(to)];
            }
            if king != ahead {
                won |= match ahead.rank() {
                    // The bare king must not capture the new queen.
                    Rank::Eighth if near.contains(ahead) => Bitboard::FULL,
                    Rank::Eighth => !attacks::king_attacks(ahead),
                    _ => all[usize::from(ahead)].1[usize::from(king)],
                }
                .without(ahead);
                if pawn.rank() == Rank::Second && king != double {
                    won |= all[usize::from(double)].1[usize::from(king)].without(ahead);
                }
            }
            let attacked = attacks::pawn_attacks(Color::White, pawn);
            let taken = near.with(king).with(pawn);
            white[usize::from(king)] = won & !taken & !attacked;
            for bare in !taken {
                let moves = attacks::king_attacks(bare) & !near & !attacked;
                if moves.any() && moves.is_subset(white[usize::from(king)]) {
                    black[usize::from(king)].add(bare);
                }
            }
        }
        if old == (white, black) {
            return old;
        }
    }
}

/// Returns whether the other side can mate the bare king: the game goes on, the material suffices,
/// no piece stands next to the king, and the king does not win a bishop or knight that the mate
/// needs.
fn can_be_mated(at: &Position, bare: Color) -> bool {
    let board = at.board();
    let theirs = board.by_color(!bare);
    let safe =
        board.king_of(bare).is_some_and(|king| theirs.is_disjoint(attacks::king_attacks(king)));
    let Some(technique) = technique(board, !bare) else { return false };
    let wins_piece = || {
        let hunted = |_: &Position, plies| (plies == 0).then_some(false);
        technique == Technique::BishopAndKnight
            && holds(at, bare, HUNT, &hunted, &mut HashMap::new())
    };
    safe && !at.legal_moves().is_empty() && !wins_piece()
}

/// Returns whether the defender reaches a safe position within `plies`, whatever the other side
/// does. `is_safe` gets a position and the plies left, and returns `None` if it cannot tell yet.
/// `searched` has the results for positions and plies.
fn holds(
    at: &Position,
    defender: Color,
    plies: u32,
    is_safe: &impl Fn(&Position, u32) -> Option<bool>,
    searched: &mut HashMap<(u64, u32), bool>,
) -> bool {
    let place = (at.key(), plies);
    if let Some(&held) = searched.get(&place) {
        return held;
    }
    let moves = at.legal_moves();
    let held = if at.is_insufficient_material() || moves.is_empty() {
        !at.is_check() || at.turn() != defender
    } else if let Some(safe) = is_safe(at, plies) {
        safe
    } else if let Some(plies) = plies.checked_sub(1) {
        let mut next = moves.into_iter().map(|m| at.play(m));
        let mut holds = |next: Position| holds(&next, defender, plies, is_safe, searched);
        if at.turn() == defender { next.any(holds) } else { next.all(&mut holds) }
    } else {
        false
    };
    searched.insert(place, held);
    held
}

/// Returns whether a bare king holds the corner where rook pawns would promote and which no bishop
/// controls. Returns `None` if the king may still reach the corner or capture a pawn.
fn is_corner_held(at: &Position, bare: Color, plies: u32) -> Option<bool> {
    let (board, pawns) = (at.board(), at.board().pawns());
    let edge = [File::A, File::H].into_iter().any(|file| pawns.is_subset(file));
    let Some(pawn) = pawns.first().filter(|_| edge) else { return Some(false) };
    let corner = promotion_square(pawn, !bare);
    let wrong = board.bishops().into_iter().all(|bishop| bishop.is_light() != corner.is_light());
    let others = board.occupied() & !(board.kings() | pawns | board.bishops());
    if !wrong || others.any() {
        return Some(false);
    }
    let king = board.king_of(bare)?;
    let to_corner = king.distance(corner).saturating_sub(1);
    let to_pawn = pawns.into_iter().map(|pawn| king.distance(pawn)).min();
    let moves = (plies + u32::from(at.turn() == bare)) / 2;
    let in_reach = to_pawn.is_some_and(|distance| distance.min(to_corner) <= moves);
    if to_corner == 0 { Some(true) } else { (!in_reach).then_some(false) }
}

/// Returns whether, at the end of the search, a king protects its lone knight or bishop against a
/// rook. The side with the rook must be to move, and the king must not be near a corner.
fn is_minor_held(at: &Position, defender: Color, plies: u32) -> Option<bool> {
    let board = at.board();
    let minor = (board.knights() | board.bishops()).single_square();
    let (Some(minor), Some(king)) = (minor, board.king_of(defender)) else { return Some(false) };
    let middle = |place: u32| (2..6).contains(&place);
    let corner = !middle(king.file().into()) && !middle(king.rank().into());
    (plies == 0).then_some(at.turn() != defender && !corner && king.distance(minor) <= 1)
}

/// Returns whether a queen comes too late against a rook pawn or bishop pawn that is about to
/// promote. The side with the queen is to move, the pawn's king guards the free promotion square,
/// and the other king is far away. In the tablebases, 99 % of these positions are draws.
fn is_queen_late(at: &Position) -> Option<bool> {
    let (board, us) = (at.board(), at.turn());
    let (queen, pawn) = (board.queens().single_square()?, board.pawns().single_square()?);
    let (king, other) = (board.king_of(us)?, board.king_of(!us)?);
    let goal = promotion_square(pawn, !us);
    let late = board.occupied().count() == 4
        && [queen, pawn].map(|square| board.color_at(square)) == [Some(us), Some(!us)]
        && matches!(pawn.file(), File::A | File::C | File::F | File::H)
        && queen != goal
        && [pawn, other].map(|square| square.distance(goal)) == [1, 1]
        && king.distance(other) >= FAR;
    Some(late)
}
