//! What can be said of a move.
//!
//! A kind of claim looks for what it speaks of, has the [rules](super::rules) confirm it,
//! and puts it into words, all in one place. A new kind is a variant of [`Claim`], its
//! place in [`Claim::ALL`], and an arm of [`Played::words`].

use std::cmp::Reverse;

use shakmaty::{Move, Position as _, Role, Square};

use super::{
    rules::{
        destination, hangs, is_pinned, is_taken, is_worthy, mating_move, passed, pieces, taken_on,
        takes_dearer, takes_for_nothing,
    },
    words::{list, role_name, the},
};
use crate::chess::{
    notation::{counted, san},
    position::Position,
    see::see_ge,
};

/// Sentences about a move.
const SENTENCES: usize = 4;

/// A kind of claim about a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// It mates.
    Mate,
    /// It ends the game by stalemate, or because neither side can mate any more.
    Draw,
    /// The line that it begins ends in mate.
    MateIn,
    /// A pawn becomes another piece.
    Promotes,
    /// The moved piece attacks several others, and takes one of them next.
    Forks,
    /// It takes, and a pinned piece may not take back.
    PinnedDefender,
    /// It takes where the opponent has taken last.
    TakesBack,
    /// It takes a piece.
    Takes,
    /// It may be taken at a loss of at least two pawns.
    Offers,
    /// The moved piece pins another to its king.
    Pins,
    /// Another piece now attacks something.
    Uncovers,
    /// If the opponent passed, a mate would follow.
    ThreatensMate,
    /// If its side had passed, a mate would have followed, and now none does at once.
    Stops,
    /// The moved piece now attacks others.
    Attacks,
    /// It gives check.
    Checks,
    /// A piece that could be taken for nothing no longer can.
    Saves,
    /// It castles.
    Castles,
}

impl Claim {
    /// All kinds, the most important first.
    const ALL: [Claim; 17] = [
        Claim::Mate,
        Claim::Draw,
        Claim::MateIn,
        Claim::Promotes,
        Claim::Forks,
        Claim::PinnedDefender,
        Claim::TakesBack,
        Claim::Takes,
        Claim::Offers,
        Claim::Pins,
        Claim::Uncovers,
        Claim::ThreatensMate,
        Claim::Stops,
        Claim::Attacks,
        Claim::Checks,
        Claim::Saves,
        Claim::Castles,
    ];

    /// Does it say nothing new after `other`?
    const fn is_said_by(self, other: Claim) -> bool {
        matches!(
            (self, other),
            // What ends the game leaves nothing else to say.
            (_, Claim::Mate | Claim::Draw)
                | (Claim::Takes, Claim::TakesBack | Claim::PinnedDefender)
                | (Claim::Attacks, Claim::Forks)
                | (Claim::Saves, Claim::Takes)
        )
    }
}

/// A move that was played.
pub(super) struct Played<'a> {
    m: Move,
    before: &'a Position,
    after: Position,
    /// The line that it begins.
    line: &'a [Move],
    /// The move before it, if that is known.
    last: Option<Move>,
}

impl<'a> Played<'a> {
    /// The first move of `line`, if there is one.
    pub(super) fn new(
        before: &'a Position,
        line: &'a [Move],
        last: Option<Move>,
    ) -> Option<Played<'a>> {
        let &m = line.first()?;
        Some(Played { m, before, after: before.play(m), line, last })
    }

    /// The move in SAN.
    pub(super) fn san(&self) -> String {
        san(self.before, self.m)
    }

    /// What is true of the move, the most important first, each with its sentence. `subject`
    /// stands for the move.
    pub(super) fn claims(&self, subject: &str) -> Vec<(Claim, String)> {
        let mut said: Vec<(Claim, String)> = Vec::new();
        for claim in Claim::ALL {
            let is_new = !said.iter().any(|&(other, _)| claim.is_said_by(other));
            if said.len() < SENTENCES && is_new {
                let words = self.words(claim);
                said.extend(words.map(|words| (claim, format!("{subject} {words}."))));
            }
        }
        said
    }

    /// The claim in words that follow the subject, if it is true.
    fn words(&self, claim: Claim) -> Option<String> {
        let &Played { m, before, ref after, line, last } = self;
        let board = after.board();
        match claim {
            Claim::Mate => after.chess().is_checkmate().then(|| "is mate".to_owned()),
            Claim::Draw if after.chess().is_stalemate() => Some("is stalemate".to_owned()),
            Claim::Draw => {
                let dead = after.is_insufficient_material();
                dead.then(|| "leaves neither side enough to mate".to_owned())
            }
            Claim::MateIn => {
                let end = line.iter().fold(before.clone(), |at, &m| at.play(m));
                let mates = line.len() > 1 && line.len() % 2 == 1 && end.chess().is_checkmate();
                mates.then(|| format!("mates in {}", counted(line.len().div_ceil(2), "move")))
            }
            Claim::Promotes => m.promotion().map(|role| format!("makes a {}", role_name(role))),
            Claim::Forks => self.forked().map(|squares| format!("forks {}", self.list(&squares))),
            Claim::PinnedDefender => self.pinned_defender().map(|defender| {
                let (to, defender) = (m.to(), the(board, defender));
                format!("takes on {to}, where {defender} cannot take back because it is pinned")
            }),
            Claim::TakesBack => {
                let back = last.is_some_and(|last| last.is_capture() && last.to() == m.to());
                (back && m.is_capture()).then(|| format!("takes back on {}", m.to()))
            }
            Claim::Takes => self.taken(),
            Claim::Offers => {
                let to = destination(m);
                let offers = is_taken(after, to) && !see_ge(before, m, -200);
                offers.then(|| format!("offers the {}", board.role_at(to).map_or("", role_name)))
            }
            Claim::Pins => {
                self.pinned().map(|piece| format!("pins {} to its king", the(board, piece)))
            }
            Claim::Uncovers => self.uncovered().map(|(by, target)| {
                format!("opens the line of {} to {}", the(board, by), the(board, target))
            }),
            Claim::ThreatensMate => {
                let passed = passed(after)?;
                mating_move(&passed).map(|mate| format!("threatens {}", san(&passed, mate)))
            }
            Claim::Stops => {
                let passed = passed(before)?;
                let mate = mating_move(&passed)?;
                mating_move(after).is_none().then(|| format!("stops {}", san(&passed, mate)))
            }
            Claim::Attacks => {
                let squares = self.attacked();
                (!squares.is_empty()).then(|| format!("attacks {}", self.list(&squares)))
            }
            Claim::Checks => after.is_check().then(|| format!("gives {}", self.check())),
            Claim::Saves => {
                let saved = self.saved()?;
                Some(if m.from() == Some(saved) {
                    format!("brings the attacked {} to safety", role_name(m.role()))
                } else {
                    format!("saves {}", the(board, saved))
                })
            }
            Claim::Castles => m.is_castle().then(|| "castles".to_owned()),
        }
    }

    /// Pieces as they stand after the move.
    fn list(&self, squares: &[Square]) -> String {
        list(squares.iter().map(|&square| the(self.after.board(), square)))
    }

    /// The enemy's pieces but pawns and king.
    fn theirs(&self) -> impl Iterator<Item = Square> {
        pieces(self.after.board(), self.after.turn()).into_iter()
    }

    /// The enemy's pieces that the moved one attacks, the dearest first.
    fn targets(&self) -> Vec<Square> {
        let board = self.after.board();
        let enemies = board.attacks_from(self.m.to()) & board.by_color(self.after.turn());
        let mut targets: Vec<Square> = enemies.into_iter().collect();
        targets.sort_by_key(|&square| Reverse(board.role_at(square)));
        targets
    }

    fn forked(&self) -> Option<Vec<Square>> {
        let to = self.m.to();
        let mut targets = self.targets();
        targets.retain(|&target| is_worthy(self.after.board(), to, target));
        // The piece may have moved away: then another of them is taken.
        let next = self.line.get(2).filter(|next| next.from() == Some(to) && next.is_capture())?;
        (targets.len() > 1 && targets.contains(&next.to())).then_some(targets)
    }

    fn pinned_defender(&self) -> Option<Square> {
        let board = self.after.board();
        let sliders = board.by_color(self.before.turn()) & board.sliders();
        let is_pinned = |square| sliders.into_iter().any(|by| is_pinned(board, square, by));
        let defends = |square| board.attacks_from(square).contains(self.m.to());
        if !takes_for_nothing(self.before, self.m) {
            return None;
        }
        self.theirs().find(|&square| defends(square) && is_pinned(square))
    }

    fn taken(&self) -> Option<String> {
        let taken = role_name(self.m.capture()?);
        let how = if takes_for_nothing(self.before, self.m) {
            ", and nothing takes back".to_owned()
        } else if takes_dearer(self.m) {
            format!(" with a {}", role_name(self.m.role()))
        } else {
            String::new()
        };
        Some(format!("takes the {taken} on {}{how}", taken_on(self.m)))
    }

    fn pinned(&self) -> Option<Square> {
        let from = self.m.from()?;
        self.theirs().find(|&square| {
            is_pinned(self.after.board(), square, destination(self.m))
                && !is_pinned(self.before.board(), square, from)
        })
    }

    /// A piece that did not move, and what it attacks now.
    fn uncovered(&self) -> Option<(Square, Square)> {
        let (old, new) = (self.before.board(), self.after.board());
        let sliders = old.by_color(self.before.turn()) & old.sliders();
        let stayed =
            |&by: &Square| by != destination(self.m) && old.piece_at(by) == new.piece_at(by);
        sliders.into_iter().filter(stayed).find_map(|by| {
            let opened = new.attacks_from(by) & !old.attacks_from(by);
            let is_target =
                |&square: &Square| opened.contains(square) && is_worthy(new, by, square);
            Some((by, self.theirs().find(is_target)?))
        })
    }

    fn attacked(&self) -> Vec<Square> {
        let (board, to) = (self.after.board(), self.m.to());
        let old = self.m.from().filter(|_| !self.m.is_promotion());
        let old = old.map(|from| self.before.board().attacks_from(from)).unwrap_or_default();
        let mut targets = self.targets();
        targets.retain(|&target| {
            board.role_at(target) != Some(Role::King)
                && !old.contains(target)
                && (is_worthy(board, to, target) || hangs(&self.after, target))
        });
        targets
    }

    fn check(&self) -> &'static str {
        let checkers = self.after.checkers();
        match (checkers.more_than_one(), checkers.contains(destination(self.m))) {
            (true, _) => "double check",
            (false, false) if !self.m.is_castle() => "discovered check",
            _ => "check",
        }
    }

    /// Where the piece stood.
    fn saved(&self) -> Option<Square> {
        let own = self.before.board().by_color(self.before.turn());
        own.into_iter().find(|&square| {
            let moved = self.m.from() == Some(square);
            let now = if moved { destination(self.m) } else { square };
            hangs(self.before, square) && !hangs(&self.after, now)
        })
    }
}

/// Forks and pinned defenders that come later in a line, by its first side: `Later Nc7+
/// forks the king and the rook on a8.`
pub(super) fn later(at: &Position, line: &[Move]) -> Vec<String> {
    let mut said = Vec::new();
    let mut position = at.clone();
    for (number, &m) in line.iter().enumerate() {
        if number > 0
            && number % 2 == 0
            && let Some(played) = Played::new(&position, &line[number..], None)
        {
            let kinds = [Claim::Forks, Claim::PinnedDefender];
            let words = kinds.into_iter().find_map(|claim| played.words(claim));
            said.extend(words.map(|words| format!("Later {} {words}.", played.san())));
        }
        position = position.play(m);
    }
    said
}
