//! Syzygy tablebases. This module finds the files, converts their results into bounds on scores,
//! and cuts reported principal variations where they contradict the tablebases. The search decides
//! when to probe.
//!
//! A missing or damaged file is reported once. After that, positions that need it are searched
//! without tablebases.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use shakmaty::{Board, Chess, Color, Move, Position as _, Role};
use shakmaty_syzygy::{
    AmbiguousWdl, Dtz, MaybeRounded, Metric, ProbeError, SyzygyError, Tablebase, Wdl,
};

use crate::{
    chess::{
        movegen::is_checkmate,
        position::{Ending, Game, Position},
        score::{Bounds, DRAW, Score, TABLEBASE_WIN, is_decisive, is_mate},
    },
    play::report::{Info, Note, Reporter, TableFault},
    system::sync::lock,
};

/// Returns a value with or without the fifty-move rule.
const fn under_rule(wdl: Wdl, fifty_moves: bool) -> Wdl {
    match wdl {
        Wdl::CursedWin if !fifty_moves => Wdl::Win,
        Wdl::BlessedLoss if !fifty_moves => Wdl::Loss,
        wdl => wdl,
    }
}

/// Returns the score of a drawn value; `None` for a win or loss. A cursed win is scored above a
/// draw because the opponent may err.
pub(crate) const fn drawn_score(wdl: Wdl) -> Option<Score> {
    match wdl {
        Wdl::Win | Wdl::Loss => None,
        drawn => Some(DRAW + drawn as Score),
    }
}

/// Returns 1 for a win, -1 for a loss and 0 for a draw.
const fn sign(wdl: Wdl) -> i32 {
    wdl as i32 / 2
}

/// Returns bounds on the score of a position with this value. `moves` is the distance in full moves
/// to the next zeroing move (a capture or pawn move), or to the mate, in the winning line.
fn bounds(wdl: Wdl, moves: i32) -> Bounds {
    match wdl {
        // These are only bounds, because the search may find a mate.
        Wdl::Win => Bounds::at_least(TABLEBASE_WIN - moves),
        Wdl::Loss => Bounds::at_most(moves - TABLEBASE_WIN),
        _ => Bounds::exact(drawn_score(wdl).unwrap_or(DRAW)),
    }
}

/// The tablebase result of a root move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Wdl of the move for the side that plays it.
    pub value: Wdl,
    /// Bounds on the score. Of two winning moves, the one with the shorter distance to zeroing has
    /// the higher lower bound. Of two losing moves, the one with the longer distance has the higher
    /// upper bound.
    pub bounds: Bounds,
}

impl Known {
    /// Returns a rank that is larger for better moves.
    pub(crate) const fn rank(&self) -> (Wdl, Score, Score) {
        (self.value, self.bounds.lower, self.bounds.upper)
    }
}

/// The conditions for a probe, from the UCI options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeOptions {
    /// `SyzygyProbeDepth`: minimum remaining depth for a probe, in plies.
    pub probe_depth: i32,
    /// `SyzygyProbeLimit`: maximum number of pieces for a probe.
    pub probe_limit: usize,
    /// `Syzygy50MoveRule`: counts a win as a draw if the fifty-move rule prevents it.
    pub fifty_moves: bool,
}

impl Default for ProbeOptions {
    /// Returns options that probe wherever the tablebases may have the position.
    fn default() -> ProbeOptions {
        ProbeOptions { probe_depth: 1, probe_limit: MAX_PIECES, fifty_moves: true }
    }
}

/// Maximum number of pieces of existing tablebases, including kings.
pub const MAX_PIECES: usize = 7;

/// Moves added to the distance to zeroing if the fifty-move rule may turn the result into a draw.
/// This exceeds every distance that the rule allows.
const DOUBT: i32 = 200;

/// The kinds of tables: file extension and name.
const KINDS: [(&str, &str); 2] = [("rtbw", "WDL"), ("rtbz", "DTZ")];

/// A set of Syzygy tables. Files are opened when they are first needed.
#[derive(Debug)]
pub struct Tablebases {
    tables: Tablebase<Chess>,
    /// Paths of the files, by file name.
    files: HashMap<String, PathBuf>,
    /// The WDL tables by [`material`], for both colours of the stronger side, and whether each is
    /// usable.
    usable: HashMap<u64, AtomicBool>,
    /// Names of the files already reported.
    complaints: Mutex<Vec<String>>,
}

impl Tablebases {
    /// Finds the tables in these directories. Of several files with the same name it uses the
    /// first. Faults of directories and files, and missing tables, are reported through `say`.
    /// Returns `None` if there are no WDL tables.
    pub fn open(directories: &[PathBuf], say: &dyn Fn(&str)) -> Option<Tablebases> {
        let mut files = HashMap::new();
        for directory in directories {
            if let Err(error) = find(directory, &mut files) {
                say(&format!("SyzygyPath: {}: {error}", directory.display()));
            }
        }
        let mut tables = Tablebase::new();
        files.retain(|_, path: &mut PathBuf| match tables.add_file(&*path) {
            Ok(()) => true,
            Err(error) => {
                say(&format!("SyzygyPath: {}: {error}; not used", path.display()));
                false
            }
        });
        for pieces in 3..=tables.max_pieces() {
            for (extension, kind) in KINDS {
                report_missing(pieces, extension, kind, &files, say);
            }
        }
        let count = |extension| files.keys().filter(|name| name.ends_with(extension)).count();
        let [wdl, dtz] = KINDS.map(|(extension, _)| count(extension));
        if wdl + dtz == 0 {
            say("SyzygyPath: no tablebases found");
        } else if wdl == 0 {
            say(&format!("SyzygyPath: {dtz} DTZ tables but no WDL tables; no tablebases are used"));
        } else {
            let pieces = tables.max_pieces();
            say(&format!("SyzygyPath: {wdl} WDL and {dtz} DTZ tables, up to {pieces} pieces"));
        }
        let usable: HashMap<u64, AtomicBool> = files
            .keys()
            .filter_map(|name| name.strip_suffix(".rtbw"))
            .filter_map(materials)
            .flatten()
            .map(|key| (key, AtomicBool::new(true)))
            .collect();
        (!usable.is_empty()).then_some(Tablebases {
            tables,
            files,
            usable,
            complaints: Mutex::default(),
        })
    }

    /// Returns the maximum number of pieces of these tables.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// Returns the WDL value of a position, assuming that its halfmove clock is zero.
    fn wdl(&self, chess: &Chess, reporter: &dyn Reporter) -> Option<Wdl> {
        if chess.board().occupied().count() == 2 {
            // There is no table for bare kings.
            return Some(Wdl::Draw);
        }
        let usable = self.usable.get(&material(chess.board()))?;
        if !usable.load(Relaxed) {
            return None;
        }
        self.tables
            .probe_wdl_after_zeroing(chess)
            .inspect_err(|error| {
                usable.store(false, Relaxed);
                self.complain(error, reporter);
            })
            .ok()
    }

    /// Returns the plies to the next capture, pawn move or mate (DTZ), with the sign of the value.
    fn dtz(&self, chess: &Chess, reporter: &dyn Reporter) -> Option<MaybeRounded<Dtz>> {
        self.tables.probe_dtz(chess).inspect_err(|error| self.complain(error, reporter)).ok()
    }

    /// Reports a file that cannot be used, once.
    fn complain(&self, error: &SyzygyError, reporter: &dyn Reporter) {
        let (metric, material, fault) = match error {
            SyzygyError::MissingTable { metric, material } => {
                (metric, material, TableFault::Missing)
            }
            SyzygyError::ProbeFailed { metric, material, error } => {
                (metric, material, fault(error))
            }
            SyzygyError::Castling | SyzygyError::TooManyPieces => return,
        };
        let (extension, _) = KINDS[usize::from(*metric == Metric::Dtz)];
        let name = format!("{material}.{extension}");
        let mut complaints = lock(&self.complaints);
        if !complaints.contains(&name) {
            let path = self.files.get(&name).map_or(Path::new(&name), PathBuf::as_path);
            reporter.note(&Note::Table { path, fault });
            complaints.push(name);
        }
    }

    /// Returns whether this position could be in the tables.
    fn covers(&self, chess: &Chess, limit: usize) -> bool {
        chess.board().occupied().count() <= limit.min(self.max_pieces())
            && chess.castles().is_empty()
    }
}

/// Cuts reported principal variations where the tablebases contradict their results. The search
/// knows the values of root moves, captures and pawn moves, but other moves of a line may be wrong.
pub(crate) struct Confirming<'a> {
    /// The tables and the conditions for a probe.
    pub prober: Prober<'a>,
    /// The game.
    pub game: &'a Game,
    /// Values of the root moves that the tables know.
    pub values: Vec<(Move, Wdl)>,
    /// Receives the faults of the tablebases.
    pub reporter: &'a dyn Reporter,
}

impl Confirming<'_> {
    /// Cuts the PV where its result changes. The value of the first move gives the expected result.
    /// If it is unknown, the sign of a decisive score gives it. Otherwise, the first position of
    /// the line that is in the tables gives it. A line to mate is not checked, because it proves
    /// its own result. Nor is a line whose result depends on the fifty-move rule.
    pub(crate) fn confirm(&self, info: &mut Info) {
        let Some((first, rest)) = info.pv.split_first() else { return };
        if is_mate(info.score) {
            return;
        }
        let value = self.values.iter().find(|(m, _)| m == first).map(|&(_, value)| value);
        if matches!(value, Some(Wdl::CursedWin | Wdl::BlessedLoss)) {
            // The fifty-move rule may decide, and the values of later positions ignore the clock.
            return;
        }
        let mut game = self.game.clone();
        game.play(*first);
        let of_score = || is_decisive(info.score).then(|| info.score.signum());
        let mut expected = value.map(sign).or_else(of_score).or_else(|| self.sign(&game));
        let confirmed = rest.iter().take_while(|&&m| {
            game.play(m);
            expected = expected.map(|sign| -sign);
            let sign = self.sign(&game);
            expected = expected.or(sign);
            sign.is_none() || sign == expected
        });
        let length = 1 + confirmed.count();
        info.pv.truncate(length);
    }

    /// Returns the result for the side that has just moved: 1 for a win, -1 for a loss, 0 for a
    /// draw, and `None` if it is unknown.
    fn sign(&self, game: &Game) -> Option<i32> {
        match game.ending() {
            Some(Ending::Checkmate) => Some(1),
            Some(Ending::Draw) => Some(0),
            None => Some(-sign(self.prober.value(game.position().chess(), self.reporter)?)),
        }
    }
}

/// The tablebase results of the root moves.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The results, in the order of the moves.
    pub known: Vec<Known>,
    /// Whether the distances are known. With distances, the best-ranked moves convert a win.
    /// Without distances, the search has to find the moves.
    pub distances: bool,
}

/// Returns the result of a move that ends the game by mate or by threefold repetition.
fn over(game: &Game, child: &Position) -> Option<Known> {
    if is_checkmate(child) {
        return Some(Known { value: Wdl::Win, bounds: bounds(Wdl::Win, 1) });
    }
    let before = game.keys().iter().filter(|&&key| key == child.key()).count();
    let repeated = child.halfmoves() > 0 && before >= 2;
    repeated.then_some(Known { value: Wdl::Draw, bounds: Bounds::exact(DRAW) })
}

/// Returns the result of the move `m` that leads to `child`, where `dtz` is the distance to zeroing
/// of `child`.
fn known(m: Move, child: &Position, dtz: MaybeRounded<Dtz>, fifty_moves: bool) -> Known {
    let ambiguous = AmbiguousWdl::from_dtz_and_halfmoves(dtz, child.halfmoves());
    let value = under_rule(-ambiguous.after_zeroing(), fifty_moves);
    // The score of a win or loss decays by one for each move on its way to the root. The result is
    // the score that a search to the zeroing move would return.
    let plies = dtz.ignore_rounding().0.abs() + i32::from(dtz.precise().is_none());
    let moves = match value {
        Wdl::Win if m.is_zeroing() => 1,
        Wdl::Win => (plies + 2) / 2,
        _ if m.is_zeroing() => 0,
        _ => (plies + 1) / 2,
    };
    // If a rounded distance ends exactly at 100 plies, the fifty-move rule may turn the result into
    // a draw. Such a win ranks below all certain wins, and such a loss above all certain losses.
    let doubt = fifty_moves && ambiguous.is_ambiguous();
    Known { value, bounds: bounds(value, moves + if doubt { DOUBT } else { 0 }) }
}

/// The tablebases, with the conditions for probing them.
#[derive(Clone, Copy, Debug)]
pub struct Prober<'a> {
    tables: &'a Tablebases,
    options: ProbeOptions,
}

impl<'a> Prober<'a> {
    /// Returns a prober of `tables` under the conditions of `options`.
    pub const fn new(tables: &'a Tablebases, options: ProbeOptions) -> Prober<'a> {
        Prober { tables, options }
    }

    /// Returns the result of each of `moves` in the position of `game`, taking repetitions into
    /// account. With DTZ tables, the results also take the halfmove clock into account. Without DTZ
    /// tables, they ignore it, and the scores have no bounds. Returns `None` if the tables do not
    /// know the results of all moves.
    pub fn rank_moves(
        &self,
        game: &Game,
        moves: &[Move],
        reporter: &dyn Reporter,
    ) -> Option<Ranking> {
        let position = game.position();
        let ProbeOptions { probe_limit, fifty_moves, .. } = self.options;
        if !self.tables.covers(position.chess(), probe_limit) {
            return None;
        }
        let rank = |f: &dyn Fn(Move, &Position) -> Option<Known>| -> Option<Vec<Known>> {
            moves
                .iter()
                .map(|&m| {
                    let child = position.play(m);
                    over(game, &child).or_else(|| f(m, &child))
                })
                .collect()
        };
        let by_distance = |m: Move, child: &Position| {
            let dtz = self.tables.dtz(child.chess(), reporter)?;
            Some(known(m, child, dtz, fifty_moves))
        };
        let by_value = |_: Move, child: &Position| {
            let wdl = self.tables.wdl(child.chess(), reporter)?;
            let value = under_rule(-wdl, fifty_moves);
            Some(Known { value, bounds: Bounds::NONE })
        };
        if let Some(known) = rank(&by_distance) {
            return Some(Ranking { known, distances: true });
        }
        Some(Ranking { known: rank(&by_value)?, distances: false })
    }

    /// Returns bounds on the score of a position with this remaining `depth`. Probes only positions
    /// after a capture or pawn move. Their halfmove clock is zero, so the value is exact. This also
    /// keeps the number of probes small. A successful probe increments `hits`.
    pub fn probe(
        &self,
        position: &Position,
        depth: i32,
        hits: &AtomicU64,
        reporter: &dyn Reporter,
    ) -> Option<Bounds> {
        if position.halfmoves() != 0 || depth < self.options.probe_depth {
            return None;
        }
        let value = self.value(position.chess(), reporter)?;
        hits.fetch_add(1, Relaxed);
        Some(bounds(value, 0))
    }

    /// Returns the value of a position for the side to move.
    fn value(&self, chess: &Chess, reporter: &dyn Reporter) -> Option<Wdl> {
        let ProbeOptions { probe_limit, fifty_moves, .. } = self.options;
        if !self.tables.covers(chess, probe_limit) {
            return None;
        }
        Some(under_rule(self.tables.wdl(chess, reporter)?, fifty_moves))
    }
}

/// Splits a list of directories that is separated like PATH.
pub fn directories(list: &str) -> Vec<PathBuf> {
    std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Adds the table files in `directory` whose names are not in `files` yet.
fn find(directory: &Path, files: &mut HashMap<String, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let is_table = name.rsplit_once('.').is_some_and(|(stem, extension)| {
            KINDS.iter().any(|(known, _)| *known == extension) && materials(stem).is_some()
        });
        if is_table {
            files.entry(name.to_owned()).or_insert(path);
        }
    }
    Ok(())
}

/// Maximum number of file names in a message.
const NAMES_AT_ONCE: usize = 25;

/// Reports the missing tables of a kind and number of pieces.
fn report_missing(
    pieces: usize,
    extension: &str,
    kind: &str,
    files: &HashMap<String, PathBuf>,
    say: &dyn Fn(&str),
) {
    let all = names(pieces);
    let missing: Vec<String> = all
        .iter()
        .map(|name| format!("{name}.{extension}"))
        .filter(|name| !files.contains_key(name))
        .collect();
    let tables = format!("{} {kind} tables with {pieces} pieces", all.len());
    if missing.len() == all.len() {
        return say(&format!("SyzygyPath: missing all {tables}"));
    }
    for names in missing.chunks(NAMES_AT_ONCE) {
        let missing = missing.len();
        say(&format!("SyzygyPath: missing {missing} of {tables}: {}", names.join(" ")));
    }
}

/// Returns the names of all tables with this number of pieces, such as `KQvKR`.
fn names(pieces: usize) -> Vec<String> {
    let others = pieces.saturating_sub(2);
    let mut names = Vec::new();
    for weaker in 0..=others / 2 {
        let stronger = others - weaker;
        let (strong, weak) = (armies(stronger), armies(weaker));
        for (i, first) in strong.iter().enumerate() {
            // With equal numbers of pieces the stronger side comes first.
            let from = if stronger == weaker { i } else { 0 };
            names.extend(weak[from..].iter().map(|second| format!("K{first}vK{second}")));
        }
    }
    names
}

/// Returns all combinations of `count` pieces, the strongest first.
fn armies(count: usize) -> Vec<String> {
    let mut armies = vec![String::new()];
    for _ in 0..count {
        armies = armies
            .iter()
            .flat_map(|army| {
                let last = army.chars().last().unwrap_or('Q');
                let rest = "QRBNP".chars().skip_while(move |&piece| piece != last);
                rest.map(move |piece| format!("{army}{piece}"))
            })
            .collect();
    }
    armies
}

/// Returns a key for the material on the board: four bits for each role and colour.
fn material(board: &Board) -> u64 {
    let side = |color: Color| -> u64 {
        Role::ALL.iter().map(|&role| count(role, board.by_piece(role.of(color)).count())).sum()
    };
    side(Color::White) | side(Color::Black) << 24
}

const fn count(role: Role, pieces: usize) -> u64 {
    (pieces as u64) << (4 * (role as u32 - 1))
}

/// Returns the two [`material`] keys of a table's name; `None` if the name is not valid.
fn materials(name: &str) -> Option<[u64; 2]> {
    let (white, black) = name.split_once('v')?;
    let side = |pieces: &str| -> Option<u64> {
        let roles = pieces.chars().map(|piece| Role::from_char(piece).map(|role| count(role, 1)));
        roles.sum::<Option<u64>>().filter(|_| pieces.starts_with('K'))
    };
    if name.len() > MAX_PIECES + 1 {
        return None;
    }
    let (white, black) = (side(white)?, side(black)?);
    Some([white | black << 24, black | white << 24])
}

const fn fault(error: &ProbeError) -> TableFault<'_> {
    match error {
        ProbeError::Read { error } => TableFault::Unreadable(error),
        ProbeError::Magic { .. } => TableFault::Kind,
        ProbeError::CorruptedTable { .. } => TableFault::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::chess::score::{DECISIVE, Delay};

    #[test]
    fn missing_tables_are_all_named() {
        let said = |pieces, found: usize| {
            let there = names(pieces).into_iter().take(found);
            let files = there.map(|name| (format!("{name}.rtbw"), PathBuf::new())).collect();
            let lines = std::cell::RefCell::new(Vec::new());
            report_missing(pieces, "rtbw", "WDL", &files, &|line| {
                lines.borrow_mut().push(line.to_owned());
            });
            lines.into_inner()
        };
        assert_eq!(said(3, 5), [""; 0]);
        assert_eq!(said(3, 0), ["SyzygyPath: missing all 5 WDL tables with 3 pieces"]);
        let lines = said(5, 1);
        assert_eq!(lines.len(), 5);
        for name in &names(5)[1..] {
            let name = format!(" {name}.rtbw");
            assert_eq!(lines.iter().filter(|line| line.contains(&name)).count(), 1, "{name}");
        }
        assert!(lines.iter().all(|line| {
            line.starts_with("SyzygyPath: missing 109 of 110 WDL tables with 5 pieces: K")
                && line.len() < 400
        }));
    }

    /// There are as many names as published tables for each number of pieces, without duplicates.
    #[test]
    fn names_are_complete() {
        for (pieces, count) in [(3, 5), (4, 30), (5, 110), (6, 365), (7, 1001)] {
            let names = names(pieces);
            assert_eq!(names.len(), count);
            let keys: HashSet<[u64; 2]> = names
                .iter()
                .map(|name| {
                    let mut keys = materials(name).unwrap();
                    keys.sort_unstable();
                    keys
                })
                .collect();
            assert_eq!(keys.len(), count);
        }
        let four = names(4);
        for name in ["KQvKR", "KBNvK", "KPPvK", "KQQvK", "KNvKP"] {
            assert!(four.iter().any(|n| n == name), "{name}");
        }
        for name in ["", "KQ", "QvK", "KQvR", "KXvK", "KQvKRv", "KQQQQQQvK", "kqvk"] {
            assert_eq!(materials(name), None, "{name}");
        }
    }

    #[test]
    fn names_match_the_material_on_the_board() {
        let position = |fen: &str| Position::from_fen(fen).unwrap();
        let key = |fen: &str| material(position(fen).board());
        let [ours, theirs] = materials("KQPvKR").unwrap();
        assert_eq!(key("8/8/8/3k1r2/8/8/1P6/KQ6 w - - 0 1"), ours);
        assert_eq!(key("8/1p6/8/3K1R2/8/8/8/kq6 w - - 0 1"), theirs);
    }

    /// Bounds decay like the scores of a search: by one centipawn for each move.
    #[test]
    fn bounds_age_like_scores() {
        let parent = |score: Score| -Delay::MATES.score(score);
        // A zeroing move now, and one on the next move.
        let lost = bounds(Wdl::Loss, 0).upper;
        assert_eq!(parent(lost), bounds(Wdl::Win, 1).lower);
        assert_eq!(parent(parent(lost)), bounds(Wdl::Loss, 1).upper);
        assert!(bounds(Wdl::Win, 600 + DOUBT).lower > DECISIVE, "the longest wins stay decisive");
        assert_eq!(bounds(Wdl::CursedWin, 9).refine(500), 1);
        assert_eq!(bounds(Wdl::Draw, 9).refine(-500), 0);
    }
}
