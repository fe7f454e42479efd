//! The lab's transposition table, with entries that hold one or two bounds, and with all
//! replacement schemes that the Scout notes name (Breuker 1994).

use clap::ValueEnum;

use super::game::NodeResult;
use lancet::chess::score::{Bounds, Window};

/// The axis "table": which entries may be used for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum TableMode {
    /// No table, not even for moves.
    Off,
    /// Only entries of the same depth; scores are the same as without a table.
    Exact,
    /// Entries of the same or a greater depth; scores may differ.
    Deeper,
    /// `exact` with a strict test: an upper bound is used only if it is below alpha.
    Strict,
}

/// The axis "entries": the bounds that an entry holds. The Scout notes have both kinds, in two
/// tables.
///
/// A table size is a number of entries, and an entry of either kind has the same size. With scores
/// of 16 bits, as in the playing search, one bound and a flag of two bits save only 14 of 128 bits,
/// too few for another use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Entries {
    /// A lower and an upper bound; results of the same depth are merged.
    TwoBounds,
    /// One score with a flag: exact, lower bound or upper bound. A later result of the same depth
    /// replaces an earlier one.
    OneBound,
}

impl Entries {
    /// Returns the part of the bounds found with `window` that an entry keeps: both bounds, or the
    /// one that decided the window.
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

/// The axis "replacement": which entry is kept when two positions map to the same bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Replacement {
    /// Keep the deeper entry; if they are equally deep, the newer one.
    Deepest,
    /// Keep the entry with the larger subtree; if both are equally large, the newer one.
    Largest,
    /// Always keep the newer entry.
    Newest,
    /// Two entries per bucket: one kept for its depth, one always replaced. A new entry at least as
    /// deep as the first replaces it, and the old first entry becomes the second.
    TwoLevel,
}

/// One position's entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry<M> {
    /// The whole key, so that the entry of another position is almost never taken for this one.
    pub key: u64,
    /// Plies searched below the position.
    pub depth: u32,
    /// Plies from the root to the position; for counting only.
    pub ply: u32,
    /// The result of that search, relative to the position and not to the root. (Only the classical
    /// score delay adjusts scores by the ply, in [`to_table`](super::delay::ScoreDelay::to_table).)
    pub found: NodeResult<M>,
    /// Nodes in the searched subtree.
    pub size: u64,
    /// The one bound that the newest search found, which is all that an entry of
    /// [`Entries::OneBound`] would hold; for counting only.
    pub newest: Bounds,
}

/// The result of looking up a node.
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
    /// Creates an empty table of `size` entries, rounded down to an even number, but at least two.
    pub fn new(size: usize, mode: TableMode, kind: Entries, replacement: Replacement) -> Table<M> {
        let size = if mode == TableMode::Off { 0 } else { size.max(2) & !1 };
        Table { entries: vec![None; size], mode, kind, replacement }
    }

    /// Creates a table that stores nothing.
    pub fn off() -> Table<M> {
        Table::new(0, TableMode::Off, Entries::TwoBounds, Replacement::Newest)
    }

    /// Returns the kind of the entries.
    pub const fn kind(&self) -> Entries {
        self.kind
    }

    /// Returns the indices of the entries that may hold the key: one, or two with two levels.
    fn place(&self, key: u64) -> std::ops::Range<usize> {
        let width = if self.replacement == Replacement::TwoLevel { 2 } else { 1 };
        let places = (self.entries.len() / width) as u128;
        // Keys of small games are small numbers. Spread them over all bits, and choose by the high
        // bits, without the bias of a modulo.
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
            let is_deeper = self.mode == TableMode::Deeper && entry.depth > depth;
            let usable = is_deeper || entry.depth == depth;
            probe.hint = probe.hint.or(entry.found.best);
            if usable && probe.found.is_none() {
                probe.found = Some(*entry);
            }
        }
        probe
    }

    /// Returns whether an entry's bounds settle a search with this window.
    pub(super) fn settles(&self, bounds: Bounds, window: Window) -> bool {
        let strict = self.mode == TableMode::Strict && !bounds.is_exact();
        bounds.cutoff(window).is_some() && !(strict && bounds.upper == window.alpha)
    }

    /// Stores the result of a search. With two bounds per entry, results for the same position and
    /// depth are merged.
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

    /// Returns which of two entries for one place survive.
    fn survivors(replacement: Replacement, first: Entry<char>, second: Entry<char>) -> [bool; 2] {
        let mut table = table(2, TableMode::Exact, replacement);
        table.store(first);
        table.store(second);
        [first, second].map(|e| table.probe(e.key, e.depth).found.is_some())
    }

    #[test]
    fn policies_keep_what_they_say() {
        // Two keys that need the same place.
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
        // At least 5 is weaker than at least 12, so the move stays.
        let found = store(5, Window::null(4), Some('z'));
        assert_eq!(found.and_then(|f| f.best), Some('x'));
        let found = store(12, Window::null(12), None);
        assert_eq!(found, Some(NodeResult { bounds: Bounds::exact(12), best: Some('x') }));
        // After a contradiction (from an unsound table elsewhere), the newer result is kept.
        let found = store(50, Window::null(40), Some('y'));
        assert_eq!(found.map(|f| f.bounds), Some(Bounds::at_least(50)));
    }

    /// The second result of a depth replaces the first, and the move stays.
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
        // An entry keeps the end of an interval that decided the window.
        let interval = Bounds::new(3, 8);
        let keep = |alpha| Entries::OneBound.keep(interval, Window::null(alpha));
        assert_eq!([keep(2), keep(8)], [Bounds::at_least(3), Bounds::at_most(8)]);
        assert_eq!(Entries::TwoBounds.keep(interval, Window::null(2)), interval);
        let exact = Bounds::exact(5);
        assert_eq!(Entries::OneBound.keep(exact, Window::null(9)), exact);
    }
}
