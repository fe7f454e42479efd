//! Staged generation of legal moves, and data computed on demand: threats, and the squares from
//! which pieces give check. `search::picker` orders the moves.
//!
//! shakmaty implements the rules: it makes moves, and reads and writes FEN and SAN. But it has no
//! staged generator: its `capture_moves` filters the list of all legal moves. A node where the TT
//! move causes a cutoff needs no list. Quiescence search usually needs only tactical moves. In the
//! tests, shakmaty's list is the oracle. Within each stage, the moves are in the order of that
//! list.
//!
//! Source: <https://www.chessprogramming.org/Move_Generation>, "Staged".

use std::cell::OnceCell;

use shakmaty::{
    Bitboard, Board, CastlingSide, Color, Move, Position as _, Rank, Role, Square, attacks,
};

use crate::chess::{
    position::{PackedMove, Position},
    sliders,
    threats::{Attacked, attackers, king_of, pawn_attacks, sliders_towards},
};

const QUEEN: Option<Role> = Some(Role::Queen);
const UNDERPROMOTIONS: [Option<Role>; 3] =
    [Some(Role::Rook), Some(Role::Bishop), Some(Role::Knight)];

/// Returns whether a move is tactical: a capture, or a promotion to a queen.
pub fn is_tactical(m: Move) -> bool {
    m.is_capture() || m.promotion() == Some(Role::Queen)
}

/// A receiver of generated moves. Every `FnMut(Move)` closure implements it. A dedicated type can
/// mark its [`take`](Sink::take) as inline. It is then inlined into every loop of the generator,
/// where the role is a constant.
pub trait Sink {
    /// Receives the next move.
    fn take(&mut self, m: Move);
}

impl<F: FnMut(Move)> Sink for F {
    fn take(&mut self, m: Move) {
        self(m);
    }
}

/// The squares from which the side to move gives check.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// By role, pawn to king: the squares from which our piece attacks the enemy king.
    squares: [Bitboard; 6],
    /// Our pieces that are the only piece between one of our sliders and the enemy king.
    discoverers: Bitboard,
    king: Square,
}

impl Checks {
    /// Computes the checks of the side to move.
    pub fn new(position: &Position) -> Checks {
        let board = position.board();
        let them = !position.turn();
        let king = king_of(board, them);
        let bishop = sliders::bishop_attacks(king, board.occupied());
        let rook = sliders::rook_attacks(king, board.occupied());
        let squares = [
            attacks::pawn_attacks(them, king),
            attacks::knight_attacks(king),
            bishop,
            rook,
            bishop | rook,
            Bitboard::EMPTY,
        ];
        let ours = board.by_color(!them);
        let discoverers = sliders_towards(board, king, ours).blockers & ours;
        Checks { squares, discoverers, king }
    }

    /// Returns whether the legal move `m` gives check. Returns `false` for castling and en passant,
    /// whose checks are rare and are only detected after the move.
    pub fn given_by(&self, m: Move) -> bool {
        match m {
            // Nearly every move takes this arm, so the slower test for promotions has its own.
            Move::Normal { role, from, to, promotion: None, .. } => {
                self.squares[role as usize - 1].contains(to)
                    || (self.discoverers.contains(from)
                        && !attacks::ray(self.king, from).contains(to))
            }
            Move::Normal { from, to, promotion: Some(role), .. } => {
                self.from(role, from).contains(to)
            }
            _ => false,
        }
    }

    /// Returns the squares on which a piece from `from` gives check, directly or by discovery. For
    /// promotions, `role` is the new role.
    fn from(&self, role: Role, from: Square) -> Bitboard {
        let direct = self.squares[role as usize - 1];
        if self.discoverers.contains(from) {
            direct | !attacks::ray(self.king, from)
        } else if direct.contains(from) {
            // This is a pawn that promotes, because any other piece would already give check. The
            // promoted piece also attacks along the line through the square that the pawn has left.
            direct | attacks::ray(self.king, from)
        } else {
            direct
        }
    }
}

/// Returns whether the side to move is checkmated.
pub fn is_checkmate(position: &Position) -> bool {
    position.is_check() && !Generator::new(position).any()
}

/// Generates the legal moves of one position. Data that several stages need are computed once, when
/// they are first needed.
#[derive(Debug)]
pub struct Generator<'a> {
    position: &'a Position,
    attacked: OnceCell<Attacked>,
    checks: OnceCell<Checks>,
}

impl<'a> Generator<'a> {
    /// Creates a generator without computing anything.
    pub const fn new(position: &'a Position) -> Generator<'a> {
        Generator { position, attacked: OnceCell::new(), checks: OnceCell::new() }
    }

    /// Returns the position.
    pub const fn position(&self) -> &'a Position {
        self.position
    }

    /// Returns the squares that the enemy attacks. Sliders attack through our king, so the squares
    /// behind it are attacked, too.
    pub fn threats(&self) -> Bitboard {
        self.attacked().by_any
    }

    /// Returns the squares that an enemy piece worth less than one of this role attacks. Knights
    /// and bishops count as equal. Returns no squares for a king, which is never exchanged.
    pub fn threats_to(&self, role: Role) -> Bitboard {
        self.attacked().by_less_than(role)
    }

    /// Returns those of the given squares that the enemy attacks. For a few squares, this is
    /// cheaper than [`threats`](Self::threats).
    pub fn threats_among(&self, squares: Bitboard) -> Bitboard {
        let (board, occupied) = (self.board(), self.occupied().without(self.king()));
        let theirs = board.by_color(!self.us());
        let attacked = |&square: &Square| (attackers(board, square, occupied) & theirs).any();
        squares.into_iter().filter(attacked).collect()
    }

    fn attacked(&self) -> &Attacked {
        self.attacked.get_or_init(|| {
            Attacked::new(self.board(), !self.us(), self.occupied().without(self.king()))
        })
    }

    /// Returns the squares from which the side to move gives check.
    pub fn checks(&self) -> &Checks {
        self.checks.get_or_init(|| Checks::new(self.position))
    }

    /// Returns the move that `packed` encodes, if it is legal in this position. `packed` may
    /// contain any bits. Does not generate other moves.
    pub fn find(&self, packed: PackedMove) -> Option<Move> {
        let m = packed.rebuild(self.position)?;
        (self.fits(m) && PackedMove::from(m) == packed).then_some(m)
    }

    /// Returns whether there is a legal move. Usually, looking at the pawns is enough.
    pub fn any(&self) -> bool {
        if self.position.is_check() {
            if self.safe_king_squares(!self.ours()).any() {
                return true;
            }
        } else {
            let free = self.ours() & !self.position.pinned();
            let pushes = (free & self.board().pawns()).shift(self.forward()) & !self.occupied();
            if pushes.any()
                || (free & self.board().knights())
                    .into_iter()
                    .any(|from| (attacks::knight_attacks(from) & !self.ours()).any())
            {
                return true;
            }
        }
        let mut any = false;
        self.tactical(|_| any = true);
        if !any {
            self.quiets(|_| any = true);
        }
        any
    }

    /// Generates all [tactical](is_tactical) moves.
    pub fn tactical(&self, mut each: impl Sink) {
        let in_check = self.position.is_check();
        let targets = self.theirs();
        self.en_passant(&mut each);
        if in_check {
            self.king_moves(targets, &mut each);
        }
        let evasions = targets & self.evasions();
        if evasions.any() {
            self.pawn_captures(evasions, &mut each);
        }
        self.queen_promotions(&mut each);
        self.piece_moves(|to| self.board().role_at(to), |_, _| evasions, &mut each);
        if !in_check {
            self.king_moves(targets, &mut each);
        }
    }

    /// Generates all moves that are not tactical.
    pub fn quiets(&self, mut each: impl Sink) {
        self.quiets_to(|_, _| Bitboard::FULL, &mut each);
        for side in CastlingSide::ALL {
            if let Some(rook) = self.castling(side) {
                each.take(Move::Castle { king: self.king(), rook });
            }
        }
    }

    /// Generates the quiet moves that give check, as far as [`Checks`] detects them.
    pub fn quiet_checks(&self, mut each: impl Sink) {
        let checks = self.checks();
        self.quiets_to(|role, from| checks.from(role, from), &mut each);
    }

    /// Generates quiet moves except castling. `wanted` returns the target squares for a role and an
    /// origin. For promotions, the role is the new one.
    #[inline(always)]
    fn quiets_to(&self, wanted: impl Fn(Role, Square) -> Bitboard, each: &mut impl Sink) {
        let in_check = self.position.is_check();
        let empty = !self.occupied();
        let king = empty & wanted(Role::King, self.king());
        if in_check {
            self.king_moves(king, each);
        }
        let evasions = empty & self.evasions();
        self.pawn_pushes(evasions, &wanted, each);
        self.piece_moves(|_| None, |role, from| evasions & wanted(role, from), each);
        if !in_check {
            self.king_moves(king, each);
        }
    }

    fn en_passant(&self, each: &mut impl Sink) {
        let Some(to) = self.position.chess().maybe_ep_square() else { return };
        let pawns = self.board().pawns() & self.ours();
        for from in attacks::pawn_attacks(!self.us(), to) & pawns {
            if self.en_passant_is_safe(from, to) {
                each.take(Move::EnPassant { from, to });
            }
        }
    }

    fn pawn_captures(&self, targets: Bitboard, each: &mut impl Sink) {
        let steps = self.us().fold_wb([7, 9], [-9, -7]);
        let attacked = pawn_attacks(self.board().pawns() & self.ours(), self.us());
        for (step, attacked) in steps.into_iter().zip(attacked) {
            let captures = attacked & targets;
            for (from, to) in self.pawn_moves(captures & !Bitboard::BACKRANKS, step) {
                each.take(pawn_move(from, self.board().role_at(to), to, None));
            }
            for (from, to) in self.pawn_moves(captures & Bitboard::BACKRANKS, step) {
                let capture = self.board().role_at(to);
                for promotion in [QUEEN].into_iter().chain(UNDERPROMOTIONS) {
                    each.take(pawn_move(from, capture, to, promotion));
                }
            }
        }
    }

    fn queen_promotions(&self, each: &mut impl Sink) {
        let pushes = self.single_pushes() & Bitboard::BACKRANKS & self.evasions();
        for (from, to) in self.pawn_moves(pushes, self.forward()) {
            each.take(pawn_move(from, None, to, QUEEN));
        }
    }

    fn pawn_pushes(
        &self,
        targets: Bitboard,
        wanted: impl Fn(Role, Square) -> Bitboard,
        each: &mut impl Sink,
    ) {
        let forward = self.forward();
        let single = self.single_pushes();
        let double = self.second_steps(single) & targets;
        let mut push = |to: Bitboard, step: i32, promotions: &[Option<Role>]| {
            for (from, to) in self.pawn_moves(to, step) {
                for &promotion in promotions {
                    if wanted(promotion.unwrap_or(Role::Pawn), from).contains(to) {
                        each.take(pawn_move(from, None, to, promotion));
                    }
                }
            }
        };
        push(single & targets & !Bitboard::BACKRANKS, forward, &[None]);
        push(single & targets & Bitboard::BACKRANKS, forward, &UNDERPROMOTIONS);
        push(double, 2 * forward, &[None]);
    }

    /// Returns the target squares of double pushes whose first step ends on these squares.
    fn second_steps(&self, pushed: Bitboard) -> Bitboard {
        let third = self.us().fold_wb(Rank::Third, Rank::Sixth);
        (pushed & Bitboard::from(third)).shift(self.forward()) & !self.occupied()
    }

    /// Returns the empty squares in front of our pawns.
    fn single_pushes(&self) -> Bitboard {
        (self.board().pawns() & self.ours()).shift(self.forward()) & !self.occupied()
    }

    /// Returns the origins and targets of the pawn moves to these squares, except moves that a pin
    /// forbids. `step` is the target's square number minus the origin's.
    fn pawn_moves(&self, to: Bitboard, step: i32) -> impl Iterator<Item = (Square, Square)> {
        to.into_iter()
            .filter_map(move |to| Some((to.offset(-step)?, to)))
            .filter(|&(from, to)| self.respects_pin(from, to))
    }

    /// Generates moves of knights, bishops, rooks and queens. `wanted` returns the target squares
    /// for a role and an origin.
    #[inline(always)]
    fn piece_moves(
        &self,
        capture: impl Fn(Square) -> Option<Role>,
        wanted: impl Fn(Role, Square) -> Bitboard,
        each: &mut impl Sink,
    ) {
        let (king, pinned, occupied) = (self.king(), self.position.pinned(), self.occupied());
        // Each role has its own loop, in which the role is a constant.
        macro_rules! moves {
            ($role:expr, $attacks:expr) => {
                for from in self.ours() & self.board().by_role($role) {
                    let mut targets = $attacks(from) & wanted($role, from);
                    if pinned.contains(from) {
                        targets &= attacks::ray(king, from);
                    }
                    for to in targets {
                        let capture = capture(to);
                        each.take(Move::Normal { role: $role, from, capture, to, promotion: None });
                    }
                }
            };
        }
        let bishop = |from| sliders::bishop_attacks(from, occupied);
        let rook = |from| sliders::rook_attacks(from, occupied);
        moves!(Role::Knight, attacks::knight_attacks);
        moves!(Role::Bishop, bishop);
        moves!(Role::Rook, rook);
        moves!(Role::Queen, |from| bishop(from) | rook(from));
    }

    fn king_moves(&self, targets: Bitboard, each: &mut impl Sink) {
        let from = self.king();
        for to in self.safe_king_squares(targets) {
            let capture = self.board().role_at(to);
            each.take(Move::Normal { role: Role::King, from, capture, to, promotion: None });
        }
    }

    /// Returns the target squares next to our king that the enemy does not attack.
    fn safe_king_squares(&self, targets: Bitboard) -> Bitboard {
        let squares = attacks::king_attacks(self.king()) & targets;
        if squares.is_empty() { squares } else { squares & !self.threats() }
    }

    /// Returns the rook of the castling move to this side, if the move is legal.
    fn castling(&self, side: CastlingSide) -> Option<Square> {
        let castles = self.position.chess().castles();
        let rook = castles.rook(self.us(), side)?;
        if self.position.is_check() || (castles.path(self.us(), side) & self.occupied()).any() {
            return None;
        }
        let to = side.king_to(self.us());
        let walk = attacks::between(self.king(), to).with(to);
        // In Chess960, the rook may be the only piece that shields the king on its rank.
        let safe = (walk & self.threats()).is_empty() && !self.position.pinned().contains(rook);
        safe.then_some(rook)
    }

    /// Returns whether a move is legal, assuming that its pieces are on the squares that it names.
    fn fits(&self, m: Move) -> bool {
        match m {
            Move::Castle { rook, .. } => {
                CastlingSide::ALL.into_iter().any(|side| self.castling(side) == Some(rook))
            }
            Move::EnPassant { from, to } => {
                self.position.chess().maybe_ep_square() == Some(to)
                    && attacks::pawn_attacks(self.us(), from).contains(to)
                    && self.en_passant_is_safe(from, to)
            }
            Move::Normal { role: Role::King, to, promotion: None, .. } => {
                self.safe_king_squares(Bitboard::from(to)).any()
            }
            Move::Normal { role, from, capture, to, promotion } => {
                let reaches = if role == Role::Pawn {
                    let promotes = promotion == QUEEN || UNDERPROMOTIONS.contains(&promotion);
                    promotes == Bitboard::BACKRANKS.contains(to)
                        && promotes == promotion.is_some()
                        && self.pawn_reaches(from, to, capture.is_some())
                } else {
                    promotion.is_none() && self.attacks(role, from).contains(to)
                };
                reaches && self.evasions().contains(to) && self.respects_pin(from, to)
            }
            Move::Put { .. } => false,
        }
    }

    fn pawn_reaches(&self, from: Square, to: Square, captures: bool) -> bool {
        if captures {
            return attacks::pawn_attacks(self.us(), from).contains(to);
        }
        let once = Bitboard::from(from).shift(self.forward()) & !self.occupied();
        (once | self.second_steps(once)).contains(to)
    }

    /// Returns whether an en passant capture leaves our king safe. It removes two pawns from a line
    /// at once, so pins are not enough to decide this.
    fn en_passant_is_safe(&self, from: Square, to: Square) -> bool {
        let captured = Square::from_coords(to.file(), from.rank());
        let occupied = self.occupied().without(from).without(captured).with(to);
        self.board().attacks_to(self.king(), !self.us(), occupied).without(captured).is_empty()
    }

    /// Returns whether the moving piece is not pinned, or stays on its line with the king.
    fn respects_pin(&self, from: Square, to: Square) -> bool {
        !self.position.pinned().contains(from) || attacks::aligned(self.king(), from, to)
    }

    /// Returns the squares to which pieces other than the king may move. Without a check, these are
    /// all squares. In check, they are the checker's square and the squares between it and the
    /// king. In double check, there are none.
    fn evasions(&self) -> Bitboard {
        let checkers = self.position.checkers();
        if checkers.is_empty() {
            return Bitboard::FULL;
        }
        checkers
            .single_square()
            .map_or(Bitboard::EMPTY, |checker| attacks::between(self.king(), checker).with(checker))
    }

    fn attacks(&self, role: Role, from: Square) -> Bitboard {
        let bishop = || sliders::bishop_attacks(from, self.occupied());
        let rook = || sliders::rook_attacks(from, self.occupied());
        match role {
            Role::Pawn => attacks::pawn_attacks(self.us(), from),
            Role::Knight => attacks::knight_attacks(from),
            Role::Bishop => bishop(),
            Role::Rook => rook(),
            Role::Queen => bishop() | rook(),
            Role::King => attacks::king_attacks(from),
        }
    }

    fn board(&self) -> &'a Board {
        self.position.board()
    }

    fn us(&self) -> Color {
        self.position.turn()
    }

    fn ours(&self) -> Bitboard {
        self.board().by_color(self.us())
    }

    fn theirs(&self) -> Bitboard {
        self.board().by_color(!self.us())
    }

    fn occupied(&self) -> Bitboard {
        self.board().occupied()
    }

    fn king(&self) -> Square {
        king_of(self.board(), self.us())
    }

    /// Returns the step of a single pawn push in square numbers: 8 for White, -8 for Black.
    fn forward(&self) -> i32 {
        self.us().fold_wb(8, -8)
    }
}

fn pawn_move(from: Square, capture: Option<Role>, to: Square, promotion: Option<Role>) -> Move {
    Move::Normal { role: Role::Pawn, from, capture, to, promotion }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::Index};
    use shakmaty::{Piece, Setup};

    use super::*;

    fn listed(kind: impl FnOnce(&mut dyn FnMut(Move))) -> Vec<Move> {
        let mut moves = Vec::new();
        kind(&mut |m| moves.push(m));
        moves
    }

    /// Compares all results of the generator for a position with shakmaty's list.
    fn check(position: &Position, strangers: &[PackedMove]) {
        let fen = position.fen();
        let generator = Generator::new(position);
        let legal = position.legal_moves();
        let (tactical, quiet): (Vec<Move>, Vec<Move>) =
            legal.iter().copied().partition(|&m| is_tactical(m));
        assert_eq!(listed(|each| generator.tactical(each)), tactical, "{fen}");
        assert_eq!(listed(|each| generator.quiets(each)), quiet, "{fen}");
        assert_eq!(Generator::new(position).any(), !legal.is_empty(), "{fen}");

        let checks = generator.checks();
        for &m in legal.iter().filter(|m| matches!(m, Move::Normal { .. })) {
            assert_eq!(checks.given_by(m), position.play(m).is_check(), "{m:?} {fen}");
        }
        let mut checking = quiet;
        checking.retain(|&m| matches!(m, Move::Normal { .. }) && position.play(m).is_check());
        assert_eq!(listed(|each| generator.quiet_checks(each)), checking, "{fen}");

        for &m in &legal {
            assert_eq!(Generator::new(position).find(m.into()), Some(m), "{fen}");
        }
        for &packed in strangers {
            assert_eq!(generator.find(packed), packed.find_in(&legal), "{packed:?} {fen}");
        }
        check_facts(position, &generator);
    }

    fn check_facts(position: &Position, generator: &Generator) {
        let (fen, board, us) = (position.fen(), position.board(), position.turn());
        let king = board.king_of(us).unwrap();
        let occupied = board.occupied();
        assert_eq!(position.checkers(), position.chess().checkers(), "{fen}");
        let attacked = |&to: &Square| board.attacks_to(to, !us, occupied.without(king)).any();
        let threats: Bitboard = Square::ALL.into_iter().filter(attacked).collect();
        assert_eq!(generator.threats(), threats, "{fen}");
        assert_eq!(generator.threats_among(Bitboard::FULL), threats, "{fen}");
        let uncovers = |&from: &Square| {
            board.attacks_to(king, !us, occupied.without(from)) != position.checkers()
        };
        let pinned: Bitboard = board.by_color(us).into_iter().filter(uncovers).collect();
        assert_eq!(position.pinned(), pinned.without(king), "{fen}");
    }

    /// Plays legal moves at random, and checks every position on the way. The generator is also
    /// tested with moves of earlier positions, which a table may return after a key collision.
    fn walk(mut position: Position, moves: &[Index], bits: &[u16]) {
        let mut strangers: Vec<PackedMove> =
            bits.iter().copied().map(PackedMove::from_bits).collect();
        for index in moves {
            check(&position, &strangers);
            let legal = position.legal_moves();
            if legal.is_empty() {
                return;
            }
            strangers.extend(legal.iter().copied().map(PackedMove::from));
            position = position.play(legal[index.index(legal.len())]);
        }
        check(&position, &strangers);
    }

    /// Returns the start position in which White and Black have these Chess960 arrays.
    fn start(white: u32, black: u32) -> Position {
        let [white, black] = [white, black].map(Board::chess960);
        let mut setup = Setup::initial();
        setup.board = Board::empty();
        for (side, color) in [(&white, Color::White), (&black, Color::Black)] {
            for square in side.by_color(color) {
                setup.board.set_piece_at(square, side.role_at(square).unwrap().of(color));
            }
        }
        setup.castling_rights = setup.board.rooks();
        Position::from_setup(setup).unwrap()
    }

    /// Generates positions with few pieces, where pins, checks and promotions are frequent.
    fn sparse() -> impl Strategy<Value = Position> {
        let piece = (0..64_u32, 0..5_usize, any::<bool>());
        let kings = (0..64_u32, 0..64_u32);
        let castle = any::<bool>();
        (prop::collection::vec(piece, 1..12), kings, any::<bool>(), 0..9_u32, castle)
            .prop_filter_map("illegal", |(pieces, kings, white, file, castle)| {
                let mut setup = Setup::empty();
                setup.turn = Color::from_white(white);
                for (square, role, white) in pieces {
                    let piece = Piece { color: Color::from_white(white), role: Role::ALL[role] };
                    setup.board.set_piece_at(Square::new(square), piece);
                }
                setup.board.set_piece_at(Square::new(kings.0), Color::White.king());
                setup.board.set_piece_at(Square::new(kings.1), Color::Black.king());
                if castle {
                    setup.castling_rights = setup.board.rooks() & Bitboard::BACKRANKS;
                }
                if file < 8 {
                    let rank = setup.turn.fold_wb(Rank::Sixth, Rank::Third);
                    setup.ep_square = Some(Square::from_coords(shakmaty::File::new(file), rank));
                }
                Position::from_setup(setup).ok()
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn standard_games(
            moves in prop::collection::vec(any::<Index>(), 0..160),
            bits in prop::collection::vec(any::<u16>(), 64),
        ) {
            walk(Position::default(), &moves, &bits);
        }

        #[test]
        fn chess960_games(
            array in 0..960_u32,
            moves in prop::collection::vec(any::<Index>(), 0..100),
        ) {
            walk(start(array, array), &moves, &[]);
        }

        #[test]
        fn double_chess960_games(
            arrays in (0..960_u32, 0..960_u32),
            moves in prop::collection::vec(any::<Index>(), 0..100),
        ) {
            walk(start(arrays.0, arrays.1), &moves, &[]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn sparse_positions(
            position in sparse(),
            moves in prop::collection::vec(any::<Index>(), 0..4),
            bits in prop::collection::vec(any::<u16>(), 64),
        ) {
            walk(position, &moves, &bits);
        }
    }

    /// Whatever bits a table entry has, only legal moves are accepted.
    #[test]
    fn every_bit_pattern() {
        let fens = [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R2Pp1k/8/6P1/8 b - e3 0 1",
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
            "2rk1r2/8/8/8/8/8/8/1RK2R2 w FBfc - 0 1",
            "4k3/8/8/8/7b/8/3P4/R3K2R w KQ - 0 1",
        ];
        for fen in fens {
            let position = Position::from_fen(fen).unwrap();
            let all: Vec<PackedMove> = (0..=u16::MAX).map(PackedMove::from_bits).collect();
            check(&position, &all);
        }
    }
}
