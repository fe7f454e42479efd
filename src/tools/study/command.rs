//! The command `lancet study`: options, progress and the report at the end.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, ensure};
use shakmaty::Move;

use super::{
    file::Study,
    grow::{self, End, Plan},
    html, pgn, source,
    tree::{Candidate, Id, Tree},
};
use crate::{
    chess::{
        notation::{self, MovesError},
        pgn::Game,
        position::Position,
    },
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

/// Grow an analysis tree in a file, for as long as you like
///
/// The tree grows best first, by drop-out expansion (Lincke, 2000). Each step takes the cheapest
/// path from the start, and adds the best move that is not yet in the tree. Every move on the path
/// costs one, plus one for each percentage point of the winning chances that it loses. Pinned moves
/// cost nothing. Scores are backed up from the leaves. A position that several lines reach is
/// stored once. Mates, draws and tablebase positions are not grown further.
///
/// The first searches take --step nodes. Each further search of a position takes twice as many
/// nodes as the last one, up to an eighth of all nodes so far, and up to 100 million. A new
/// position gets half as many nodes as the position before it. No search gets less than --step,
/// except the last ones before --nodes is reached.
///
/// The tree grows until --hours or --nodes is reached, or until Ctrl-C. When the time is up, no
/// search starts, but the searches in progress are finished. With --pin, --unpin, --pgn or --html,
/// it grows only if --hours or --nodes is given.
///
/// The file is written as the tree grows. Ctrl-C and a kill signal lose the searches in progress,
/// and a power failure also loses the last ten seconds. To continue, repeat the command, or name
/// the file alone: `lancet study FILE.study`. A study of a game grows from every position of the
/// game. If more moves have been played since, run the command with the longer game to add them.
///
/// --pin makes the moves of a line free of cost, whatever their scores, so that growth continues
/// this line. --unpin removes the pin. --at limits growth to the positions below one line.
///
/// --pgn and --html write the --size most important positions: those on the cheapest paths. The
/// game, pinned lines and the studied position are always written. The studied position is that of
/// --at, or the end of the game or line. The annotated game keeps the comments, marks and
/// variations of the game.
///
/// The page and the table at the end show the studied position. If the game is over there, they
/// show the position before the last move. The web page is a single file. Arrow keys, Home and End
/// move through the line, and `f` flips the board.
///
/// If several lines reach a position, each search of it uses the history of the line that led there
/// this time. This history determines repetitions and the fifty-move rule.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = r#"Examples:
  lancet study game.pgn --hours 8
  lancet study startpos moves e4 e5 Nf3 Nc6 Bb5 --file spanish.study --hours 1
  lancet study spanish.study --at "e4 e5 Nf3 Nc6 Bb5 a6" --hours 1
  lancet study spanish.study --pin "1. e4 e5 2. Nf3 Nc6 3. Bb5 f5"
  lancet study spanish.study --html spanish.html --pgn spanish.pgn

Files:
  FILE.study  the tree: a line for each move and each search, with a checksum
              and JSON

Exit status:
  0    when a limit was reached or the result is decided, or if the command did
       not grow the tree
  1    if a file could not be written, or if memory or threads did not suffice
  2    if the study, the game, the position or the command line could not be used
  130  after Ctrl-C (a second Ctrl-C quits at once)"#)]
pub struct Args {
    /// A study, a PGN file, a FEN or `startpos`. After a FEN or `startpos`, the word `moves` and
    /// moves may follow
    #[arg(required = true, value_name = "STUDY|GAME.pgn|FEN", num_args = 1..)]
    source: Vec<String>,
    /// Study to create or continue for a game or position [default: GAME.study,
    /// GAME-N-White-Black.study, or a name made from the moves]
    #[arg(long, value_name = "FILE.study")]
    file: Option<PathBuf>,
    /// Number of the game in the PGN file [default: 1]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<u32>(1..))]
    game: Option<u32>,
    /// Hours of growth in this run
    #[arg(long, value_name = "H", value_parser = arguments::hours)]
    hours: Option<Duration>,
    /// Number of nodes to search in this run
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    nodes: Option<u64>,
    /// Minimum number of nodes of a search
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = arguments::whole::<u64>(100..=1 << 40))]
    step: u64,
    /// Grow only the positions below this line: moves from the start, or `end` for the end of the
    /// game
    #[arg(long, value_name = "LINE")]
    at: Option<String>,
    /// Pin this line: its moves cost nothing; may be repeated
    #[arg(long, value_name = "LINE")]
    pin: Vec<String>,
    /// Remove the pin of this line; may be repeated
    #[arg(long, value_name = "LINE")]
    unpin: Vec<String>,
    /// Write the most important positions as an annotated game
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Write the most important positions as a web page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Replace the files of --pgn and --html even if another program wrote them
    #[arg(long)]
    force: bool,
    /// Number of positions to write with --pgn and --html; the game, pinned lines and the studied
    /// position are always written
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

/// Maximum length of a line shown, in plies.
const LINE_LENGTH: usize = 12;
/// Maximum length of the part of a file that shows who wrote it, in bytes.
const LONGEST_HEAD: u64 = 1 << 16;
/// Maximum number of half-moves in a file name.
const LONGEST_NAME: usize = 16;
/// Name of the line that leads to the end of the game.
const END: &str = "end";

impl Args {
    /// Returns whether the tree is to grow: always, unless the command only pins or writes.
    const fn grows(&self) -> bool {
        let shows = self.pgn.is_some() || self.html.is_some();
        let pins = !self.pin.is_empty() || !self.unpin.is_empty();
        self.hours.is_some() || self.nodes.is_some() || !(shows || pins)
    }
}

/// Runs the command `lancet study`. Its help describes the exit status.
///
/// # Errors
///
/// If a file cannot be written, there is not enough memory, or no thread can be started. Other
/// errors are reported, with status 2.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let opened = open(args).and_then(|(study, moves)| {
        for (line, reason) in study.damaged() {
            complain(format_args!("{}:{line}: {reason}; line ignored", study.path().display()));
        }
        // Read all lines before pinning or unpinning any. `open` may have added the game already.
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

/// Opens or creates the study that the arguments name. Also returns the moves to the studied
/// position, the end of the line or game.
fn open(args: &Args) -> anyhow::Result<(Study, Vec<Move>)> {
    let one = match &args.source[..] {
        [one] => Some(Path::new(one)),
        _ => None,
    };
    if let Some(path) = one
        && Study::is_one(path)
    {
        let is_alone = args.file.is_none() && args.game.is_none();
        ensure!(is_alone, "{}: this is a study; --file and --game do not apply", path.display());
        let study = Study::open(path)?;
        let moves = study.played().moves.clone();
        return Ok((study, moves));
    }
    let (source, default) = match one.filter(|path| input::size(path).is_ok()) {
        Some(path) => {
            let number = args.game.unwrap_or(1);
            let source = source::game(path, number as usize)?;
            let default = default_path(path, number, &source.played.game());
            (source, (path != Path::new(STANDARD_INPUT)).then_some(default))
        }
        None => {
            ensure!(args.game.is_none(), "--game needs a file of games");
            let source = source::position(&args.source).or_else(|error| {
                // A FEN has no extension, so this was meant as a file name.
                if let Some(path) = one
                    && path.extension().is_some()
                    && let Some(MovesError::Start(_)) = error.downcast_ref()
                {
                    input::size(path).with_context(|| path.display().to_string())?;
                }
                Err(error)
            })?;
            let name = position_name(&source.start, &source.played.moves);
            (source, Some(PathBuf::from(name + ".study")))
        }
    };
    let path = args.file.clone().or(default);
    let path = path.context("--file is required with standard input")?;
    let mut study = Study::open_or_begin(&path, &source.start)?;
    let (path, start) = (path.display(), &study.tree().node(Tree::START).position);
    let is_same = start.fen() == source.start.fen();
    ensure!(
        is_same,
        "{path}: a study of another position, '{}'; use --file to name one for this position",
        start.fen()
    );
    let is_same = is_same_game(start, &study.played().moves, &source.played.moves);
    ensure!(is_same, "{path}: a study of another game; use --file to name one for this game");
    // If the source is only a part of the known game, the study keeps the whole game.
    if !study.played().includes(&source.played) {
        study.play(&source.played)?;
    }
    Ok((study, source.played.moves))
}

/// Returns `a.study` for the first game of `a.pgn`, and `a-2-White-Black.study` for the second.
fn default_path(path: &Path, number: u32, game: &Game) -> PathBuf {
    let ending = match number {
        1 => ".study".to_owned(),
        _ => format!("-{number}-{}.study", tools::players_in_path(game)),
    };
    tools::beside(path, &ending)
}

/// Returns the moves from the standard start position in the form of a file name, `e4-e5-Nf3`. If
/// there are many moves or another start position, returns the key of the last position.
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

/// Returns whether one game continues the other, or both end in the same position.
fn is_same_game(start: &Position, old: &[Move], new: &[Move]) -> bool {
    old.starts_with(new) || new.starts_with(old) || end_key(start, old) == end_key(start, new)
}

/// Returns the key of the position after `moves`.
fn end_key(start: &Position, moves: &[Move]) -> u64 {
    moves.iter().fold(start.clone(), |at, &m| at.play(m)).key()
}

/// The lines that the options name.
struct Lines {
    pins: Vec<Vec<Move>>,
    unpins: Vec<Vec<Move>>,
    at: Option<Vec<Move>>,
    /// The moves to the studied position: those of `at`, otherwise to the end of the line or game.
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
            study.check_unpin(&moves).map_err(|reason| anyhow!("--unpin: '{text}' {reason}"))?;
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

/// Pins, grows, writes and reports, as the options say.
fn work(args: &Args, study: &mut Study, lines: Lines) -> anyhow::Result<End> {
    let outputs = || [&args.pgn, &args.html].into_iter().flatten();
    let mut inputs = vec![study.path().to_owned()];
    // The source may be a PGN file, which must not be overwritten. If it is a position, no file has
    // this name.
    if let [one] = &args.source[..] {
        inputs.push(PathBuf::from(one));
    }
    let may_replace = |path: &Path| args.force || is_ours(args, path);
    files::check_outputs(outputs().map(PathBuf::as_path), &inputs, may_replace)?;
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
    tools::say_written(outputs());
    match end {
        End::Interrupted => say("\nInterrupted. Repeat the command to continue."),
        End::Decided => say("\nThe result is decided, so no search is needed."),
        End::Limit => {}
    }
    Ok(end)
}

/// Returns whether an earlier run wrote this game or page, so that it may be replaced.
fn is_ours(args: &Args, path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST_HEAD).read_to_end(&mut head));
    let is_page = args.html.as_deref() == Some(path);
    let is_mark = |line: &str| if is_page { line == html::MARK } else { pgn::is_mark(line) };
    read.is_ok() && String::from_utf8_lossy(&head).lines().any(is_mark)
}

fn grow(args: &Args, study: &mut Study, line: Vec<Move>) -> anyhow::Result<End> {
    let interrupt = Interrupt::by_ctrl_c("Ctrl-C will lose the searches in progress");
    let mut engines = tools::engines(args.workers.jobs, args.hash, args.workers.threads)?;
    let tables = args.tables.open_for(&mut engines);
    let from = study.add_line(&line, None)?;
    let plan = Plan {
        line,
        from,
        step: args.step,
        nodes: args.nodes,
        until: args.hours.map(|hours| Instant::now() + hours),
        table_pieces: tables.map_or(0, |tables| tables.max_pieces()),
    };
    let bar = stdio::progress_bar(None, "{elapsed_precise} {spinner} {msg}");
    let end = grow::grow(study, &mut engines, &plan, &interrupt, &|study| {
        bar.set_message(progress(study, from));
    });
    bar.finish_and_clear();
    end
}

/// Describes the progress of growth in a line.
fn progress(study: &Study, at: Id) -> String {
    let tree = study.tree();
    let position = &tree.node(at).position;
    let mut line = tree.best_line(at);
    line.truncate(LINE_LENGTH / 2);
    let white = tree.node(at).value.map(|value| notation::white(value, position.turn()));
    let score = white.map_or_else(String::new, notation::pawns);
    format!("{}, {score} {}", size(study), notation::line(position, &line))
}

/// Describes the size of a study: `25 positions, 12.3k nodes`.
fn size(study: &Study) -> String {
    let positions = notation::counted(study.tree().positions(), "position");
    format!("{positions}, {} nodes", notation::short(study.nodes() as f64))
}

/// Prints the moves of the position at the end of a line, as far as the line is in the tree.
fn report(study: &Study, moves: &[Move]) {
    let tree = study.tree();
    let way = tree.walk_to_last_move(moves);
    let at = way.last().copied().unwrap_or(Tree::START);
    let node = tree.node(at);
    let (position, turn) = (&node.position, node.position.turn());
    say(format_args!("{}: {}", study.path().display(), size(study)));
    let row = |Candidate { m, score, edge }: Candidate| {
        let (positions, mut line) = match (edge, &node.rest) {
            (Some(edge), _) if !edge.repeats => {
                (tree.size(edge.to), [vec![m], tree.best_line(edge.to)].concat())
            }
            (None, Some(rest)) => (0, rest.line.clone()),
            _ => (0, vec![m]),
        };
        line.truncate(LINE_LENGTH);
        let white = score.map(|score| notation::white(score, turn));
        vec![
            notation::san(position, m),
            white.map_or_else(|| "?".to_owned(), notation::pawns),
            positions.to_string(),
            notation::line(position, &line),
        ]
    };
    let mut rows: Vec<Vec<String>> = tree.candidates(at).into_iter().map(row).collect();
    if rows.is_empty() {
        let why = if node.over.is_some() { "the game is over" } else { "not searched yet" };
        rows.push(vec![why.to_owned()]);
    }
    let table = tools::table(&["move", "score", "positions", "line"], 1..3, rows);
    let last = way.len().checked_sub(2).map(|before| {
        let position = &tree.node(way[before]).position;
        format!("After {}", notation::line(position, &[moves[before]]))
    });
    let line = last.unwrap_or_else(|| "At the start".to_owned());
    say(format_args!("\n{line}:\n{}\n\n{table}", position.fen()));
}
