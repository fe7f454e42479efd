//! A cell of the lab, which is one choice on every axis, and the cells of a run.

use std::{collections::HashSet, fmt};

use clap::ValueEnum;
use serde::{Serialize, Serializer};

use super::{
    delay::ScoreDelay,
    interior::Interior,
    root::Root,
    table::{Entries, Replacement, TableMode},
};
use lancet::{chess::score::Score, system::arguments};

/// One choice on every axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The algorithm inside the tree.
    pub interior: Interior,
    /// The root driver.
    pub root: Root,
    /// Aspiration: half the width of the first window, in centipawns.
    pub window: Score,
    /// Which table entries may be used.
    pub table: TableMode,
    /// The contents of a table entry.
    pub entries: Entries,
    /// Which entries are kept in the table.
    pub replacement: Replacement,
    /// The number of table entries.
    pub size: usize,
    /// The score delay: how a node changes the score that it returns.
    pub delay: ScoreDelay,
}

/// Returns the name of an axis value on the command line and in tables.
pub fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
}

impl Cell {
    /// The axes, in the order of their [columns](Cell::columns).
    pub(super) const AXES: [&str; 8] =
        ["interior", "root", "window", "table", "entries", "replacement", "size", "delay"];

    /// The search that the lecture notes recommend (aspiration at the root, PVS inside the tree),
    /// with the two-level replacement scheme. [`Axes::all`] varies its axes.
    pub const ADVICE: Cell = Cell {
        interior: Interior::Pvs,
        root: Root::AspGradual,
        window: 50,
        table: TableMode::Exact,
        entries: Entries::TwoBounds,
        replacement: Replacement::TwoLevel,
        size: 1 << 16,
        delay: ScoreDelay::None,
    };

    /// Returns whether this cell must return the true score.
    pub fn is_sound(&self) -> bool {
        let parts = self.root.is_sound() && self.delay.is_sound() && !self.interior.is_printed();
        parts && self.table != TableMode::Deeper
    }

    /// Returns whether this cell searches every move of (nearly) every node. Such cells are
    /// searched to a small depth only.
    pub fn is_exhaustive(&self) -> bool {
        matches!(self.interior, Interior::Minimax | Interior::StopAtWin)
    }

    /// Returns the cell with [`Cell::ADVICE`]'s values on axes that have no meaning for it:
    /// entries, replacement and size without a table, and the window without aspiration.
    fn normal(self) -> Cell {
        let window = if self.root.aspires() { self.window } else { Cell::ADVICE.window };
        let Cell { entries, replacement, size, .. } =
            if self.table == TableMode::Off { Cell::ADVICE } else { self };
        Cell { window, entries, replacement, size, ..self }
    }

    /// Returns the eight columns of a table, with a dash where an axis has no meaning.
    pub fn columns(&self) -> [String; 8] {
        let with_table = |text: String| {
            if self.table == TableMode::Off { "-".to_owned() } else { text }
        };
        [
            name(self.interior),
            name(self.root),
            if self.root.aspires() { self.window.to_string() } else { "-".to_owned() },
            name(self.table),
            with_table(name(self.entries)),
            with_table(name(self.replacement)),
            with_table(self.size.to_string()),
            name(self.delay),
        ]
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.columns().join(" "))
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Cell::AXES.iter().zip(self.columns()))
    }
}

/// The given values of each axis. An axis without values is open.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Axes")]
pub struct Axes {
    /// Algorithms inside the tree
    #[arg(long, value_enum, value_delimiter = ',')]
    pub interior: Vec<Interior>,
    /// Root drivers
    #[arg(long, value_enum, value_delimiter = ',')]
    pub root: Vec<Root>,
    /// Aspiration: half the width of the first window, in centipawns
    #[arg(long, value_delimiter = ',', value_parser = arguments::whole::<i32>(1..=30_000))]
    pub window: Vec<Score>,
    /// Which table entries may be used
    #[arg(long, value_enum, value_delimiter = ',')]
    pub table: Vec<TableMode>,
    /// Contents of a table entry
    #[arg(long, value_enum, value_delimiter = ',')]
    pub entries: Vec<Entries>,
    /// Which entry is kept when two positions map to the same bucket of the table
    #[arg(long, value_enum, value_delimiter = ',')]
    pub replacement: Vec<Replacement>,
    /// Table sizes, in entries; odd sizes are rounded down
    #[arg(long, value_delimiter = ',', value_parser = arguments::whole::<usize>(2..=1 << 28))]
    pub size: Vec<usize>,
    /// Score delay: how a node changes the score that it returns
    #[arg(long, value_enum, value_delimiter = ',')]
    pub delay: Vec<ScoreDelay>,
    /// Compare every algorithm, and vary every other axis one at a time. If values are given for
    /// some axes, use all values of the others, except --window and --size
    #[arg(long)]
    pub all: bool,
}

impl Axes {
    /// Returns the cells of a run. If no values are given, these are the ten default cells or, with
    /// `all`, the [`star`]. Otherwise they are all combinations of the given values. An open axis
    /// stays at [`Cell::ADVICE`] or, with `all`, takes all its values (sizes and windows stay).
    pub fn cells(&self) -> Vec<Cell> {
        if (Axes { all: false, ..self.clone() }) == Axes::default() {
            return if self.all { star() } else { few() };
        }
        let mut cells = vec![Cell::ADVICE];
        spread(&mut cells, self.values(&self.interior), |c, v| c.interior = v);
        spread(&mut cells, self.values(&self.root), |c, v| c.root = v);
        spread(&mut cells, &self.window, |c, v| c.window = v);
        spread(&mut cells, self.values(&self.table), |c, v| c.table = v);
        spread(&mut cells, self.values(&self.entries), |c, v| c.entries = v);
        spread(&mut cells, self.values(&self.replacement), |c, v| c.replacement = v);
        spread(&mut cells, &self.size, |c, v| c.size = v);
        spread(&mut cells, self.values(&self.delay), |c, v| c.delay = v);
        distinct(cells)
    }

    /// Returns the given values of an axis, or all values of an open axis with `all`.
    fn values<'a, T: ValueEnum>(&self, asked: &'a [T]) -> &'a [T] {
        if self.all && asked.is_empty() { T::value_variants() } else { asked }
    }
}

/// Combines every cell with every value. Without values, the cells stay unchanged.
fn spread<T: Copy>(cells: &mut Vec<Cell>, values: &[T], set: impl Fn(&mut Cell, T)) {
    if values.is_empty() {
        return;
    }
    let with = |cell: &Cell, value: T| {
        let mut cell = *cell;
        set(&mut cell, value);
        cell
    };
    *cells = cells.iter().flat_map(|cell| values.iter().map(move |&v| with(cell, v))).collect();
}

/// Returns the cells of the default run: four root drivers with PVS, four other interiors with the
/// full window, and two cells without a table.
fn few() -> Vec<Cell> {
    use Interior::{Bounds, FailHard, FailSoft, Minimax, Pvs, Scout};
    let drivers = [Root::AspGradual, Root::Full, Root::Bisection, Root::Mtdf];
    let over_pvs = drivers.map(|root| (Pvs, root));
    let inside = [Scout, Bounds, FailSoft, FailHard].map(|interior| (interior, Root::Full));
    let cell = |(interior, root)| Cell { interior, root, ..Cell::ADVICE };
    let with_table = over_pvs.into_iter().chain(inside).map(cell);
    let without = [(Pvs, Root::AspGradual), (Minimax, Root::Full)].map(cell);
    with_table.chain(without.map(|cell| Cell { table: TableMode::Off, ..cell })).collect()
}

/// Returns every interior with its root drivers, and every other axis varied one at a time around
/// [`Cell::ADVICE`].
fn star() -> Vec<Cell> {
    let advice = Cell::ADVICE;
    let fail_soft = Cell { interior: Interior::FailSoft, ..advice };
    let mut cells = Vec::new();
    for &interior in Interior::value_variants() {
        let cell = Cell { interior, ..advice };
        if cell.is_exhaustive() || interior.is_printed() {
            cells.push(Cell { root: Root::Full, table: TableMode::Off, ..cell });
            continue;
        }
        let few = [Root::Full, Root::AspGradual, Root::Mtdf];
        let shown = |root: &&Root| {
            if interior.is_variant() { few.contains(root) } else { root.is_sound() }
        };
        let roots = Root::value_variants().iter().filter(shown);
        cells.extend(roots.map(|&root| Cell { root, ..cell }));
    }
    cells.extend([
        Cell { root: Root::Full, table: TableMode::Off, ..fail_soft },
        Cell { table: TableMode::Off, ..advice },
        Cell { table: TableMode::Deeper, ..advice },
        Cell { table: TableMode::Strict, ..advice },
        Cell { root: Root::AspPrinted, ..fail_soft },
        Cell { root: Root::BisectionPrinted, ..fail_soft },
        Cell { root: Root::Mtdf, table: TableMode::Deeper, ..fail_soft },
        Cell { root: Root::MtdfLoop, table: TableMode::Deeper, ..fail_soft },
    ]);
    for root in [Root::AspGradual, Root::AspFull] {
        cells.extend([8, 17, 200].map(|window| Cell { root, window, ..advice }));
    }
    for root in [Root::AspGradual, Root::Mtdf, Root::Bisection] {
        cells.push(Cell { entries: Entries::OneBound, root, ..advice });
    }
    cells.extend(Replacement::value_variants().iter().map(|&r| Cell { replacement: r, ..advice }));
    cells.extend([1 << 12, 1 << 20].map(|size| Cell { size, ..advice }));
    cells.extend(ScoreDelay::value_variants().iter().map(|&delay| Cell { delay, ..advice }));
    distinct(cells)
}

/// Returns each cell once, in order.
fn distinct(cells: Vec<Cell>) -> Vec<Cell> {
    let mut seen = HashSet::new();
    cells.into_iter().map(Cell::normal).filter(|&cell| seen.insert(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of<T: ValueEnum + PartialEq>(cells: &[Cell], get: impl Fn(&Cell) -> T) -> bool {
        T::value_variants().iter().all(|v| cells.iter().any(|c| get(c) == *v))
    }

    #[test]
    fn star_has_every_value_of_every_axis() {
        let cells = Axes { all: true, ..Axes::default() }.cells();
        assert!(all_of(&cells, |c| c.interior));
        assert!(all_of(&cells, |c| c.root));
        assert!(all_of(&cells, |c| c.table));
        assert!(all_of(&cells, |c| c.entries));
        assert!(all_of(&cells, |c| c.replacement));
        assert!(all_of(&cells, |c| c.delay));
        assert!(cells.contains(&Cell::ADVICE));
        let few = Axes::default().cells();
        assert_eq!(few.len(), 10);
        assert!(few.iter().all(|cell| cell.is_sound() && cells.contains(cell)));
    }

    #[test]
    fn products() {
        let axes = Axes {
            interior: vec![Interior::Pvs, Interior::FailSoft],
            table: vec![TableMode::Off, TableMode::Exact],
            replacement: vec![Replacement::Newest, Replacement::Deepest],
            ..Axes::default()
        };
        // Two interiors with (off, exact newest, exact deepest).
        assert_eq!(axes.cells().len(), 6);
        // `all` adds eleven root drivers, ten delays and, with a table, two kinds of entries.
        assert_eq!(Axes { all: true, ..axes }.cells().len(), (2 + 4 * 2) * 11 * 10);
    }
}
