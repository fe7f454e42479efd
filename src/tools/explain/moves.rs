//! Sentences about a move.
//!
//! The code for each kind of sentence is in one place. It looks for the pieces or moves, confirms
//! the claim with the [rules](super::rules) or the search, and puts it into words. A new kind needs
//! a variant of [`Kind`] in order of importance, an arm in [`Played::words`], and a check in the
//! tests.

use clap::ValueEnum as _;
use shakmaty::{File, Move, Position as _, Rank, Role, Square, attacks};

use super::{
    board,
    endings::{self, Ending, Keeping},
    examine::{EVEN, SURE, Searched, Threat},
    material::{KEPT, won},
    rules::{
        EXCHANGE, blockaded, destination, is_lost, is_passed, is_pinned, is_taken, is_worthy,
        mating_move, pieces, taken_on, takes_dearer, takes_for_nothing,
    },
    sentence::{Kind, Sentence},
    words::{role_name, the, the_pieces},
    worth::is_full,
};
use crate::{
    chess::{
        notation::{color_name, counted, san},
        position::{Game, Position},
        score::{DRAW, Score, is_decisive, mate_distance},
        see::{recaptures, see_ge, value},
    },
    play::report::Info,
};

/// Maximum number of sentences about a move.
const SENTENCES: usize = 3;
/// Number of plies in which a draw must occur to be mentioned.
const SOON: usize = 8;
/// Longest mate, in moves, whose length is compared with that of other moves.
const NEAR: u32 = 5;
/// Number of moves after which minor pieces are no longer said to be developed.
const OPENING: u32 = 15;

impl Kind {
    /// Returns whether this kind adds nothing important after `other`.
    const fn is_said_by(self, other: Kind) -> bool {
        use Kind::*;
        match self {
            // A reason that ends the game is enough.
            _ if matches!(other, Mate | Draw | Delays) => true,
            Wins => matches!(other, Promotes),
            Exchanges => matches!(other, Wins | Recaptures | PinnedDefender),
            Takes => matches!(other, Wins | Recaptures | PinnedDefender | Exchanges | Sacrifices),
            Threatens => matches!(other, Wins | Forks | ThreatensMate | DiscoveredAttack),
            Saves => {
                matches!(
                    other,
                    StopsMate | Wins | Promotes | Sacrifices | Takes | Recaptures | Exchanges
                )
            }
            MeetsThreat => !matches!(
                other,
                Only | Pins | DiscoveredAttack | Forks | Takes | Exchanges | Sacrifices
            ),
            Attacks => !matches!(other, Only | StopsMate | MeetsThreat | Passed),
            Develops | Castles | OpenFile => {
                !matches!(other, Only | MeetsThreat | Saves | StopsMate)
            }
            KnownEnding => matches!(other, Only),
            Passed => matches!(other, Exchanges),
            Approaches | BetterSquare => !matches!(other, Only),
            Checks => true,
            _ => false,
        }
    }
}

/// The search results about the best move.
pub(super) struct Context<'a> {
    /// The results of the searches.
    pub(super) found: &'a Searched,
    /// The sentence about a piece that the line brings to a better square, according to the
    /// evaluation.
    pub(super) improved: Option<String>,
}

/// A move with the facts that are known about it.
pub(super) struct Played<'a> {
    m: Move,
    before: &'a Position,
    after: Position,
    /// The line that begins with the move.
    line: &'a [Move],
    /// The move before it, if known.
    last: Option<Move>,
    /// The game before the move, if it was searched.
    game: Option<&'a Game>,
    /// The score for the side of the move, if it was searched.
    score: Option<Score>,
    /// Whether the line wins its material against every defence.
    sure: bool,
    /// The search results, for the best move only.
    context: Option<&'a Context<'a>>,
}

impl<'a> Played<'a> {
    /// Creates a `Played` for the first move of `line`, if there is one.
    pub(super) fn new(
        before: &'a Position,
        line: &'a [Move],
        last: Option<Move>,
    ) -> Option<Played<'a>> {
        let &m = line.first()?;
        let after = before.play(m);
        let (game, score, sure, context) = (None, None, false, None);
        Some(Played { m, before, after, line, last, game, score, sure, context })
    }

    /// Creates a `Played` for the first move of the PV of a search of `game`.
    pub(super) fn searched(game: &'a Game, info: &'a Info) -> Option<Played<'a>> {
        let played = Played::new(game.position(), &info.pv, game.last())?;
        Some(Played { game: Some(game), score: Some(info.score), ..played })
    }

    /// Creates a `Played` for the best move of a search.
    pub(super) fn best(game: &'a Game, context: &'a Context<'a>) -> Option<Played<'a>> {
        let played = Played::searched(game, context.found.best.as_ref()?)?;
        Some(Played { context: Some(context), sure: context.found.sure, ..played })
    }

    /// Returns the move in SAN.
    pub(super) fn san(&self) -> String {
        san(self.before, self.m)
    }

    /// Returns the reasons why the move is good, the most important first. Each sentence begins
    /// with `subject`.
    pub(super) fn reasons(&self, subject: &str) -> Vec<Sentence> {
        let mut said: Vec<Sentence> = Vec::new();
        for &kind in Kind::value_variants() {
            let is_new = !said.iter().any(|other| kind.is_said_by(other.kind));
            if said.len() < SENTENCES && is_new {
                let words = self.words(kind);
                said.extend(words.map(|words| Sentence::new(kind, sentence(subject, &words))));
            }
        }
        said
    }

    /// Describes the effect of the move if it was the last one played. Attacked pieces are only
    /// mentioned if `attacks` is set.
    pub(super) fn as_last(&self, attacks: bool) -> Option<Sentence> {
        use Kind::*;
        let mut kinds = Kind::value_variants().iter().filter(|kind| match kind {
            Promotes | PinnedDefender | Pins | DiscoveredAttack | Recaptures | Takes | Passed
            | Castles => true,
            Sacrifices => self.m.is_capture(),
            Attacks => attacks,
            _ => false,
        });
        let words = kinds.find_map(|&kind| self.words(kind))?;
        Some(Sentence::new(Kind::LastMove, format!("The last move, {}, {words}.", self.san())))
    }

    /// Returns the words after the subject if the claim is true.
    fn words(&self, kind: Kind) -> Option<String> {
        let &Played { m, before, ref after, last, context, .. } = self;
        let (board, us, to) = (after.board(), before.turn(), destination(m));
        match kind {
            Kind::Mate => self.mates(),
            Kind::Draw => self.draw(),
            Kind::Delays => self.delays(),
            Kind::Promotes => self.promotes().or_else(|| self.later_promotion()),
            Kind::Wins => self.wins(),
            Kind::Zugzwang => {
                let puts = context?.found.zugzwang == Some(!us);
                puts.then(|| format!("puts {} in zugzwang", color_name(!us)))
            }
            Kind::Repeats => self.repeats(),
            Kind::Forks => {
                let forks = self.forked().map(|squares| format!("forks {}", self.list(&squares)));
                forks.or_else(|| self.later_fork())
            }
            Kind::PinnedDefender => self.pinned_defender().map(|defender| {
                let defender = the(board, defender);
                format!("takes on {to}, where {defender} cannot recapture because it is pinned")
            }),
            Kind::Pins => {
                self.pinned().map(|piece| format!("pins {} to its king", the(board, piece)))
            }
            Kind::DiscoveredAttack => self.uncovered().map(|(by, target)| {
                format!("discovers an attack by {} on {}", the(board, by), the(board, target))
            }),
            Kind::Recaptures => recaptures(last, m).then(|| format!("recaptures on {to}")),
            Kind::Exchanges => self.exchange(),
            Kind::Sacrifices => self.sacrificed().filter(|_| !self.trades_itself()),
            Kind::Takes => self.taken(),
            Kind::ThreatensMate => {
                let passed = after.play_null()?;
                mating_move(&passed).map(|mate| format!("threatens {}", san(&passed, mate)))
            }
            Kind::Threatens => context?.found.next.as_ref().and_then(threatened),
            Kind::StopsMate => {
                let passed = before.play_null()?;
                let mate = mating_move(&passed)?;
                mating_move(after).is_none().then(|| format!("stops {}", san(&passed, mate)))
            }
            Kind::Opposition => self.takes_opposition().then(|| "takes the opposition".to_owned()),
            Kind::Only => self.only().map(|what| format!("is the only move that {what}")),
            Kind::Saves => self.saves(),
            Kind::MeetsThreat => self.meets_threat(),
            Kind::Passed => self.passed_pawn(),
            Kind::Blockades => {
                let pawn = blockaded(board, to).filter(|_| m.role() != Role::Pawn)?;
                Some(format!("blockades the passed pawn on {pawn}"))
            }
            Kind::Attacks => {
                let squares = self.attacked();
                (!squares.is_empty()).then(|| format!("attacks {}", self.list(&squares)))
            }
            Kind::Castles => {
                let from = m.from().filter(|from| m.is_castle() && is_central(*from))?;
                let out = board.king_of(us).is_some_and(|king| king != from && !is_central(king));
                out.then(|| "castles and takes the king out of the centre".to_owned())
            }
            Kind::Develops => self.develops(),
            Kind::OpenFile => self.opens_file(),
            Kind::Checks => after.is_check().then(|| format!("gives {}", self.check())),
            Kind::KnownEnding => self.keeps_result(),
            Kind::Approaches => {
                self.approached().map(|what| format!("brings the king closer to {what}"))
            }
            Kind::BetterSquare => context?.improved.clone(),
            _ => None,
        }
    }

    /// Adds "in the main line" to a result after `plies` plies, unless it holds against all moves.
    fn in_the_line(&self, words: String, plies: usize) -> String {
        let sure = self.sure || self.context.is_none() && plies <= 2;
        if sure { words } else { words + " in the main line" }
    }

    /// Describes a draw by the rules or by a known ending, in a line that neither side wins.
    fn draw(&self) -> Option<String> {
        self.score.filter(|score| score.abs() <= EVEN)?;
        let is_drawn = |known: &Ending| known.certain && known.winner.is_none();
        let known = endings::known(self.before).is_some_and(|known| is_drawn(&known));
        let mut game = self.game?.clone();
        self.line.iter().take(SOON).enumerate().find_map(|(index, &m)| {
            game.play(m);
            let book = || endings::known(game.position()).filter(is_drawn).filter(|_| !known);
            let why = board::drawn(&game).or_else(|| book().map(|known| known.why))?;
            let draws = if index == 0 { "draws" } else { "leads to a draw" };
            Some(format!("{draws}: {why}"))
        })
    }

    /// Describes a promotion: `promotes to a rook (a queen would stalemate)`.
    fn promotes(&self) -> Option<String> {
        let role = self.m.promotion()?;
        let is_queen = |m: &Move| {
            (m.from(), m.to()) == (self.m.from(), self.m.to()) && m.promotion() == Some(Role::Queen)
        };
        let queen = self.before.legal_moves().into_iter().find(is_queen)?;
        let avoids = role != Role::Queen && self.before.play(queen).chess().is_stalemate();
        let why = if avoids { " (a queen would stalemate)" } else { "" };
        Some(format!("promotes to a {}{why}", role_name(role)))
    }

    /// Describes the first promotion in a line that wins material.
    fn later_promotion(&self) -> Option<String> {
        let &Played { before, line, last, .. } = self;
        let index = won(before, line, last)?.promotion(line)?;
        let at = line[..index].iter().fold(before.clone(), |at, &m| at.play(m));
        let promotion = format!("promotes with {}", san(&at, line[index]));
        Some(self.in_the_line(promotion, index))
    }

    /// Describes the material that the line wins.
    fn wins(&self) -> Option<String> {
        let gain = won(self.before, self.line, self.last)?;
        let words = gain.words(self.line).filter(|_| !self.loses_anyway())?;
        Some(self.in_the_line(words, gain.plies))
    }

    /// Returns whether the side to move is losing anyway. Then capturing a piece gains nothing, and
    /// meeting one threat does not help.
    fn loses_anyway(&self) -> bool {
        self.score.is_some_and(|score| score <= -SURE)
    }

    fn mates(&self) -> Option<String> {
        let moves = usize::try_from(mate_distance(self.score?)?).ok().filter(|&moves| moves > 0)?;
        let end = self.line.iter().fold(self.before.clone(), |at, &m| at.play(m));
        let back_rank = if is_back_rank_mate(&end) { " on the back rank" } else { "" };
        if moves == 1 {
            return Some(format!("is mate{back_rank}"));
        }
        let promotes = self.promotes().filter(|_| self.m.promotion() != Some(Role::Queen));
        let first = promotes.or_else(|| self.sacrificed()).map(|first| first + " and ");
        let moves = counted(moves, "move");
        Some(format!("{}mates in {moves}{back_rank}", first.unwrap_or_default()))
    }

    fn delays(&self) -> Option<String> {
        let (score, second) = (self.score?, self.context?.found.second.as_ref());
        let moves = mate_distance(score).filter(|moves| *moves < 0)?.unsigned_abs();
        // The distances of longer mates are not certain enough to compare.
        let longer = moves <= NEAR && second.is_some_and(|second| second.score < score);
        let than = if longer { ", longer than with any other move" } else { "" };
        Some(format!("holds out for {}{than}", counted(moves as usize, "move")))
    }

    /// Describes a repetition in the line, if the score is a draw and the position is not a known
    /// ending.
    fn repeats(&self) -> Option<String> {
        self.score.filter(|&score| score == DRAW && endings::known(self.before).is_none())?;
        let mut game = self.game?.clone();
        let all_checks = |plies: usize| {
            let mut at = self.before.clone();
            self.line[..plies].iter().enumerate().all(|(index, &m)| {
                at = at.play(m);
                index % 2 == 1 || at.is_check()
            })
        };
        for (index, &m) in self.line.iter().take(KEPT).enumerate() {
            game.play(m);
            if game.occurrences() > 1 {
                let perpetual = index > 2 && all_checks(index + 1);
                return Some(if perpetual {
                    "gives perpetual check in the main line".to_owned()
                } else {
                    "repeats moves in the main line".to_owned()
                });
            }
        }
        None
    }

    /// Lists pieces on their squares after the move.
    fn list(&self, squares: &[Square]) -> String {
        the_pieces(self.after.board(), squares)
    }

    /// Returns the squares of the opponent's pieces except pawns and king.
    fn theirs(&self) -> impl Iterator<Item = Square> {
        pieces(self.after.board(), self.after.turn()).into_iter()
    }

    /// Returns the squares of the opponent's pieces that the moved piece attacks.
    fn targets(&self) -> Vec<Square> {
        let board = self.after.board();
        let enemies = board.attacks_from(destination(self.m)) & board.by_color(self.after.turn());
        enemies.into_iter().collect()
    }

    fn forked(&self) -> Option<Vec<Square>> {
        let to = self.m.to();
        let mut targets = self.targets();
        targets.retain(|&target| is_worthy(self.after.board(), to, target));
        // A forked piece may move away, so check that the line captures one of them.
        let next = self.line.get(2).filter(|next| next.from() == Some(to) && next.is_capture())?;
        (targets.len() > 1 && targets.contains(&next.to())).then_some(targets)
    }

    /// Describes a fork by a later move in a line that wins material.
    fn later_fork(&self) -> Option<String> {
        self.context?;
        won(self.before, self.line, self.last)?;
        let mut at = self.after.clone();
        for index in 1..self.line.len().min(SOON / 2 + 1) {
            if index % 2 == 0
                && let Some(later) = Played::new(&at, &self.line[index..], None)
                && let Some(squares) = later.forked()
            {
                let (san, squares) = (later.san(), later.list(&squares));
                return Some(format!("is followed by {san}, which forks {squares}"));
            }
            at = at.play(self.line[index]);
        }
        None
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
            ", and no piece can recapture".to_owned()
        } else if takes_dearer(self.m) {
            format!(" with a {}", role_name(self.m.role()))
        } else {
            String::new()
        };
        Some(format!("takes the {taken} on {}{how}", taken_on(self.m)))
    }

    /// Describes the capture of a piece of about the same value that the opponent recaptures at
    /// once.
    fn exchange(&self) -> Option<String> {
        let (taken, role) = (self.m.capture()?, self.m.promotion().unwrap_or(self.m.role()));
        let back = self.line.get(1)?.is_capture() && self.line[1].to() == self.m.to();
        let alike = value(taken).abs_diff(value(role)) <= EXCHANGE as u32;
        let (taken, role, to) = (role_name(taken), role_name(role), self.m.to());
        (back && alike).then(|| {
            if taken == role {
                format!("exchanges {role}s on {to}")
            } else {
                format!("exchanges the {role} for the {taken} on {to}")
            }
        })
    }

    /// Describes a move that gives up more than it takes: `sacrifices the queen for a bishop`. A
    /// move that takes nothing counts only if neither the piece nor the game is lost anyway.
    fn sacrificed(&self) -> Option<String> {
        let &Played { m, before, ref after, .. } = self;
        let (to, taken) = (destination(m), m.capture());
        let doomed = m.from().is_some_and(|from| is_lost(before, from));
        let can_afford = self.score.is_none_or(|score| score > -EVEN);
        let is_offer = taken.is_some() || can_afford && !doomed;
        let sacrifices = is_offer && is_taken(after, to) && !see_ge(before, m, -200);
        let role = role_name(after.board().role_at(to).filter(|_| sacrifices)?);
        let taken = taken.map(|taken| format!(" for a {}", role_name(taken)));
        Some(format!("sacrifices the {role}{}", taken.unwrap_or_default()))
    }

    /// Returns whether the line trades the moved piece for more material, so that the move is not a
    /// sacrifice.
    fn trades_itself(&self) -> bool {
        let gain = won(self.before, self.line, self.last);
        gain.is_some_and(|gain| gain.change(self.m.role()) < 0)
    }

    fn pinned(&self) -> Option<Square> {
        let from = self.m.from()?;
        self.theirs().find(|&square| {
            is_pinned(self.after.board(), square, destination(self.m))
                && !is_pinned(self.before.board(), square, from)
        })
    }

    /// Returns the piece that makes a discovered attack, and its target.
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

    /// Returns the pieces that the moved piece newly attacks and whose capture would win something.
    fn attacked(&self) -> Vec<Square> {
        let to = destination(self.m);
        let old = self.m.from().filter(|_| !self.m.is_promotion());
        let old = old.map(|from| self.before.board().attacks_from(from)).unwrap_or_default();
        let Some(passed) = self.after.play_null().filter(|_| !is_lost(&self.after, to)) else {
            return Vec::new();
        };
        let mut targets = self.targets();
        targets.retain(|&target| {
            let wins = |m: &Move| {
                m.from() == Some(to) && m.to() == target && see_ge(&passed, *m, EXCHANGE)
            };
            !old.contains(target) && passed.legal_moves().iter().any(wins)
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

    /// Describes how the move saves the most valuable piece that could be won before it but not
    /// after it.
    fn saves(&self) -> Option<String> {
        let board = self.before.board();
        let own = board.by_color(self.before.turn()) & !board.kings();
        let has_moved = |square: Square| self.m.from() == Some(square);
        let is_saved = |&square: &Square| {
            let now = if has_moved(square) { destination(self.m) } else { square };
            let kept =
                |reply: &Move| taken_on(*reply) != now && !is_lost(&self.after.play(*reply), now);
            self.line.get(1).is_none_or(kept)
                && is_lost(self.before, square)
                && !is_lost(&self.after, now)
        };
        let saved = own.into_iter().filter(is_saved).max_by_key(|&square| board.role_at(square))?;
        Some(if has_moved(saved) {
            format!("brings the attacked {} to safety", role_name(self.m.role()))
        } else {
            format!("protects {}", the(self.after.board(), saved))
        })
    }

    /// Describes the threat that the move meets. In a decided game, threats do not matter.
    fn meets_threat(&self) -> Option<String> {
        let Threat { position, info } = self.context?.found.threat.as_ref()?;
        let decided = self.loses_anyway() || self.score.is_some_and(is_decisive);
        let &threat = info.pv.first().filter(|_| !decided)?;
        Some(format!("meets the threat {}", san(position, threat)))
    }

    /// Describes a pawn move that makes or advances a passed pawn.
    fn passed_pawn(&self) -> Option<String> {
        let &Played { m, before, ref after, .. } = self;
        let (us, to) = (before.turn(), m.to());
        let was = m.from().is_some_and(|from| is_passed(before.board(), us, from));
        let is_new = m.role() == Role::Pawn && !m.is_promotion() && !(was && m.is_capture());
        let stays = !after.legal_moves().iter().any(|reply| reply.is_en_passant());
        let does = if was { "advances the passed pawn to" } else { "creates a passed pawn on" };
        (is_new && stays && is_passed(after.board(), us, to)).then(|| format!("{does} {to}"))
    }

    /// Describes a minor piece that leaves its back rank in the opening.
    fn develops(&self) -> Option<String> {
        let &Played { m, before, .. } = self;
        let home = before.turn().fold_wb(Rank::First, Rank::Eighth);
        let develops = matches!(m.role(), Role::Knight | Role::Bishop)
            && m.from().is_some_and(|from| from.rank() == home)
            && m.to().rank() != home
            && is_full(before)
            && u32::from(before.chess().fullmoves()) <= OPENING;
        develops.then(|| format!("develops the {}", role_name(m.role())))
    }

    /// Describes a rook that reaches a file without pawns.
    fn opens_file(&self) -> Option<String> {
        let (m, board) = (self.m, self.after.board());
        let is_open = |square: Square| board.pawns().is_disjoint(square.file());
        let opens = m.role() == Role::Rook
            && board.pawns().any()
            && is_open(m.to())
            && !m.from().is_some_and(is_open);
        opens.then(|| format!("puts the rook on the open {}-file", m.to().file().char()))
    }

    /// Describes the known result of the ending, which the move keeps.
    fn keeps_result(&self) -> Option<String> {
        let Keeping { ending, moves, .. } = self.context?.found.keeping.as_ref()?;
        let result = match ending.winner {
            None => "draw",
            Some(winner) if winner == self.before.turn() => "win",
            Some(_) => return Some("loses, as does every other move".to_owned()),
        };
        Some(if moves.len() == self.before.legal_moves().len() {
            format!("{result}s, as does every other move")
        } else {
            format!("keeps the {result}")
        })
    }

    /// Returns whether only kings and pawns are left and the kings face each other after a king
    /// move. Returns false if every move is known to keep the result.
    fn takes_opposition(&self) -> bool {
        let board = self.after.board();
        let kings: Vec<Square> = board.kings().into_iter().collect();
        let [one, other] = kings[..] else { return false };
        self.m.role() == Role::King
            && board.occupied() == board.kings() | board.pawns()
            && one.distance(other) == 2
            && (one.file() == other.file() || one.rank() == other.rank())
            && endings::keeping(self.before)
                .is_none_or(|keeping| keeping.moves.len() < self.before.legal_moves().len())
    }

    /// Returns the result that only this move achieves.
    fn only(&self) -> Option<&'static str> {
        let Searched { only, keeping, .. } = self.context?.found;
        let Some(Keeping { ending, moves, all }) = keeping else { return *only };
        let only = *all && moves.len() == 1 && self.before.legal_moves().len() > 1;
        only.then_some(if ending.winner.is_some() { "wins" } else { "draws" })
    }

    /// Describes the target that a king approaches in an endgame. This is an enemy or passed pawn
    /// that it reaches in the line, the enemy king if there are no pawns, or the centre.
    fn approached(&self) -> Option<String> {
        let from = self.m.from().filter(|_| self.m.role() == Role::King && !self.m.is_castle())?;
        let (board, to, us) = (self.after.board(), self.m.to(), self.before.turn());
        let line = || self.line.iter().take(KEPT).step_by(2);
        let is_nearer = |target: &Square| to.distance(*target) < from.distance(*target);
        let is_reached =
            |pawn: &Square| line().any(|m| m.role() == Role::King && m.to().distance(*pawn) <= 1);
        let theirs = board.pawns() & board.by_color(self.after.turn());
        let own = board.pawns() & board.by_color(us);
        let own = own.into_iter().filter(|&pawn| is_passed(board, us, pawn));
        let mut pawns = theirs.into_iter().chain(own).filter(is_nearer);
        let central = |king: Square| {
            let centre = [Square::D4, Square::E4, Square::D5, Square::E5];
            centre.into_iter().map(|square| square.distance(king)).min()
        };
        if board.queens().any() {
            None
        } else if let Some(pawn) = pawns.find(is_reached) {
            Some(the(board, pawn))
        } else if board.pawns().is_empty()
            && board.king_of(self.after.turn()).as_ref().is_some_and(is_nearer)
        {
            Some("the enemy king".to_owned())
        } else {
            (central(to) < central(from)).then(|| "the centre".to_owned())
        }
    }
}

/// Returns a sentence from a subject and the words after it. Words that begin with a capital letter
/// have their own subject.
fn sentence(subject: &str, words: &str) -> String {
    if words.starts_with(char::is_uppercase) {
        format!("{words}.")
    } else {
        format!("{subject} {words}.")
    }
}

/// Returns whether a king on this square is in the centre.
const fn is_central(square: Square) -> bool {
    matches!(square.file(), File::D | File::E)
}

/// Returns whether a king is mated on its back rank by a rook or queen there, with its own pieces
/// in front of it.
fn is_back_rank_mate(end: &Position) -> bool {
    let (board, us) = (end.board(), end.turn());
    let Some(king) = board.king_of(us) else { return false };
    let home = us.fold_wb(Rank::First, Rank::Eighth);
    let on_rank = |square: Square| square.rank() == home;
    end.chess().is_checkmate()
        && on_rank(king)
        && end.checkers().into_iter().all(on_rank)
        && end.checkers().is_subset(board.rooks_and_queens())
        && attacks::king_attacks(king)
            .into_iter()
            .filter(|&square| !on_rank(square))
            .all(|square| board.color_at(square) == Some(us))
}

/// Describes a threat: `threatens Nc7+, which forks the king and the rook on a8`.
pub(super) fn threatened(Threat { position, info }: &Threat) -> Option<String> {
    let played = Played::new(position, &info.pv, None)?;
    // The search confirmed that the line wins something, but perhaps only with a later capture.
    let gain = won(position, &info.pv, None);
    let sure = gain.zip(played.m.capture()).is_some_and(|(gain, role)| gain.change(role) > 0);
    let played = Played { sure, score: Some(info.score), ..played };
    let san = played.san();
    if mate_distance(info.score) == Some(1) || played.m.is_promotion() {
        return Some(format!("threatens {san}"));
    }
    let kinds = [Kind::Mate, Kind::Promotes, Kind::Forks, Kind::Wins];
    let what = kinds.into_iter().find_map(|kind| played.words(kind))?;
    Some(format!("threatens {san}, which {what}"))
}
