//! Match of a new network against its parent: pairs of games from random openings, with a soft node
//! limit, until the SPRT ([`sprt`](super::sprt)) has a verdict.
//!
//! Each pair is a line "NUMBER HALF-POINTS" in a file, so that an interrupted match can continue. A
//! pair depends only on the seed and its number.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::{Arc, Mutex},
};

use anyhow::Context as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use shakmaty::Color;

use super::{
    super::selfplay::{Adjudication, Conditions, Played, SelfPlay},
    sprt::{Pairs, Verdict},
};
use lancet::{
    engine::threads,
    eval::nnue::Network,
    play::{openings::Openings, signals::Signals},
    system::{
        files,
        random::mix,
        sync::{lock, unpoisoned},
    },
};

/// Networks and conditions of a match.
#[derive(Debug)]
pub struct Duel<'a> {
    /// The new network.
    pub new: &'a Arc<Network>,
    /// Its parent; `None` for material and piece-square tables.
    pub old: Option<&'a Arc<Network>>,
    /// Nodes per move after which no new iteration starts. No search exceeds eight times as many.
    pub nodes: u64,
    /// Largest number of games.
    pub games: u64,
    /// Seed of the openings.
    pub seed: u64,
    /// Number of games played at the same time.
    pub threads: u32,
}

/// Progress of a match.
struct Sheet {
    pairs: Pairs,
    done: BTreeSet<u64>,
    /// Number of the next pair that no thread has started.
    next: u64,
    file: File,
    error: Option<anyhow::Error>,
}

impl Duel<'_> {
    /// Plays until there is a verdict. Returns `None` if stopped.
    ///
    /// # Errors
    ///
    /// If the file of pairs cannot be used, or there is not enough memory.
    pub fn play(&self, path: &Path, stop: &Arc<Signals>) -> anyhow::Result<Option<Pairs>> {
        // Each thread has two `SelfPlay`s, one for each colour, of two engines each.
        self.conditions().check_memory(4 * self.threads as usize)?;
        let sheet = Mutex::new(Sheet::open(path).with_context(|| path.display().to_string())?);
        let work = || {
            if let Err(error) = self.work(&sheet, stop) {
                lock(&sheet).error.get_or_insert(error);
            }
        };
        threads::all("match", (0..self.threads).map(|_| work))?;
        let mut sheet = unpoisoned(sheet.into_inner());
        match sheet.error.take() {
            Some(error) => Err(error.context(path.display().to_string())),
            None => Ok(self.is_decided(&sheet).then_some(sheet.pairs)),
        }
    }

    fn is_decided(&self, sheet: &Sheet) -> bool {
        sheet.pairs.verdict(self.games) != Verdict::Open
    }

    fn conditions(&self) -> Conditions {
        // In a match, all games can be adjudicated.
        let adjudication = Adjudication { play_on: 0, ..Adjudication::DEFAULT };
        Conditions { adjudication, ..Conditions::nodes(self.nodes) }
    }

    /// Plays pairs until there is a verdict.
    fn work(&self, sheet: &Mutex<Sheet>, stop: &Arc<Signals>) -> anyhow::Result<()> {
        let conditions = self.conditions();
        let players = |white, black| SelfPlay::new(conditions.clone(), &[white, black], None);
        let mut players = [players(Some(self.new), self.old)?, players(self.old, Some(self.new))?];
        loop {
            let number = {
                let mut sheet = lock(sheet);
                if sheet.error.is_some() || self.is_decided(&sheet) {
                    return Ok(());
                }
                sheet.take()
            };
            let Some(half_points) = self.pair(&mut players, number, stop) else { return Ok(()) };
            let mut sheet = lock(sheet);
            // Pairs that end after the verdict do not count.
            if !self.is_decided(&sheet) {
                sheet.record(number, half_points)?;
            }
        }
    }

    /// Plays two games from one opening. Returns the half points of the new network, or `None` if
    /// stopped.
    fn pair(&self, players: &mut [SelfPlay; 2], number: u64, stop: &Arc<Signals>) -> Option<usize> {
        let openings = Openings::random();
        let mut rng = ChaCha8Rng::seed_from_u64(mix(self.seed ^ mix(number)));
        loop {
            let start = openings.make(&mut rng, || stop.is_stopped())?;
            let mut half_points = 0;
            let mut played = 0;
            for (players, color) in players.iter_mut().zip([Color::White, Color::Black]) {
                match players.play(start.clone(), &mut 0, stop) {
                    Played::Game(game) => {
                        half_points += usize::from(game.result.half_points(color));
                        played += 1;
                    }
                    // The first search finds the opening unbalanced, so choose another one.
                    Played::Unbalanced => break,
                    Played::Stopped => return None,
                }
            }
            if played == 2 {
                return Some(half_points);
            }
        }
    }
}

impl Sheet {
    fn open(path: &Path) -> anyhow::Result<Sheet> {
        let mut file = files::open_to_grow(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut pairs = Pairs::default();
        let mut done = BTreeSet::new();
        // Cut off an incomplete last line, which a kill may leave.
        let whole = text.rfind('\n').map_or(0, |last| last + 1);
        for (index, line) in text[..whole].lines().enumerate() {
            let (number, half_points) = line
                .split_once(' ')
                .and_then(|(number, points)| Some((number.parse().ok()?, points.parse().ok()?)))
                .filter(|&(_, half_points)| half_points <= 4usize)
                .with_context(|| {
                    let number = index + 1;
                    format!(
                        "line {number}: '{line}': expected the number of a pair and 0 to 4 half \
                         points"
                    )
                })?;
            if done.insert(number) {
                pairs.add(half_points);
            }
        }
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Sheet { pairs, done, next: 0, file, error: None })
    }

    fn take(&mut self) -> u64 {
        while self.done.contains(&self.next) {
            self.next += 1;
        }
        self.next += 1;
        self.next - 1
    }

    fn record(&mut self, number: u64, half_points: usize) -> anyhow::Result<()> {
        writeln!(self.file, "{number} {half_points}")?;
        self.file.sync_data()?;
        self.pairs.add(half_points);
        self.done.insert(number);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use lancet::eval;

    fn duel(network: &Arc<Network>, games: u64) -> Duel<'_> {
        Duel { new: network, old: None, nodes: 30, games, seed: 1, threads: 1 }
    }

    /// The built-in network beats piece-square tables. An interrupted match with a torn file ends
    /// like an uninterrupted one.
    #[test]
    fn matches_go_on() {
        let network = eval::default_network();
        let dir = tempfile::tempdir().unwrap();
        let [whole, torn] = ["whole", "torn"].map(|name| dir.path().join(name));
        let stop = Arc::default();
        let pairs = duel(&network, 200).play(&whole, &stop).unwrap().unwrap();
        assert_eq!(pairs.verdict(200), Verdict::Better);
        assert!(pairs.games() >= 20 && pairs.games() < 200, "{pairs:?}");

        let text = fs::read_to_string(&whole).unwrap();
        assert!(text.starts_with("0 ") && text.lines().count() as u64 == pairs.games() / 2);
        fs::write(&torn, &text[..text.find('\n').unwrap() + 2]).unwrap();
        assert_eq!(duel(&network, 200).play(&torn, &stop).unwrap(), Some(pairs));
        assert_eq!(fs::read_to_string(&torn).unwrap(), text);

        // Stopped during a search, stopped before the start, and with an invalid file.
        let none = dir.path().join("none");
        let endless = Duel { nodes: u64::MAX, ..duel(&network, 200) };
        let told = Arc::new(Signals::default());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                told.stop();
            });
            assert_eq!(endless.play(&none, &told).unwrap(), None);
        });
        assert_eq!(duel(&network, 200).play(&none, &told).unwrap(), None);
        fs::write(&torn, "0 5\n").unwrap();
        let error = format!("{:#}", duel(&network, 200).play(&torn, &stop).unwrap_err());
        assert!(error.contains("'0 5'"), "{error}");
    }

    /// Two threads share the pairs, and each pair is played once.
    #[test]
    fn threads_share_the_pairs() {
        let network = eval::default_network();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pairs");
        // Against itself, so that the match has all its games.
        let duel = Duel { old: Some(&network), threads: 2, ..duel(&network, 12) };
        let pairs = duel.play(&path, &Arc::default()).unwrap().unwrap();
        assert_eq!(pairs, Pairs([0, 0, 6, 0, 0]), "equal players score equally");
        let text = fs::read_to_string(&path).unwrap();
        let mut numbers: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once(' ')?.0)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 6, "{text}");
    }
}
