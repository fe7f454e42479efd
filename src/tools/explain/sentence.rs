//! What every sentence is: a text of a kind.

use serde::Serialize;

use crate::chess::score::Score;

/// Differences below this, in centipawns, are not worth a word.
pub(super) const NOTHING: Score = 10;

/// The kinds of sentence: first the reasons for a move, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// The move mates, or its line does.
    Mate,
    /// Its line comes to a draw.
    Draw,
    /// It is mated as late as possible.
    Delays,
    /// A pawn becomes another piece.
    Promotes,
    /// Its line wins material.
    Wins,
    /// The opponent would rather pass.
    Zugzwang,
    /// If its side had passed, a mate would have followed, and now none does at once.
    Stops,
    /// Its line repeats moves, and nobody is better.
    Repeats,
    /// The moved piece attacks several others, and takes one of them next.
    Forks,
    /// It takes, and a pinned piece may not take back.
    PinnedDefender,
    /// The moved piece pins another to its king.
    Pins,
    /// Another piece now attacks something.
    Uncovers,
    /// It takes where the opponent has taken last.
    TakesBack,
    /// It takes, and a piece of the same worth is taken back.
    Exchanges,
    /// It may be taken at a loss of at least two pawns.
    Offers,
    /// It takes a piece.
    Takes,
    /// If the opponent passed, a mate would follow.
    ThreatensMate,
    /// If the opponent passed, something would be won.
    Threatens,
    /// The kings face each other, and the other must give way.
    Opposition,
    /// Every other move is worse by a result.
    Only,
    /// A piece that could be won no longer can.
    Saves,
    /// The opponent's threat gains nothing any more.
    Parries,
    /// The moved pawn has no enemy pawn before it.
    Passed,
    /// The moved piece stands before an enemy's passed pawn.
    Blockades,
    /// The moved piece now attacks others.
    Attacks,
    /// It castles.
    Castles,
    /// A minor piece leaves its first rank early in the game.
    Develops,
    /// A rook gets, or has, a file without pawns.
    OpenFile,
    /// It gives check.
    Checks,
    /// The book knows its result.
    Book,
    /// The king comes nearer to a pawn, a lone king or the centre, in an endgame.
    Approaches,
    /// Its line brings a piece to a better square, by the evaluation.
    Square,
    /// What the last move did.
    LastMove,
    /// The side to move is in check.
    InCheck,
    /// What the opponent would do if the side to move passed.
    Threat,
    /// There is but one legal move.
    OnlyLegal,
    /// The fifty-move rule is near.
    Clock,
    /// Who has more of what.
    Material,
    /// A piece is pinned to its king.
    Pinned,
    /// Passed pawns of a side.
    PassedPawns,
    /// A king in danger.
    King,
    /// A piece that is worth remarkably much or little.
    Worth,
}

/// A sentence, of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Sentence {
    pub(super) kind: Kind,
    pub(super) text: String,
}

impl Sentence {
    pub(super) const fn new(kind: Kind, text: String) -> Sentence {
        Sentence { kind, text }
    }
}
