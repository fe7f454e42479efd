//! What can be said of a position or of a move, as data. Nothing is put into words
//! before shakmaty's rules have confirmed it where it is said: [`Fact::said`] and
//! [`Point::said`] are the only ways to text.
//!
//! Whoever looks for claims may therefore propose whatever could be true.

use shakmaty::{
    Bitboard, Board, Chess, Color, File, Move, Position as _, Rank, Role, Square, attacks,
    san::SanPlus,
};

use super::words::{list, piece, role_name};
use crate::chess::{
    notation::{color_name, counted},
    position::Position,
    see::{see_ge, value},
};

/// What two pieces may differ by, in centipawns, and still be exchanged.
const EXCHANGE: i32 = 50;
/// Pieces around a king that are worth telling.
const SIEGE: usize = 3;

/// Something that is true of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// Neither side can mate.
    Dead,
    /// Fifty moves without a capture or a pawn move.
    FiftyMoves,
    /// The side to move is in check by all of these.
    Check(Vec<Square>),
    /// There is no other legal move.
    OnlyMove(Move),
    /// This move takes a piece, and nothing takes back. It may be the opponent's, if
    /// the side to move passed.
    Hangs(Move),
    /// A piece may be taken by one that is worth less.
    Outclassed(Move),
    /// A piece may not leave the line between a slider and its king.
    Pinned {
        /// The piece.
        piece: Square,
        /// The slider.
        by: Square,
    },
    /// All of these have no enemy pawn before them, on their file or beside it.
    Passed(Color, Vec<Square>),
    /// A file without pawns, at this side's king or beside it, with an enemy rook or
    /// queen.
    OpenFile {
        /// Whose king it is.
        king: Color,
        /// The rook or queen.
        by: Square,
    },
    /// A king at the edge without a pawn before it.
    Bare(Color),
    /// All of these enemy pieces attack squares at this side's king.
    Besieged(Color, Vec<Square>),
    /// This side's king stands in the middle and may not castle any more.
    Uncastled(Color),
}

/// Something that is true of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// It mates.
    Mate,
    /// This line, which begins with it, ends in mate.
    MateIn(Vec<Move>),
    /// It ends the game by stalemate, or because neither side can mate any more.
    Draw,
    /// It takes a piece.
    Takes,
    /// It takes where the opponent has taken last.
    TakesBack(Move),
    /// It takes, and this pinned piece may not take back.
    PinnedDefender(Square),
    /// The moved piece attacks all of these, which are worth it.
    Forks(Vec<Square>),
    /// The moved piece pins this one to its king.
    Pins(Square),
    /// This other piece now attacks that one.
    Uncovers(Square, Square),
    /// The moved piece now attacks all of these, which are worth it.
    Attacks(Vec<Square>),
    /// A pawn becomes this.
    Promotes(Role),
    /// It may be taken at a loss of at least two pawns.
    Offers,
    /// If the opponent passed, this would mate.
    ThreatensMate(Move),
    /// If its side had passed, this would have mated, and now nothing does at once.
    Stops(Move),
    /// A piece that could be taken for nothing no longer can.
    Saves(Square),
    /// It gives check.
    Checks,
    /// It castles.
    Castles,
}

/// The position after `m`, if `m` is legal.
fn after(at: &Chess, m: Move) -> Option<Chess> {
    at.clone().play(m).ok()
}

/// The position after passing, if its side may.
pub fn passed(at: &Chess) -> Option<Chess> {
    if at.is_check() { None } else { at.clone().swap_turn().ok() }
}

/// The position in which the side of `color` is to move.
fn turned(at: &Chess, color: Color) -> Option<Chess> {
    if at.turn() == color { Some(at.clone()) } else { passed(at) }
}

fn mates(at: &Chess, m: Move) -> bool {
    after(at, m).is_some_and(|after| after.is_checkmate())
}

/// May the piece on `square` be taken at once?
fn is_taken(at: &Chess, square: Square) -> bool {
    at.legal_moves().iter().any(|m| m.is_capture() && m.to() == square)
}

/// Does `m` take something that nothing takes back?
fn takes_for_nothing(at: &Chess, m: Move) -> bool {
    m.is_capture() && after(at, m).is_some_and(|after| !is_taken(&after, m.to()))
}

/// Would the other side take the piece on `square` for nothing, if it were to move?
pub fn hangs(at: &Chess, square: Square) -> bool {
    let Some(color) = at.board().color_at(square) else { return false };
    turned(at, !color).is_some_and(|theirs| {
        let moves = theirs.legal_moves();
        moves.iter().any(|&m| m.to() == square && takes_for_nothing(&theirs, m))
    })
}

fn value_at(board: &Board, square: Square) -> i32 {
    board.role_at(square).map_or(0, value)
}

/// Is it worth attacking `target` with the piece on `from`? A king, what is worth
/// more, or what nothing protects.
pub fn is_worthy(board: &Board, from: Square, target: Square) -> bool {
    let Some(piece) = board.piece_at(target) else { return false };
    piece.role == Role::King
        || value(piece.role) > value_at(board, from) + EXCHANGE
        || board.attacks_to(target, piece.color, board.occupied()).is_empty()
}

/// Does the piece on `from` attack an enemy on `target`?
fn attacks_enemy(board: &Board, from: Square, target: Square) -> bool {
    board.color_at(from).is_some_and(|color| board.by_color(!color).contains(target))
        && board.attacks_from(from).contains(target)
}

/// Does only the piece on `square` keep the slider on `by` from its king?
fn is_pinned(board: &Board, square: Square, by: Square) -> bool {
    let Some(color) = board.color_at(square) else { return false };
    let Some(king) = board.king_of(color) else { return false };
    let reaches = |board: &Board| board.attacks_to(king, !color, board.occupied()).contains(by);
    let mut without = board.clone();
    without.discard_piece_at(square);
    square != king && !reaches(board) && reaches(&without)
}

/// Are no enemy pawns before the pawn of `color` on `square`, nor own ones?
fn is_passed(board: &Board, color: Color, square: Square) -> bool {
    let ahead = |rank: Rank| color.fold_wb(rank > square.rank(), rank < square.rank());
    let before = |pawn: &Square, files: u32| {
        pawn.file().distance(square.file()) <= files && ahead(pawn.rank())
    };
    let pawns = |color: Color| board.pawns() & board.by_color(color);
    pawns(color).contains(square)
        && !pawns(!color).into_iter().any(|pawn| before(&pawn, 1))
        && !pawns(color).into_iter().any(|pawn| before(&pawn, 0))
}

/// The king's square and those around it.
pub fn ring(king: Square) -> Bitboard {
    attacks::king_attacks(king).with(king)
}

/// The heavy and light pieces of a side.
pub fn pieces(board: &Board, color: Color) -> Bitboard {
    board.by_color(color) & !board.pawns() & !board.kings()
}

/// Has this side a queen, and a piece to help her? Without them no king is in danger.
fn may_attack(board: &Board, color: Color) -> bool {
    let pieces = pieces(board, color);
    (pieces & board.queens()).any() && pieces.more_than_one()
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

fn san(at: &Chess, m: Move) -> String {
    SanPlus::from_move(at.clone(), m).to_string()
}

impl Fact {
    /// The sentence, if it is true in this position.
    pub fn said(&self, at: &Chess) -> Option<String> {
        self.holds(at).then(|| self.words(at))
    }

    fn holds(&self, at: &Chess) -> bool {
        let board = at.board();
        match self {
            Fact::Checkmate => at.is_checkmate(),
            Fact::Stalemate => at.is_stalemate(),
            Fact::Dead => at.is_insufficient_material(),
            Fact::FiftyMoves => at.halfmoves() >= 100 && !at.is_checkmate(),
            Fact::Check(by) => by.iter().copied().collect::<Bitboard>() == at.checkers(),
            Fact::OnlyMove(m) => at.legal_moves()[..] == [*m],
            &Fact::Hangs(m) => m.from().is_some_and(|from| {
                let mover = board.color_at(from).and_then(|color| turned(at, color));
                mover.is_some_and(|at| takes_for_nothing(&at, m))
            }),
            &Fact::Outclassed(m) => m.from().is_some_and(|from| {
                let mover = board.color_at(from).and_then(|color| turned(at, color));
                mover.is_some_and(|at| at.is_legal(m))
                    && m.capture().is_some_and(|taken| value(taken) > value(m.role()) + EXCHANGE)
            }),
            &Fact::Pinned { piece, by } => is_pinned(board, piece, by),
            Fact::Passed(color, pawns) => {
                !pawns.is_empty() && pawns.iter().all(|&pawn| is_passed(board, *color, pawn))
            }
            &Fact::OpenFile { king, by } => board.king_of(king).is_some_and(|square| {
                let heavy = board.rooks_and_queens() & board.by_color(!king);
                may_attack(board, !king)
                    && heavy.contains(by)
                    && (board.pawns() & Bitboard::from(by.file())).is_empty()
                    && square.file().distance(by.file()) <= 1
            }),
            &Fact::Bare(king) => board.king_of(king).is_some_and(|square| {
                let home =
                    king.fold_wb(square.rank() <= Rank::Second, square.rank() >= Rank::Seventh);
                let edge = !matches!(square.file(), File::D | File::E);
                let pawns = board.pawns() & board.by_color(king);
                may_attack(board, !king)
                    && home
                    && edge
                    && (shelter(square, king) & pawns).is_empty()
            }),
            Fact::Besieged(king, by) => board.king_of(*king).is_some_and(|square| {
                by.len() >= SIEGE
                    && by.iter().all(|&from| {
                        pieces(board, !*king).contains(from)
                            && (board.attacks_from(from) & ring(square)).any()
                    })
            }),
            &Fact::Uncastled(king) => board.king_of(king).is_some_and(|square| {
                may_attack(board, !king)
                    && matches!(square.file(), File::D | File::E | File::F)
                    && !at.castles().has_color(king)
            }),
        }
    }

    fn words(&self, at: &Chess) -> String {
        let board = at.board();
        let us = color_name(at.turn());
        match self {
            Fact::Checkmate => format!("{us} is checkmated."),
            Fact::Stalemate => format!("{us} is stalemated: the game is drawn."),
            Fact::Dead => "Neither side can mate: the game is drawn.".to_owned(),
            Fact::FiftyMoves => "The game is drawn by the fifty-move rule.".to_owned(),
            Fact::Check(by) => {
                let pieces = list(by.iter().map(|&from| format!("the {}", piece(board, from))));
                format!("{us} is in check from {pieces}.")
            }
            Fact::OnlyMove(m) => format!("{} is {us}'s only legal move.", san(at, *m)),
            &Fact::Hangs(m) => {
                let owner =
                    m.from().and_then(|from| board.color_at(from)).map_or("", |c| color_name(!c));
                let taken = m.capture().map_or("", role_name);
                let square = taken_on(m);
                let san = by_its_side(at, m);
                format!("{owner}'s {taken} on {square} hangs: {san}, and nothing takes back.")
            }
            &Fact::Outclassed(m) => {
                let owner =
                    m.from().and_then(|from| board.color_at(from)).map_or("", |c| color_name(!c));
                let (taken, by) = (m.capture().map_or("", role_name), role_name(m.role()));
                format!(
                    "{owner}'s {taken} on {} is attacked by a {by} ({}).",
                    m.to(),
                    by_its_side(at, m)
                )
            }
            &Fact::Pinned { piece: pinned, by } => {
                let owner = board.color_at(pinned).map_or("", color_name);
                let (pinned, by) = (piece(board, pinned), piece(board, by));
                format!("{owner}'s {pinned} is pinned to its king by the {by}.")
            }
            Fact::Passed(color, pawns) => {
                let squares = list(pawns.iter().map(ToString::to_string));
                match &pawns[..] {
                    [_] => format!("{} has a passed pawn on {squares}.", color_name(*color)),
                    _ => format!("{} has passed pawns on {squares}.", color_name(*color)),
                }
            }
            &Fact::OpenFile { king, by } => format!(
                "{}'s {} stands on the open {}-file, which leads to {}'s king.",
                color_name(!king),
                piece(board, by),
                by.file().char(),
                color_name(king)
            ),
            &Fact::Bare(king) => format!("No pawn shelters {}'s king.", color_name(king)),
            Fact::Besieged(king, by) => format!(
                "{}'s {} bear on squares at {}'s king.",
                color_name(!*king),
                list(by.iter().map(|&from| piece(board, from))),
                color_name(*king)
            ),
            &Fact::Uncastled(king) => {
                format!("{}'s king stands in the middle and may not castle.", color_name(king))
            }
        }
    }
}

/// Where the piece stands that `m` takes.
fn taken_on(m: Move) -> Square {
    match m {
        Move::EnPassant { from, to } => Square::from_coords(to.file(), from.rank()),
        _ => m.to(),
    }
}

/// A move in SAN, as its side's, which may not be to move.
fn by_its_side(at: &Chess, m: Move) -> String {
    let color = m.from().and_then(|from| at.board().color_at(from)).unwrap_or(at.turn());
    turned(at, color).map_or_else(String::new, |at| san(&at, m))
}

impl Point {
    /// The sentence about `m`, which it calls `subject`, if it is true in this position.
    pub fn said(&self, at: &Chess, m: Move, subject: &str) -> Option<String> {
        let after = after(at, m)?;
        self.holds(at, m, &after).then(|| format!("{subject} {}.", self.words(at, m)))
    }

    fn holds(&self, at: &Chess, m: Move, after: &Chess) -> bool {
        let (before, board, to) = (at.board(), after.board(), destination(m));
        let is_new = |target: Square| {
            m.from()
                .is_some_and(|from| m.is_promotion() || !before.attacks_from(from).contains(target))
        };
        match self {
            Point::Mate => after.is_checkmate(),
            Point::MateIn(line) => {
                let end = line.iter().try_fold(at.clone(), |at, &m| at.play(m).ok());
                line.len() % 2 == 1
                    && line.len() > 1
                    && line.first() == Some(&m)
                    && end.is_some_and(|end| end.is_checkmate())
            }
            Point::Draw => after.is_stalemate() || after.is_insufficient_material(),
            Point::Takes => m.is_capture(),
            Point::TakesBack(last) => m.is_capture() && last.is_capture() && m.to() == last.to(),
            &Point::PinnedDefender(defender) => {
                let king = board.king_of(after.turn());
                let sliders =
                    king.map_or(Bitboard::EMPTY, |_| board.by_color(at.turn()) & board.sliders());
                takes_for_nothing(at, m)
                    && board.by_color(after.turn()).contains(defender)
                    && board.attacks_from(defender).contains(to)
                    && sliders.into_iter().any(|by| is_pinned(board, defender, by))
            }
            Point::Forks(targets) => {
                targets.len() >= 2
                    && targets.iter().all(|&target| {
                        attacks_enemy(board, to, target) && is_worthy(board, to, target)
                    })
            }
            &Point::Pins(piece) => {
                board.by_color(after.turn()).contains(piece)
                    && is_pinned(board, piece, to)
                    && m.from().is_some_and(|from| !is_pinned(before, piece, from))
            }
            &Point::Uncovers(by, target) => {
                by != to
                    && before.piece_at(by) == board.piece_at(by)
                    && !before.attacks_from(by).contains(target)
                    && attacks_enemy(board, by, target)
                    && is_worthy(board, by, target)
                    && board.role_at(target) != Some(Role::King)
            }
            Point::Attacks(targets) => {
                !targets.is_empty()
                    && targets.iter().all(|&target| {
                        attacks_enemy(board, to, target)
                            && (is_worthy(board, to, target) || hangs(after, target))
                            && board.role_at(target) != Some(Role::King)
                            && is_new(target)
                    })
            }
            Point::Promotes(role) => m.promotion() == Some(*role),
            Point::Offers => {
                let position = Position::from(at.clone());
                is_taken(after, to) && !see_ge(&position, m, -200)
            }
            &Point::ThreatensMate(by) => passed(after).is_some_and(|at| mates(&at, by)),
            &Point::Stops(by) => {
                passed(at).is_some_and(|at| mates(&at, by))
                    && !after.legal_moves().iter().any(|&reply| mates(after, reply))
            }
            &Point::Saves(square) => {
                let new = if m.from() == Some(square) { to } else { square };
                hangs(at, square)
                    && at.board().by_color(at.turn()).contains(square)
                    && !hangs(after, new)
            }
            Point::Checks => after.is_check(),
            Point::Castles => m.is_castle(),
        }
    }

    fn words(&self, at: &Chess, m: Move) -> String {
        let after = after(at, m);
        let board = after.as_ref().map_or(at.board(), |after| after.board());
        let the = |square: &Square| match board.role_at(*square) {
            Some(Role::King) => "the king".to_owned(),
            _ => format!("the {}", piece(board, *square)),
        };
        match self {
            Point::Mate => "is mate".to_owned(),
            Point::MateIn(line) => {
                format!("mates in {}", counted(line.len().div_ceil(2), "move"))
            }
            Point::Draw => match &after {
                Some(after) if after.is_stalemate() => "is stalemate".to_owned(),
                _ => "leaves neither side enough to mate".to_owned(),
            },
            Point::Takes => {
                let taken = m.capture().map_or("", role_name);
                let free = if takes_for_nothing(at, m) { ", and nothing takes back" } else { "" };
                let by = if free.is_empty() && is_dearer(m) {
                    format!(" with a {}", role_name(m.role()))
                } else {
                    String::new()
                };
                format!("takes the {taken} on {}{by}{free}", taken_on(m))
            }
            Point::TakesBack(_) => format!("takes back on {}", m.to()),
            Point::PinnedDefender(defender) => format!(
                "takes on {}, where {} cannot take back because it is pinned",
                m.to(),
                the(defender)
            ),
            Point::Forks(targets) => format!("forks {}", list(targets.iter().map(the))),
            Point::Pins(pinned) => format!("pins {} to its king", the(pinned)),
            Point::Uncovers(by, target) => {
                format!("opens the line of {} to {}", the(by), the(target))
            }
            Point::Attacks(targets) => format!("attacks {}", list(targets.iter().map(the))),
            Point::Promotes(role) => format!("makes a {}", role_name(*role)),
            Point::Offers => {
                format!("offers the {}", board.role_at(destination(m)).map_or("", role_name))
            }
            Point::ThreatensMate(by) => {
                let passed = after.as_ref().and_then(passed);
                format!("threatens {}", passed.map_or_else(String::new, |at| san(&at, *by)))
            }
            Point::Stops(by) => format!("stops {}", by_its_side(at, *by)),
            Point::Saves(square) if m.from() == Some(*square) => {
                format!("brings the attacked {} to safety", role_name(m.role()))
            }
            Point::Saves(square) => format!("saves {}", the(square)),
            Point::Checks => {
                let checkers = after.as_ref().map_or(Bitboard::EMPTY, |after| after.checkers());
                match (checkers.more_than_one(), checkers.contains(destination(m))) {
                    (true, _) => "gives double check",
                    (false, false) if !m.is_castle() => "gives discovered check",
                    _ => "gives check",
                }
                .to_owned()
            }
            Point::Castles => "castles".to_owned(),
        }
    }
}

fn is_dearer(m: Move) -> bool {
    m.capture().is_some_and(|taken| value(taken) > value(m.role()) + EXCHANGE)
}

/// Where the moved piece stands afterwards; the rook, of castling.
fn destination(m: Move) -> Square {
    match m {
        Move::Castle { king, rook } => {
            let file = if rook > king { File::F } else { File::D };
            Square::from_coords(file, king.rank())
        }
        _ => m.to(),
    }
}
