//! The position for the search: shakmaty's rules, incremental keys, and cached checkers and pins.
//! [`Game`] adds the keys of earlier positions, to detect repetitions.

use std::fmt;

use shakmaty::{
    Bitboard, Board, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, FromSetup, Move,
    MoveList, Piece, Position as _, PositionError, PositionErrorKinds, Role, Setup, Square,
    fen::Fen,
    zobrist::{Zobrist64, ZobristValue},
};

use super::{
    fen::{self, FenError, IllegalPosition},
    threats::checkers_and_pinned,
};

/// Maximum number of men on a board. The capacities of move lists and of the network's inputs rely
/// on it.
pub const MAX_MEN: usize = 32;

/// The start position of standard chess.
pub const START_FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// A move in 16 bits: from (6 bits), to (6 bits), promotion (4 bits). Castling is encoded as king
/// takes own rook, as in Chess960. Zero means no move.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct PackedMove(u16);

impl PackedMove {
    /// The value for no move.
    pub const NONE: PackedMove = PackedMove(0);

    /// Returns the raw bits, for storage.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Creates a packed move from raw bits. Any bits are safe, because the legality of a packed
    /// move is checked before it is played.
    pub const fn from_bits(bits: u16) -> PackedMove {
        PackedMove(bits)
    }

    /// Returns whether this is a move, that is, not [`NONE`](Self::NONE).
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Returns whether this is [`NONE`](Self::NONE).
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns the move of `list` that this encodes.
    pub fn find_in(self, list: &[Move]) -> Option<Move> {
        list.iter().copied().find(|&m| PackedMove::from(m) == self)
    }

    /// Returns the move that this encodes on this board. Returns `None` if the origin has no piece
    /// of the side to move, if the promotion is not a role, or if a piece other than the king would
    /// capture an own one. The move may still be illegal; `Generator::find` checks that.
    pub fn rebuild(self, position: &Position) -> Option<Move> {
        if self.is_none() {
            return None;
        }
        let from = Square::new(u32::from(self.0 & 63));
        let to = Square::new(u32::from(self.0 >> 6 & 63));
        let board = position.board();
        let ours = board.by_color(position.turn());
        let role = board.role_at(from).filter(|_| ours.contains(from))?;
        if ours.contains(to) {
            return (role == Role::King).then_some(Move::Castle { king: from, rook: to });
        }
        let capture = board.role_at(to);
        if role == Role::Pawn && capture.is_none() && from.file() != to.file() {
            return Some(Move::EnPassant { from, to });
        }
        let promotion = match self.0 >> 12 {
            0 => None,
            bits => Some(Role::try_from(u32::from(bits)).ok()?),
        };
        Some(Move::Normal { role, from, capture, to, promotion })
    }
}

// Lists of moves must stay cheap to copy.
const _: () = assert!(size_of::<Option<Move>>() <= 8);

impl From<Move> for PackedMove {
    fn from(m: Move) -> PackedMove {
        let (from, to, promotion) = match m {
            Move::Normal { from, to, promotion, .. } => (from, to, promotion),
            Move::EnPassant { from, to } => (from, to, None),
            Move::Castle { king, rook } => (king, rook, None),
            Move::Put { to, .. } => (to, to, None),
        };
        let promotion = promotion.map_or(0, |role| role as u16);
        PackedMove(from as u16 | (to as u16) << 6 | promotion << 12)
    }
}

impl fmt::Debug for PackedMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let square = |bits: u16| Square::new(u32::from(bits & 63));
        write!(f, "{}{}/{}", square(self.0), square(self.0 >> 6), self.0 >> 12)
    }
}

/// Zobrist keys of a position and of parts of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keys {
    /// Key of the whole position: pieces, side to move, castling rights, and the en passant file if
    /// an en passant capture is legal. Apart from collisions, two positions have equal keys if and
    /// only if they are the same under the rules of repetition. The random numbers are Polyglot's.
    pub position: u64,
    /// Key of the pawns of both sides.
    pub pawns: u64,
    /// Key of the knights, bishops and kings of both sides.
    pub minors: u64,
    /// Keys of all pieces except pawns, by colour, White first.
    pub non_pawns: [u64; 2],
}

impl Keys {
    fn toggle(&mut self, square: Square, piece: Piece) {
        let Zobrist64(bits) = Zobrist64::zobrist_for_piece(square, piece);
        // Avoid branches, because the processor cannot predict the role.
        let only = |wanted: bool| if wanted { bits } else { 0 };
        let pawn = piece.role == Role::Pawn;
        self.position ^= bits;
        self.pawns ^= only(pawn);
        self.non_pawns[piece.color as usize ^ 1] ^= only(!pawn);
        self.minors ^= only(matches!(piece.role, Role::Knight | Role::Bishop | Role::King));
    }

    fn castling(&mut self, chess: &Chess) {
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                if chess.castles().has(color, side) {
                    self.position ^= Zobrist64::zobrist_for_castling_right(color, side).0;
                }
            }
        }
    }

    fn en_passant(&mut self, chess: &Chess) {
        // This checks legality only after a double push that lands next to an enemy pawn.
        if let Some(square) = chess.legal_ep_square() {
            self.position ^= Zobrist64::zobrist_for_en_passant_file(square.file()).0;
        }
    }

    fn turn(&mut self) {
        self.position ^= Zobrist64::zobrist_for_white_turn().0;
    }

    fn from_scratch(chess: &Chess) -> Keys {
        let mut keys = Keys::default();
        for (square, piece) in chess.board() {
            keys.toggle(square, piece);
        }
        if chess.turn() == Color::White {
            keys.turn();
        }
        keys.castling(chess);
        keys.en_passant(chess);
        keys
    }
}

/// A chess position in which each side has one king and the side not to move is not in check. It
/// need not be reachable in a game. The search uses copy-make: it copies a position and makes a
/// move on the copy.
///
/// ```
/// use lancet::Position;
/// use shakmaty::CastlingMode;
///
/// let start = Position::default();
/// let m = start.legal_moves()[0];
/// let next = start.play(m);
/// assert_ne!(next.key(), start.key());
/// assert_eq!(start.legal_moves().len(), 20);
/// // The error message quotes the invalid field.
/// let error = Position::from_fen("8/8/8/8 w - - 0 1").unwrap_err();
/// assert!(error.to_string().contains("'8/8/8/8'"));
/// ```
#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    keys: Keys,
    checkers: Bitboard,
    pinned: Bitboard,
}

impl Default for Position {
    fn default() -> Position {
        Position::from(Chess::default())
    }
}

impl From<Chess> for Position {
    fn from(chess: Chess) -> Position {
        let keys = Keys::from_scratch(&chess);
        let (checkers, pinned) = checkers_and_pinned(chess.board(), chess.turn());
        Position { chess, keys, checkers, pinned }
    }
}

impl Position {
    /// Reads a FEN, with castling rights as in X-FEN or Shredder-FEN. Fields that are missing at
    /// the end default to `w - - 0 1`.
    ///
    /// Chess960 castling is used if the castling rights need it. Castling rights and en passant
    /// squares that do not match the board are dropped, because some GUIs write wrong ones.
    ///
    /// # Errors
    ///
    /// If a field cannot be read, or the position is illegal.
    pub fn from_fen(text: &str) -> Result<Position, FenError> {
        Position::from_fen_in(text, CastlingMode::Standard)
    }

    /// Like [`from_fen`](Self::from_fen), but also uses Chess960 castling if `mode` is Chess960.
    ///
    /// # Errors
    ///
    /// Those of [`from_fen`](Self::from_fen).
    pub fn from_fen_in(text: &str, mode: CastlingMode) -> Result<Position, FenError> {
        let mode = mode.is_chess960().then_some(mode);
        Ok(Position::from_fen_with_remarks(text, mode)?.0)
    }

    /// Reads a FEN, and returns a remark for each field that was dropped in whole or in part. If
    /// `mode` is given, castling rights that it does not allow are also dropped. Otherwise, the
    /// castling rights decide the mode.
    ///
    /// # Errors
    ///
    /// Those of [`Position::from_fen`].
    pub fn from_fen_with_remarks(
        text: &str,
        mode: Option<CastlingMode>,
    ) -> Result<(Position, Vec<String>), FenError> {
        let given = text.trim();
        let setup = fen::read(text).map_err(|FenError { at, reason }| FenError {
            at,
            reason: format!("unreadable FEN '{given}': {reason}"),
        })?;
        let is_shuffled = mode == Some(CastlingMode::Standard)
            && CastlingMode::detect(&setup) == CastlingMode::Chess960;
        let (position, dropped) = Position::from_setup_in(setup, mode).map_err(|error| {
            FenError { at: 0, reason: format!("illegal position '{given}': {error}") }
        })?;
        let mut remarks = Vec::new();
        for (kind, name, index) in [
            (PositionErrorKinds::INVALID_CASTLING_RIGHTS, "castling rights", 2),
            (PositionErrorKinds::INVALID_EP_SQUARE, "en passant square", 3),
        ] {
            if dropped.contains(kind) {
                let fen = position.fen();
                let [given, used] = [text, fen.as_str()]
                    .map(|fen| fen::fields(fen).nth(index).map_or("-", |(_, field)| field));
                remarks.push(if is_shuffled && index == 2 {
                    format!("{name} '{given}' need Chess960 (UCI_Chess960): using '{used}'")
                } else {
                    format!("the board contradicts the {name} '{given}': using '{used}'")
                });
            }
        }
        Ok((position, remarks))
    }

    /// Creates a position from its parts, with Chess960 castling if the castling rights need it.
    ///
    /// # Errors
    ///
    /// If the position is illegal.
    pub fn from_setup(setup: Setup) -> Result<Position, IllegalPosition> {
        Ok(Position::from_setup_in(setup, None)?.0)
    }

    /// Creates a position. Also returns the kinds of faults that were found and ignored. If `mode`
    /// is `None`, Chess960 castling is used if the castling rights need it.
    ///
    /// # Errors
    ///
    /// If the position is illegal. Impossible checks are allowed. So are more promoted pieces than
    /// missing pawns, up to [`MAX_MEN`] men in all.
    pub(crate) fn from_setup_in(
        setup: Setup,
        mode: Option<CastlingMode>,
    ) -> Result<(Position, PositionErrorKinds), IllegalPosition> {
        let mode = mode.unwrap_or_else(|| CastlingMode::detect(&setup));
        let is_crowded = setup.board.occupied().count() > MAX_MEN;
        let read = Chess::from_setup(setup, mode);
        let wrong = read.as_ref().err().map_or(PositionErrorKinds::empty(), PositionError::kinds);
        let read = read
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check);
        let read = match read {
            Err(error) if !is_crowded => error.ignore_too_much_material(),
            read => read,
        };
        read.map(|chess| (Position::from(chess), wrong))
            .map_err(|error| IllegalPosition(error.kinds()))
    }

    /// Returns shakmaty's position.
    pub const fn chess(&self) -> &Chess {
        &self.chess
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        self.chess.board()
    }

    /// Returns the side to move.
    pub fn turn(&self) -> Color {
        self.chess.turn()
    }

    /// Returns the keys of this position and of its parts.
    pub const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Returns the key of the whole position.
    pub const fn key(&self) -> u64 {
        self.keys.position
    }

    /// Computes the keys from scratch. They must equal the incremental ones.
    pub fn keys_from_scratch(&self) -> Keys {
        Keys::from_scratch(&self.chess)
    }

    /// Returns the enemy pieces that give check.
    pub const fn checkers(&self) -> Bitboard {
        self.checkers
    }

    /// Returns the pieces of the side to move that are pinned to its king.
    pub const fn pinned(&self) -> Bitboard {
        self.pinned
    }

    /// Returns whether the side to move is in check.
    pub const fn is_check(&self) -> bool {
        self.checkers.any()
    }

    /// Returns the number of plies since the last capture or pawn move.
    pub fn halfmoves(&self) -> u32 {
        self.chess.halfmoves()
    }

    /// Returns the castling mode: standard or Chess960.
    pub fn mode(&self) -> CastlingMode {
        self.chess.castles().mode()
    }

    /// Returns all legal moves.
    pub fn legal_moves(&self) -> MoveList {
        self.chess.legal_moves()
    }

    /// Returns whether neither side can mate by any sequence of moves, judged by material only.
    pub fn is_insufficient_material(&self) -> bool {
        // Cheap test first: most positions have pawns or major pieces.
        let board = self.board();
        (board.pawns() | board.rooks_and_queens()).is_empty()
            && self.chess.is_insufficient_material()
    }

    /// Returns whether the side to move has a piece other than king and pawns.
    pub fn has_non_pawn_material(&self) -> bool {
        let board = self.board();
        (board.by_color(self.turn()) & !(board.pawns() | board.kings())).any()
    }

    /// Returns the position after the legal move `m`.
    #[must_use]
    pub fn play(&self, m: Move) -> Position {
        let mut child = self.clone();
        child.make(m);
        child
    }

    /// Makes the legal move `m` in place.
    pub fn make(&mut self, m: Move) {
        self.make_with(m, |_| {});
    }

    /// Makes the legal move `m` in place. Calls `prefetch` with the new keys before the board
    /// changes, so that the caller can prefetch table entries. The key of the position may still
    /// lack a change of castling rights or a new en passant file; the other keys are final.
    #[inline(always)]
    pub fn make_with(&mut self, m: Move, prefetch: impl FnOnce(&Keys)) {
        let us = self.turn();
        let rights = self.chess.castles().castling_rights();
        self.keys.en_passant(&self.chess);

        match m {
            Move::Normal { role, from, capture, to, promotion } => {
                if let Some(captured) = capture {
                    self.keys.toggle(to, captured.of(!us));
                }
                self.keys.toggle(from, role.of(us));
                self.keys.toggle(to, promotion.unwrap_or(role).of(us));
            }
            Move::EnPassant { from, to } => {
                let captured = Square::from_coords(to.file(), from.rank());
                self.keys.toggle(captured, (!us).pawn());
                self.keys.toggle(from, us.pawn());
                self.keys.toggle(to, us.pawn());
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                self.keys.toggle(king, us.king());
                self.keys.toggle(rook, us.rook());
                self.keys.toggle(side.king_to(us), us.king());
                self.keys.toggle(side.rook_to(us), us.rook());
            }
            Move::Put { .. } => {} // never legal in chess
        }

        self.keys.turn();
        prefetch(&self.keys);

        // Castling rights change only a few times in a game, so update their keys only if the move
        // may change them.
        let touched = match m {
            Move::Normal { from, to, role, .. } => {
                role == Role::King || rights.contains(from) || rights.contains(to)
            }
            _ => m.is_castle(),
        };
        if touched && rights.any() {
            self.keys.castling(&self.chess);
            self.chess.play_unchecked(m);
            self.keys.castling(&self.chess);
        } else {
            self.chess.play_unchecked(m);
        }

        self.keys.en_passant(&self.chess);
        (self.checkers, self.pinned) = checkers_and_pinned(self.board(), self.turn());
    }

    /// Returns the position after a null move, or `None` if the side to move is in check or has no
    /// king.
    #[must_use]
    pub fn play_null(&self) -> Option<Position> {
        let king = self.board().king_of(self.turn()).filter(|_| !self.is_check())?;
        let mut child = self.clone();
        child.keys.en_passant(&child.chess);
        // shakmaty's `swap_turn` is slow, because it validates the whole position. Instead, a
        // "queen" on the king's square moves to the same square and promotes to a king. This
        // changes only the side to move, the move counters and the en passant square. The castling
        // rights are kept because the moving role is not a king.
        child.chess.play_unchecked(Move::Normal {
            role: Role::Queen,
            from: king,
            capture: None,
            to: king,
            promotion: Some(Role::King),
        });
        child.keys.turn();
        (child.checkers, child.pinned) = checkers_and_pinned(child.board(), child.turn());
        Some(child)
    }

    /// Returns the position as FEN, with castling rights as in X-FEN. The FEN has an en passant
    /// square only if an en passant capture is legal.
    pub fn fen(&self) -> String {
        let setup = self.chess.to_setup(EnPassantMode::Legal);
        match Fen::try_from_setup(setup) {
            Ok(fen) => fen.to_string(),
            Err(lossy) => lossy.ignore().to_string(),
        }
    }
}

/// A position with the keys of the earlier positions of its game, to detect repetitions.
///
/// ```
/// use lancet::Game;
/// use shakmaty::uci::UciMove;
///
/// let mut game = Game::default();
/// for text in ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(2) {
///     let m = text.parse::<UciMove>().unwrap().to_move(game.position().chess()).unwrap();
///     assert_eq!(game.ending(), None);
///     game.play(m);
/// }
/// assert!(game.ending().is_some());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Game {
    position: Position,
    /// Keys of the positions before `position`, oldest first, back to the last capture or pawn
    /// move.
    keys: Vec<u64>,
    /// The move that led to `position`, if it is known.
    last: Option<Move>,
}

impl From<Position> for Game {
    fn from(position: Position) -> Game {
        Game { position, keys: Vec::new(), last: None }
    }
}

impl Game {
    /// Returns the current position.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Returns the keys of earlier positions since the last capture or pawn move, oldest first.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Returns the move that led to the current position, if it is known.
    pub const fn last(&self) -> Option<Move> {
        self.last
    }

    /// Plays a legal move.
    pub fn play(&mut self, m: Move) {
        self.last = Some(m);
        if m.is_zeroing() {
            self.keys.clear();
        } else {
            self.keys.push(self.position.key());
        }
        self.position.make(m);
    }

    /// Returns how often the current position has occurred, including this time.
    pub fn occurrences(&self) -> usize {
        1 + self.keys.iter().filter(|&&key| key == self.position.key()).count()
    }

    /// Returns how the game has ended, if it has, by the rules of engine matches: mate, stalemate,
    /// threefold repetition, fifty moves, insufficient material.
    pub fn ending(&self) -> Option<Ending> {
        self.ending_at(100)
    }

    /// Like [`ending`](Self::ending), but the game is drawn once the halfmove clock reaches
    /// `halfmoves`. A player can claim a draw at 100, and at 150 no claim is needed.
    pub fn ending_at(&self, halfmoves: u32) -> Option<Ending> {
        if self.position.legal_moves().is_empty() {
            return Some(if self.position.is_check() { Ending::Checkmate } else { Ending::Draw });
        }
        let drawn = self.position.halfmoves() >= halfmoves
            || self.occurrences() >= 3
            || self.position.is_insufficient_material();
        drawn.then_some(Ending::Draw)
    }
}

/// The way in which a game has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The side to move is mated.
    Checkmate,
    /// Stalemate, repetition, fifty moves or insufficient material.
    Draw,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str, mode: CastlingMode) -> Position {
        Position::from_fen_in(fen, mode).unwrap()
    }

    /// FENs with missing fields or unusual separators and numbers.
    #[test]
    fn short_and_odd_fens() {
        const BOARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        for (rest, fen) in [
            ("", " w - - 0 1"),
            (" b", " b - - 0 1"),
            (" w KQkq", " w KQkq - 0 1"),
            (" w KQkq - 7", " w KQkq - 7 1"),
            (" w KQkq - 0 0", " w KQkq - 0 1"),
            ("_b_Kq_-_3_4", " b Kq - 3 4"),
            ("\tb  KQkq - 9999 9999 ", " b KQkq - 9999 9999"),
        ] {
            let position = position(&format!("{BOARD}{rest}"), CastlingMode::Standard);
            assert_eq!(position.fen(), format!("{BOARD}{fen}"));
        }
    }

    #[test]
    fn refused_fens_are_quoted_with_the_reason() {
        for (fen, message) in [
            ("8/8/8 w", "unreadable FEN '8/8/8 w': '8/8/8' is not a board: 3 ranks, expected 8"),
            (
                " 8/8/8/8/8/8/8/8 w ",
                "illegal position '8/8/8/8/8/8/8/8 w': empty board, missing king",
            ),
            (
                "4k3/8/8/8/8/8/8/4RK2 w - - 0 1",
                "illegal position '4k3/8/8/8/8/8/8/4RK2 w - - 0 1': the side not to move is in check",
            ),
        ] {
            let error = Position::from_fen(fen).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    /// Runs perft and checks the incremental keys and the checkers at every node.
    fn check(position: &Position, depth: u32) -> u64 {
        assert_eq!(*position.keys(), position.keys_from_scratch(), "{}", position.fen());
        assert_eq!(position.checkers(), position.chess().checkers());
        let Zobrist64(expected) = position.chess().zobrist_hash(EnPassantMode::Legal);
        assert_eq!(position.key(), expected);
        if depth == 0 {
            return 1;
        }
        let mut nodes = 0;
        for &m in &position.legal_moves() {
            let (mut child, mut told) = (position.clone(), Keys::default());
            child.make_with(m, |keys| told = *keys);
            let rights = |position: &Position| position.chess().castles().castling_rights();
            if rights(position) != rights(&child) || child.chess().legal_ep_square().is_some() {
                told.position = child.key();
            }
            assert_eq!(told, *child.keys(), "{}", child.fen());
            nodes += check(&child, depth - 1);
        }
        nodes
    }

    #[test]
    fn keys_follow_every_move() {
        let start = Position::default();
        assert_eq!(check(&start, 3), 8902);
        let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        assert_eq!(check(&position(kiwipete, CastlingMode::Standard), 3), 97_862);
        let en_passant = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
        assert_eq!(check(&position(en_passant, CastlingMode::Standard), 4), 43_238);
        let chess960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
        assert_eq!(check(&position(chess960, CastlingMode::Chess960), 3), 12_189);
    }

    #[test]
    fn null_move_changes_only_the_turn() {
        for fen in ["r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 7 9", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"] {
            let before = position(fen, CastlingMode::Standard);
            let after = before.play_null().unwrap();
            assert_eq!(after.board(), before.board());
            assert_eq!(after.turn(), Color::Black);
            assert_eq!(
                after.chess().castles().castling_rights(),
                before.chess().castles().castling_rights()
            );
            assert_eq!(*after.keys(), after.keys_from_scratch());
            assert_eq!(after.halfmoves(), before.halfmoves() + 1);
        }
    }
}
