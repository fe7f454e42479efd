//! What the search remembers about moves and evaluations: move-ordering
//! histories and correction histories. Each table owns its index, its clamp
//! and its update. Nothing here decides what to search or prune.

use bytemuck::Zeroable;
use shakmaty::{Bitboard, Color, Move, Piece, Role, Square};

use crate::{
    chess::{
        movegen::{Generator, is_tactical},
        position::{Keys, Position},
        score::Score,
    },
    search::params as p,
    system::pages::{Pages, prefetch},
};

/// Scores of the ordering tables stay within this.
const HISTORY_MAX: i32 = 16_384;

/// A kind of move, a piece (12) and a square (64): the index of continuation tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PieceTo(u16);

impl PieceTo {
    const COUNT: usize = 12 * 64;
    /// Kinds of moves: out of check, tactical.
    const KINDS: usize = if cfg!(feature = "tune") { 4 } else { 1 };

    /// The piece that makes `m`, and where it lands.
    pub fn new(position: &Position, m: Move) -> PieceTo {
        let piece = piece_index(position.moved_piece(m));
        let kind = if p::continuation_kinds() > 0 {
            2 * usize::from(position.is_check()) + usize::from(is_tactical(m))
        } else {
            0
        };
        PieceTo((kind * PieceTo::COUNT + piece * 64 + m.to() as usize) as u16)
    }

    /// Without the kind.
    const fn index(self) -> usize {
        if PieceTo::KINDS > 1 { self.0 as usize % PieceTo::COUNT } else { self.0 as usize }
    }

    /// With the kind.
    const fn row(self) -> usize {
        self.0 as usize
    }

    /// Where it lands.
    pub fn to(self) -> Square {
        Square::new(u32::from(self.0 % 64))
    }
}

/// A quiet move by colour, whether origin and target are attacked, from and to: the
/// index of the butterfly table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FromTo(u16);

impl FromTo {
    const COUNT: usize = 2 * 4 * 64 * 64;

    /// A quiet move of `color`, whose enemy attacks `threats`.
    pub fn new(color: Color, threats: Bitboard, m: Move) -> FromTo {
        FromTo::squares(color, threats, m.from().unwrap_or(m.to()), m.to())
    }

    fn squares(color: Color, threats: Bitboard, from: Square, to: Square) -> FromTo {
        let attacked = |square| u16::from(threats.contains(square));
        let row = (color as u16 * 2 + attacked(from)) * 2 + attacked(to);
        FromTo((row * 64 + from as u16) * 64 + to as u16)
    }

    const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether origin and target are attacked.
    const fn attacks(self) -> usize {
        self.0 as usize / (64 * 64) % 4
    }
}

const fn piece_index(piece: Piece) -> usize {
    (piece.role as usize - 1) * 2 + piece.color as usize
}

/// Moves `entry` towards `bonus`, the more slowly the nearer it is to the
/// limit: "history gravity".
fn gravity(entry: &mut i16, bonus: i32, limit: i32) {
    let bonus = bonus.clamp(-limit, limit);
    let value = i32::from(*entry);
    *entry = (value + bonus - value * bonus.abs() / limit) as i16;
}

/// The part of the quiet-move tables that concerns one node.
pub(crate) struct QuietRows<'a> {
    color: Color,
    threats: Bitboard,
    butterfly: &'a [i16; FromTo::COUNT],
    pieces: &'a [[i16; PieceTo::COUNT]; 4],
    pawns: &'a [i16; PieceTo::COUNT],
    continuation: [&'a [i16; PieceTo::COUNT]; 3],
}

impl QuietRows<'_> {
    /// How well the quiet move `m` has done, within 5 times `HISTORY_MAX`.
    #[inline(always)]
    pub fn score(&self, m: Move) -> i32 {
        // Nearly all are normal moves: nothing needs to be asked of those.
        let (role, from, to) = match m {
            Move::Normal { role, from, to, .. } => (role, from, to),
            _ => (m.role(), m.from().unwrap_or(m.to()), m.to()),
        };
        let index = piece_index(role.of(self.color)) * 64 + to as usize;
        let from_to = FromTo::squares(self.color, self.threats, from, to);
        let [one, two, four] = self.continuation.map(|row| i32::from(row[index]));
        let butterfly = i32::from(self.butterfly[from_to.index()]);
        let butterfly = if p::piece_history() > 0 {
            (butterfly + i32::from(self.pieces[from_to.attacks()][index])) / 2
        } else {
            butterfly
        };
        butterfly + i32::from(self.pawns[index]) + one + two + four * p::order_four() / 4
    }
}

/// The moves made 1, 2 and 4 plies ago; `None` for a null move or the root.
pub(crate) type Previous = [Option<PieceTo>; 3];

/// Everything about a node that indexes its moves' histories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Our pieces on attacked squares move away, and pieces avoid them.
    pub threats: Bitboard,
    /// What has been played before.
    pub previous: Previous,
}

impl Context {
    /// That of a position's moves, after these.
    pub fn new(generator: &Generator, previous: Previous) -> Context {
        Context { threats: generator.threats(), previous }
    }
}

/// Quiet moves by an earlier move's piece and square, and their own.
#[derive(Zeroable)]
#[repr(transparent)]
struct Continuation([[i16; PieceTo::COUNT]; PieceTo::COUNT * PieceTo::KINDS]);

impl Continuation {
    /// What is read as a sum learns as one: gravity is that of half the sum, so that what
    /// some entries know already the others need not learn.
    fn update(&mut self, previous: Previous, to: usize, bonus: i32) {
        let read = |before: PieceTo| i32::from(self.0[before.row()][to]);
        let bonus = if p::teach() > 0 { bonus * p::continuation_rate() / 16 } else { bonus };
        let [one, two, four] = previous.map(|before| before.map_or(0, read));
        let half = (one + two + four * p::order_four() / 4) / 2;
        let step = bonus - half * bonus.abs() / HISTORY_MAX;
        for before in previous.into_iter().flatten() {
            let entry = &mut self.0[before.row()][to];
            *entry = (i32::from(*entry) + step).clamp(-HISTORY_MAX, HISTORY_MAX) as i16;
        }
    }
}

/// Rows of the table of pawn structures.
const PAWN_STRUCTURES: usize = 512;
/// How many times as large the tables are with `big_tables`: those of pawn structures ...
const MORE_STRUCTURES: usize = if cfg!(feature = "tune") { 8 } else { 1 };
/// ... and those of corrections.
const MORE_CORRECTIONS: usize = if cfg!(feature = "tune") { 4 } else { 1 };

/// The place of this key in a table of so many entries, or `more` times as many.
fn place(key: u64, entries: usize, more: usize) -> usize {
    let entries = if p::big_tables() > 0 { entries * more } else { entries };
    key as usize % entries
}

/// The move-ordering and correction tables of one search thread: one block of
/// memory, so that it fits a few huge pages.
#[derive(Zeroable)]
#[repr(C)]
struct Tables {
    /// Quiet moves.
    butterfly: [i16; FromTo::COUNT],
    /// The same by piece and target, and whether origin and target are attacked.
    pieces: [[i16; PieceTo::COUNT]; 4],
    /// Captures by piece and square, and the role captured, on a square that is attacked or not.
    captures: [[i16; 12]; PieceTo::COUNT],
    /// Quiet moves by pawn structure, piece and square.
    pawns: [[i16; PieceTo::COUNT]; PAWN_STRUCTURES * MORE_STRUCTURES],
    continuation: Continuation,
    corrections: Corrections,
}

/// What one search thread remembers.
pub(crate) struct Histories(Pages<Tables>);

impl Default for Histories {
    fn default() -> Histories {
        // A few megabytes; without them nothing else will work either.
        #[allow(clippy::expect_used)]
        Histories(Pages::new(1).expect("memory for the history tables"))
    }
}

impl Histories {
    /// There is one element.
    fn tables(&self) -> &Tables {
        &self.0[0]
    }

    fn tables_mut(&mut self) -> &mut Tables {
        &mut self.0[0]
    }

    /// Forgets everything, in the same memory: new pages cost more than zeroes.
    pub fn clear(&mut self) {
        bytemuck::fill_zeroes(&mut self.0);
    }

    /// Forgets everything and gives the memory back: where there is much that was
    /// hardly used, zeroes would first have to fetch it.
    pub fn renew(&mut self) {
        match Pages::new(1) {
            Some(pages) => self.0 = pages,
            None => self.clear(),
        }
    }
}

impl std::fmt::Debug for Histories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histories").finish_non_exhaustive()
    }
}

fn pawn_index(position: &Position) -> usize {
    place(position.keys().pawns, PAWN_STRUCTURES, MORE_STRUCTURES)
}

impl Histories {
    /// The rows of the quiet-move tables that this node's moves are looked up in.
    pub fn quiets<'a>(&'a self, position: &Position, context: &Context) -> QuietRows<'a> {
        const NEUTRAL: &[i16; PieceTo::COUNT] = &[0; PieceTo::COUNT];
        let (color, tables) = (position.turn(), self.tables());
        QuietRows {
            color,
            threats: context.threats,
            butterfly: &tables.butterfly,
            pieces: &tables.pieces,
            pawns: &tables.pawns[pawn_index(position)],
            continuation: context
                .previous
                .map(|before| before.map_or(NEUTRAL, |b| &tables.continuation.0[b.row()])),
        }
    }

    /// Rewards (or, with a negative bonus, punishes) a quiet move.
    pub fn update_quiet(&mut self, position: &Position, context: &Context, m: Move, bonus: i32) {
        let moved = PieceTo::new(position, m);
        let to = moved.index();
        let from_to = FromTo::new(position.turn(), context.threats, m);
        self.update_butterfly(from_to, moved, bonus);
        let tables = self.tables_mut();
        gravity(&mut tables.pawns[pawn_index(position)][to], bonus, HISTORY_MAX);
        tables.continuation.update(context.previous, to, bonus);
    }

    /// The same for the last move, whose position is known no more: only the tables
    /// that do without it learn.
    pub fn update_last(&mut self, quiet: FromTo, moved: PieceTo, previous: Previous, bonus: i32) {
        self.update_butterfly(quiet, moved, bonus);
        self.tables_mut().continuation.update(previous, moved.index(), bonus);
    }

    /// The same for the table by from and to alone.
    pub fn update_butterfly(&mut self, quiet: FromTo, moved: PieceTo, bonus: i32) {
        let tables = self.tables_mut();
        gravity(&mut tables.butterfly[quiet.index()], bonus, HISTORY_MAX);
        if p::piece_history() > 0 {
            let entry = &mut tables.pieces[quiet.attacks()][moved.index()];
            gravity(entry, bonus, HISTORY_MAX);
        }
    }

    /// The corrections of the static evaluation.
    pub fn corrections(&self) -> &Corrections {
        &self.tables().corrections
    }

    /// The same, to learn.
    pub fn corrections_mut(&mut self) -> &mut Corrections {
        &mut self.tables_mut().corrections
    }

    /// How well the capture or promotion `m` has done, within `HISTORY_MAX`.
    pub fn capture(&self, generator: &Generator, m: Move) -> i32 {
        let row = PieceTo::new(generator.position(), m).index();
        i32::from(self.tables().captures[row][victim(generator, m)])
    }

    /// Rewards or punishes a capture or promotion.
    pub fn update_capture(&mut self, generator: &Generator, m: Move, bonus: i32) {
        let row = PieceTo::new(generator.position(), m).index();
        let entry = &mut self.tables_mut().captures[row][victim(generator, m)];
        gravity(entry, bonus, HISTORY_MAX);
    }
}

/// The captured role as an index, and whether its square is attacked; promotions without
/// capture share the king's.
fn victim(generator: &Generator, m: Move) -> usize {
    let attacked = p::capture_threats() > 0 && generator.threats().contains(m.to());
    usize::from(attacked) * 6 + m.capture().unwrap_or(Role::King) as usize - 1
}

/// Entries per correction table.
const CORRECTIONS: usize = 16_384;
/// Correction entries are in 1/`GRAIN` centipawns.
const GRAIN: i32 = 128;
/// The largest correction one table may learn, in entry units.
const CORRECTION_MAX: i32 = 64 * GRAIN;

/// How much the search found the static evaluation to be wrong, by pawn
/// structure, minor pieces, each side's pieces, and pairs of the last moves.
#[derive(Zeroable)]
#[repr(C)]
pub(crate) struct Corrections {
    /// By the side to move and the keys of pawns, minor pieces, White's pieces and Black's.
    pieces: [[[i16; CORRECTIONS * MORE_CORRECTIONS]; 2]; 4],
    /// By the last move and the one before, and by it and that four plies ago.
    continuation: [Continuation; 2],
}

/// The places of these keys in the tables of `pieces`.
fn places(keys: &Keys) -> [usize; 4] {
    let Keys { pawns, minors, non_pawns: [white, black], .. } = *keys;
    [pawns, minors, white, black].map(|key| place(key, CORRECTIONS, MORE_CORRECTIONS))
}

/// The places of the last moves in the tables of `continuation`, if they are known.
fn pairs([last, earlier @ ..]: Previous) -> [Option<[usize; 2]>; 2] {
    earlier.map(|before| Some([before?.row(), last?.index()]))
}

impl Corrections {
    /// Centipawns to add to the static evaluation. `moves` are those made 1, 2 and 4 plies
    /// ago.
    pub fn get(&self, position: &Position, moves: Previous) -> Score {
        let (keys, turn) = (places(position.keys()), position.turn() as usize);
        let pieces = p::correction_pieces();
        let weights = [p::correction_pawns(), p::correction_minors(), pieces, pieces];
        let mut sum = 0;
        for ((table, key), weight) in self.pieces.iter().zip(keys).zip(weights) {
            sum += weight * i32::from(table[turn][key]);
        }
        for (table, pair) in self.continuation.iter().zip(pairs(moves)) {
            if let Some([before, last]) = pair {
                sum += p::correction_moves() * i32::from(table.0[before][last]);
            }
        }
        sum / (16 * GRAIN)
    }

    /// Fetches what [`get`](Self::get) will soon read of a position with these keys.
    pub fn prefetch(&self, keys: &Keys, turn: Color, moves: Previous) {
        for (table, key) in self.pieces.iter().zip(places(keys)) {
            prefetch(&table[turn as usize][key]);
        }
        for (table, pair) in self.continuation.iter().zip(pairs(moves)) {
            if let Some([before, last]) = pair {
                prefetch(&table.0[before][last]);
            }
        }
    }

    /// Learns from a search of `depth` plies, which found `difference` centipawns more than
    /// the corrected evaluation said.
    pub fn update(&mut self, position: &Position, moves: Previous, depth: i32, difference: Score) {
        let most = p::correction_step() * GRAIN;
        // More than that reaches the largest step at any rate.
        let error = (difference * depth).clamp(-65_536, 65_536);
        let bonus = error * GRAIN * p::correction_rate() / 1024;
        let bonus = bonus.clamp(-most, most);
        let (keys, turn) = (places(position.keys()), position.turn() as usize);
        for (table, key) in self.pieces.iter_mut().zip(keys) {
            gravity(&mut table[turn][key], bonus, CORRECTION_MAX);
        }
        for (table, pair) in self.continuation.iter_mut().zip(pairs(moves)) {
            if let Some([before, last]) = pair {
                gravity(&mut table.0[before][last], bonus, CORRECTION_MAX);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::prune;

    proptest! {
        #[test]
        fn gravity_stays_within_its_limit(bonuses in prop::collection::vec(-40_000..40_000, 1..200)) {
            let mut entry = 0_i16;
            for bonus in bonuses {
                let before = entry;
                gravity(&mut entry, bonus, HISTORY_MAX);
                prop_assert!(i32::from(entry).abs() <= HISTORY_MAX);
                prop_assert!((i32::from(entry) - i32::from(before)) * bonus.signum() >= 0);
            }
        }
    }

    #[test]
    fn rewards_raise_and_malus_lowers() {
        let position = Position::default();
        let m = position.legal_moves()[0];
        let other = position.legal_moves()[1];
        let context = Context { threats: Bitboard::EMPTY, previous: [None; 3] };
        let mut histories = Histories::default();
        histories.update_quiet(&position, &context, m, 500);
        assert!(histories.quiets(&position, &context).score(m) > 0);
        assert_eq!(histories.quiets(&position, &context).score(other), 0);
        histories.update_quiet(&position, &context, other, -500);
        assert!(histories.quiets(&position, &context).score(other) < 0);
        let before = Some(PieceTo::new(&position, other));
        let after = Context { previous: [before, None, None], ..context };
        histories.update_quiet(&position, &after, m, 500);
        assert!(
            histories.quiets(&position, &after).score(m)
                > histories.quiets(&position, &context).score(m)
        );
    }

    /// What one node of any depth, whose best move comes after thirty quiet ones, does to a
    /// table at most, in per cent of an entry's range: to one entry, and to all together.
    #[test]
    fn one_node_does_not_fill_a_table() {
        let fen = "r1bq1rk1/pp3ppp/2nbpn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 1";
        let position = Position::from_fen(fen, shakmaty::CastlingMode::Standard).unwrap();
        let quiets = position.legal_moves().into_iter().filter(|&m| !is_tactical(m));
        let quiets: Vec<Move> = quiets.take(31).collect();
        let (best, tried) = quiets.split_first().unwrap();
        assert_eq!(tried.len(), 30);
        let [one, two, four] = [1, 100, 200].map(|i| Some(PieceTo(i)));
        let context = Context { threats: Bitboard::EMPTY, previous: [one, two, four] };
        let (mut most, mut sum) = (0, 0);
        for depth in 1..=100 {
            let mut histories = Histories::default();
            histories.update_quiet(&position, &context, *best, prune::bonus(depth));
            for (place, &m) in tried.iter().enumerate() {
                let malus = prune::malus(depth, place);
                histories.update_quiet(&position, &context, m, -malus);
            }
            let tables = histories.tables();
            let row = |before: Option<PieceTo>| &tables.continuation.0[before.unwrap().row()];
            let pawns = &tables.pawns[pawn_index(&position)];
            let butterfly: &[i16] = &tables.butterfly;
            for table in [butterfly, pawns, row(one), row(two), row(four)] {
                let sizes = || table.iter().map(|&entry| i32::from(entry).abs());
                most = most.max(sizes().max().unwrap() * 100 / HISTORY_MAX);
                sum = sum.max(sizes().sum::<i32>() * 100 / HISTORY_MAX);
            }
        }
        let bounds = if p::teach() > 0 { (15, 150) } else { (15, 450) };
        assert!(most <= bounds.0 && sum <= bounds.1, "{most} {sum}");
    }

    #[test]
    fn corrections_follow_the_search() {
        let position = Position::default();
        let mut histories = Histories::default();
        let corrections = histories.corrections_mut();
        for _ in 0..200 {
            corrections.update(&position, [None; 3], 8, 60);
        }
        let learned = corrections.get(&position, [None; 3]);
        assert!((40..=200).contains(&learned), "{learned}");
        for _ in 0..400 {
            corrections.update(&position, [None; 3], 8, -60);
        }
        assert!(corrections.get(&position, [None; 3]) < 0);
    }
}
