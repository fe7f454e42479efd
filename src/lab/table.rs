//! The lab's transposition table: entries with two bounds or with one, and every
//! replacement policy that the Scout notes name (Breuker 1994). No search policy
//! beyond "which depths count".

use clap::ValueEnum;

use super::game::NodeResult;
use lancet::chess::score::{Bounds, Window};

/// The axis "table": which entries may answer for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum TableMode {
    /// No table at all, not even for moves.
    Off,
    /// Entries searched to exactly the wanted depth: values stay those of the
    /// search without a table.
    Exact,
    /// Entries searched at least as deep: values may differ.
    Deeper,
    /// `exact` with a strict test: an upper bound answers only below alpha.
    Strict,
}

/// The axis "entries": what an entry holds of a position's value. The Scout notes
/// have both, in two tables.
///
/// Both kinds are counted in entries, and an entry is of the same size: where a score
/// takes 16 bits, as in the playing search, one bound and two bits that say which it
/// is save 14 bits of 128, too few for anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Entries {
    /// A lower and an upper bound. Searches of one depth add to what is known.
    TwoBounds,
    /// One score, and whether it is exact, a lower or an upper bound. A later search
    /// of the same depth takes the place of an earlier one.
    OneBound,
}

impl Entries {
    /// What is kept of bounds found in a search with `window`: all, or the one that
    /// decided the window.
    #[must_use]
    pub fn keep(self, found: Bounds, window: Window) -> Bounds {
        match found.cutoff(window) {
            Some(score) if self == Entries::OneBound && !found.is_exact() => {
                Bounds::of(score, window)
            }
            _ => found,
        }
    }
}

/// The axis "replacement": who stays when two positions want one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Replacement {
    /// The entry searched deeper; of equals, the newer one.
    Deepest,
    /// The entry whose subtree had more nodes; of equals, the newer one.
    Largest,
    /// Always the newer entry.
    Newest,
    /// Two entries per place: one kept for depth, one always replaced. A
    /// deeper newcomer moves the first to second place.
    TwoLevel,
}

/// One position's entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry<M> {
    /// The whole key: the lab has no collisions.
    pub key: u64,
    /// Plies searched below the position.
    pub depth: u32,
    /// Plies from the root to the position. For counting only.
    pub ply: u32,
    /// What that search found. Relative to the position, never to a root: no
    /// ply goes in or out (but with the classical score delay, by
    /// [`to_table`](super::delay::ScoreDelay::to_table)).
    pub found: NodeResult<M>,
    /// Nodes in the searched subtree.
    pub size: u64,
    /// The one bound that the newest search found: all that an entry of
    /// [`Entries::OneBound`] would hold. For counting only.
    pub newest: Bounds,
}

/// What the table knows about a node.
#[derive(Clone, Copy, Debug)]
pub struct Probe<M> {
    /// An entry of a permitted depth, if there is one.
    pub found: Option<Entry<M>>,
    /// A move to try first, from an entry of any depth.
    pub hint: Option<M>,
}

/// A table of fixed size.
#[derive(Clone, Debug)]
pub struct Table<M> {
    entries: Vec<Option<Entry<M>>>,
    mode: TableMode,
    kind: Entries,
    replacement: Replacement,
}

impl<M: Copy> Table<M> {
    /// An empty table of `size` entries (at least two), whatever the policy.
    pub fn new(size: usize, mode: TableMode, kind: Entries, replacement: Replacement) -> Table<M> {
        let size = if mode == TableMode::Off { 0 } else { size.max(2) & !1 };
        Table { entries: vec![None; size], mode, kind, replacement }
    }

    /// No table.
    pub fn off() -> Table<M> {
        Table::new(0, TableMode::Off, Entries::TwoBounds, Replacement::Newest)
    }

    /// What its entries hold.
    pub const fn kind(&self) -> Entries {
        self.kind
    }

    /// Entries that may hold the key: one, or two for the two-level policy.
    fn place(&self, key: u64) -> std::ops::Range<usize> {
        let width = if self.replacement == Replacement::TwoLevel { 2 } else { 1 };
        let places = (self.entries.len() / width) as u128;
        // Keys of small games are small numbers: spread them over all bits,
        // then let the high ones choose, without a modulo's bias.
        let spread = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let start = ((u128::from(spread) * places) >> 64) as usize * width;
        start..start + width
    }

    /// Looks a position up.
    pub fn probe(&self, key: u64, depth: u32) -> Probe<M> {
        let mut probe = Probe { found: None, hint: None };
        if self.mode == TableMode::Off {
            return probe;
        }
        for entry in self.entries[self.place(key)].iter().flatten().filter(|e| e.key == key) {
            let usable = match self.mode {
                TableMode::Off => false,
                TableMode::Exact | TableMode::Strict => entry.depth == depth,
                TableMode::Deeper => entry.depth >= depth,
            };
            probe.hint = probe.hint.or(entry.found.best);
            if usable && probe.found.is_none() {
                probe.found = Some(*entry);
            }
        }
        probe
    }

    /// Do an entry's bounds answer a search with this window?
    pub(super) fn settles(&self, bounds: Bounds, window: Window) -> bool {
        let strict = self.mode == TableMode::Strict && !bounds.is_exact();
        bounds.cutoff(window).is_some() && !(strict && bounds.upper == window.alpha)
    }

    /// Stores what a search found. With two bounds, knowledge about the same position
    /// at the same depth is put together, never overwritten.
    pub fn store(&mut self, new: Entry<M>) {
        if self.mode == TableMode::Off {
            return;
        }
        let place = self.place(new.key);
        let entries = &mut self.entries[place];
        let same = |e: &&mut Entry<M>| e.key == new.key && e.depth == new.depth;
        if let Some(old) = entries.iter_mut().flatten().find(same) {
            let bounds = match self.kind {
                Entries::TwoBounds => old.found.bounds.merge(new.found.bounds),
                Entries::OneBound => new.found.bounds,
            };
            // The move must be the one that attains the lower bound.
            let best = if new.found.bounds.lower == bounds.lower {
                new.found.best.or(old.found.best)
            } else {
                old.found.best
            };
            let found = NodeResult { bounds, best };
            *old = Entry { found, size: old.size.max(new.size), ..new };
            return;
        }
        let hint = entries.iter().flatten().find(|e| e.key == new.key).and_then(|e| e.found.best);
        let found = NodeResult { best: new.found.best.or(hint), ..new.found };
        let new = Entry { found, ..new };
        let wins = |old: &Entry<M>| match self.replacement {
            Replacement::Deepest | Replacement::TwoLevel => new.depth >= old.depth,
            Replacement::Largest => new.size >= old.size,
            Replacement::Newest => true,
        };
        match entries {
            [first] if first.as_ref().is_none_or(wins) => *first = Some(new),
            [first, second] if first.as_ref().is_none_or(wins) => {
                *second = first.replace(new);
            }
            [_, second] => *second = Some(new),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(size: usize, mode: TableMode, replacement: Replacement) -> Table<char> {
        Table::new(size, mode, Entries::TwoBounds, replacement)
    }

    fn entry(key: u64, depth: u32, size: u64) -> Entry<char> {
        let bounds = Bounds::exact(7);
        Entry {
            key,
            depth,
            ply: 0,
            size,
            found: NodeResult { bounds, best: Some('a') },
            newest: bounds,
        }
    }

    /// Which of two entries for one place survive, deep and small first.
    fn survivors(replacement: Replacement, first: Entry<char>, second: Entry<char>) -> [bool; 2] {
        let mut table = table(2, TableMode::Exact, replacement);
        table.store(first);
        table.store(second);
        [first, second].map(|e| table.probe(e.key, e.depth).found.is_some())
    }

    #[test]
    fn policies_keep_what_they_say() {
        // Two keys that want the same place.
        let (deep, shallow) = (entry(1, 5, 10), entry(3, 3, 99));
        assert_eq!(survivors(Replacement::Deepest, deep, shallow), [true, false]);
        assert_eq!(survivors(Replacement::Largest, deep, shallow), [false, true]);
        assert_eq!(survivors(Replacement::Largest, shallow, deep), [true, false]);
        assert_eq!(survivors(Replacement::Newest, deep, shallow), [false, true]);
        assert_eq!(survivors(Replacement::TwoLevel, deep, shallow), [true, true]);
        assert_eq!(survivors(Replacement::TwoLevel, shallow, deep), [true, true]);
    }

    #[test]
    fn two_level_keeps_depth_and_the_newest() {
        let mut table = table(2, TableMode::Exact, Replacement::TwoLevel);
        for e in [entry(1, 5, 1), entry(2, 3, 1), entry(3, 2, 1)] {
            table.store(e);
        }
        assert!(table.probe(1, 5).found.is_some());
        assert!(table.probe(2, 3).found.is_none());
        assert!(table.probe(3, 2).found.is_some());
    }

    #[test]
    fn modes_differ_in_depth() {
        for (mode, usable) in [(TableMode::Exact, false), (TableMode::Deeper, true)] {
            let mut table = table(8, mode, Replacement::Newest);
            table.store(entry(1, 5, 1));
            assert_eq!(table.probe(1, 4).found.is_some(), usable);
            assert_eq!(table.probe(1, 4).hint, Some('a'), "a hint at any depth");
            assert!(table.probe(1, 6).found.is_none());
        }
        let mut off = table(8, TableMode::Off, Replacement::Newest);
        off.store(entry(1, 5, 1));
        assert!(off.probe(1, 5).hint.is_none());
    }

    #[test]
    fn bounds_of_one_depth_meet() {
        let mut table = table(8, TableMode::Exact, Replacement::Deepest);
        let mut store = |score: i32, window: Window, best| {
            let newest = Bounds::of(score, window);
            let found = NodeResult { bounds: newest, best };
            table.store(Entry { key: 9, depth: 4, ply: 0, found, size: 1, newest });
            table.probe(9, 4).found.map(|entry| entry.found)
        };
        store(12, Window::null(10), Some('x'));
        let found = store(20, Window::null(20), None);
        assert_eq!(found.map(|f| f.bounds), Some(Bounds::new(12, 20)));
        // Worth at least 5 says less than at least 12: the move stays.
        let found = store(5, Window::null(4), Some('z'));
        assert_eq!(found.and_then(|f| f.best), Some('x'));
        let found = store(12, Window::null(12), None);
        assert_eq!(found, Some(NodeResult { bounds: Bounds::exact(12), best: Some('x') }));
        // A contradiction (an unsound table elsewhere): the newer one stands.
        let found = store(50, Window::null(40), Some('y'));
        assert_eq!(found.map(|f| f.bounds), Some(Bounds::at_least(50)));
    }

    /// The second search of a depth takes the place of the first, and the move stays.
    #[test]
    fn one_bound_forgets_the_other() {
        let mut table = Table::new(8, TableMode::Exact, Entries::OneBound, Replacement::Deepest);
        let mut store = |score: i32, window: Window, best| {
            let newest = Entries::OneBound.keep(Bounds::of(score, window), window);
            table.store(Entry {
                key: 9,
                depth: 4,
                ply: 0,
                found: NodeResult { bounds: newest, best },
                size: 1,
                newest,
            });
            table.probe(9, 4).found.map(|entry| entry.found)
        };
        store(12, Window::null(10), Some('x'));
        let found = store(12, Window::null(12), None);
        assert_eq!(found, Some(NodeResult { bounds: Bounds::at_most(12), best: Some('x') }));
        // Of an interval it keeps the end that decided the window.
        let interval = Bounds::new(3, 8);
        let keep = |alpha| Entries::OneBound.keep(interval, Window::null(alpha));
        assert_eq!([keep(2), keep(8)], [Bounds::at_least(3), Bounds::at_most(8)]);
        assert_eq!(Entries::TwoBounds.keep(interval, Window::null(2)), interval);
        let exact = Bounds::exact(5);
        assert_eq!(Entries::OneBound.keep(exact, Window::null(9)), exact);
    }
}
