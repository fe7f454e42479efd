//! The file of a study. Each event that changed the tree is a line with a checksum and JSON.
//!
//! Lines are only appended. If the process is killed, only the searches in progress are lost. A
//! power failure also loses the last ten seconds, which may not have reached the disk.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Seek as _},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Move};

use super::tree::{Id, RestSearch, Tree};
use crate::{
    chess::{
        notation::{move_text, read_move},
        pgn::{Game, Item, Variation, read::Games, write::write},
        position::Position,
        score::{MATE, Score},
    },
    engine::DEPTH_RANGE,
    system::{
        files,
        journal::{self, Lines, line, value},
    },
};

/// Maximum age of data that has not been written to the disk.
const SYNC: Duration = Duration::from_secs(10);
/// Version of the format.
const FORMAT: u32 = 1;
/// Maximum number of nodes of all searches; no machine reaches it.
const MOST_NODES: u64 = 1 << 60;

/// A line of the file. Moves are in UCI notation, with castling as king takes rook. Positions are
/// identified by their keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Event {
    /// The first line.
    Study { format: u32, start: String, chess960: bool },
    /// The game that is studied, with the moves played so far. The last such line counts.
    Game {
        tags: Vec<(String, String)>,
        moves: Vec<String>,
        /// The moves as PGN with annotations; empty without annotations.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        annotated: String,
    },
    /// A move gets a node, or is pinned or unpinned.
    Move { at: String, m: String, pinned: bool },
    /// The result of a search of the moves without nodes.
    Search { at: String, score: Score, depth: u32, nodes: u64, line: Vec<String>, exact: bool },
}

/// Returns the name of a position: its key in hexadecimal.
fn name(position: &Position) -> String {
    format!("{:016x}", position.key())
}

/// A studied game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// The tags of the PGN file.
    pub tags: Vec<(String, String)>,
    /// The moves from the start position.
    pub moves: Vec<Move>,
    /// The same moves with their annotations; empty without annotations.
    pub annotated: Variation,
}

impl Played {
    /// Returns a PGN game with the tags but without moves.
    pub(super) fn game(&self) -> Game {
        Game { line: 1, tags: self.tags.clone(), main: Variation::default(), outcome: None }
    }

    /// Returns the annotations of the move after `ply` plies.
    pub(super) fn items(&self, ply: usize) -> &[Item] {
        self.annotated.moves.get(ply).map_or(&[], |node| &node.items)
    }

    /// Returns whether `other` adds nothing: it has fewer moves, or the same moves without tags.
    pub(super) fn includes(&self, other: &Played) -> bool {
        let fewer = other.moves.len() < self.moves.len();
        self.moves.starts_with(&other.moves) && (fewer || other.tags.is_empty())
    }
}

/// A tree with its file.
#[derive(Debug)]
pub struct Study {
    path: PathBuf,
    file: File,
    tree: Tree,
    played: Played,
    /// Total nodes of all searches.
    nodes: u64,
    /// Time of the first write that may not have reached the disk.
    unsynced: Option<Instant>,
    /// Numbers of the unusable lines, with the reasons.
    damaged: BTreeMap<usize, String>,
}

impl Study {
    /// Opens a study, or creates it with this start position. Locks the file against other writers.
    ///
    /// # Errors
    ///
    /// The same as for [`Study::open`].
    pub fn open_or_begin(path: &Path, start: &Position) -> anyhow::Result<Study> {
        Study::read(path, Some(start)).with_context(|| path.display().to_string())
    }

    /// Opens a study. Locks the file against other writers.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written, is in use, or is not a study.
    pub fn open(path: &Path) -> anyhow::Result<Study> {
        Study::read(path, None).with_context(|| path.display().to_string())
    }

    /// Reads a study. Creates it if there is a start position and the file is empty.
    fn read(path: &Path, start: Option<&Position>) -> anyhow::Result<Study> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(start.is_some()).truncate(false);
        let mut file = options.open(path)?;
        ensure!(file.metadata()?.is_file(), "expected a file, found a device or pipe");
        files::claim_data(&file, "another run is growing this study")?;
        // Check for an empty file under the lock, so that no other process creates the same study.
        if let Some(start) = start
            && file.metadata()?.len() == 0
        {
            let (start, chess960) = (start.fen(), start.mode().is_chess960());
            let line = line(&Event::Study { format: FORMAT, start, chess960 })?;
            journal::append(&mut file, line.as_bytes())?;
            file.sync_data()?;
            file.rewind()?;
        }
        let mut lines = Lines::new(file.try_clone()?);
        let start = match value(lines.next_line()?.unwrap_or_default()) {
            Ok(Event::Study { format: FORMAT, start, chess960 }) => {
                Position::from_fen_in(&start, CastlingMode::from_chess960(chess960))?
            }
            Ok(Event::Study { format, .. }) => bail!("format {format}: expected format {FORMAT}"),
            _ => bail!("not a study: the first line is not its header, or is damaged"),
        };
        let mut study = Study {
            path: path.to_owned(),
            file,
            tree: Tree::new(start),
            played: Played::default(),
            nodes: 0,
            unsynced: None,
            damaged: BTreeMap::new(),
        };
        for number in 2.. {
            let Some(line) = lines.next_line()? else { break };
            if let Err(reason) = study.apply(line) {
                study.damaged.insert(number, format!("{reason:#}"));
            }
        }
        study.file = lines.end()?;
        Ok(study)
    }

    /// Returns whether `path` is the file of a study, even if its header is damaged. `path` may name
    /// any file, or none.
    pub fn is_one(path: &Path) -> bool {
        let mut head = Vec::new();
        let read = files::open_regular(path).and_then(|file| {
            BufReader::new(io::Read::take(file, 1 << 12)).read_until(b'\n', &mut head)
        });
        read.is_ok() && journal::is_line(&head)
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the tree.
    pub const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the tree for changes that are not kept in the file.
    pub(super) const fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }

    /// Returns the studied game.
    pub const fn played(&self) -> &Played {
        &self.played
    }

    /// Returns the total nodes of all searches.
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the numbers of the unusable lines, counted from 1, with the reasons. Their contents
    /// are lost.
    pub const fn damaged(&self) -> &BTreeMap<usize, String> {
        &self.damaged
    }

    /// Returns the nodes of the game: the start and the node after each move.
    pub fn game_nodes(&self) -> Vec<Id> {
        self.tree.walk(&self.played.moves)
    }

    /// Sets the studied game and pins its moves.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn play(&mut self, played: &Played) -> anyhow::Result<()> {
        if *played != self.played {
            let (tags, moves) = (played.tags.clone(), texts(&played.moves));
            let annotated = match &played.annotated {
                line if line.moves.is_empty() && line.lead.is_empty() => String::new(),
                line => write(&Game { main: line.clone(), ..Played::default().game() }, 0),
            };
            self.append(&Event::Game { tags, moves, annotated })?;
            self.played = played.clone();
        }
        self.add_line(&played.moves, Some(true)).map(drop)
    }

    /// Adds nodes for all moves of a line from the start, and pins or unpins them if `pinned` says
    /// so. Returns the last node.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(super) fn add_line(&mut self, moves: &[Move], pinned: Option<bool>) -> anyhow::Result<Id> {
        moves.iter().try_fold(Tree::START, |at, &m| self.add(at, m, pinned))
    }

    /// Checks that a line from the start can be unpinned.
    ///
    /// # Errors
    ///
    /// If the line is empty, a move of it is not pinned, or the studied game or a pinned line
    /// continues from its end.
    pub(super) fn check_unpin(&self, moves: &[Move]) -> Result<(), &'static str> {
        let edges = self.edges(moves);
        let is_pinned =
            |&(at, m): &(Id, Move)| self.tree.node(at).edge(m).is_some_and(|e| e.pinned);
        let is_whole = edges.len() == moves.len() && edges.iter().all(is_pinned);
        let Some(last) = edges.last().filter(|_| is_whole) else { return Err("is not pinned") };
        if self.edges(&self.played.moves).contains(last) {
            Err("belongs to the studied game")
        } else if self.tree.walk(moves).last().is_some_and(|&end| self.has_pinned_move(end)) {
            Err("is part of a longer pinned line")
        } else {
            Ok(())
        }
    }

    /// Unpins a line, from its end back to a move of the studied game, or to the point where
    /// another pinned line branches off.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(super) fn unpin(&mut self, moves: &[Move]) -> anyhow::Result<()> {
        let game = self.edges(&self.played.moves);
        for edge in self.edges(moves).into_iter().rev().take_while(|edge| !game.contains(edge)) {
            self.add(edge.0, edge.1, Some(false))?;
            if self.has_pinned_move(edge.0) {
                break;
            }
        }
        Ok(())
    }

    /// Returns the moves of a line with the nodes before them, as far as these exist.
    fn edges(&self, moves: &[Move]) -> Vec<(Id, Move)> {
        self.tree.walk(moves).into_iter().zip(moves.iter().copied()).collect()
    }

    /// Returns whether a pinned move leads on from this node.
    fn has_pinned_move(&self, at: Id) -> bool {
        self.tree.node(at).edges.iter().any(|edge| edge.pinned)
    }

    /// Adds a node for a legal move, unless it has one. Pins or unpins the move if `pinned` is set.
    /// Returns the node.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn add(&mut self, at: Id, m: Move, pinned: Option<bool>) -> anyhow::Result<Id> {
        let node = self.tree.node(at);
        let old = node.edge(m).copied();
        let pinned = pinned.unwrap_or(old.is_some_and(|edge| edge.pinned));
        if let Some(edge) = old
            && edge.pinned == pinned
        {
            return Ok(edge.to);
        }
        let (name, text) = (name(&node.position), move_text(m, CastlingMode::Chess960));
        self.append(&Event::Move { at: name, m: text, pinned })?;
        let to = self.tree.add(at, m);
        self.tree.pin(at, m, pinned);
        Ok(to)
    }

    /// Adds the result of a search.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn found(&mut self, at: Id, found: RestSearch) -> anyhow::Result<()> {
        let RestSearch { score, depth, nodes, ref line, exact } = found;
        let (name, line) = (name(&self.tree.node(at).position), texts(line));
        self.append(&Event::Search { at: name, score, depth, nodes, line, exact })?;
        self.nodes += nodes;
        self.tree.found(at, found);
        Ok(())
    }

    /// Writes all data to the disk.
    ///
    /// # Errors
    ///
    /// If the file cannot be synchronised.
    pub(super) fn sync(&mut self) -> anyhow::Result<()> {
        if self.unsynced.is_some() {
            self.file.sync_data().with_context(|| self.path.display().to_string())?;
            self.unsynced = None;
        }
        Ok(())
    }

    fn append(&mut self, event: &Event) -> anyhow::Result<()> {
        let line = line(event)?;
        journal::append(&mut self.file, line.as_bytes())
            .with_context(|| self.path.display().to_string())?;
        if self.unsynced.get_or_insert_with(Instant::now).elapsed() >= SYNC {
            self.sync()?;
        }
        Ok(())
    }

    /// Applies a line of the file.
    ///
    /// # Errors
    ///
    /// If the line is damaged or does not fit the tree.
    fn apply(&mut self, line: &[u8]) -> anyhow::Result<()> {
        match value::<Event>(line)? {
            Event::Study { .. } => bail!("unexpected second header"),
            Event::Game { tags, moves, annotated } => {
                let moves = read_line(&self.tree.node(Tree::START).position, &moves)?;
                let annotated = match Games::new(annotated.as_bytes()).next_game()? {
                    Some(game) => game?.main,
                    None => Variation::default(),
                };
                self.played = Played { tags, moves, annotated };
            }
            Event::Move { at, m, pinned } => {
                let at = self.find(&at)?;
                let m = read_move(&self.tree.node(at).position, &m)?;
                self.tree.add(at, m);
                self.tree.pin(at, m, pinned);
            }
            Event::Search { at, score, depth, nodes, line, exact } => {
                let at = self.find(&at)?;
                check("score", &score, &(-MATE..=MATE))?;
                check("depth", &depth, &(0..=*DEPTH_RANGE.end()))?;
                check("nodes", &nodes, &(0..=MOST_NODES.saturating_sub(self.nodes)))?;
                let line = read_line(&self.tree.node(at).position, &line)?;
                self.nodes += nodes;
                self.tree.found(at, RestSearch { score, depth, nodes, line, exact });
            }
        }
        Ok(())
    }

    /// Returns the node of a position by its name.
    fn find(&self, name: &str) -> anyhow::Result<Id> {
        let key = u64::from_str_radix(name, 16).ok();
        let id = key.and_then(|key| self.tree.find(key));
        id.with_context(|| format!("position {name}: not in the tree"))
    }
}

/// Checks that a value of a search is in its range.
fn check<T: PartialOrd + Display>(
    name: &str,
    value: &T,
    range: &RangeInclusive<T>,
) -> anyhow::Result<()> {
    let (low, high) = (range.start(), range.end());
    ensure!(range.contains(value), "{name} {value}: expected {low} to {high}");
    Ok(())
}

/// Reads legal moves from a position.
fn read_line(start: &Position, moves: &[String]) -> anyhow::Result<Vec<Move>> {
    let mut position = start.clone();
    let read = |text: &String| {
        let m = read_move(&position, text)?;
        position.make(m);
        anyhow::Ok(m)
    };
    moves.iter().map(read).collect()
}

/// Writes moves in the notation of the file.
fn texts(moves: &[Move]) -> Vec<String> {
    moves.iter().map(|&m| move_text(m, CastlingMode::Chess960)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::chess::notation::read_any_move;

    fn grown(path: &Path) -> Study {
        let mut study = Study::open_or_begin(path, &Position::default()).unwrap();
        let mut position = Position::default();
        let mut moves = Vec::new();
        for text in ["e4", "e5", "Nf3"] {
            let m = read_any_move(&position, text).unwrap();
            position = position.play(m);
            moves.push(m);
        }
        let tags = vec![("White".into(), "\"A\"\n".into())];
        let text = "{ a } 1. e4 $1 { b } (1. d4 d5 { c }) 1... e5 2. Nf3";
        let annotated = Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap().main;
        study.play(&Played { tags, moves, annotated }).unwrap();
        let line = vec![read_any_move(&position, "Nc6").unwrap()];
        let at = study.game_nodes()[3];
        study
            .found(at, RestSearch { score: -31, depth: 9, nodes: 1000, line, exact: false })
            .unwrap();
        study
    }

    #[test]
    fn a_study_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.study");
        let study = grown(&path);
        let error = |path: &Path| format!("{:#}", Study::open(path).unwrap_err());
        assert!(error(&path).contains("another run is growing"));
        let end = study.game_nodes()[3];
        let (played, value) = (study.played().clone(), study.tree().node(end).value);
        drop(study);
        assert!(Study::is_one(&path) && !Study::is_one(dir.path()));
        let again = Study::open(&path).unwrap();
        assert_eq!((again.tree().positions(), again.nodes()), (4, 1000));
        assert_eq!((again.played(), again.tree().node(end).value), (&played, value));
        assert_eq!(value, Some(-31));
        // Other line endings do no harm. A file with a damaged header is still recognised.
        let text = fs::read_to_string(&path).unwrap();
        let other = dir.path().join("b.study");
        fs::write(&other, text.replace('\n', "\r\n")).unwrap();
        let study = Study::open(&other).unwrap();
        assert!(study.tree().positions() == 4 && study.damaged().is_empty());
        drop(study);
        fs::write(&other, text.replacen("format", "Format", 1)).unwrap();
        assert!(Study::is_one(&other) && error(&other).contains("is damaged"), "{text}");
        fs::remove_file(&other).unwrap();
        assert!(again.tree().node(0).edges[0].pinned && again.damaged().is_empty());
        drop(again);
        let again = Study::open_or_begin(&path, &Position::default()).unwrap();
        assert_eq!((again.tree().positions(), again.nodes()), (4, 1000));
        drop(again);
        fs::write(&path, "[Event \"x\"]\n").unwrap();
        assert!(error(&path).contains("not a study"));
        File::create(&path).unwrap().set_len(1 << 25).unwrap();
        assert!(error(&path).contains("a line is longer than 16777216 bytes"));
        assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 25);
    }

    /// Intact lines with values that no search can find are ignored.
    #[test]
    fn impossible_values_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.study");
        drop(grown(&path));
        let start = name(&Position::default());
        let search = |score, depth, nodes| {
            let line = vec!["a2a3".to_owned()];
            Event::Search { at: start.clone(), score, depth, nodes, line, exact: false }
        };
        let add = |at: &str, m: &str| {
            let (at, m) = (at.to_owned(), m.to_owned());
            Event::Move { at, m, pinned: false }
        };
        let wrong = [
            (search(Score::MIN, 1, 1), "score -2147483648: expected -32000 to 32000"),
            (search(MATE + 1, 1, 1), "score 32001: expected -32000 to 32000"),
            (search(0, u32::MAX, 1), "depth 4294967295: expected 0 to "),
            (search(0, 1, u64::MAX), "nodes 18446744073709551615: expected 0 to 115"),
            (add("0000000000000001", "a2a3"), "position 0000000000000001: not in the tree"),
            (add(&start, "a2a5"), "illegal move 'a2a5'"),
        ];
        let mut text = fs::read_to_string(&path).unwrap();
        let first = text.lines().count() + 1;
        text.extend(wrong.iter().map(|(event, _)| line(event).unwrap()));
        text += &line(&search(-MATE, 0, MOST_NODES - 1000)).unwrap();
        fs::write(&path, text).unwrap();
        let study = Study::open(&path).unwrap();
        for ((_, expected), number) in wrong.iter().zip(first..) {
            let reason = &study.damaged()[&number];
            assert!(reason.contains(expected), "{reason}");
        }
        assert_eq!(study.damaged().len(), wrong.len());
        assert_eq!((study.nodes(), study.tree().effort(0)), (MOST_NODES, 2 * (MOST_NODES - 1000)));
    }

    /// If many processes create a study at the same time, one gets it, and its data is in the file.
    #[cfg(unix)]
    #[test]
    fn a_study_is_begun_once() {
        const WRITERS: usize = 8;
        let dir = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let path = dir.path().join(round.to_string());
            let barrier = std::sync::Barrier::new(WRITERS);
            let begin = || {
                barrier.wait();
                let begun = Study::open_or_begin(&path, &Position::default());
                // Hold the lock until all have tried.
                barrier.wait();
                let mut study = begun.ok()?;
                let m = study.tree().node(0).position.legal_moves()[0];
                study.add(0, m, None).ok()
            };
            let begun = std::thread::scope(|scope| {
                let writers = [(); WRITERS].map(|()| scope.spawn(begin));
                writers.into_iter().filter_map(|writer| writer.join().unwrap()).count()
            });
            assert_eq!((begun, Study::open(&path).unwrap().tree().positions()), (1, 2), "{round}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 20);
    }

    /// A truncated or damaged file keeps all its intact lines.
    #[test]
    fn damaged_files_keep_intact_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.study");
        drop(grown(&path));
        let bytes = fs::read(&path).unwrap();
        let first = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for end in first..bytes.len() {
            fs::write(&path, &bytes[..end]).unwrap();
            let mut study = Study::open(&path).unwrap();
            assert!(study.damaged().is_empty(), "{end}");
            // The file can still be extended.
            let m = study.tree().node(0).position.legal_moves()[0];
            study.add(0, m, None).unwrap();
            drop(study);
            let study = Study::open(&path).unwrap();
            assert!(study.tree().node(0).edge(m).is_some() && study.damaged().is_empty(), "{end}");
        }
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        for at in first..bytes.len() - 1 {
            let mut damaged = bytes.clone();
            damaged[at] = 0;
            fs::write(&path, &damaged).unwrap();
            let study = Study::open(&path).unwrap();
            assert!((1..lines).contains(&study.damaged().len()), "{at}");
        }
    }
}
