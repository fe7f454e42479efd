//! The transposition table: buckets of two entries, each with a lower and an
//! upper bound. No search policy lives here.
//!
//! Sources: A. Plaat, J. Schaeffer, W. Pijls and A. de Bruin, "A New Paradigm for
//! Minimax Search", 1994 (two bounds); D. M. Breuker, J. W. H. M. Uiterwijk and
//! H. J. van den Herik, "Replacement Schemes for Transposition Tables", 1994 (two
//! entries). Scores go in and out untouched, because they are relative to their
//! node (see [`crate::chess::score`]).
//!
//! Threads share the table without locks. An entry is two atomic words; the
//! key is stored mixed with the data, so that an entry whose halves come from
//! different writes reads as a miss (Hyatt and Mann, "A lockless transposition
//! table implementation for parallel search", 2002).
//!
//! Relaxed order is enough. There is no data race: all shared memory is atomic
//! words. No order between words is relied upon: whatever mixture of two writes
//! a reader meets, the key's 48 bits decide whether the halves belong together
//! (a chance of 2^-48 that they only seem to, and then the move is still only
//! compared with legal ones and the bounds are those of a real search). Entries
//! lost or doubled by two writers cost a little work and nothing else. Whatever
//! must be seen by all (a new generation, an empty table) is written before
//! the search threads start and after they were joined.

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

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The best or refuting move, if any is known.
    pub best: PackedMove,
    /// What its score lies between.
    pub bounds: Bounds,
    /// Depth of the search behind the bounds, in plies, 0 for quiescence. At most 255.
    pub depth: i32,
    /// The uncorrected static evaluation, or `NO_SCORE`.
    pub evaluation: Score,
    /// Has this position been on a principal variation?
    pub pv: bool,
}

impl Entry {
    /// Nothing known.
    pub const EMPTY: Entry = Entry {
        best: PackedMove::NONE,
        bounds: Bounds::NONE,
        depth: 0,
        evaluation: NO_SCORE,
        pv: false,
    };

    /// The static evaluation moved inside the bounds, unless those are decisive.
    pub(super) fn refine(self, evaluation: Score) -> Score {
        let refined = self.bounds.refine(evaluation);
        if is_decisive(refined) { evaluation } else { refined }
    }

    /// This knowledge after a new search of the same position has added `new`.
    ///
    /// At the same depth the bounds tighten; bounds that would cross (the
    /// search is not perfectly stable) are replaced. A deeper search replaces,
    /// and so does one up to three plies shallower: the old bounds did not
    /// decide the window at hand, the new ones did. So does an exact score of any depth,
    /// but not that of a leaf.
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
/// `data`: move (16), lower (16), upper (16), evaluation (16).
/// `check`: occupied (1), pv (1), generation (6), depth (8), and 48 bits of
/// the key mixed with `data`.
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

/// The low 48 bits of the key (the high ones choose the bucket), mixed with
/// all bits of the data.
const fn signature(key: u64, data: u64) -> u64 {
    ((key << 16) ^ data.wrapping_mul(0x9e37_79b9_7f4a_7c15)) & KEY_MASK
}

/// The entry that two words hold.
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
    /// The entry for `key`, if it is here.
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

    /// Depth of whatever is here, if it is of this generation.
    fn depth_in(&self, generation: u8) -> Option<i32> {
        let check = self.check.load(Relaxed);
        let current = check & OCCUPIED != 0 && (check >> 2) as u8 % GENERATIONS == generation;
        current.then_some((check >> 8 & 0xff) as i32)
    }

    /// How little this entry gives way to a new one: its depth, less for its age.
    fn worth(&self, generation: u8) -> i32 {
        let check = self.check.load(Relaxed);
        if check & OCCUPIED == 0 {
            return i32::MIN;
        }
        let age = (generation + GENERATIONS - (check >> 2) as u8 % GENERATIONS) % GENERATIONS;
        (check >> 8 & 0xff) as i32 - params::replace_age() * i32::from(age)
    }

    /// Could a search have stored this?
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

    /// Its words, `check` and `data`, as written for the key itself instead of that mixed
    /// with `salt`.
    fn without_salt(&self, salt: u64) -> [u64; 2] {
        let check = self.check.load(Relaxed);
        let salt = if check & OCCUPIED == 0 { 0 } else { signature(salt, 0) };
        [check ^ salt, self.data.load(Relaxed)]
    }

    fn copy_to(&self, other: &Slot) {
        other.data.store(self.data.load(Relaxed), Relaxed);
        other.check.store(self.check.load(Relaxed), Relaxed);
    }
}

/// Two entries: one kept for its depth, one always replaced.
#[derive(Debug, Default, Zeroable)]
#[repr(C, align(32))]
struct Bucket {
    deep: Slot,
    recent: Slot,
}

const _: () = assert!(std::mem::size_of::<Bucket>() == 32);

/// The table, shared by all threads.
///
/// ```
/// use lancet::{Bounds, Entry, Table, Window};
///
/// let table = Table::new(1).expect("a MiB of memory");
/// // Searches of one depth, one that failed low and one that failed high:
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
    /// All its memory has been touched, and nothing has been stored since.
    blank: AtomicBool,
    /// Where [`clear`](Table::clear) is to begin or to go on, if there is anything to clear:
    /// a chunk of its memory.
    to_clear: Option<usize>,
    /// Mixed into every key, another one after each [`forget`](Table::forget): what has not
    /// been cleared yet is not found any more.
    salt: u64,
}

/// Bytes of a MiB.
const MIB: usize = 1 << 20;

impl Table {
    /// An empty table of `mib` MiB, if the system can give so much. The memory is
    /// promised only: `clear` takes it, before a search does so page
    /// by page (0.1 to 0.4 ms for each 2 MiB, at nearly every node of a large table).
    pub fn new(mib: usize) -> Option<Table> {
        let bytes = mib.max(1).checked_mul(MIB)?;
        // Small ones are not worth the question.
        if bytes > 64 * MIB && memory::available().is_some_and(|free| bytes as u64 > free) {
            return None;
        }
        let buckets = Pages::new(bytes / size_of::<Bucket>())?;
        let (generation, blank) = (AtomicU8::new(0), AtomicBool::new(false));
        Some(Table { buckets, generation, blank, to_clear: Some(0), salt: 0 })
    }

    /// Its size in MiB.
    pub fn mib(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>() / MIB
    }

    fn bucket(&self, key: u64) -> &Bucket {
        // Multiply-shift maps keys evenly to any number of buckets.
        &self.buckets[((u128::from(key) * self.buckets.len() as u128) >> 64) as usize]
    }

    /// The bucket of this key will be probed soon.
    pub(super) fn prefetch(&self, key: u64) {
        pages::prefetch(self.bucket(key));
    }

    /// What is known of the position with this key.
    pub fn probe(&self, key: u64) -> Option<Entry> {
        let bucket = self.bucket(key);
        let key = key ^ self.salt;
        bucket.deep.read(key).or_else(|| bucket.recent.read(key))
    }

    /// Adds what a search found out.
    pub fn store(&self, key: u64, new: Entry) {
        debug_assert!(new.bounds.lower <= new.bounds.upper);
        let Bucket { deep, recent } = self.bucket(key);
        let key = key ^ self.salt;
        let generation = self.generation.load(Relaxed);
        if params::replace() > 0 {
            let same = [deep, recent].into_iter().find_map(|slot| Some((slot, slot.read(key)?)));
            let (slot, entry) = match same {
                Some((slot, old)) => (slot, old.merge(new)),
                None if deep.worth(generation) < recent.worth(generation) => (deep, new),
                None => (recent, new),
            };
            slot.write(key, &entry, generation);
            return;
        }
        if let Some(old) = deep.read(key) {
            deep.write(key, &old.merge(new), generation);
            return;
        }
        let merged = recent.read(key).map_or(new, |old| old.merge(new));
        if deep.depth_in(generation).is_none_or(|depth| merged.depth >= depth) {
            deep.copy_to(recent);
            deep.write(key, &merged, generation);
        } else {
            recent.write(key, &merged, generation);
        }
    }

    /// A new search begins: what is stored now may be replaced.
    pub(crate) fn new_search(&self) {
        let next = (self.generation.load(Relaxed) + 1) % GENERATIONS;
        self.generation.store(next, Relaxed);
        self.blank.store(false, Relaxed);
    }

    /// What it holds is forgotten; [`clear`](Table::clear) has yet to remove it.
    pub(crate) fn forget(&mut self) {
        if !*self.blank.get_mut() {
            self.to_clear = Some(0);
            self.salt = mix(self.salt);
        }
    }

    /// Removes what has been forgotten, in place and on `threads` threads; all memory is
    /// there afterwards. Ends early when `go_on` says no; the next call goes on there.
    pub(crate) fn clear(&mut self, threads: usize, go_on: &(dyn Fn() -> bool + Sync)) {
        let Some(from) = self.to_clear else { return };
        self.to_clear = self.buckets.zero(threads, from, go_on);
        if from == 0 && self.to_clear.is_none() {
            *self.blank.get_mut() = true;
            *self.generation.get_mut() = 0;
        }
    }

    /// Fill by the current search, in permille, from a sample.
    pub(crate) fn hashfull(&self) -> u32 {
        let generation = self.generation.load(Relaxed);
        let sample = &self.buckets[..self.buckets.len().min(500)];
        let used: usize = sample
            .iter()
            .flat_map(|bucket| [&bucket.deep, &bucket.recent])
            .filter(|slot| slot.depth_in(generation).is_some())
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

        /// A deeper search replaces what was known, and so does a little shallower
        /// one; a much shallower one only if it knows the score.
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
        // A new search lets them go.
        table.new_search();
        table.store(60, shallow);
        table.store(61, shallow);
        assert_eq!(table.probe(1), None);
    }

    /// Miri tries what this machine's memory does not do, and looks for data
    /// races: `cargo +nightly miri test --lib -- threads_never no_signal`
    #[test]
    fn threads_never_read_a_torn_entry() {
        const ROUNDS: i32 = if cfg!(miri) { 30 } else { 500_000 };
        // Every field of a true entry follows from `n`.
        let make = |n: i32| Entry {
            best: PackedMove::from_bits(n as u16),
            bounds: Bounds::new(n, n + 1),
            depth: n % 256,
            evaluation: -n,
            pv: n % 2 == 0,
        };
        let slot = Slot::default();
        std::thread::scope(|scope| {
            for thread in 0..4_i32 {
                let slot = &slot;
                scope.spawn(move || {
                    for i in 0..ROUNDS {
                        slot.write(7, &make((i * 4 + thread) % 30_000), 0);
                        if let Some(found) = slot.read(7) {
                            assert_eq!(found, make(found.bounds.lower));
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn what_is_forgotten_is_not_found_before_it_is_cleared() {
        let mut table = Table::new(1).unwrap();
        let entry = Entry { depth: 9, bounds: Bounds::exact(5), ..Entry::EMPTY };
        table.store(1, entry);
        table.forget();
        table.clear(1, &|| false);
        assert_eq!(table.probe(1), None);
        // What comes in the meantime is lost when the rest is cleared, not before.
        table.store(2, entry);
        assert_eq!((table.probe(1), table.probe(2)), (None, Some(entry)));
        table.clear(1, &|| true);
        assert_eq!((table.probe(1), table.probe(2)), (None, None));
        table.store(2, entry);
        assert_eq!(table.probe(2), Some(entry));
    }

    /// Clearing that gets nowhere, move after move, does not keep the searches from ageing.
    #[test]
    fn generations_go_on_while_there_is_no_time_to_clear() {
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
