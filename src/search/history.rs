//! Move-ordering histories and correction histories: the index, the limits and the update rule of
//! each table. Decisions about searching and pruning do not belong here.

use bytemuck::Zeroable;
use shakmaty::{Bitboard, Color, Move, Piece, Role, Square};

use crate::{
    chess::{
        movegen::Generator,
        position::{Keys, Position},
        score::Score,
    },
    search::params as p,
    system::pages::{Pages, prefetch},
};

/// Maximum absolute value of an entry of the move-ordering tables.
const HISTORY_MAX: i32 = 16_384;

/// Index by piece (12 values) and target square (64 values).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PieceTo(u16);

impl PieceTo {
    const COUNT: usize = 12 * 64;

    /// Creates the index for the piece that makes `m` and its target square.
    pub fn new(position: &Position, m: Move) -> PieceTo {
        let piece = piece_index(m.role().of(position.turn()));
        PieceTo((piece * 64 + m.to() as usize) as u16)
    }

    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A quiet move by colour, origin and target, and whether these are attacked: the index of the
/// butterfly history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FromTo(u16);

impl FromTo {
    const COUNT: usize = 2 * 4 * 64 * 64;

    /// Creates the index for a quiet move of `color`. The opponent attacks the squares in
    /// `threats`.
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

    /// Returns, as a number from 0 to 3, whether origin and target are attacked.
    const fn attacks(self) -> usize {
        self.0 as usize / (64 * 64) % 4
    }
}

const fn piece_index(piece: Piece) -> usize {
    (piece.role as usize - 1) * 2 + piece.color as usize
}

/// Adds `bonus` to `entry` with history gravity: the closer the entry is to the limit in the
/// direction of the bonus, the less it changes.
fn gravity(entry: &mut i16, bonus: i32, limit: i32) {
    let bonus = bonus.clamp(-limit, limit);
    let value = i32::from(*entry);
    *entry = (value + bonus - value * bonus.abs() / limit) as i16;
}

/// The rows of the quiet-move tables for one node.
pub(crate) struct QuietRows<'a> {
    color: Color,
    threats: Bitboard,
    butterfly: &'a [i16; FromTo::COUNT],
    pieces: &'a [[i16; PieceTo::COUNT]; 4],
    pawns: &'a [i16; PieceTo::COUNT],
    continuation: [&'a [i16; PieceTo::COUNT]; 3],
}

impl QuietRows<'_> {
    /// Returns the history score of the quiet move `m`, within 5 times `HISTORY_MAX`.
    #[inline(always)]
    pub fn score(&self, m: Move) -> i32 {
        // Nearly all moves are normal moves, so these have a fast path.
        let (role, from, to) = match m {
            Move::Normal { role, from, to, .. } => (role, from, to),
            _ => (m.role(), m.from().unwrap_or(m.to()), m.to()),
        };
        let index = piece_index(role.of(self.color)) * 64 + to as usize;
        let from_to = FromTo::squares(self.color, self.threats, from, to);
        let [one, two, four] = self.continuation.map(|row| i32::from(row[index]));
        let butterfly = i32::from(self.butterfly[from_to.index()]);
        let piece = i32::from(self.pieces[from_to.attacks()][index]);
        (butterfly + piece) / 2
            + i32::from(self.pawns[index])
            + one
            + two
            + four * p::order_four() / 4
    }
}

/// The moves made 1, 2 and 4 plies ago; `None` for a null move and before the root.
pub(crate) type Previous = [Option<PieceTo>; 3];

/// The facts about a node that index the histories of its moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Squares that the opponent attacks. The histories distinguish moves that leave or enter them.
    pub threats: Bitboard,
    /// The earlier moves that index the continuation histories.
    pub previous: Previous,
}

impl Context {
    /// Creates the context of a position that was reached by the moves `previous`.
    pub fn new(generator: &Generator, previous: Previous) -> Context {
        Context { threats: generator.threats(), previous }
    }
}

/// Continuation history: quiet moves by piece and target square of an earlier move, and by their
/// own.
#[derive(Zeroable)]
#[repr(transparent)]
struct Continuation([[i16; PieceTo::COUNT]; PieceTo::COUNT]);

impl Continuation {
    /// Updates the entries for the moves 1, 2 and 4 plies ago. The search reads their weighted sum,
    /// so history gravity uses half of that sum instead of each entry. If some entries are already
    /// high, the others therefore change less.
    fn update(&mut self, previous: Previous, to: usize, bonus: i32) {
        let read = |before: PieceTo| i32::from(self.0[before.index()][to]);
        let [one, two, four] = previous.map(|before| before.map_or(0, read));
        let half = (one + two + four * p::order_four() / 4) / 2;
        let step = bonus - half * bonus.abs() / HISTORY_MAX;
        for before in previous.into_iter().flatten() {
            let entry = &mut self.0[before.index()][to];
            *entry = (i32::from(*entry) + step).clamp(-HISTORY_MAX, HISTORY_MAX) as i16;
        }
    }
}

/// Number of rows in the history by pawn structure.
const PAWN_STRUCTURES: usize = 512;

/// The move-ordering and correction tables of one search thread, in one block of memory so that
/// they fit into a few huge pages.
#[derive(Zeroable)]
#[repr(C)]
struct Tables {
    /// Quiet moves by colour, origin and target, and whether these are attacked.
    butterfly: [i16; FromTo::COUNT],
    /// Quiet moves by piece and target, and whether origin and target are attacked.
    pieces: [[i16; PieceTo::COUNT]; 4],
    /// Captures and queen promotions by piece, target and captured role.
    captures: [[i16; 6]; PieceTo::COUNT],
    /// Quiet moves by pawn structure, piece and target.
    pawns: [[i16; PieceTo::COUNT]; PAWN_STRUCTURES],
    continuation: Continuation,
    corrections: Corrections,
}

/// The histories of one search thread.
pub(crate) struct Histories(Pages<Tables>);

impl Default for Histories {
    fn default() -> Histories {
        // The tables take a few megabytes. The engine cannot work without them.
        Histories(Pages::new(1).expect("not enough memory for the history tables"))
    }
}

impl std::fmt::Debug for Histories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histories").finish_non_exhaustive()
    }
}

fn pawn_index(position: &Position) -> usize {
    position.keys().pawns as usize % PAWN_STRUCTURES
}

impl Histories {
    /// Returns the tables, the only element of the allocation.
    fn tables(&self) -> &Tables {
        &self.0[0]
    }

    fn tables_mut(&mut self) -> &mut Tables {
        &mut self.0[0]
    }

    /// Zeroes all tables in place, which costs less than new pages.
    pub fn clear(&mut self) {
        bytemuck::fill_zeroes(&mut self.0);
    }

    /// Replaces all tables with new memory and frees the old. This is faster if there are many
    /// tables and they were hardly used, because zeroing would touch all of their memory.
    pub fn renew(&mut self) {
        match Pages::new(1) {
            Some(pages) => self.0 = pages,
            None => self.clear(),
        }
    }

    /// Returns the rows of the quiet-move tables for the moves of this node.
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
                .map(|before| before.map_or(NEUTRAL, |b| &tables.continuation.0[b.index()])),
        }
    }

    /// Updates the histories of a quiet move with a bonus, or with a malus if it is negative.
    pub fn update_quiet(&mut self, position: &Position, context: &Context, m: Move, bonus: i32) {
        let moved = PieceTo::new(position, m);
        let to = moved.index();
        let from_to = FromTo::new(position.turn(), context.threats, m);
        self.update_main(from_to, moved, bonus);
        let tables = self.tables_mut();
        gravity(&mut tables.pawns[pawn_index(position)][to], bonus, HISTORY_MAX);
        tables.continuation.update(context.previous, to, bonus);
    }

    /// Updates the histories of the quiet move that led to the current node. The history by pawn
    /// structure is left out, because the position before the move is no longer known.
    pub fn update_last(&mut self, quiet: FromTo, moved: PieceTo, previous: Previous, bonus: i32) {
        self.update_main(quiet, moved, bonus);
        self.tables_mut().continuation.update(previous, moved.index(), bonus);
    }

    /// Updates only the histories of a quiet move that depend on nothing but the move and the
    /// opponent's attacks: the butterfly history and the history by piece.
    pub fn update_main(&mut self, quiet: FromTo, moved: PieceTo, bonus: i32) {
        let tables = self.tables_mut();
        gravity(&mut tables.butterfly[quiet.index()], bonus, HISTORY_MAX);
        let entry = &mut tables.pieces[quiet.attacks()][moved.index()];
        gravity(entry, bonus, HISTORY_MAX);
    }

    /// Returns the corrections of the static evaluation.
    pub fn corrections(&self) -> &Corrections {
        &self.tables().corrections
    }

    /// Returns the corrections of the static evaluation, for an update.
    pub fn corrections_mut(&mut self) -> &mut Corrections {
        &mut self.tables_mut().corrections
    }

    /// Returns the history of the capture or queen promotion `m`, within `HISTORY_MAX`.
    pub fn capture(&self, position: &Position, m: Move) -> i32 {
        let row = PieceTo::new(position, m).index();
        i32::from(self.tables().captures[row][victim(m)])
    }

    /// Updates the history of a capture or queen promotion with a bonus, or with a malus if it is
    /// negative.
    pub fn update_capture(&mut self, position: &Position, m: Move, bonus: i32) {
        let row = PieceTo::new(position, m).index();
        let entry = &mut self.tables_mut().captures[row][victim(m)];
        gravity(entry, bonus, HISTORY_MAX);
    }
}

/// Returns the index for the captured role. Promotions without a capture use the king's.
fn victim(m: Move) -> usize {
    m.capture().unwrap_or(Role::King) as usize - 1
}

/// Entries per correction table.
const CORRECTIONS: usize = 16_384;
/// Units of a correction entry per centipawn.
const GRAIN: i32 = 128;
/// Maximum absolute value of a correction entry, in its units.
const CORRECTION_MAX: i32 = 64 * GRAIN;

/// Correction histories: the errors that the search found in the static evaluation, by pawn
/// structure, minor pieces, each side's pieces, and pairs of earlier moves.
#[derive(Zeroable)]
#[repr(C)]
pub(crate) struct Corrections {
    /// By key (of pawns, minor pieces, White's pieces and Black's pieces) and side to move.
    pieces: [[[i16; CORRECTIONS]; 2]; 4],
    /// By pairs of earlier moves: those made one and two plies ago, and those made one and four
    /// plies ago.
    continuation: [Continuation; 2],
}

/// Returns the indices of these keys in the tables of `pieces`.
fn places(keys: &Keys) -> [usize; 4] {
    let Keys { pawns, minors, non_pawns: [white, black], .. } = *keys;
    [pawns, minors, white, black].map(|key| key as usize % CORRECTIONS)
}

/// Returns the indices of both pairs of moves in the tables of `continuation`; `None` for a pair
/// with an unknown move.
fn pairs([last, earlier @ ..]: Previous) -> [Option<[usize; 2]>; 2] {
    earlier.map(|before| Some([before?.index(), last?.index()]))
}

impl Corrections {
    /// Returns the centipawns to add to the static evaluation. `moves` are those made 1, 2 and 4
    /// plies ago.
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

    /// Prefetches the entries that [`get`](Self::get) will soon read for a position with these
    /// keys.
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

    /// Updates the corrections after a search of `depth` plies whose score is `difference`
    /// centipawns above the corrected evaluation.
    pub fn update(&mut self, position: &Position, moves: Previous, depth: i32, difference: Score) {
        let most = p::correction_step() * GRAIN;
        // The clamp prevents an overflow. It changes no step, because larger errors reach the
        // maximum step at every update rate.
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
    use crate::{chess::movegen::is_tactical, search::prune};

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
    fn bonuses_raise_and_maluses_lower() {
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

    /// Tests how much one node changes a table, at any depth, if its best move comes after thirty
    /// quiet moves. The limits are in per cent of an entry's range: for one entry, and for the sum
    /// of all entries.
    #[test]
    fn one_node_does_not_fill_a_table() {
        let fen = "r1bq1rk1/pp3ppp/2nbpn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 1";
        let position = Position::from_fen(fen).unwrap();
        let quiets = position.legal_moves().into_iter().filter(|&m| !is_tactical(m));
        let quiets: Vec<Move> = quiets.take(31).collect();
        let (best, tried) = quiets.split_first().unwrap();
        assert_eq!(tried.len(), 30);
        let [one, two, four] = [1, 100, 200].map(|i| Some(PieceTo(i)));
        let context = Context { threats: Bitboard::EMPTY, previous: [one, two, four] };
        let (mut most, mut sum) = (0, 0);
        for depth in 1..=100 {
            let mut histories = Histories::default();
            let bonus = prune::bonus(depth);
            histories.update_quiet(&position, &context, *best, bonus);
            for &m in tried {
                histories.update_quiet(&position, &context, m, -bonus);
            }
            let tables = histories.tables();
            let row = |before: Option<PieceTo>| &tables.continuation.0[before.unwrap().index()];
            let pawns = &tables.pawns[pawn_index(&position)];
            let (butterfly, pieces): (&[i16], &[i16]) =
                (&tables.butterfly, tables.pieces.as_flattened());
            for table in [butterfly, pieces, pawns, row(one), row(two), row(four)] {
                let sizes = || table.iter().map(|&entry| i32::from(entry).abs());
                most = most.max(sizes().max().unwrap() * 100 / HISTORY_MAX);
                sum = sum.max(sizes().sum::<i32>() * 100 / HISTORY_MAX);
            }
        }
        assert!(most <= 15 && sum <= 450, "{most} {sum}");
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
