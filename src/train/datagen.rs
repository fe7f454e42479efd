//! `lancet-train datagen`: plays games on all cores and appends them to files.
//!
//! Each thread writes a stream of games to its own file. Game k of a stream depends only on the
//! settings (the `Recipe`, which includes the seed), the tablebases, the stream's number and k.
//! Therefore the number of games in the file is enough to continue. A kill may leave an incomplete
//! last game, and a power failure may leave zeros. Both are cut off at the next start.

use std::{
    fs::{self, File},
    io::{Read as _, Seek as _, SeekFrom},
    panic::resume_unwind,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex},
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args as ClapArgs;
use indicatif::HumanDuration;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use shakmaty::Chess;
use shakmaty_syzygy::Tablebase;

use super::{
    filter::Filter,
    format::{self, GameFile, Record, Tally},
    other_build, other_options, progress_bar,
    selfplay::{Adjudication, Conditions, HARD_BY_SOFT, Played, SelfPlay},
    stopped_by_ctrl_c, thread_count,
};
use lancet::{
    chess::position::Position,
    engine::threads,
    eval::{
        self,
        nnue::{Network, checksum::fnv1a},
    },
    play::{
        openings::{self, BALANCE, Openings},
        signals::Signals,
    },
    system::{
        arguments, files, journal,
        stdio::{complain, note},
        sync::{lock, unpoisoned},
        version::VERSION,
    },
};

/// Interval at which games are synchronised to the disk. A power failure loses at most the games of
/// one interval.
const SYNC_INTERVAL: Duration = Duration::from_secs(10);
/// Largest number of zero bytes at the end of a complete game: four after its last move, and three
/// of that move and its score.
const LAST_ZEROS: usize = 7;
/// Name of the file that records how the games of a directory were made.
const RECIPE_FILE: &str = "datagen.toml";

/// Play games of Lancet against itself and write them as training data
///
/// Every thread writes its own file, DIR/games-SEED-THREAD.vf, in viriformat. The settings are in
/// DIR/datagen.toml, and all games of a directory have the same settings. Ctrl-C or a kill loses at
/// most the games in progress. A power failure also loses the newest games, at most those of ten
/// seconds. Run the same command again to continue.
///
/// The games in a file depend only on the settings, the seed and the number of the thread. With one
/// thread the same command gives the same games. With several threads, the number of games in each
/// file depends on timing.
///
/// A game ends by the rules, by the tablebases of --syzygy, or by adjudication. It is adjudicated
/// when the scores of both sides agree for some plies (--win-score, --win-plies, --draw-score,
/// --draw-plies and --draw-from). At ply 500 after the opening, a game is a draw. A share of the
/// games (--play-on) is not adjudicated by scores up to ply 250, so that the training data also
/// contains won, lost and dead-drawn positions. Openings are dropped if the first search scores
/// them beyond 300 centipawns, or the tablebases decide them.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  lancet-train datagen --out games --nodes 150 --positions 10000000
  lancet-train datagen --out games960 --nodes 150 --games 100000 --chess960 100 --threads 2
  lancet-train datagen --out books --nodes 150 --book a.epd --book b.epd --book-share 80 --book-plies 2")]
pub struct Args {
    /// Directory for the games; new games are added to those already in it
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Games played at the same time [default: all cores]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<u32>(1..=1024))]
    threads: Option<u32>,
    /// Nodes per move after which no new iteration starts
    #[arg(long, value_name = "SOFT", value_parser = arguments::count)]
    nodes: u64,
    /// Nodes per move that no search exceeds [default: 8 times SOFT]
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    hard: Option<u64>,
    /// Stop when the directory holds this many games
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    games: Option<u64>,
    /// Stop when the directory holds this many positions
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    positions: Option<u64>,
    /// Stop after this many hours, counted from the start of this command
    #[arg(long, value_name = "H", value_parser = arguments::hours)]
    hours: Option<Duration>,
    /// Seed of all random choices
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = arguments::whole::<u64>(..))]
    seed: u64,
    /// Start from the positions of this book, one FEN or EPD per line; may be repeated, and the
    /// books are then used equally often
    #[arg(long, value_name = "FILE.epd")]
    book: Vec<PathBuf>,
    /// Percentage of games that start from a book, if one is given
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = arguments::whole::<u32>(0..=100))]
    book_share: u32,
    /// Random plies after a book position; half the games get one more
    #[arg(long, value_name = "N", default_value_t = openings::RANDOM_PLIES_AFTER_BOOK, value_parser = arguments::whole::<u32>(0..=40))]
    book_plies: u32,
    /// Random plies after a start position; half the games get one more
    #[arg(long, value_name = "N", default_value_t = openings::RANDOM_PLIES, value_parser = arguments::whole::<u32>(0..=40))]
    random_plies: u32,
    /// Percentage of the games without a book position that start from a Chess960 position
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = arguments::whole::<u32>(0..=100))]
    chess960: u32,
    /// Evaluate with this network instead of the built-in one; `psqt` is material and piece-square
    /// tables
    #[arg(long, value_name = "NET")]
    net: Option<PathBuf>,
    /// Decide games with the Syzygy tablebases in this directory
    #[arg(long, value_name = "DIR")]
    syzygy: Option<PathBuf>,
    /// Adjudication of games.
    #[command(flatten)]
    adjudication: Adjudication,
}

/// All settings that affect the games. They are the same for all games of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    version: String,
    /// Build that began the directory: its commit and processor. Another build may continue it.
    build: String,
    evaluation: String,
    seed: u64,
    nodes: u64,
    hard: u64,
    books: Vec<String>,
    /// FNV-1a of the positions of each book, in hexadecimal, to identify the book.
    book_hashes: Vec<String>,
    book_share: u32,
    book_plies: u32,
    random_plies: u32,
    chess960: u32,
    syzygy: bool,
    adjudication: Adjudication,
}

impl Recipe {
    fn new(args: &Args, books: &[Vec<Position>], evaluation: &str) -> Recipe {
        let hash = |book: &Vec<Position>| {
            let fens: String = book.iter().map(|position| position.fen() + "\n").collect();
            format!("{:016x}", fnv1a(fens.as_bytes()))
        };
        let name =
            |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Recipe {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: VERSION.to_owned(),
            evaluation: evaluation.to_owned(),
            seed: args.seed,
            nodes: args.nodes,
            hard: args.hard.unwrap_or(args.nodes.saturating_mul(HARD_BY_SOFT)),
            books: args.book.iter().map(name).collect(),
            book_hashes: books.iter().map(hash).collect(),
            book_share: args.book_share,
            book_plies: args.book_plies,
            random_plies: args.random_plies,
            chess960: args.chess960,
            syzygy: args.syzygy.is_some(),
            adjudication: args.adjudication.clone(),
        }
    }

    fn conditions(&self) -> Conditions {
        Conditions { soft: self.nodes, hard: self.hard, adjudication: self.adjudication.clone() }
    }

    /// Claims `dir` for this process and this recipe until the returned file is closed.
    ///
    /// # Errors
    ///
    /// If another process has claimed the directory, if it has another recipe, or if it cannot be
    /// used.
    fn claim(&self, dir: &Path) -> anyhow::Result<File> {
        fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        let path = dir.join(RECIPE_FILE);
        self.claim_file(&path).with_context(|| path.display().to_string())
    }

    fn claim_file(&self, path: &Path) -> anyhow::Result<File> {
        let mut file = files::open_to_grow(path)?;
        files::claim(&file, "another datagen is writing to this directory")?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let ours = toml::to_string(self)?;
        if text.is_empty() {
            journal::append(&mut file, ours.as_bytes())?;
            file.sync_all()?;
            return Ok(file);
        }
        let theirs: Recipe = toml::from_str(&text).context("cannot read the settings")?;
        if theirs != (Recipe { build: theirs.build.clone(), ..self.clone() }) {
            return Err(other_options("has games made", &text, &ours));
        }
        if theirs.build != self.build {
            other_build(path, &theirs.build);
        }
        Ok(file)
    }
}

/// Statistics of the games in a directory or file.
#[derive(Clone, Copy, Debug, Default)]
struct Stats {
    tally: Tally,
    positions: u64,
    kept: u64,
    /// Nodes searched in this run; files do not store them.
    nodes: u64,
    /// Number of openings dropped in this run.
    unbalanced: u64,
}

impl Stats {
    fn add(&mut self, game: &Record) {
        let filter = Filter::default();
        self.tally.add(game.result);
        self.positions += game.moves.len() as u64;
        game.visit(|visit| self.kept += u64::from(filter.label(visit).is_some()));
    }

    fn merge(&mut self, other: &Stats) {
        self.tally.merge(&other.tally);
        self.positions += other.positions;
        self.kept += other.kept;
        self.nodes += other.nodes;
        self.unbalanced += other.unbalanced;
    }
}

/// Largest accepted length of an incomplete last game, in bytes. The longest game is shorter.
const TORN_AT_MOST: usize = 4096;

/// Number of openings in a row that may be dropped before a game. Even if only one opening in a
/// thousand is balanced, this many in a row are hardly ever dropped.
const DROPPED_AT_MOST: u64 = 10_000;

/// A file of games to which whole games are appended.
#[derive(Debug)]
struct Stream {
    path: PathBuf,
    file: File,
    /// Games in the file.
    games: u64,
    /// Time when the games were last synchronised to the disk.
    synced: Instant,
}

impl Stream {
    /// Opens or creates a stream. Cuts off an incomplete last game and zeros.
    ///
    /// # Errors
    ///
    /// If the damaged part is longer than any game, a complete game is invalid, or the file cannot
    /// be used.
    fn open(path: PathBuf) -> anyhow::Result<(Stream, Stats)> {
        let place = || path.display().to_string();
        let mut file = files::open_to_grow(&path).with_context(place)?;
        let mut bytes = format::read(&path)?;
        // If there are more zeros than a complete game can end with, the data had not reached the
        // disk when the power failed. The zeros may hide the end of the last game, so cut it off.
        let zeros = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
        if zeros > LAST_ZEROS {
            bytes.truncate(bytes.len() - zeros);
        }
        let games = GameFile::new(&path, bytes);
        let mut stats = Stats::default();
        for game in 0..games.count() {
            stats.add(&games.game(game)?);
        }
        let (count, length, torn) = (games.count(), games.whole().len(), games.torn());
        ensure!(
            torn <= TORN_AT_MOST,
            "{}: damaged after game {count}: no complete game from byte {length} to {}; truncate \
             the file to {length} bytes, or move it away",
            path.display(),
            length + torn
        );
        if torn > 0 {
            let path = path.display();
            complain(format_args!(
                "{path}: the last game is incomplete; removing its {torn} bytes"
            ));
        }
        file.set_len(length as u64).with_context(place)?;
        file.seek(SeekFrom::End(0)).with_context(place)?;
        Ok((Stream { path, file, games: count as u64, synced: Instant::now() }, stats))
    }

    /// Appends a game. If writing fails, the file keeps its old length.
    fn append(&mut self, game: &Record) -> anyhow::Result<()> {
        journal::append(&mut self.file, &game.encode())
            .with_context(|| self.path.display().to_string())?;
        self.games += 1;
        Ok(())
    }

    /// Synchronises the games to the disk.
    fn sync(&mut self) -> anyhow::Result<()> {
        self.synced = Instant::now();
        self.file.sync_data().with_context(|| self.path.display().to_string())
    }
}

/// State that all threads share.
struct Shared {
    openings: Openings,
    recipe: Recipe,
    network: Option<Arc<Network>>,
    tablebase: Option<Arc<Tablebase<Chess>>>,
    goal: Goal,
    stats: Mutex<Stats>,
    /// Stopped when the goal is reached, after an error, or at the user's request. Games in
    /// progress are then dropped.
    over: Arc<Signals>,
}

#[derive(Clone, Copy)]
struct Goal {
    games: Option<u64>,
    positions: Option<u64>,
    end: Option<Instant>,
}

impl Goal {
    fn reached(&self, stats: &Stats) -> bool {
        self.games.is_some_and(|games| stats.tally.games() >= games)
            || self.positions.is_some_and(|positions| stats.positions >= positions)
            || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

impl Shared {
    /// Plays the games of a stream until `over` is stopped, and synchronises them to the disk. An
    /// error stops all threads.
    fn work(&self, mut stream: Stream, number: u32) -> anyhow::Result<()> {
        let played = self.play(&mut stream, number);
        played.and(stream.sync()).inspect_err(|_| self.over.stop())
    }

    fn play(&self, stream: &mut Stream, number: u32) -> anyhow::Result<()> {
        let recipe = &self.recipe;
        let networks = [self.network.as_ref()];
        let mut player = SelfPlay::new(recipe.conditions(), &networks, self.tablebase.clone())?;
        let stopped = || self.over.is_stopped();
        while !stopped() {
            let mut rng = game_rng(recipe.seed, number, stream.games);
            let mut news = Stats::default();
            let mut dropped = 0;
            let game = loop {
                let Some(start) = self.openings.make(&mut rng, stopped) else { return Ok(()) };
                match player.play(start, &mut news.nodes, &self.over) {
                    // A game that a tablebase decides in the opening has no moves to store.
                    Played::Game(game) if !game.moves.is_empty() => break game,
                    Played::Game(_) | Played::Unbalanced => {
                        dropped += 1;
                        ensure!(
                            dropped < DROPPED_AT_MOST,
                            "{dropped} openings in a row were dropped, because one side was ahead \
                             by more than {BALANCE} centipawns, or tablebases decided the game: \
                             use other openings"
                        );
                        let dropped = Stats { unbalanced: 1, ..std::mem::take(&mut news) };
                        let mut stats = lock(&self.stats);
                        stats.merge(&dropped);
                        if self.goal.reached(&stats) {
                            self.over.stop();
                        }
                    }
                    Played::Stopped => return Ok(()),
                }
            };
            news.add(&game);
            // Hold the lock, so that the number of games is exactly the goal.
            let mut stats = lock(&self.stats);
            if !self.goal.reached(&stats) {
                stream.append(&game)?;
                stats.merge(&news);
            }
            if self.goal.reached(&stats) {
                self.over.stop();
            }
            drop(stats);
            if stream.synced.elapsed() >= SYNC_INTERVAL {
                stream.sync()?;
            }
        }
        Ok(())
    }
}

/// Returns the random number generator of one game.
fn game_rng(seed: u64, stream: u32, game: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..12].copy_from_slice(&stream.to_le_bytes());
    key[16..24].copy_from_slice(&game.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// Runs the command.
///
/// # Errors
///
/// If an argument is out of range, a file cannot be used, or there is not enough memory.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    generate(args, &stopped_by_ctrl_c())?;
    Ok(ExitCode::SUCCESS)
}

/// Plays until a goal is reached or `stop` requests an end. Returns the numbers of games and
/// positions of this seed in the directory.
///
/// # Errors
///
/// The same as for [`run`].
pub(crate) fn generate(args: &Args, stop: &Signals) -> anyhow::Result<(u64, u64)> {
    let (soft, hard) = (args.nodes, args.hard.unwrap_or(u64::MAX));
    ensure!(hard >= soft, "--hard {hard}: expected at least --nodes {soft}");
    let threads = thread_count(args.threads);
    let network = match &args.net {
        None => Some(eval::default_network()),
        Some(path) => eval::load(path)?,
    };
    let books = args.book.iter().map(|path| openings::read_book(path));
    let books = books.collect::<Result<Vec<_>, _>>()?;
    let evaluation = network.as_deref().map_or(eval::PSQT.to_owned(), Network::name);
    let recipe = Recipe::new(args, &books, &evaluation);
    let openings = Openings {
        books,
        book_share: args.book_share,
        book_plies: args.book_plies,
        random_plies: args.random_plies,
        chess960: args.chess960,
    };
    let tablebase = args.syzygy.as_deref().map(open_tablebase).transpose()?.map(Arc::new);
    let memory = recipe.conditions().check_memory(threads as usize);
    memory.with_context(|| format!("--threads {threads}"))?;
    let _claim = recipe.claim(&args.out)?;
    let (streams, found) = open_streams(&args.out, recipe.seed, threads)?;

    let start = Instant::now();
    let goal = Goal {
        games: args.games,
        positions: args.positions,
        end: args.hours.map(|hours| start + hours),
    };
    let shared = Shared {
        openings,
        recipe,
        network,
        tablebase,
        over: Arc::default(),
        goal,
        stats: Mutex::new(found),
    };
    if goal.reached(&found) || stop.is_stopped() {
        shared.over.stop();
    }
    thread::scope(|scope| -> anyhow::Result<()> {
        let mut handles = Vec::new();
        for (stream, number) in streams.into_iter().zip(0..) {
            let shared = &shared;
            let thread = threads::spawn(scope, "self-play", move || shared.work(stream, number));
            // On an error, stop the other threads: the scope waits for them.
            handles.push(thread.inspect_err(|_| shared.over.stop())?);
        }
        let display = Display { shared: &shared, found, start };
        display.run(stop, || handles.iter().all(ScopedJoinHandle::is_finished));
        for thread in handles {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        }
        Ok(())
    })?;
    let Stats { tally, positions, .. } = unpoisoned(shared.stats.into_inner());
    Ok((tally.games(), positions))
}

/// Opens the streams of `threads` threads, and counts all games of this seed in `dir`, including
/// those of earlier runs with more threads.
fn open_streams(dir: &Path, seed: u64, threads: u32) -> anyhow::Result<(Vec<Stream>, Stats)> {
    let path = |number| dir.join(format!("games-{seed}-{number}.vf"));
    let mut found = Stats::default();
    let mut streams = Vec::new();
    for number in 0.. {
        if number >= threads && !path(number).exists() {
            break;
        }
        let (stream, stats) = Stream::open(path(number))?;
        found.merge(&stats);
        if number < threads {
            streams.push(stream);
        }
    }
    Ok((streams, found))
}

fn open_tablebase(dir: &Path) -> anyhow::Result<Tablebase<Chess>> {
    let mut tablebase = Tablebase::new();
    let count = tablebase.add_directory(dir).with_context(|| dir.display().to_string())?;
    ensure!(count > 0, "{}: no Syzygy tablebases in this directory", dir.display());
    Ok(tablebase)
}

/// Shows the progress: a bar on a terminal, otherwise a line per minute.
struct Display<'a> {
    shared: &'a Shared,
    /// Statistics of the games that were there before this run.
    found: Stats,
    start: Instant,
}

impl Display<'_> {
    /// Shows the progress until `finished`. Passes `stop` on to the threads.
    fn run(&self, stop: &Signals, finished: impl Fn() -> bool) {
        let bar = progress_bar(1000);
        let mut shown = Instant::now();
        while !finished() {
            thread::sleep(Duration::from_millis(100));
            if stop.is_stopped() {
                self.shared.over.stop();
            }
            let (permille, text) = self.text();
            if bar.is_hidden() && shown.elapsed() >= Duration::from_mins(1) {
                shown = Instant::now();
                note(format_args!("{:>3}% {text}", permille / 10));
            }
            bar.set_position(permille);
            bar.set_message(text);
        }
        bar.finish_and_clear();
        note(self.text().1);
    }

    /// Returns the progress in permille of the goal, and a line with all statistics.
    fn text(&self) -> (u64, String) {
        let stats = *lock(&self.shared.stats);
        let seconds = self.start.elapsed().as_secs_f64().max(1e-3);
        let new = |now: u64, before: u64| (now - before) as f64;
        let games = stats.tally.games();
        let positions = new(stats.positions, self.found.positions);
        let goal = &self.shared.goal;
        let mut done: f64 = 0.0;
        let mut left = f64::INFINITY;
        let mut aim = |now: u64, before: u64, goal: Option<u64>| {
            if let Some(goal) = goal {
                done = done.max(now as f64 / goal.max(1) as f64);
                left = left.min(goal.saturating_sub(now) as f64 * seconds / new(now, before));
            }
        };
        aim(games, self.found.tally.games(), goal.games);
        aim(stats.positions, self.found.positions, goal.positions);
        if let Some(end) = goal.end {
            let rest = end.saturating_duration_since(Instant::now()).as_secs_f64();
            done = done.max(seconds / (seconds + rest));
            left = left.min(rest);
        }
        // No ETA if the time is too long for a `Duration`.
        let eta = Duration::try_from_secs_f64(left)
            .map_or_else(|_| String::new(), |left| format!(", ETA {}", HumanDuration(left)));
        let nodes = stats.nodes as f64;
        let text = format!(
            "{games} games ({}), {} positions, {} kept, {:.1} plies per game; this run: {} \
             openings dropped, {} nodes ({:.0} per position), {:.2} Mnps, {:.0} positions/s{eta}",
            stats.tally,
            stats.positions,
            stats.kept,
            stats.positions as f64 / games.max(1) as f64,
            stats.unbalanced,
            stats.nodes,
            nodes / positions.max(1.0),
            nodes / seconds / 1e6,
            positions / seconds,
        );
        ((1000.0 * done.min(1.0)) as u64, text)
    }
}
