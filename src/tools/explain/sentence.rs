//! The sentences of an explanation: a text and its kind.

use serde::Serialize;

use crate::chess::score::Score;

/// Smaller differences, in centipawns, are not mentioned.
pub(super) const NOTHING: Score = 10;

/// The kinds of sentence. The reasons for a move come first, the most important one at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// The move mates or leads to mate.
    Mate,
    /// The line of the move ends in a draw.
    Draw,
    /// The move delays an unavoidable mate as long as possible.
    Delays,
    /// A pawn promotes.
    Promotes,
    /// The line of the move wins material.
    Wins,
    /// The opponent, or the side to move, would be better off passing.
    Zugzwang,
    /// The move stops a mate that would have followed a pass.
    StopsMate,
    /// The line of the move repeats moves in an equal position.
    Repeats,
    /// The moved piece attacks several others, and captures one of them next.
    Forks,
    /// The move captures, and a pinned piece cannot recapture.
    PinnedDefender,
    /// The moved piece pins another to its king.
    Pins,
    /// The move discovers an attack by another piece.
    DiscoveredAttack,
    /// The move recaptures on the square of the opponent's last capture.
    Recaptures,
    /// The move captures a piece, and the opponent recaptures a piece of about equal value.
    Exchanges,
    /// By static exchange evaluation, the move loses more than two pawns.
    Sacrifices,
    /// The move captures a piece.
    Takes,
    /// The move threatens mate.
    ThreatensMate,
    /// The move threatens to win something.
    Threatens,
    /// The move takes the opposition: the kings face each other with the opponent to move.
    Opposition,
    /// Every other move leads to a worse result.
    Only,
    /// The move protects a piece that could have been won, or brings it to safety.
    Saves,
    /// The opponent has a threat, which would gain more after a pass than after this move.
    MeetsThreat,
    /// The moved pawn is a passed pawn.
    Passed,
    /// The moved piece blocks an enemy passed pawn.
    Blockades,
    /// The moved piece attacks others that it did not attack before.
    Attacks,
    /// The move castles and takes the king out of the centre.
    Castles,
    /// A minor piece leaves its back rank early in the game.
    Develops,
    /// A rook moves to, or is on, a file without pawns.
    OpenFile,
    /// The result of the ending is known.
    KnownEnding,
    /// In an endgame, the king moves closer to a pawn, the enemy king or the centre.
    Approaches,
    /// The line of the move brings a piece to a better square, according to the evaluation.
    BetterSquare,
    /// The move gives check. This is said only if there is no other reason.
    Checks,
    /// The effect of the last move.
    LastMove,
    /// The side to move is in check.
    InCheck,
    /// The move that the opponent would play if the side to move passed.
    Threat,
    /// There is only one legal move.
    OnlyLegal,
    /// A draw by the fifty-move rule is near.
    FiftyMoveRule,
    /// The difference in material.
    Material,
    /// A piece is pinned to its king.
    Pinned,
    /// The passed pawns of a side.
    PassedPawns,
    /// Dangers for a king.
    King,
    /// A piece that is worth much more or less than usual.
    Worth,
}

/// A sentence with its kind.
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
