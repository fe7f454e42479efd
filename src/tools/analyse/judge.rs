//! Judges a move by the evaluations before and after it. It does not search or write text.

use serde::{Deserialize, Serialize};

use crate::chess::{
    pgn::Nag,
    score::{Score, winning_chances},
};

/// Scores are limited to this many centipawns before losses are averaged, because a slower win in a
/// won game is no loss.
const CAP: Score = 1000;

/// Minimum loss of winning chances, from 0 to 1, for each kind of error.
const ERRORS: [(f64, Error); 3] =
    [(0.15, Error::Blunder), (0.10, Error::Mistake), (0.05, Error::Inaccuracy)];

/// A kind of error, by the loss of winning chances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// `?!`: lowers the winning chances by at least 5 percentage points.
    Inaccuracy,
    /// `?`: lowers them by at least 10 percentage points.
    Mistake,
    /// `??`: lowers them by at least 15 percentage points.
    Blunder,
}

impl Error {
    /// Returns the numeric annotation glyph of the error.
    pub(crate) const fn nag(self) -> Nag {
        match self {
            Error::Inaccuracy => Nag::DUBIOUS_MOVE,
            Error::Mistake => Nag::MISTAKE,
            Error::Blunder => Nag::BLUNDER,
        }
    }

    /// Returns the English name of the error.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Error::Inaccuracy => "Inaccuracy",
            Error::Mistake => "Mistake",
            Error::Blunder => "Blunder",
        }
    }
}

/// The judgement of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judgement {
    /// Loss in centipawns.
    pub loss: Score,
    /// Accuracy, 0 to 100.
    pub accuracy: f64,
    /// The kind of error, if it was one.
    pub error: Option<Error>,
}

impl Judgement {
    /// Judges a move by the scores before and after it, from the player's point of view. If it was
    /// the engine's `best` move, it lost nothing, whatever the scores are.
    ///
    /// The accuracy follows the curve of <https://lichess.org/page/accuracy>.
    pub(crate) fn new(before: Score, after: Score, best: bool) -> Judgement {
        if best {
            return Judgement { loss: 0, accuracy: 100.0, error: None };
        }
        let loss = (before.clamp(-CAP, CAP) - after.clamp(-CAP, CAP)).max(0);
        let chances = (winning_chances(before) - winning_chances(after)).max(0.0);
        let accuracy = (103.1668 * (-4.354 * chances).exp() - 3.1669).clamp(0.0, 100.0);
        let error = ERRORS.iter().find(|(limit, _)| chances >= *limit).map(|&(_, error)| error);
        Judgement { loss, accuracy, error }
    }
}

/// Sums over the moves of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Number of games.
    pub games: u64,
    /// Number of moves.
    pub moves: u64,
    /// Total loss in centipawns.
    pub loss: u64,
    /// Sum of the accuracies.
    pub accuracy: f64,
    /// Number of inaccuracies, mistakes and blunders.
    pub errors: [u64; 3],
}

impl Tally {
    /// Counts a move.
    pub(crate) fn add(&mut self, judgement: &Judgement) {
        self.moves += 1;
        self.loss += u64::from(judgement.loss.unsigned_abs());
        self.accuracy += judgement.accuracy;
        if let Some(error) = judgement.error {
            self.errors[error as usize] += 1;
        }
    }

    /// Adds another tally.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.games += other.games;
        self.moves += other.moves;
        self.loss += other.loss;
        self.accuracy += other.accuracy;
        for (own, other) in self.errors.iter_mut().zip(other.errors) {
            *own += other;
        }
    }

    /// Returns the mean accuracy of a move, 0 to 100; `None` without moves.
    pub(crate) fn mean_accuracy(&self) -> Option<f64> {
        (self.moves > 0).then(|| self.accuracy / self.moves as f64)
    }

    /// Returns the mean loss of a move in centipawns; `None` without moves.
    pub(crate) fn mean_loss(&self) -> Option<f64> {
        (self.moves > 0).then(|| self.loss as f64 / self.moves as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::score::{INFINITE, MATE};

    #[test]
    fn errors_by_winning_chances() {
        let error = |before, after| Judgement::new(before, after, false).error;
        assert_eq!(error(0, -50), None);
        assert_eq!(error(0, -60), Some(Error::Inaccuracy));
        assert_eq!(error(0, -120), Some(Error::Mistake));
        assert_eq!(error(0, -200), Some(Error::Blunder));
        // The same loss matters less in a won game.
        assert_eq!(error(1500, 1300), None);
        assert_eq!(error(MATE - 3, 0), Some(Error::Blunder));
        assert_eq!(error(MATE - 3, MATE - 5), None);
        assert_eq!(Judgement::new(500, -500, true).error, None);
    }

    #[test]
    fn tallies_are_means() {
        let mut tally = Tally::default();
        assert_eq!((tally.mean_accuracy(), tally.mean_loss()), (None, None));
        tally.add(&Judgement::new(0, 0, false));
        tally.add(&Judgement::new(0, -200, false));
        assert_eq!(tally.mean_loss(), Some(100.0));
        assert!((40.0..90.0).contains(&tally.mean_accuracy().unwrap()));
        assert_eq!(tally.errors, [0, 0, 1]);
        let mut sum = tally;
        sum.merge(&tally);
        assert_eq!((sum.moves, sum.loss, sum.errors), (4, 400, [0, 0, 2]));
    }

    proptest! {
        #[test]
        fn verdicts_are_in_range(before in -INFINITE..=INFINITE, after in -INFINITE..=INFINITE) {
            let judgement = Judgement::new(before, after, false);
            prop_assert!((0..=2 * CAP).contains(&judgement.loss));
            prop_assert!((0.0..=100.0).contains(&judgement.accuracy));
            prop_assert!(after < before || judgement.error.is_none());
        }
    }
}
