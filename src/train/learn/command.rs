//! `lancet-train learn`: the loop of self-play, training and match.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::Args as ClapArgs;
use serde::Deserialize;

use super::{
    super::{
        checkpoint, command as train, datagen, exam::Exam, replace, schedule::Schedule,
        stopped_by_ctrl_c,
    },
    duel::Duel,
    lineage::{Generation, Home, Lineage, Settings},
    picture,
    sprt::{Pairs, Verdict},
};
use lancet::{
    chess::notation::counted,
    eval::{self, nnue::Network},
    play::signals::Signals,
    system::{arguments, random::mix, stdio::note},
};

/// Samples per position of the pool (the games of all generations so far) in a training run from
/// random weights.
const FIRST_PASSES: u64 = 10;
/// Initial learning rate of a training run from random weights.
const FIRST_RATE: f32 = 2e-3;
/// Samples per position of the pool in a training run from the state of the best network.
const PASSES: u64 = 3;
/// Initial learning rate of a training run from the state of the best network.
const RATE: f32 = 5e-4;
/// The batch size is the number of positions in the pool divided by this, rounded up to a power of
/// two.
const BATCHES: u64 = 200;
/// Smallest and largest batch size.
const BATCH: [u64; 2] = [256, 16384];

/// Train networks from scratch: self-play, training and a match in each generation
///
/// No games, scores or networks of other engines are used: the first games are played with material
/// and piece-square tables. In each generation, the best network so far plays games against itself.
/// Then a new network is trained on the games of all generations. It starts with random weights
/// until there is a best network, and later with the state of that network's training.
///
/// Finally, the new network plays a match against the best one, with the same number of nodes per
/// move, and replaces it only if it wins. Without a best network, the opponent is material and
/// piece-square tables. The match is a sequential test (SPRT) of 0 against 10 Elo over pairs of
/// games. If --match-games games do not decide it, the likelier hypothesis wins.
///
/// All games are kept. The first generation plays games until they have --first positions. Each
/// later one plays half as many positions as all earlier generations together, but at most --most.
/// A training run from random weights takes 10 times as many samples as there are positions,
/// including those that the filter drops. A run from the state of the best network takes 3 times as
/// many. No training run takes more than --samples samples.
///
/// Ctrl-C or a kill loses at most the games in progress and two minutes of training. A power
/// failure also loses the newest games, at most those of ten seconds. Run the same command again to
/// continue. With --generations and one thread, the same seed gives the same networks.
#[derive(Clone, Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("length").required(true).args(["hours", "generations"]))]
#[command(after_long_help = "\
Examples:
  lancet-train learn --out grown --hours 2
  lancet-train learn --out small --generations 8 --threads 1 --hidden 64 --first 200000
  lancet \"setoption name EvalFile value grown/best.nnue\" bench quit

Files:
  DIR/best.nnue         the best network
  DIR/lineage.toml      settings, and the games, losses, match and hours of every generation
  DIR/lineage.svg       Elo, positions and errors over time
  DIR/generation-0001/  games (.vf), network, state, loss curves and match of generation 1")]
pub struct Args {
    /// Directory for networks, games and the history of the generations (lineage.toml); if it has a
    /// run already, that run continues
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Stop after this many hours, counted from the start of this command
    #[arg(long, value_name = "H", value_parser = arguments::hours)]
    hours: Option<Duration>,
    /// Stop when there are this many generations, those of earlier runs included. With one thread,
    /// the results then do not depend on timing
    #[arg(long, value_name = "N", value_parser = arguments::whole::<u32>(..))]
    generations: Option<u32>,
    #[command(flatten)]
    settings: Settings,
    /// Also report the error of each network on these positions, which should not come from games
    /// of this run: a file that `lancet epd --csv` wrote for one engine
    #[arg(long, value_name = "EXAM.csv")]
    exam: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// If an option is out of range, a file cannot be used, or there is not enough memory.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // Refuse a bad exam and bad settings of the network before hours of self-play.
    let Settings { hidden, buckets, .. } = args.settings;
    Schedule { hidden, buckets, ..Schedule::default() }.check()?;
    args.exam.as_deref().map(Exam::read).transpose()?;
    let home = Home::claim(&args.out)?;
    let lineage = home.open(&args.settings)?;
    let stop = stopper(args.hours)?;
    let before = lineage.hours();
    let exam = args.exam.clone();
    let mut learner = Learner { home, lineage, exam, stop, start: Instant::now(), before };
    learner.grow(args.generations.unwrap_or(u32::MAX))?;
    let done = counted(learner.lineage.generations.len(), "generation");
    match learner.lineage.best() {
        0 if args.generations.is_some_and(|last| learner.lineage.next() > last) => {
            note(format_args!(
                "no network won its match in {done}; to continue, raise --generations"
            ));
        }
        0 => note("no network has won its match yet; run the same command again to continue"),
        best => {
            let network = learner.home.file(BEST);
            note(format_args!("the best network is generation {best}: {}", network.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Name of the file of the best network.
const BEST: &str = "best.nnue";

/// Returns signals on which Ctrl-C, or the end of `time`, requests a stop.
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

/// Parses the arguments of a command: `options`, separated by spaces, and `paths`, each an option
/// with its path.
fn typed<T: ClapArgs>(options: &str, paths: &[(&str, &Path)]) -> Result<T, clap::Error> {
    // The path is in the same argument, since it may begin with a hyphen.
    let joined = |(option, path): &(&str, &Path)| {
        let mut word = OsString::from(format!("{option}="));
        word.push(path);
        word
    };
    let words = options.split_whitespace().map(OsString::from).chain(paths.iter().map(joined));
    let command = T::augment_args(clap::Command::new("learn").no_binary_name(true));
    T::from_arg_matches(&command.try_get_matches_from(words)?)
}

/// Returns the name of the player of a generation.
fn player(generation: u32) -> String {
    match generation {
        0 => "piece-square tables".to_owned(),
        number => format!("generation {number}"),
    }
}

/// Returns the seed of a generation. It is short, because it is part of file names.
const fn file_seed(seed: u64, number: u32) -> u64 {
    mix(seed ^ mix(number as u64)) >> 32
}

struct Learner {
    home: Home,
    lineage: Lineage,
    exam: Option<PathBuf>,
    stop: Arc<Signals>,
    start: Instant,
    /// Hours of work in earlier runs.
    before: f64,
}

/// The fields of a network's training record that are used here. A network that was placed in the
/// directory by hand may lack them.
#[derive(Deserialize)]
struct Provenance {
    training_loss: Option<f64>,
    exam_error: Option<f64>,
    #[serde(default)]
    positions: u64,
}

impl Learner {
    /// Completes generations up to number `last`, unless stopped.
    fn grow(&mut self, last: u32) -> anyhow::Result<()> {
        let mut grow = || -> anyhow::Result<()> {
            while self.lineage.next() <= last && self.generation()? {}
            Ok(())
        };
        let grown = grow();
        self.lineage.worked = self.hours();
        grown.and(self.home.save(&self.lineage))
    }

    /// Returns the hours of work since the beginning.
    fn hours(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64() / 3600.0
    }

    /// Completes the current generation. Returns false if stopped. Every step continues from the
    /// files that an earlier run left, if there are any.
    fn generation(&mut self) -> anyhow::Result<bool> {
        let (number, parent) = (self.lineage.next(), self.lineage.best());
        let Some((games, positions)) = self.play(number, parent)? else { return Ok(false) };
        let pool = self.lineage.pool() + positions;
        if !self.train(number, parent, pool)? {
            return Ok(false);
        }
        let path = self.home.network(number);
        let network = Arc::new(Network::load(&path)?);
        let made: Provenance =
            toml::from_str(network.provenance()).with_context(|| path.display().to_string())?;
        let Some(pairs) = self.compare(number, parent, &network)? else { return Ok(false) };
        let promoted = pairs.verdict(self.lineage.settings.match_games) == Verdict::Better;
        let (elo, error) = pairs.elo();
        let place = if promoted { "promoted" } else { "not promoted" };
        note(format_args!(
            "generation {number} against {}: {elo:+.0} +/- {error:.0} Elo in {} games, {place}",
            player(parent),
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
            exam_error: made.exam_error,
            pairs,
            elo,
            error,
            promoted,
            hours: self.hours(),
        });
        self.lineage.goal = self.lineage.next_goal();
        self.home.save(&self.lineage)?;
        replace(&self.home.file("lineage.svg"), picture::svg(&self.lineage)?)?;
        Ok(true)
    }

    /// Plays games with the best network. Returns the numbers of games and positions.
    fn play(&mut self, number: u32, parent: u32) -> anyhow::Result<Option<(u64, u64)>> {
        let Settings { seed, threads, nodes, .. } = self.lineage.settings;
        let goal = self.lineage.goal;
        note(format_args!(
            "generation {number}: self-play of {goal} positions by {}",
            player(parent)
        ));
        let (out, net) = (self.home.generation(number), self.home.network(parent));
        let net = if parent == 0 { Path::new(eval::PSQT) } else { &net };
        let seed = file_seed(seed, number);
        let options =
            format!("--threads {threads} --nodes {nodes} --positions {goal} --seed {seed}");
        let args: datagen::Args = typed(&options, &[("--out", &*out), ("--net", net)])?;
        let (games, positions) = datagen::generate(&args, &self.stop)?;
        Ok((positions >= goal).then_some((games, positions)))
    }

    /// Trains a network on all games, `pool` positions, if it does not exist yet. Returns false if
    /// stopped.
    fn train(&self, number: u32, parent: u32, pool: u64) -> anyhow::Result<bool> {
        let Settings { seed, threads, hidden, buckets, samples, .. } = self.lineage.settings;
        let out = self.home.network(number);
        // A complete run renames its checkpoint last, after writing the network's other files.
        if out.exists() && !checkpoint::path(&out).exists() {
            return Ok(true);
        }
        note(format_args!("generation {number}: training on {pool} positions"));
        let mut data = Vec::new();
        for number in 1..=number {
            data.extend(self.home.games(number)?);
        }
        let [least, most] = BATCH;
        let batch = (pool / BATCHES).next_power_of_two().clamp(least, most);
        let later = parent > 0;
        let passes = if later { PASSES } else { FIRST_PASSES };
        let samples = samples.min(pool * passes);
        let rate = if later { RATE } else { FIRST_RATE };
        let seed = file_seed(seed, number);
        let options = format!(
            "--resume --hidden {hidden} --buckets {buckets} --samples {samples} --batch {batch} \
             --rate-first {rate} --seed {seed} --threads {threads}"
        );
        let from = later.then(|| self.home.weights(parent));
        let mut paths = vec![("--out", &*out)];
        paths.extend(data.iter().map(|path| ("--data", &**path)));
        paths.extend(from.iter().map(|path| ("--from", &**path)));
        paths.extend(self.exam.iter().map(|path| ("--exam", &**path)));
        train::train(&typed(&options, &paths)?, &self.stop)
    }

    /// Plays the match of the new network against its parent. Returns `None` if stopped.
    fn compare(
        &self,
        number: u32,
        parent: u32,
        new: &Arc<Network>,
    ) -> anyhow::Result<Option<Pairs>> {
        let Settings { seed, threads, nodes, match_games, .. } = self.lineage.settings;
        note(format_args!("generation {number}: match against {}", player(parent)));
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
}

#[cfg(test)]
mod tests {
    use super::{super::lineage::tests::lineage, *};

    /// The time of a run that is stopped during a generation counts.
    #[test]
    fn interrupted_work_counts() {
        let dir = tempfile::tempdir().unwrap();
        let Lineage { settings, .. } = lineage();
        let mut learner = Learner {
            home: Home::claim(dir.path()).unwrap(),
            lineage: Lineage { goal: 100, worked: 1.5, generations: Vec::new(), settings },
            exam: None,
            stop: Arc::default(),
            start: Instant::now(),
            before: 1.5,
        };
        learner.stop.stop();
        learner.grow(1).unwrap();
        let there = learner.home.open(&learner.lineage.settings).unwrap();
        assert!(there.generations.is_empty() && there.hours() > 1.5, "{there:?}");
    }
}
