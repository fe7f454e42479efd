//! `lancet-train learn`: the loop.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args as ClapArgs;
use serde::Deserialize;

use super::{
    super::{
        checkpoint, command as train, datagen, replace, schedule::Schedule, stopped_by_ctrl_c,
        thread_count,
    },
    duel::Duel,
    lineage::{Generation, Home, Lineage, Settings},
    picture,
    sprt::{Pairs, Verdict},
};
use lancet::{
    eval::{self, nnue::Network},
    play::signals::Signals,
    system::{arguments, random::mix, stdio::note},
};

/// Samples for each position in the first training, from random weights, ...
const FIRST_PASSES: u64 = 10;
/// ... and the learning rate that it begins at; ...
const FIRST_RATE: f32 = 2e-3;
/// ... samples in a later one, from the weights of the best network, ...
const PASSES: u64 = 3;
/// ... and its rate.
const RATE: f32 = 5e-4;
/// A batch is this part of the pool, rounded up to a power of two ...
const BATCHES: u64 = 200;
/// ... but have at least and at most so many positions.
const BATCH: [u64; 2] = [256, 16384];
/// Once the window is full, a generation of a timed run plays for so long.
const FULL_WINDOW_SECONDS: f64 = 900.0;

/// Learn from nothing: play, train and compare, generation after generation
///
/// The first games are played by material and piece-square tables; no other engine's games,
/// scores or networks are involved. A generation is games by the best network so far, a
/// training on the newest games (from random weights at first, then from the best network's),
/// and a match of the new network against the best one at the same nodes per move, by a
/// sequential test of 0 against 10 Elo over pairs of games. The new one takes the other's place
/// only if it wins; if --match-games games do not decide, the likelier of both cases counts.
///
/// A generation plays half as many positions as there are, until --window are there; older ones
/// are then deleted. With --hours a full window is then renewed for a quarter of an hour at a
/// time, with --generations by a quarter.
///
/// Ctrl-C or a kill loses at most the games in progress and two minutes of training, a power
/// failure also the games of the last ten seconds; the same command goes on. With --generations
/// and one thread the same seed gives the same networks.
#[derive(Clone, Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("length").required(true).args(["hours", "generations"]))]
#[command(after_long_help = "\
Examples:
  lancet-train learn --out grown --hours 2
  lancet-train learn --out small --generations 8 --threads 1 --hidden 64 --first 200000
  lancet \"setoption name EvalFile value grown/best.nnue\" bench quit

Files:
  DIR/best.nnue         the best network
  DIR/lineage.toml      settings, and every generation with its games, losses, match and hours
  DIR/lineage.svg       Elo, positions and loss over hours
  DIR/generation-0001/  its games (.vf), its network, its loss curves and its match")]
pub struct Args {
    /// Directory for networks, games and the lineage; what is there already goes on
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Learn for this many hours
    #[arg(long, value_name = "H", value_parser = arguments::hours)]
    hours: Option<Duration>,
    /// Learn until the lineage has this many generations; the clock decides nothing
    #[arg(long, value_name = "N", value_parser = arguments::whole::<u32>(..))]
    generations: Option<u32>,
    /// Threads to play and train with [default: all cores]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<u32>(1..=1024))]
    threads: Option<u32>,
    /// Seed of all random choices
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = arguments::whole::<u64>(..))]
    seed: u64,
    /// Nodes per move after which no new iteration starts, in games and matches
    #[arg(long, value_name = "SOFT", default_value_t = 150, value_parser = arguments::whole::<u64>(1..=1 << 40))]
    nodes: u64,
    /// Hidden neurons per view, a multiple of 32
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = arguments::whole::<usize>(..))]
    hidden: usize,
    /// Output buckets, chosen by piece count
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = arguments::whole::<usize>(..))]
    buckets: usize,
    /// Positions before the first training; then half of all each time, up to --window
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = arguments::whole::<u64>(100..))]
    first: u64,
    /// Newest positions that are learned from, at least: whole generations (18 bytes of memory
    /// each, 4.5 on the disk)
    #[arg(long, value_name = "N", default_value_t = 40_000_000, value_parser = arguments::whole::<u64>(100..))]
    window: u64,
    /// Games of a match at most
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = arguments::whole::<u64>(2..))]
    match_games: u64,
}

/// Runs the command.
///
/// # Errors
///
/// If the options make no sense, a file cannot be used, or there is not enough memory.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // What makes no sense is refused before hours of games, not after.
    let Args { hidden, buckets, .. } = *args;
    Schedule { hidden, buckets, ..Schedule::default() }.check()?;
    let settings = Settings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: args.seed,
        threads: thread_count(args.threads),
        nodes: args.nodes,
        hidden,
        buckets,
        first: args.first,
        window: args.window,
        match_games: args.match_games,
    };
    let home = Home::claim(&args.out)?;
    let lineage = home.open(&settings)?;
    let stop = stopper(args.hours)?;
    let before = lineage.hours();
    let timed = args.hours.is_some();
    let mut learner = Learner { home, lineage, stop, timed, start: Instant::now(), before };
    learner.grow(args.generations.unwrap_or(u32::MAX))?;
    let done = learner.lineage.generations.len();
    match learner.lineage.best() {
        0 if args.generations.is_some_and(|last| learner.lineage.next() > last) => {
            note(format_args!(
                "no network won its match in {done} generations; a larger --generations goes on"
            ));
        }
        0 => note("no network yet; the same command goes on"),
        best => {
            let network = learner.home.file(BEST);
            note(format_args!("the best network is generation {best}: {}", network.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The file of the best network.
const BEST: &str = "best.nnue";

/// Told to stop by Ctrl-C and when the hours are over.
fn stopper(time: Option<Duration>) -> anyhow::Result<Arc<Signals>> {
    let stop = stopped_by_ctrl_c();
    if let Some(time) = time {
        let told = Arc::clone(&stop);
        std::thread::Builder::new().name("clock".to_owned()).spawn(move || {
            std::thread::sleep(time);
            told.stop();
        })?;
    }
    Ok(stop)
}

/// The arguments of a command with these options, as if they had been typed.
fn typed<T: ClapArgs>(options: &str, paths: &[(&str, &Path)]) -> Result<T, clap::Error> {
    let paths = paths.iter().flat_map(|(option, path)| [OsStr::new(*option), path.as_os_str()]);
    let words = options.split_whitespace().map(OsStr::new).chain(paths);
    let command = T::augment_args(clap::Command::new("learn").no_binary_name(true));
    T::from_arg_matches(&command.try_get_matches_from(words)?)
}

/// The seed of a generation: small, since files are named by it.
const fn file_seed(seed: u64, number: u32) -> u64 {
    mix(seed ^ mix(number as u64)) >> 32
}

struct Learner {
    home: Home,
    lineage: Lineage,
    stop: Arc<Signals>,
    /// Does the clock say how much is played, once the window is full?
    timed: bool,
    start: Instant,
    /// Hours of work in earlier runs.
    before: f64,
}

/// A part of what a network says of how it was made; one that was put there by hand may not.
#[derive(Deserialize)]
struct Provenance {
    training_loss: Option<f64>,
    validation_loss: Option<f64>,
    #[serde(default)]
    positions: u64,
}

impl Learner {
    /// Completes generations up to this one, unless told to stop.
    fn grow(&mut self, last: u32) -> anyhow::Result<()> {
        let mut grow = || -> anyhow::Result<()> {
            while self.lineage.next() <= last && self.generation()? {}
            Ok(())
        };
        let grown = grow();
        self.lineage.worked = self.hours();
        grown.and(self.home.save(&self.lineage))
    }

    /// Hours of work since the beginning.
    fn hours(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64() / 3600.0
    }

    /// Completes the generation under way (true), unless told to stop. Every step
    /// finds what of it has been done.
    fn generation(&mut self) -> anyhow::Result<bool> {
        let (number, parent) = (self.lineage.next(), self.lineage.best());
        let Some((games, positions)) = self.play(number, parent)? else { return Ok(false) };
        let (first, pool) = self.lineage.window(positions);
        if !self.train(number, parent, first, pool)? {
            return Ok(false);
        }
        let network = Arc::new(Network::load(&self.home.network(number))?);
        let Some(pairs) = self.compare(number, parent, &network)? else { return Ok(false) };

        let made: Provenance = toml::from_str(network.provenance())?;
        let promoted = pairs.verdict(self.lineage.settings.match_games) == Verdict::Better;
        let (elo, error) = pairs.elo();
        let place = if promoted { "promoted" } else { "not promoted" };
        note(format_args!(
            "generation {number} against {parent}: {elo:+.0} +/- {error:.0} Elo in {} games, {place}",
            pairs.games()
        ));
        if promoted {
            replace(&self.home.file(BEST), network.to_bytes())?;
        }
        self.lineage.generations.push(Generation {
            number,
            parent,
            games,
            positions,
            pool,
            learned: made.positions,
            training_loss: made.training_loss.unwrap_or(0.0),
            validation_loss: made.validation_loss,
            pairs,
            elo,
            error,
            promoted,
            hours: self.hours(),
        });
        self.lineage.goal = self.next_goal(pool);
        self.home.save(&self.lineage)?;
        replace(&self.home.file("lineage.svg"), picture::svg(&self.lineage)?)?;
        let (first, _) = self.lineage.window(self.lineage.goal);
        self.home.forget(&self.lineage, first)?;
        Ok(true)
    }

    /// Games of the best network. Returns games and positions.
    fn play(&mut self, number: u32, parent: u32) -> anyhow::Result<Option<(u64, u64)>> {
        let Settings { seed, threads, nodes, .. } = self.lineage.settings;
        let goal = self.lineage.goal;
        note(format_args!("generation {number}: {goal} positions by generation {parent}"));
        let (out, net) = (self.home.generation(number), self.home.network(parent));
        let net = if parent == 0 { Path::new(eval::PSQT) } else { &net };
        let seed = file_seed(seed, number);
        let options =
            format!("--threads {threads} --nodes {nodes} --positions {goal} --seed {seed}");
        let args: datagen::Args = typed(&options, &[("--out", &*out), ("--net", net)])?;
        let start = Instant::now();
        let made = datagen::generate(&args, &self.stop)?;
        if made.positions < goal {
            return Ok(None);
        }
        if made.before == 0 {
            self.lineage.speed = Some(made.positions as f64 / start.elapsed().as_secs_f64());
        }
        Ok(Some((made.games, made.positions)))
    }

    /// A network from the games of the window, unless it is there: true, if not told to
    /// stop.
    fn train(&self, number: u32, parent: u32, first: u32, pool: u64) -> anyhow::Result<bool> {
        let Settings { seed, threads, hidden, buckets, .. } = self.lineage.settings;
        let out = self.home.network(number);
        // The checkpoint goes last, after what stands beside the network.
        if out.exists() && !checkpoint::path(&out).exists() {
            return Ok(true);
        }
        note(format_args!("generation {number}: training on generations {first} to {number}"));
        let mut data = Vec::new();
        for number in first..=number {
            data.extend(self.home.games(number)?);
        }
        let [least, most] = BATCH;
        let batch = (pool / BATCHES).next_power_of_two().clamp(least, most);
        let later = parent > 0;
        let samples = pool * if later { PASSES } else { FIRST_PASSES };
        let rate = if later { RATE } else { FIRST_RATE };
        let seed = file_seed(seed, number);
        let options = format!(
            "--resume --hidden {hidden} --buckets {buckets} --samples {samples} --batch {batch} \
             --rate-first {rate} --seed {seed} --threads {threads}"
        );
        let from = later.then(|| self.home.network(parent));
        let mut paths = vec![("--out", &*out)];
        paths.extend(data.iter().map(|path| ("--data", &**path)));
        paths.extend(from.iter().map(|path| ("--from", &**path)));
        train::train(&typed(&options, &paths)?, &self.stop)
    }

    /// The match of the new network against its parent.
    fn compare(
        &self,
        number: u32,
        parent: u32,
        new: &Arc<Network>,
    ) -> anyhow::Result<Option<Pairs>> {
        let Settings { seed, threads, nodes, match_games, .. } = self.lineage.settings;
        note(format_args!("generation {number}: match against generation {parent}"));
        let old = (parent > 0).then(|| Network::load(&self.home.network(parent)));
        let old = old.transpose()?.map(Arc::new);
        let duel = Duel {
            new,
            old: old.as_ref(),
            nodes,
            games: match_games,
            seed: mix(!seed ^ mix(u64::from(number))),
            threads,
        };
        duel.play(&self.home.generation(number).join("match.txt"), &self.stop)
    }

    /// Positions that the next generation plays: half of what there is, until the window
    /// is full; then what fits a quarter of an hour, or a quarter of the window.
    fn next_goal(&self, pool: u64) -> u64 {
        let window = self.lineage.settings.window;
        let goal = if pool < window {
            pool / 2
        } else {
            let timed = self.lineage.speed.filter(|_| self.timed);
            timed.map_or(window / 4, |speed| (speed * FULL_WINDOW_SECONDS) as u64)
        };
        goal.clamp(1, window)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::lineage::tests::lineage, *};

    #[test]
    fn pools_grow_by_a_half_until_the_window_is_full() {
        let dir = tempfile::tempdir().unwrap();
        let lineage = Lineage { speed: Some(0.1), ..lineage() };
        let mut learner = Learner {
            home: Home::claim(dir.path()).unwrap(),
            lineage,
            stop: Arc::default(),
            timed: false,
            start: Instant::now(),
            before: 0.0,
        };
        assert_eq!((learner.next_goal(100), learner.next_goal(249)), (50, 124));
        assert_eq!(learner.next_goal(250), 62);
        learner.timed = true;
        assert_eq!((learner.next_goal(100), learner.next_goal(250)), (50, 90));
        learner.lineage.speed = Some(1e9);
        assert_eq!(learner.next_goal(250), 250);
    }

    /// A run that is stopped before its generation is complete keeps its time.
    #[test]
    fn interrupted_work_counts() {
        let dir = tempfile::tempdir().unwrap();
        let Lineage { settings, .. } = lineage();
        let mut learner = Learner {
            home: Home::claim(dir.path()).unwrap(),
            lineage: Lineage {
                goal: 100,
                speed: None,
                worked: 1.5,
                generations: Vec::new(),
                settings,
            },
            stop: Arc::default(),
            timed: false,
            start: Instant::now(),
            before: 1.5,
        };
        learner.stop.stop();
        learner.grow(1).unwrap();
        let there = learner.home.open(&learner.lineage.settings).unwrap();
        assert!(there.generations.is_empty() && there.hours() > 1.5, "{there:?}");
    }
}
