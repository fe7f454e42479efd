//! The transposition table: buckets of two entries, each with a lower and an upper bound. Scores
//! are stored and read unchanged, because they are relative to their node (see
//! [`crate::chess::score`]). Decisions of the search do not belong here.
//!
//! Sources: A. Plaat, J. Schaeffer, W. Pijls and A. de Bruin, "A New Paradigm for Minimax Search",
//! 1994 (two bounds); D. M. Breuker, J. W. H. M. Uiterwijk and H. J. van den Herik, "Replacement
//! Schemes for Transposition Tables", 1994 (two entries).
//!
//! Threads share the table without locks. An entry is two atomic words. The key is stored mixed
//! with the data. An entry with halves from different writes therefore almost certainly reads as a
//! miss. Source: R. M. Hyatt and T. Mann, "A lockless transposition table implementation for
//! parallel search", 2002.
//!
//! Relaxed ordering is enough:
//!
//! - There is no data race, because all shared memory consists of atomic words.
//! - No order between words is needed. If a reader finds a mixture of two writes, 48 bits of the
//!   key decide whether the halves belong together. The chance of a false match is 2^-48. Even then
//!   an illegal move is never made, and the bounds come from a real search.
//! - If two writers lose or duplicate an entry, this costs only a little work.
//! - A new generation or an empty table, which all threads must see, is written while no search
//!   thread runs.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;

use super::params;
use crate::{
    chess::{
        position::PackedMove,
        score::{Bounds, EVALUATION_LIMIT, INFINITE, NO_SCORE, Score, is_decisive},
    },
    system::{
        memory,
        pages::{self, Pages},
        random::mix,
    },
};

pub mod file;

/// Information that the table stores about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The best or refuting move, if one is known.
    pub best: PackedMove,
    /// Lower and upper bound of the score.
    pub bounds: Bounds,
    /// Depth of the search that found the bounds, in plies, from 0 (quiescence) to 255. Tablebase
    /// results have a greater depth than their node.
    pub depth: i32,
    /// The uncorrected static evaluation, or `NO_SCORE`.
    pub evaluation: Score,
    /// The position has been on a principal variation.
    pub pv: bool,
}

impl Entry {
    /// An entry without information.
    pub const EMPTY: Entry = Entry {
        best: PackedMove::NONE,
        bounds: Bounds::NONE,
        depth: 0,
        evaluation: NO_SCORE,
        pv: false,
    };

    /// Returns the static evaluation clamped to the bounds, unless the result is decisive.
    pub(super) fn refine(self, evaluation: Score) -> Score {
        let refined = self.bounds.refine(evaluation);
        if is_decisive(refined) { evaluation } else { refined }
    }

    /// Returns this entry merged with `new`, the result of a later search of the same position.
    ///
    /// At the same depth the bounds tighten. Bounds that would cross, because of search
    /// instability, are replaced. The result of a deeper search replaces the old bounds. So does
    /// that of a search up to three plies shallower: the old bounds caused no cutoff in the current
    /// window, but the new ones would. An exact score of any depth above 0 replaces them too.
    fn merge(self, new: Entry) -> Entry {
        let best = if new.best.is_some() { new.best } else { self.best };
        let evaluation = if new.evaluation == NO_SCORE { self.evaluation } else { new.evaluation };
        let (bounds, depth) = if new.depth == self.depth {
            let both = params::table_bounds() > 1 || self.bounds.is_exact();
            (if both { self.bounds.merge(new.bounds) } else { new.bounds }, new.depth)
        } else if new.depth + 4 <= self.depth && !(new.bounds.is_exact() && new.depth > 0) {
            (self.bounds, self.depth)
        } else {
            (new.bounds, new.depth)
        };
        Entry { best, bounds, depth, evaluation, pv: new.pv || self.pv }
    }
}

/// An entry packed into two words.
///
/// The fields, from the lowest bit, with their sizes in bits:
///
/// - `data`: move (16), lower bound (16), upper bound (16), evaluation (16)
/// - `check`: occupied (1), pv (1), generation (6), depth (8), [`signature`] (48)
#[derive(Debug, Default, Zeroable)]
#[repr(C)]
struct Slot {
    check: AtomicU64,
    data: AtomicU64,
}

const OCCUPIED: u64 = 1;
const PV: u64 = 2;
const KEY_MASK: u64 = !0xffff;
const GENERATIONS: u8 = 64;

/// Returns the low 48 bits of the key, mixed with all bits of the data. The high bits of the key
/// choose the bucket.
const fn signature(key: u64, data: u64) -> u64 {
    ((key << 16) ^ data.wrapping_mul(0x9e37_79b9_7f4a_7c15)) & KEY_MASK
}

/// Unpacks an entry from its two words.
fn unpack(check: u64, data: u64) -> Entry {
    let field = |shift: u32| Score::from((data >> shift) as u16 as i16);
    Entry {
        best: PackedMove::from_bits(data as u16),
        bounds: Bounds::new(field(16), field(32)),
        depth: (check >> 8 & 0xff) as i32,
        evaluation: field(48),
        pv: check & PV != 0,
    }
}

impl Slot {
    /// Returns the entry if it belongs to `key`.
    fn read(&self, key: u64) -> Option<Entry> {
        let check = self.check.load(Relaxed);
        let data = self.data.load(Relaxed);
        let is_here = check & OCCUPIED != 0 && check & KEY_MASK == signature(key, data);
        is_here.then(|| unpack(check, data))
    }

    fn write(&self, key: u64, entry: &Entry, generation: u8) {
        let field = |score: Score, shift: u32| u64::from(score as i16 as u16) << shift;
        let data = u64::from(entry.best.bits())
            | field(entry.bounds.lower, 16)
            | field(entry.bounds.upper, 32)
            | field(entry.evaluation, 48);
        let check = signature(key, data)
            | OCCUPIED
            | if entry.pv { PV } else { 0 }
            | u64::from(generation) << 2
            | (entry.depth.clamp(0, 255) as u64) << 8;
        self.data.store(data, Relaxed);
        self.check.store(check, Relaxed);
    }

    /// Returns the depth of the entry, and the number of searches since it was stored, modulo
    /// [`GENERATIONS`]; `None` if the slot is empty.
    fn depth_and_age(&self, generation: u8) -> Option<(i32, i32)> {
        let check = self.check.load(Relaxed);
        let age = (generation + GENERATIONS - (check >> 2) as u8 % GENERATIONS) % GENERATIONS;
        (check & OCCUPIED != 0).then_some(((check >> 8 & 0xff) as i32, age.into()))
    }

    /// Returns the value of the entry for replacement: its depth less a deduction for its age, as
    /// in Stockfish.
    fn worth(&self, generation: u8) -> i32 {
        let known = self.depth_and_age(generation);
        known.map_or(i32::MIN, |(depth, age)| depth - params::replace_age() * age)
    }

    /// Returns whether a search could have stored this entry.
    fn is_sane(&self) -> bool {
        let check = self.check.load(Relaxed);
        let Entry { bounds, evaluation, .. } = unpack(check, self.data.load(Relaxed));
        let Bounds { lower, upper } = bounds;
        check & OCCUPIED == 0
            || (-INFINITE <= lower
                && lower <= upper
                && upper <= INFINITE
                && (evaluation == NO_SCORE || evaluation.abs() <= EVALUATION_LIMIT))
    }

    /// Returns the words `check` and `data` that the entry would have without the `salt`.
    fn without_salt(&self, salt: u64) -> [u64; 2] {
        let check = self.check.load(Relaxed);
        let salt = if check & OCCUPIED == 0 { 0 } else { signature(salt, 0) };
        [check ^ salt, self.data.load(Relaxed)]
    }
}

/// Two entries. A new position replaces the entry with the lower [`Slot::worth`], or the second if
/// they are equal.
#[derive(Debug, Default, Zeroable)]
#[repr(C, align(32))]
struct Bucket([Slot; 2]);

const _: () = assert!(std::mem::size_of::<Bucket>() == 32);

/// The table, shared by all threads.
///
/// ```
/// use lancet::{Bounds, Entry, Table, Window};
///
/// let table = Table::new(1).expect("a MiB of memory");
/// // Two searches of the same depth: one failed low, the other failed high.
/// let entry = |bounds| Entry { bounds, depth: 8, ..Entry::EMPTY };
/// table.store(42, entry(Bounds::at_most(30)));
/// table.store(42, entry(Bounds::at_least(10)));
/// let found = table.probe(42).unwrap();
/// assert_eq!(found.bounds, Bounds::new(10, 30));
/// assert_eq!(found.bounds.cutoff(Window::null(5)), Some(10));
/// ```
#[derive(Debug)]
pub struct Table {
    buckets: Pages<Bucket>,
    generation: AtomicU8,
    /// The table has been cleared completely, and no search has begun since.
    blank: AtomicBool,
    /// The chunk of memory at which [`clear`](Table::clear) begins or continues; `None` if there is
    /// nothing to clear.
    to_clear: Option<usize>,
    /// Mixed into every key. [`forget`](Table::forget) changes it, so that forgotten entries are no
    /// longer found even before they are cleared.
    salt: u64,
}

/// Bytes in a MiB.
const MIB: usize = 1 << 20;

impl Table {
    /// Creates an empty table of `mib` MiB (0 counts as 1), or returns `None` if there is not
    /// enough memory. The memory is only reserved; `clear` allocates it before a search. Otherwise
    /// the search would allocate it page by page. With a large table, nearly every node would then
    /// touch a new page, and each page of 2 MiB takes 0.1 to 0.4 ms.
    pub fn new(mib: usize) -> Option<Table> {
        let bytes = mib.max(1).checked_mul(MIB)?;
        // For small tables it is not worth querying how much memory is free.
        if bytes > 64 * MIB && memory::available().is_some_and(|free| bytes as u64 > free) {
            return None;
        }
        let buckets = Pages::new(bytes / size_of::<Bucket>())?;
        let (generation, blank) = (AtomicU8::new(0), AtomicBool::new(false));
        Some(Table { buckets, generation, blank, to_clear: Some(0), salt: 0 })
    }

    /// Returns the size in MiB.
    pub fn mib(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>() / MIB
    }

    fn bucket(&self, key: u64) -> &Bucket {
        // Multiply-shift maps keys evenly to any number of buckets.
        &self.buckets[((u128::from(key) * self.buckets.len() as u128) >> 64) as usize]
    }

    /// Prefetches the bucket of this key, which will be probed soon.
    pub(super) fn prefetch(&self, key: u64) {
        pages::prefetch(self.bucket(key));
    }

    /// Returns the entry of the position with this key.
    pub fn probe(&self, key: u64) -> Option<Entry> {
        let Bucket(slots) = self.bucket(key);
        slots.iter().find_map(|slot| slot.read(key ^ self.salt))
    }

    /// Stores the result of a search. It is merged with an older entry of the same position.
    pub fn store(&self, key: u64, new: Entry) {
        debug_assert!(new.bounds.lower <= new.bounds.upper);
        let Bucket(slots) = self.bucket(key);
        let key = key ^ self.salt;
        let generation = self.generation.load(Relaxed);
        let [first, second] = slots;
        let same = slots.iter().find_map(|slot| Some((slot, slot.read(key)?)));
        let (slot, entry) = match same {
            Some((slot, old)) => (slot, old.merge(new)),
            None if first.worth(generation) < second.worth(generation) => (first, new),
            None => (second, new),
        };
        slot.write(key, &entry, generation);
    }

    /// Begins a new search. The entries stored so far lose value.
    pub(crate) fn new_search(&self) {
        let next = (self.generation.load(Relaxed) + 1) % GENERATIONS;
        self.generation.store(next, Relaxed);
        self.blank.store(false, Relaxed);
    }

    /// Forgets all entries. [`clear`](Table::clear) removes them later.
    pub(crate) fn forget(&mut self) {
        if !*self.blank.get_mut() {
            self.to_clear = Some(0);
            self.salt = mix(self.salt);
            // Make the forgotten entries look old, so that new ones replace them. They still look
            // old after a second call, but not after a third before the table is cleared.
            let generation = self.generation.get_mut();
            *generation = (*generation + GENERATIONS / 3) % GENERATIONS;
        }
    }

    /// Clears a forgotten table in place, on `threads` threads. Afterwards all its memory is
    /// allocated. Ends early if `go_on` returns false. The next call continues from there.
    pub(crate) fn clear(&mut self, threads: usize, go_on: &(dyn Fn() -> bool + Sync)) {
        let Some(from) = self.to_clear else { return };
        self.to_clear = self.buckets.zero(threads, from, go_on);
        if from == 0 && self.to_clear.is_none() {
            *self.blank.get_mut() = true;
            *self.generation.get_mut() = 0;
        }
    }

    /// Returns the share of entries from the current search, in permille, estimated from a sample.
    pub(crate) fn hashfull(&self) -> u32 {
        let generation = self.generation.load(Relaxed);
        let sample = &self.buckets[..self.buckets.len().min(500)];
        let used: usize = sample
            .iter()
            .flat_map(|Bucket(slots)| slots)
            .filter(|slot| matches!(slot.depth_and_age(generation), Some((_, 0))))
            .count();
        (used * 1000 / (2 * sample.len())) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry() -> impl Strategy<Value = Entry> {
        let score = -INFINITE..=INFINITE;
        let bounds = prop_oneof![
            score.clone().prop_map(Bounds::exact),
            (score.clone(), score.clone()).prop_map(|(a, b)| Bounds::new(a.min(b), a.max(b))),
        ];
        (any::<u16>(), bounds, 0..=255, score, any::<bool>()).prop_map(
            |(best, bounds, depth, evaluation, pv)| Entry {
                best: PackedMove::from_bits(best),
                bounds,
                depth,
                evaluation,
                pv,
            },
        )
    }

    proptest! {
        #[test]
        fn stores_and_finds(key: u64, e in entry()) {
            let table = Table::new(1).unwrap();
            prop_assert_eq!(table.probe(key), None);
            table.store(key, e);
            prop_assert_eq!(table.probe(key), Some(e));
            prop_assert_eq!(table.probe(key ^ 1), None);
        }

        #[test]
        fn bounds_never_cross(entries in prop::collection::vec(entry(), 1..20)) {
            let table = Table::new(1).unwrap();
            for e in entries {
                table.store(7, e);
                let found = table.probe(7).unwrap();
                prop_assert!(found.bounds.lower <= found.bounds.upper);
            }
        }

        #[test]
        fn same_depth_tightens(a in entry(), b in entry()) {
            let b = Entry { depth: a.depth, ..b };
            prop_assert_eq!(a.merge(b).bounds, a.bounds.merge(b.bounds));
        }

        /// A deeper search replaces the old bounds, and so does a slightly shallower one. A much
        /// shallower one does so only with an exact score.
        #[test]
        fn other_depths_replace_or_stay_out(a in entry(), b in entry()) {
            let replaces = b.depth + 4 > a.depth || (b.bounds.is_exact() && b.depth > 0);
            let expected = if replaces { b } else { a };
            if a.depth != b.depth {
                let merged = a.merge(b);
                prop_assert_eq!((merged.bounds, merged.depth), (expected.bounds, expected.depth));
            }
        }

        #[test]
        fn any_torn_pair_is_a_miss(key: u64, a in entry(), b in entry()) {
            let (x, y, torn) = (Slot::default(), Slot::default(), Slot::default());
            x.write(key, &a, 0);
            y.write(key, &b, 0);
            torn.check.store(x.check.load(Relaxed), Relaxed);
            torn.data.store(y.data.load(Relaxed), Relaxed);
            if x.data.load(Relaxed) != y.data.load(Relaxed) {
                prop_assert_eq!(torn.read(key), None);
            }
        }
    }

    #[test]
    fn deep_entries_survive_shallow_ones() {
        let table = Table::new(1).unwrap();
        let deep = Entry { depth: 20, bounds: Bounds::exact(5), ..Entry::EMPTY };
        let shallow = Entry { depth: 1, bounds: Bounds::exact(9), ..Entry::EMPTY };
        table.store(1, deep);
        for key in 2..50 {
            table.store(key, shallow); // same bucket: small keys share their high bits
            assert_eq!(table.probe(key), Some(shallow));
        }
        assert_eq!(table.probe(1), Some(deep));
        // They lose value with each search, until a shallow entry replaces them.
        let mut searches = 0;
        while table.probe(1).is_some() {
            table.new_search();
            searches += 1;
            table.store(60, shallow);
            table.store(61, shallow);
        }
        assert_eq!(searches, deep.depth / params::replace_age());
    }

    /// Miri also tries memory orders that this processor does not produce, and looks for data
    /// races: `cargo +nightly miri test --lib -- threads_never no_signal`
    #[test]
    fn threads_never_read_a_torn_entry() {
        const ROUNDS: i32 = if cfg!(miri) { 30 } else { 500_000 };
        // Every field of an entry that is not torn follows from `n`.
        let make = |n: i32| Entry {
            best: PackedMove::from_bits(n as u16),
            bounds: Bounds::new(n, n + 1),
            depth: n % 256,
            evaluation: -n,
            pv: n % 2 == 0,
        };
        let slot = Slot::default();
        let hits = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4_i32 {
                let (slot, hits) = (&slot, &hits);
                scope.spawn(move || {
                    for i in 0..ROUNDS {
                        slot.write(7, &make((i * 4 + thread) % 30_000), 0);
                        if let Some(found) = slot.read(7) {
                            assert_eq!(found, make(found.bounds.lower));
                            hits.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
        assert!(hits.into_inner() > 0);
    }

    #[test]
    fn forgotten_entries_are_misses_before_clearing() {
        let mut table = Table::new(1).unwrap();
        let entry = Entry { depth: 9, bounds: Bounds::exact(5), ..Entry::EMPTY };
        table.store(1, entry);
        table.store(3, entry);
        table.forget();
        table.clear(1, &|| false);
        assert_eq!(table.probe(1), None);
        // They are replaced at once: small keys share a bucket.
        for key in [4, 5] {
            table.store(key, Entry { depth: 1, ..entry });
        }
        assert!(table.probe(4).is_some() && table.probe(5).is_some());
        // Entries stored in the meantime survive until the rest is cleared.
        table.store(2, entry);
        assert_eq!((table.probe(1), table.probe(2)), (None, Some(entry)));
        table.clear(1, &|| true);
        assert_eq!((table.probe(1), table.probe(2)), (None, None));
        table.store(2, entry);
        assert_eq!(table.probe(2), Some(entry));
    }

    /// Generations advance even if there is never time to clear the table.
    #[test]
    fn generations_advance_without_clearing() {
        let mut table = Table::new(1).unwrap();
        table.new_search();
        for key in 0..200_000_u64 {
            table.store(mix(key), Entry::EMPTY);
        }
        table.forget();
        table.clear(1, &|| false);
        table.new_search();
        assert_eq!(table.hashfull(), 0);
    }

    #[test]
    fn hashfull_counts_this_search() {
        let table = Table::new(1).unwrap();
        assert_eq!(table.hashfull(), 0);
        for key in 0..200_000_u64 {
            table.store(key.wrapping_mul(0x9e37_79b9_7f4a_7c15), Entry::EMPTY);
        }
        assert!(table.hashfull() > 900);
        table.new_search();
        assert_eq!(table.hashfull(), 0);
        assert!(Table::new(usize::MAX).is_none());
    }
}
