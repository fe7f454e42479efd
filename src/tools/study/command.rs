//! The command `lancet study`: options, progress, what it says at the end.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use comfy_table::{Cell, CellAlignment, Table, presets::ASCII_MARKDOWN};
use shakmaty::Move;

use super::{
    file::Study,
    grow::{self, End, Plan},
    html, pgn, source,
    tree::{Candidate, Id, Tree},
};
use crate::{
    chess::{notation, pgn::Game, position::Position},
    system::{
        arguments, files,
        input::{self, STANDARD_INPUT},
        stdio,
    },
    tools::{
        self, complain,
        interrupt::Interrupt,
        options::{Tables, Workers},
        say,
    },
};

/// Grow an analysis tree, kept in a file, for as long as you like
///
/// The tree grows best first, by drop-out expansion (Lincke, 2000): the best move that has no node
/// yet gets one where that is cheapest. A move costs one ply, and as many more as it gives away of
/// the winning chances in per cent. Searches begin with --step nodes. A search that is made again
/// gets twice as many, up to an eighth of all so far, and a new position half of what its parent
/// had. Scores are backed up from the leaves. Positions that several lines lead to are one.
/// Mates, draws and endgame tables need no growth. Without --hours or --nodes the tree grows until
/// Ctrl-C, or not at all if there is something to pin or to write.
///
/// The file is only ever appended to. Ctrl-C and a kill lose the searches in progress, a power
/// failure also the last ten seconds. The same command goes on; so does the study's file alone,
/// `lancet study FILE`. Of a game, all positions are grown. When more moves have been played, the
/// same command takes them in.
///
/// A pinned line counts as if its moves were best, so that growth keeps to it whatever it scores.
/// `--at` grows one position only. --pgn and --html show the --size positions that growth takes
/// for nearest: the game, pinned lines, good moves. The annotated game keeps the comments, marks and
/// variations of the game. The page opens at the studied position, that of `--at` or the end of the
/// game or line, which the table at the end is about, too. It needs nothing but a browser: arrow
/// keys, Home and End walk, `f` turns the board.
///
/// A position is searched with the line that reached it first, so repetitions and the fifty-move
/// rule are those of that line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = r#"Examples:
  lancet study game.pgn --hours 8
  lancet study startpos moves e4 e5 Nf3 Nc6 Bb5 --file spanish.study --hours 0.5 --jobs 2 --syzygy /tables
  lancet study spanish.study --at "e4 e5 Nf3 Nc6 Bb5 a6" --hours 1
  lancet study spanish.study --pin "1. e4 e5 2. Nf3 Nc6 3. Bb5 f5" --html spanish.html --pgn spanish.pgn

Files:
  FILE.study  the tree: a line of JSON behind its checksum for each move and each search

Exit status:
  0    when a limit was reached, or nothing is left to be searched
  1    if a file could not be written, or there was not enough memory
  2    if the study, the game, the position or the command line could not be used
  130  after Ctrl-C (a second Ctrl-C quits at once)"#)]
pub struct Args {
    /// A study, a game in PGN, or a FEN or `startpos`; then, after the word `moves`, moves from there
    #[arg(required = true, value_name = "STUDY|GAME.pgn|FEN", num_args = 1..)]
    source: Vec<String>,
    /// Where the tree of a game or position is kept [default: GAME.study, GAME-N-White-Black.study, or a name made from the moves]
    #[arg(long, value_name = "FILE.study")]
    file: Option<PathBuf>,
    /// Which game of the file [default: 1]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<u32>(1..))]
    game: Option<u32>,
    /// Hours to grow
    #[arg(long, value_name = "H", value_parser = arguments::hours)]
    hours: Option<Duration>,
    /// Nodes to search in all
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    nodes: Option<u64>,
    /// Nodes of a search at least: what matters gets twice as many every time
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = arguments::whole::<u64>(100..=1 << 40))]
    step: u64,
    /// Grow below this line only: moves from the start, or `end` for the end of the game
    #[arg(long, value_name = "LINE")]
    at: Option<String>,
    /// Keep to this line: its moves count as if they were best; may be repeated
    #[arg(long, value_name = "LINE")]
    pin: Vec<String>,
    /// Take that back; other pinned lines stay
    #[arg(long, value_name = "LINE")]
    unpin: Vec<String>,
    /// Write the nearest positions as an annotated game
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Write them as a page for a browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Positions to write
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = arguments::whole::<u32>(1..=1_000_000))]
    size: u32,
    #[command(flatten)]
    workers: Workers,
    /// Hash table size for each job, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = tools::hash_size)]
    hash: usize,
    #[command(flatten)]
    tables: Tables,
}

/// Longest line shown, in plies.
const LINE_LENGTH: usize = 12;
/// Most moves in the name of a file.
const LONGEST_NAME: usize = 16;
/// The line that ends where the game does.
const END: &str = "end";

impl Args {
    /// Nothing limits growth but Ctrl-C, unless there is something else to do.
    const fn grows(&self) -> bool {
        let shows = self.pgn.is_some() || self.html.is_some();
        let pins = !self.pin.is_empty() || !self.unpin.is_empty();
        self.hours.is_some() || self.nodes.is_some() || !(shows || pins)
    }
}

/// `lancet study`. The exit status is described in its help.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let opened = open(args).and_then(|(study, moves)| {
        for (line, reason) in study.damaged() {
            complain(format_args!("{}:{line}: {reason}, left out", study.path().display()));
        }
        // All lines first: a wrong one is to leave the study as it is.
        Ok((Lines::read(args, &study, moves)?, study))
    });
    let (lines, mut study) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(tools::unusable(&error)),
    };
    Ok(match work(args, &mut study, lines)? {
        End::Interrupted => ExitCode::from(130),
        End::Limit | End::Decided => ExitCode::SUCCESS,
    })
}

/// Opens the study that is meant, or begins it. Returns the moves to the studied position,
/// too: the end of the line or game.
fn open(args: &Args) -> anyhow::Result<(Study, Vec<Move>)> {
    let one = match &args.source[..] {
        [one] => Some(Path::new(one)),
        _ => None,
    };
    if let Some(path) = one
        && Study::is_one(path)
    {
        let is_alone = args.file.is_none() && args.game.is_none();
        ensure!(is_alone, "{}: a study already: --file and --game are for games", path.display());
        let study = Study::open(path)?;
        let moves = study.played().moves.clone();
        return Ok((study, moves));
    }
    let is_file = |path: &Path| path == Path::new(STANDARD_INPUT) || input::size(path).is_ok();
    let (source, default) = match one.filter(|path| is_file(path)) {
        Some(path) => {
            let number = args.game.unwrap_or(1);
            let source = source::game(path, number as usize)?;
            let default = default_path(path, number, &source.played.game());
            (source, (path != Path::new(STANDARD_INPUT)).then_some(default))
        }
        None => {
            // No FEN has an extension.
            if let Some(path) = one
                && path.extension().is_some()
            {
                input::size(path).with_context(|| path.display().to_string())?;
            }
            let source = source::position(&args.source)?;
            let name = position_name(&source.start, &source.played.moves);
            (source, Some(PathBuf::from(name + ".study")))
        }
    };
    let path = args.file.clone().or(default);
    let path = path.context("name the file to keep the study in: --file")?;
    let mut study = Study::open_or_begin(&path, &source.start)?;
    let (path, start) = (path.display(), &study.tree().node(Tree::START).position);
    let is_same = start.fen() == source.start.fen();
    ensure!(is_same, "{path}: a study of another position: '{}'", start.fen());
    let is_same = is_same_game(start, &study.played().moves, &source.played.moves);
    ensure!(is_same, "{path}: a study of another game: --file names one for this game");
    // A part of the game takes nothing away from it.
    if !study.played().includes(&source.played) {
        study.play(&source.played)?;
    }
    Ok((study, source.played.moves))
}

/// `a.study` for the first game of `a.pgn`, `a-2-White-Black.study` for the second.
fn default_path(path: &Path, number: u32, game: &Game) -> PathBuf {
    let ending = match number {
        1 => ".study".to_owned(),
        _ => format!("-{number}-{}.study", tools::players_in_path(game)),
    };
    tools::beside(path, &ending)
}

/// The moves from the usual start position as part of a path, `e4-e5-Nf3`, if they are few;
/// else the key of the position that they lead to.
fn position_name(start: &Position, moves: &[Move]) -> String {
    let position = Position::default();
    if start.fen() != position.fen() || moves.len() > LONGEST_NAME {
        return format!("{:016x}", end_key(start, moves));
    }
    let names = notation::words(&position, moves);
    let names = names.iter().filter_map(|word| word.rsplit(' ').next());
    let names: Vec<String> =
        names.map(|san| san.chars().filter(char::is_ascii_alphanumeric).collect()).collect();
    if names.is_empty() { "startpos".to_owned() } else { names.join("-") }
}

/// Is one the other as it went on, or its end the same position?
fn is_same_game(start: &Position, old: &[Move], new: &[Move]) -> bool {
    old.starts_with(new) || new.starts_with(old) || end_key(start, old) == end_key(start, new)
}

/// The key of the position that `moves` lead to.
fn end_key(start: &Position, moves: &[Move]) -> u64 {
    moves.iter().fold(start.clone(), |at, &m| at.play(m)).key()
}

/// The lines of the options.
struct Lines {
    pins: Vec<Vec<Move>>,
    unpins: Vec<Vec<Move>>,
    at: Option<Vec<Move>>,
    /// To the studied position: that of `at`, else the end of the line or game.
    studied: Vec<Move>,
}

impl Lines {
    fn read(args: &Args, study: &Study, end: Vec<Move>) -> anyhow::Result<Lines> {
        let line = |text: &String| {
            if text == END {
                return Ok(study.played().moves.clone());
            }
            anyhow::Ok(notation::read_moves(&study.tree().node(Tree::START).position, text)?)
        };
        let unpin = |text: &String| {
            let moves = line(text)?;
            ensure!(study.is_pinned(&moves), "--unpin: '{text}' is not pinned");
            Ok(moves)
        };
        let at = args.at.as_ref().map(line).transpose()?;
        Ok(Lines {
            pins: args.pin.iter().map(line).collect::<anyhow::Result<_>>()?,
            unpins: args.unpin.iter().map(unpin).collect::<anyhow::Result<_>>()?,
            studied: at.clone().unwrap_or(end),
            at,
        })
    }
}

/// Does all that is asked for.
fn work(args: &Args, study: &mut Study, lines: Lines) -> anyhow::Result<End> {
    let outputs = [&args.pgn, &args.html].into_iter().flatten();
    let mut inputs = vec![study.path().to_owned()];
    // A game that the study began with; no position is the name of a file.
    if let [one] = &args.source[..] {
        inputs.push(PathBuf::from(one));
    }
    files::check_outputs(outputs.map(PathBuf::as_path), &inputs)?;
    let Lines { pins, unpins, at, studied } = lines;
    for moves in pins {
        study.add_line(&moves, Some(true))?;
    }
    for moves in unpins {
        study.unpin(&moves)?;
    }
    let from = at.unwrap_or_default();
    let end = if args.grows() { grow(args, study, from)? } else { End::Limit };
    study.sync()?;
    let size = args.size as usize;
    let write = |path: &Path, text: String| {
        files::replace(path, text.as_bytes()).with_context(|| path.display().to_string())
    };
    if let Some(path) = &args.pgn {
        write(path, pgn::text(study, size, &studied))?;
    }
    if let Some(path) = &args.html {
        write(path, html::page(study, size, &studied)?)?;
    }
    report(study, &studied);
    match end {
        End::Interrupted => say("\nInterrupted: the same command goes on."),
        End::Decided => say("\nNothing is left to be searched here."),
        End::Limit => {}
    }
    Ok(end)
}

fn grow(args: &Args, study: &mut Study, line: Vec<Move>) -> anyhow::Result<End> {
    let interrupt = Interrupt::by_ctrl_c("Ctrl-C will lose the searches in progress");
    let mut engines = tools::engines(args.workers.jobs, args.hash, args.workers.threads)?;
    let tables = args.tables.open_for(&mut engines);
    let plan = Plan {
        line,
        step: args.step,
        nodes: args.nodes,
        until: args.hours.map(|hours| Instant::now() + hours),
        table_pieces: tables.map_or(0, |tables| tables.max_pieces()),
    };
    let bar = stdio::progress_bar(None, "{elapsed_precise} {spinner} {msg}");
    let at = study.add_line(&plan.line, None)?;
    let end = grow::grow(study, &mut engines, &plan, &interrupt, &|study| {
        bar.set_message(progress(study, at));
    });
    bar.finish_and_clear();
    end
}

/// How far growth has come.
fn progress(study: &Study, at: Id) -> String {
    let tree = study.tree();
    let position = &tree.node(at).position;
    let mut line = tree.best_line(at);
    line.truncate(LINE_LENGTH / 2);
    let white = tree.node(at).value.map(|value| notation::white(value, position.turn()));
    let score = white.map_or_else(String::new, notation::pawns);
    format!("{}, {score} {}", size(study), notation::line(position, &line))
}

/// `25 positions, 12.3k nodes`.
fn size(study: &Study) -> String {
    let positions = notation::counted(study.tree().positions(), "position");
    format!("{positions}, {} nodes", notation::short(study.nodes() as f64))
}

/// The moves of the position that a line leads to, as far as it is in the tree.
fn report(study: &Study, moves: &[Move]) {
    let tree = study.tree();
    let mut way = tree.walk(moves);
    // Where a game has ended there are no moves: the position before says more.
    if way.len() > 1 && way.last().is_some_and(|&at| tree.node(at).is_end()) {
        way.pop();
    }
    let at = way.last().copied().unwrap_or(Tree::START);
    let node = tree.node(at);
    let (position, turn) = (&node.position, node.position.turn());
    say(format_args!("{}: {}", study.path().display(), size(study)));
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["move", "score", "positions", "line"]);
    for Candidate { m, score, edge } in tree.candidates(at) {
        let (positions, mut line) = match (edge, &node.rest) {
            (Some(edge), _) if !edge.repeats => {
                (tree.size(edge.to), [vec![m], tree.best_line(edge.to)].concat())
            }
            (None, Some(rest)) => (0, rest.line.clone()),
            _ => (0, vec![m]),
        };
        line.truncate(LINE_LENGTH);
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let white = score.map(|score| notation::white(score, turn));
        table.add_row([
            Cell::new(notation::san(position, m)),
            right(white.map_or_else(|| "?".to_owned(), notation::pawns)),
            right(positions.to_string()),
            Cell::new(notation::line(position, &line)),
        ]);
    }
    let last = way.len().checked_sub(2).map(|before| {
        let before = (&tree.node(way[before]).position, moves[before]);
        format!("After {}{}", notation::number(before.0), notation::san(before.0, before.1))
    });
    let line = last.unwrap_or_else(|| "At the start".to_owned());
    if table.is_empty() {
        table.add_row(["not searched yet"]);
    }
    say(format_args!("\n{line}:\n{}\n\n{table}", position.fen()));
}
