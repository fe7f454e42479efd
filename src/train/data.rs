//! `lancet-train data`: counts, checks, shuffles and shows files of games, picks positions for
//! exams, and grades networks on exams.

use std::{
    collections::{BTreeMap, HashSet},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};
use clap::{Args as ClapArgs, Subcommand};
use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use shakmaty::{Move, Position as _};

use super::{
    exam::{CLASSES, Exam, Grade},
    filter::Filter,
    format::{GameFile, GameResult, Record, Tally, Visit},
};
use lancet::{
    chess::{
        notation::{self, counted, pawns, san},
        pgn::{Game, Item, Variation, read::Games, write::write},
        position::Position,
        score::{Score, is_decisive},
    },
    eval::{
        self,
        nnue::{checksum::fnv1a, features},
    },
    system::{
        arguments,
        files::{self, NewFile},
        input::Input,
        random::mix,
        stdio::{complain, say},
    },
    tools::analyse::annotate,
};

/// Inspect, check and shuffle files of games, pick exam positions, and grade networks
///
/// Files of games are in viriformat, as `lancet-train datagen` writes them. `shuffle` checks its
/// input first and never overwrites a file.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  lancet-train data stats games/*.vf
  lancet-train data shuffle --help")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Count games, positions and results
    ///
    /// Counts games, distinct games, results, lengths and positions. For the positions that the
    /// trainer keeps, it also shows the numbers of pieces and the mean absolute score, in the units
    /// of the network's output. An incomplete last game is reported and not counted.
    #[command(after_long_help = "Examples:\n  lancet-train data stats games/*.vf")]
    Stats {
        /// Files of games
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Check the start positions, moves and results of games, and the ends of files
    ///
    /// Decodes every game, and checks its start position, the legality of its moves, its result,
    /// and the end of the file. Reports the first bad game of each file with its number and its
    /// byte offset.
    #[command(after_long_help = "Examples:\n  lancet-train data check games/*.vf")]
    Check {
        /// Files of games
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Write the games of all files to one file, in random order
    ///
    /// The same files and the same seed give the same order. All games are held in memory. This
    /// command is for other trainers. Lancet's trainer shuffles the positions itself. To join files
    /// without shuffling, concatenate them.
    #[command(after_long_help = "\
Examples:
  lancet-train data shuffle games/*.vf --out shuffled.vf --seed 1")]
    Shuffle {
        /// Files of games
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The file to write; it must not exist
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Seed of the random order
        #[arg(long, value_name = "S", default_value_t = 1, value_parser = arguments::whole::<u64>(..))]
        seed: u64,
    },
    /// Write quiet positions, one FEN per line, for an exam
    ///
    /// Reads games as `datagen` writes them, or PGN (.pgn, also with .gz or .zst). Writes up to
    /// --count different quiet positions, chosen at random. In a quiet position, the side to move
    /// is not in check, and the move played is neither a capture nor a promotion. Skips the first 8
    /// plies of every game, positions with fewer than 4 pieces and, in games by `datagen`, those
    /// whose score is a bound or beyond 100 pawns. An exam is a test set: the positions with the
    /// scores of long searches by Lancet or by another engine, which `lancet epd --csv` adds.
    #[command(after_long_help = "\
Examples:
  lancet-train data positions games/*.vf --count 20k > exam.epd
  lancet epd exam.epd --nodes 20k --jobs 2 --csv exam.csv")]
    Positions {
        /// Files of games, in viriformat or in PGN (.pgn, .pgn.gz, .pgn.zst)
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Number of positions
        #[arg(long, value_name = "N", value_parser = arguments::count)]
        count: u64,
        /// Largest number of positions from one game
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = arguments::whole::<u16>(1..))]
        per_game: u16,
        /// Seed of the random choice
        #[arg(long, value_name = "S", default_value_t = 1, value_parser = arguments::whole::<u64>(..))]
        seed: u64,
    },
    /// Measure the error of networks, or of shorter searches, on an exam
    ///
    /// Compares static evaluations, or the scores of shorter searches, with the scores of an exam.
    /// `error` is the root mean square error in winning probability. The candidate's scores are
    /// first multiplied by the scale that makes the error smallest. Each of eight ranges of piece
    /// counts has its own scale. `one scale` is the error with one scale for all positions, and
    /// `scale` is that scale. At 1, 400 centipawns of the candidate equal 250 centipawns of the
    /// exam. At 1.6, their centipawns are equal. `rank` is Spearman's rank correlation.
    #[command(after_long_help = "\
Examples:
  lancet-train data grade exam.csv old.nnue new.nnue
  lancet-train data grade exam.csv answers.csv")]
    Grade {
        /// A file that `lancet epd --csv` wrote for one engine
        exam: PathBuf,
        /// Networks (.nnue), scores of other searches (.csv) from `lancet epd --csv`, or `psqt`
        /// (material and piece-square tables); by default the built-in network
        candidates: Vec<PathBuf>,
    },
    /// Show games as PGN
    ///
    /// After each move comes the score of the search that chose it, in pawns from White's point of
    /// view, unless this score is only a bound.
    #[command(after_long_help = "\
Examples:
  lancet-train data view games/games-1-0.vf --game 3 --count 2
  lancet-train data view games/games-1-0.vf --positions")]
    View {
        /// A file of games
        file: PathBuf,
        /// The first game to show, counted from 1
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = arguments::whole::<usize>(..))]
        game: usize,
        /// Number of games to show
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = arguments::whole::<usize>(..))]
        count: usize,
        /// Show one line per position: FEN, move, score and result from the point of view of the
        /// side to move, and whether the trainer keeps the position
        #[arg(long)]
        positions: bool,
    },
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be used, or a game in it is damaged.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Stats { files } => stats(files),
        Command::Check { files } => Ok(check(files)),
        Command::Shuffle { files, out, seed } => shuffle(files, out, *seed),
        Command::Positions { files, count, per_game, seed } => {
            positions(files, *count, usize::from(*per_game), *seed)
        }
        Command::Grade { exam, candidates } => grade(exam, candidates),
        Command::View { file, game, count, positions } => view(file, *game, *count, *positions),
    }
}

/// Writes up to `count` different positions that pass the filter, at most `per_game` from a game.
fn positions(
    files: &[PathBuf],
    count: u64,
    per_game: usize,
    seed: u64,
) -> anyhow::Result<ExitCode> {
    // Positions get pseudo-random numbers, and those with the smallest numbers are chosen.
    let mut chosen = BTreeMap::new();
    let mut choose = |game: &Record| {
        let mut of_game = BTreeMap::new();
        game.visit(|visit| {
            if Filter::default().label(visit).is_some() {
                let position = Position::from(visit.chess.clone());
                of_game.insert(mix(position.key() ^ mix(seed)), position);
                if of_game.len() > per_game {
                    of_game.pop_last();
                }
            }
        });
        chosen.extend(of_game.into_iter().map(|(number, position)| (number, position.fen())));
        while chosen.len() as u64 > count {
            chosen.pop_last();
        }
    };
    let mut status = ExitCode::SUCCESS;
    for path in files {
        if is_pgn(path) {
            read_pgn(path, &mut choose).with_context(|| path.display().to_string())?;
        } else {
            let file = GameFile::read(path)?;
            if let Err(error) = file.check_end() {
                complain(error);
                status = ExitCode::FAILURE;
            }
            for game in 0..file.count() {
                choose(&file.game(game)?);
            }
        }
    }
    chosen.values().for_each(say);
    Ok(status)
}

/// Returns whether a name ends in `.pgn`, `.pgn.gz` or `.pgn.zst`, in either case.
fn is_pgn(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    [".pgn", ".pgn.gz", ".pgn.zst"].iter().any(|ending| name.ends_with(ending))
}

/// Calls `f` for the games of a PGN file, except for games with illegal moves, which are reported.
/// All scores are 0, and all results are draws.
fn read_pgn(path: &Path, mut f: impl FnMut(&Record)) -> anyhow::Result<()> {
    let mut games = Games::new(Input::open(path)?);
    while let Some(game) = games.next_game()? {
        match game.and_then(|game| annotate::replay(&game)) {
            Ok((start, moves)) => {
                let moves = moves.into_iter().map_while(|m| Some((m?, 0))).collect();
                f(&Record { start, result: GameResult::Draw, moves });
            }
            Err(broken) => complain(format_args!("{}:{broken}: left out", path.display())),
        }
    }
    Ok(())
}

/// Shows the error of each candidate on an exam.
fn grade(exam: &Path, candidates: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let exam = Exam::read(exam)?;
    let show = |name: &str, exam: &Exam, scores: &[f64]| {
        let Grade { error, one_scale, scale, correlation } = exam.grade(scores);
        let count = exam.samples().len();
        say(format_args!(
            "{error:.5}  {one_scale:.5}    {scale:.3}  {correlation:.4}  {count:>9}  {name}"
        ));
    };
    say("error    one scale  scale  rank    positions  candidate");
    if candidates.is_empty() {
        let network = eval::default_network();
        show(&network.name(), &exam, &exam.evaluate(Some(&*network)));
    }
    for path in candidates {
        let name = path.display().to_string();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
            let (shared, scores) = exam.shared_with(&Exam::read(path)?);
            ensure!(!scores.is_empty(), "{name}: has none of the exam's positions");
            show(&name, &shared, &scores);
        } else {
            show(&name, &exam, &exam.evaluate(eval::load(path)?.as_deref()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Statistics of games.
#[derive(Default)]
struct Count {
    tally: Tally,
    positions: u64,
    kept: u64,
    classes: [u64; CLASSES],
    /// Sum of the absolute scores of kept positions.
    scores: f64,
    chess960: u64,
    shortest: Option<usize>,
    longest: usize,
}

impl Count {
    fn add(&mut self, game: &Record) {
        let filter = Filter::default();
        self.positions += game.moves.len() as u64;
        self.tally.add(game.result);
        let length = game.moves.len();
        self.chess960 += u64::from(game.start.mode().is_chess960());
        self.shortest = Some(self.shortest.map_or(length, |n| n.min(length)));
        self.longest = self.longest.max(length);
        game.visit(|visit| {
            if let Some(score) = filter.label(visit) {
                self.kept += 1;
                self.scores += f64::from(score.abs());
                let pieces = visit.chess.board().occupied().count();
                self.classes[features::output_bucket(pieces, CLASSES)] += 1;
            }
        });
    }

    fn merge(mut self, other: Count) -> Count {
        self.tally.merge(&other.tally);
        self.positions += other.positions;
        self.kept += other.kept;
        self.scores += other.scores;
        self.chess960 += other.chess960;
        self.shortest = self.shortest.into_iter().chain(other.shortest).min();
        self.longest = self.longest.max(other.longest);
        for (class, more) in self.classes.iter_mut().zip(other.classes) {
            *class += more;
        }
        self
    }
}

/// Shows the statistics of all complete games. Fails if a file ends with an incomplete game.
fn stats(files: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let mut total = Count::default();
    let mut status = ExitCode::SUCCESS;
    let mut distinct = HashSet::new();
    let mut length = 0;
    for path in files {
        let file = GameFile::read(path)?;
        if let Err(error) = file.check_end() {
            complain(error);
            status = ExitCode::FAILURE;
        }
        length += file.whole().len() + file.torn();
        distinct.extend(file.frames().map(fnv1a));
        let count = file
            .games()
            .map(|game| {
                let mut count = Count::default();
                count.add(&game?);
                anyhow::Ok(count)
            })
            .try_reduce(Count::default, |a, b| Ok(a.merge(b)))?;
        total = total.merge(count);
    }
    show_stats(&total, distinct.len(), length);
    Ok(status)
}

fn show_stats(count: &Count, distinct: usize, bytes: usize) {
    let games = count.tally.games();
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let [black, draws, white] = count.tally.results;
    say(format_args!("bytes       {bytes}"));
    say(format_args!("games       {games}, {distinct} of them distinct"));
    say(format_args!(
        "results     White wins {:.1} %, draws {:.1} %, Black wins {:.1} %",
        percent(white, games),
        percent(draws, games),
        percent(black, games)
    ));
    say(format_args!(
        "length      {:.1} plies on average, {} to {}",
        count.positions as f64 / games.max(1) as f64,
        count.shortest.unwrap_or(0),
        count.longest
    ));
    say(format_args!(
        "Chess960    {:.1} % of the games (by castling rights)",
        percent(count.chess960, games)
    ));
    say(format_args!("positions   {}", count.positions));
    say(format_args!(
        "kept        {} ({:.1} %), mean absolute score {:.0} centipawns",
        count.kept,
        percent(count.kept, count.positions),
        count.scores / count.kept.max(1) as f64
    ));
    for (class, &kept) in count.classes.iter().enumerate() {
        let of_class = |&n: &usize| features::output_bucket(n, CLASSES) == class;
        let first = (2..=32).find(of_class).unwrap_or(2);
        let last = (2..=32).rfind(of_class).unwrap_or(32);
        say(format_args!("{first:>4} to {last:>2} pieces {:>5.1} %", percent(kept, count.kept)));
    }
}

/// Reports every bad file with its first bad game.
fn check(files: &[PathBuf]) -> ExitCode {
    let mut status = ExitCode::SUCCESS;
    for path in files {
        match check_file(path) {
            Ok((file, positions)) => {
                let (path, games) = (path.display(), counted(file.count(), "game"));
                say(format_args!("{path}: {games}, {positions} positions, no errors"));
            }
            Err(error) => {
                complain(format_args!("{error:#}"));
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}

/// Reads and checks a file. Returns the file and its number of positions.
fn check_file(path: &Path) -> anyhow::Result<(GameFile, usize)> {
    let file = GameFile::read(path)?;
    let lengths: Vec<anyhow::Result<usize>> =
        file.games().map(|game| Ok(game?.moves.len())).collect();
    let positions = lengths.into_iter().sum::<anyhow::Result<usize>>()?;
    file.check_end()?;
    Ok((file, positions))
}

/// Writes all games to a new file, in an order that the seed determines.
fn shuffle(files: &[PathBuf], out: &Path, seed: u64) -> anyhow::Result<ExitCode> {
    let files = files.iter().map(|path| Ok(check_file(path)?.0));
    let files = files.collect::<anyhow::Result<Vec<GameFile>>>()?;
    let mut frames: Vec<&[u8]> = files.iter().flat_map(GameFile::frames).collect();
    frames.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    ensure!(!frames.is_empty(), "{}: no games to write: the files are empty", out.display());
    write_new(out, &frames).with_context(|| out.display().to_string())?;
    say(format_args!("{}: {}", out.display(), counted(frames.len(), "game")));
    Ok(ExitCode::SUCCESS)
}

/// Writes a new file. Does not overwrite an existing one.
fn write_new(out: &Path, parts: &[&[u8]]) -> io::Result<()> {
    files::refuse_existing(out)?;
    let mut file = NewFile::create(out)?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.commit()
}

fn view(path: &Path, first: usize, count: usize, positions: bool) -> anyhow::Result<ExitCode> {
    let file = GameFile::read(path)?;
    let games = file.count();
    let there = (1..=games).contains(&first);
    ensure!(games > 0, "{}: no games", path.display());
    ensure!(there, "{}: no game {first}: expected 1 to {games}", path.display());
    for number in (first..=games).take(count) {
        let game = file.game(number - 1)?;
        if positions {
            show_positions(&game);
        } else {
            say(pgn(&game, number));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_positions(game: &Record) {
    let filter = Filter::default();
    game.visit(|visit| {
        let Visit { chess, m, score, .. } = visit;
        let position = Position::from(chess.clone());
        let points = f32::from(game.result.half_points(chess.turn())) / 2.0;
        let kept = if filter.label(visit).is_some() { "kept" } else { "left out" };
        say(format_args!(
            "{} | {} | {} | {points} | {kept}",
            position.fen(),
            san(&position, m),
            score.map_or_else(|| "no score".to_owned(), |score| pawns(searched(score, &position)))
        ));
    });
}

/// Returns the score of a search from its label.
fn searched(label: Score, position: &Position) -> Score {
    if is_decisive(label) { label } else { eval::weighted(label, position.board()) }
}

/// Returns a game as PGN. Each move has the score of the search that chose it (`[%eval 0.35]`).
fn pgn(game: &Record, number: usize) -> String {
    let result = match game.result {
        GameResult::WhiteWins => "1-0",
        GameResult::Draw => "1/2-1/2",
        GameResult::BlackWins => "0-1",
    };
    let line: Vec<Move> = game.moves.iter().map(|&(m, _)| m).collect();
    let mut moves = annotate::annotated_moves(&game.start, &line);
    let mut nodes = moves.iter_mut();
    game.visit(|Visit { chess, score, .. }| {
        let Some(node) = nodes.next() else { return };
        let Some(score) = score else { return };
        let score = searched(score, &Position::from(chess.clone()));
        let white = notation::white(score, chess.turn());
        node.items.push(Item::Comment(annotate::evaluation_text(white)));
    });
    let tags = [("Round", number.to_string()), ("Result", result.to_owned())];
    let tags = tags.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let main = Variation { lead: Vec::new(), moves };
    let mut pgn = Game { line: 0, tags, main, outcome: None };
    pgn.set_start(&game.start);
    write(&pgn, annotate::ply(&game.start))
}
