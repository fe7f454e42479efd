//! Adds the findings of an analysis to a game: evaluations, error marks, better lines and tags.

use std::collections::HashSet;

use shakmaty::{
    CastlingMode, Color, Move, Position as _,
    san::{San, SanPlus},
};

use super::{
    evaluate::Evaluation,
    judge::{Error, Judgement, Tally},
    openings::Opening,
};
use crate::chess::{
    movegen::is_checkmate,
    notation::{self, MoveError},
    pgn::{self, AnnotatedMove, Broken, Game, Item, Variation},
    position::{Position, START_FEN},
    score::{EVALUATION_LIMIT, Score, mate_distance},
};

/// Maximum length of a better line in plies, unless it ends in mate.
const LINE_LENGTH: usize = 12;
/// Better lines of fewer plies are extended by another search.
const SHORT_LINE: usize = 4;

/// Returns the start position and the moves of a game, `None` for a null move.
///
/// # Errors
///
/// If the start position or the variant is not supported, or a move is not legal.
pub fn replay(game: &Game) -> Result<(Position, Vec<Option<Move>>), Broken> {
    let start = start(game)?;
    let mut position = start.clone();
    let mut moves = Vec::with_capacity(game.main.moves.len());
    for node in &game.main.moves {
        let broken = |what: &str| Broken {
            line: node.line,
            reason: format!("{}{} is {what}", notation::number(&position), node.san),
        };
        let (m, next) = step(&position, node).map_err(broken)?;
        position = next;
        moves.push(m);
    }
    Ok((start, moves))
}

/// Returns the move of a node, `None` for a null move, and the position after it. The error says
/// why the move cannot be made.
pub(super) fn step(
    position: &Position,
    node: &AnnotatedMove,
) -> Result<(Option<Move>, Position), &'static str> {
    if node.san.san == San::Null {
        return Ok((None, position.play_null().ok_or("not legal in check")?));
    }
    // SAN reads `b1c3` as a pawn move, so try all notations.
    let m = notation::read_any_move(position, &node.san.san.to_string());
    let m = m.map_err(|error| match error {
        MoveError::Ambiguous { .. } => "ambiguous",
        _ => "not legal",
    })?;
    Ok((Some(m), position.play(m)))
}

/// Rewrites the legal moves of a line and its variations in SAN, with correct check and mate signs.
/// Removes repeated glyphs of a move.
pub(crate) fn tidy(line: &mut Variation, start: &Position) {
    let mut position = start.clone();
    for node in &mut line.moves {
        let mut seen = HashSet::new();
        node.items.retain(|item| !matches!(item, Item::Nag(nag) if !seen.insert(nag.0)));
        for item in &mut node.items {
            if let Item::Variation(line) = item {
                tidy(line, &position);
            }
        }
        let Ok((m, next)) = step(&position, node) else { return };
        if let Some(m) = m {
            node.san = SanPlus::from_move(position.chess().clone(), m);
        }
        position = next;
    }
}

/// Returns the start position of a game from its tags.
///
/// # Errors
///
/// If it is not a valid chess position, or the game is of a variant other than standard chess or
/// Chess960.
fn start(game: &Game) -> Result<Position, Broken> {
    let broken = |reason| Broken { line: game.line, reason };
    let variant = game.tag("Variant").unwrap_or("standard").to_ascii_lowercase();
    let mode = if ["960", "fischer", "frc", "freestyle"].iter().any(|name| variant.contains(name)) {
        CastlingMode::Chess960
    } else if ["standard", "standard chess", "chess", "classical", "normal", "from position"]
        .contains(&variant.as_str())
    {
        CastlingMode::Standard
    } else {
        return Err(broken(format!(
            "unsupported variant '{variant}': expected Chess960 or standard chess"
        )));
    };
    let fen = game.tag("FEN").unwrap_or(START_FEN);
    Position::from_fen_in(fen, mode).map_err(|error| broken(error.to_string()))
}

/// Returns the number of half-moves before a position according to its move number.
pub fn ply(position: &Position) -> usize {
    let moves = position.chess().fullmoves().get() as usize - 1;
    2 * moves + usize::from(position.turn() == Color::Black)
}

/// A game and the findings about it.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    /// The positions of the game, one more than moves.
    pub positions: &'a [Position],
    /// The moves played; `None` for a null move.
    pub moves: &'a [Option<Move>],
    /// The evaluations, one for each position.
    pub evaluations: &'a [Evaluation],
    /// The judgements of the moves. A null move has none.
    pub judgements: Vec<Option<Judgement>>,
}

impl<'a> Findings<'a> {
    /// Judges the moves of a game.
    pub(super) fn new(
        positions: &'a [Position],
        moves: &'a [Option<Move>],
        evaluations: &'a [Evaluation],
    ) -> Findings<'a> {
        let judge = |((position, &m), pair): ((&Position, &Option<Move>), &[Evaluation])| {
            let own = |white: Score| notation::white(white, position.turn());
            let best = pair[0].line.first() == Some(&m?);
            Some(Judgement::new(own(pair[0].white), own(pair[1].white), best))
        };
        let moves_made = positions.iter().zip(moves).zip(evaluations.windows(2));
        Findings { positions, moves, evaluations, judgements: moves_made.map(judge).collect() }
    }

    /// Returns the indices of the errors whose better lines are too short to show why they are
    /// better.
    pub(super) fn short_lines(&self) -> Vec<usize> {
        let short = |&i: &usize| {
            let Evaluation { white, line } = &self.evaluations[i];
            self.error(i).is_some() && line.len() < SHORT_LINE && mate_distance(*white).is_none()
        };
        (0..self.judgements.len()).filter(short).collect()
    }

    /// Returns the kind of error that a move is, or `None` if it is not an error.
    pub(super) fn error(&self, index: usize) -> Option<Error> {
        self.judgements[index].and_then(|judgement| judgement.error)
    }

    /// Sums up the moves of one side.
    pub(super) fn tally(&self, color: Color) -> Tally {
        let mut tally = Tally { games: 1, ..Tally::default() };
        let moves = self.positions.iter().zip(&self.judgements);
        let own = moves.filter(|(position, _)| position.turn() == color);
        own.filter_map(|(_, judgement)| judgement.as_ref()).for_each(|one| tally.add(one));
        tally
    }

    /// Adds the findings to the game.
    pub(super) fn annotate(&self, game: &mut Game, opening: Option<Opening>, annotator: &str) {
        for (ply, node) in game.main.moves.iter_mut().enumerate() {
            self.annotate_move(ply, node);
        }
        // An annotator tag of an earlier run of this program is outdated.
        if game.tag("Annotator").is_some_and(|old| old.starts_with("Lancet ")) {
            game.set_tag("Annotator", annotator.to_owned());
        }
        game.add_tag("Annotator", annotator.to_owned());
        if let Some(Opening { eco, name }) = opening {
            game.add_tag("ECO", eco.to_owned());
            game.add_tag("Opening", name.to_owned());
        }
        for color in Color::ALL {
            let tally = self.tally(color);
            if let Some((accuracy, loss)) = tally.mean_accuracy().zip(tally.mean_loss()) {
                game.set_tag(&format!("{color:?}Accuracy"), format!("{accuracy:.1}"));
                game.set_tag(&format!("{color:?}AverageLoss"), format!("{loss:.0}"));
            }
        }
    }

    fn annotate_move(&self, ply: usize, node: &mut AnnotatedMove) {
        let error = self.error(ply);
        let after = &self.positions[ply + 1];
        // The notation shows a checkmate, so it needs no evaluation.
        let evaluation =
            (!is_checkmate(after)).then(|| evaluation_text(self.evaluations[ply + 1].white));
        // Name the error only if the sign is added here, not beside an annotator's own mark.
        remark(&mut node.items, evaluation, error, |judged| {
            error.map(|error| self.better_text(ply, (!judged).then_some(error)))
        });
        if error.is_some() {
            node.items.push(Item::Variation(self.better_line(ply)));
        }
    }

    /// Returns the comment on an error: its name, if given, and the better move.
    fn better_text(&self, ply: usize, error: Option<Error>) -> String {
        let before = &self.positions[ply];
        let best = self.evaluations[ply].line.first();
        let best = best.map_or_else(String::new, |&m| notation::san(before, m));
        let name = error.map_or_else(String::new, |error| format!("{}. ", error.name()));
        format!("{name}{best} was best.")
    }

    /// Returns the engine's line as a variation that ends with its evaluation.
    fn better_line(&self, ply: usize) -> Variation {
        let Evaluation { white, line } = &self.evaluations[ply];
        let length = if mate_distance(*white).is_some() { line.len() } else { LINE_LENGTH };
        let line = &line[..length.min(line.len())];
        let mut moves = annotated_moves(&self.positions[ply], line);
        if let Some(last) = moves.last_mut() {
            last.items.push(Item::Comment(evaluation_text(*white)));
        }
        Variation { lead: Vec::new(), moves }
    }
}

/// Adds an evaluation, the sign of an error and a text to the annotations of a move.
///
/// Tells `text` whether an annotator has already judged the move. Keeps this judgement. Removes the
/// remarks of an earlier run of this program. Collects the commands of all comments, such as
/// `[%clk]`, in one comment, like Lichess.
pub(crate) fn remark(
    items: &mut Vec<Item>,
    evaluation: Option<String>,
    error: Option<Error>,
    text: impl FnOnce(bool) -> Option<String>,
) {
    let (mut said, mut parts) = (None, Vec::from_iter(evaluation));
    items.retain_mut(|item| match item {
        Item::Comment(comment) => {
            let (commands, rest) = pgn::split_comment(comment);
            let (old, others): (Vec<&str>, _) =
                commands.into_iter().partition(|command| command.starts_with("[%eval"));
            let ours = verdict(&rest).filter(|_| !old.is_empty());
            let keep = !rest.is_empty() && ours.is_none();
            said = said.take().or(ours);
            parts.extend(others.into_iter().map(str::to_owned));
            *comment = rest;
            keep
        }
        Item::Variation(line) => !said.as_ref().is_some_and(|(_, best)| is_ours(line, best)),
        Item::Nag(_) => true,
    });
    if let Some((Some(error), _)) = said
        && let Some(sign) = items.iter().position(|item| *item == Item::Nag(error.nag()))
    {
        items.remove(sign);
    }
    let signs = items.iter().take_while(|item| matches!(item, Item::Nag(_))).count();
    // Keep an annotator's judgement, even after a comment.
    let judged = Item::judgement(items).is_some();
    parts.extend(text(judged).filter(|text| !items.contains(&Item::Comment(text.clone()))));
    if !parts.is_empty() {
        items.insert(signs, Item::Comment(parts.join(" ")));
    }
    if let Some(error) = error.filter(|_| !judged) {
        items.insert(signs, Item::Nag(error.nag()));
    }
}

/// Returns the legal moves of a line without annotations.
pub fn annotated_moves(start: &Position, line: &[Move]) -> Vec<AnnotatedMove> {
    let mut position = start.clone();
    let annotated = |&m: &Move| {
        let san = SanPlus::from_move(position.chess().clone(), m);
        position.make(m);
        AnnotatedMove { san, line: 0, items: Vec::new() }
    };
    line.iter().map(annotated).collect()
}

/// Returns an evaluation command such as `[%eval 0.35]` or `[%eval #-3]`, from White's point of
/// view.
pub fn evaluation_text(white: Score) -> String {
    match mate_distance(white) {
        Some(moves) => format!("[%eval #{moves}]"),
        None => {
            let pawns = f64::from(white.clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT)) / 100.0;
            format!("[%eval {pawns:.2}]")
        }
    }
}

/// Returns whether this program wrote a comment, given as its commands and the remaining text.
pub(crate) fn is_verdict(commands: &[&str], rest: &str) -> bool {
    commands.iter().any(|command| command.starts_with("[%eval")) && verdict(rest).is_some()
}

/// Parses a comment written by [`Findings::better_text`]. Returns the error, if the comment names
/// one, and the best move.
fn verdict(text: &str) -> Option<(Option<Error>, String)> {
    let errors = [Error::Inaccuracy, Error::Mistake, Error::Blunder];
    let named = errors.into_iter().find_map(|error| {
        let rest = text.strip_prefix(error.name())?.strip_prefix(". ")?;
        Some((Some(error), rest))
    });
    let (error, rest) = named.unwrap_or((None, text));
    let best = rest.strip_suffix(" was best.")?;
    SanPlus::from_ascii(best.as_bytes()).is_ok().then(|| (error, best.to_owned()))
}

/// Returns whether a line begins with `best` and has the form that [`Findings::better_line`]
/// writes.
fn is_ours(line: &Variation, best: &str) -> bool {
    let Some((last, others)) = line.moves.split_last() else { return false };
    let first = line.moves.first().is_some_and(|first| first.san.to_string() == best);
    let evaluated = matches!(&last.items[..], [Item::Comment(text)]
        if text.starts_with("[%eval") && pgn::split_comment(text).1.is_empty());
    first && evaluated && line.lead.is_empty() && others.iter().all(|node| node.items.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{
        pgn::{read::Games, write::write},
        score::MATE,
    };

    fn read(text: &str) -> Game {
        Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap()
    }

    /// Annotates a fool's mate with plausible evaluations.
    fn annotated(text: &str, annotator: &str) -> String {
        let mut game = read(text);
        let (start, moves) = replay(&game).unwrap();
        let positions = super::super::evaluate::positions(&start, &moves);
        let best = |position: &Position, san: &str| {
            vec![san.parse::<SanPlus>().unwrap().san.to_move(position.chess()).unwrap()]
        };
        let evaluations: Vec<Evaluation> =
            [(20, "e4"), (-40, "e5"), (-50, "Nc3"), (1 - MATE, "Qh4#")]
                .into_iter()
                .zip(&positions)
                .map(|((white, san), position)| Evaluation { white, line: best(position, san) })
                .chain([Evaluation { white: -MATE, line: Vec::new() }])
                .collect();
        let findings = Findings::new(&positions, &moves, &evaluations);
        let errors: Vec<_> = (0..4).map(|index| findings.error(index)).collect();
        assert_eq!(errors, [Some(Error::Inaccuracy), None, Some(Error::Blunder), None]);
        assert_eq!(findings.short_lines(), [0, 2]);
        assert_eq!(findings.tally(Color::White).errors, [1, 0, 1]);
        assert_eq!(findings.tally(Color::Black).mean_accuracy(), Some(100.0));
        let opening = Opening { eco: "A00", name: "Barnes Opening" };
        findings.annotate(&mut game, Some(opening), annotator);
        write(&game, ply(&start))
    }

    #[test]
    fn findings_are_written_where_they_belong() {
        let text = "[White \"A\"]\n\n\
                    1. f3 {[%eval 9.9] [%clk 0:01:00]} e5 2. g4 $5 (2. e4) Qh4# 0-1";
        assert_eq!(
            annotated(text, "me"),
            "[White \"A\"]\n[Annotator \"me\"]\n[ECO \"A00\"]\n[Opening \"Barnes Opening\"]\n\
             [WhiteAccuracy \"44.5\"]\n[WhiteAverageLoss \"505\"]\n\
             [BlackAccuracy \"100.0\"]\n[BlackAverageLoss \"0\"]\n\n\
             1. f3 $6 { [%eval -0.40] [%clk 0:01:00] Inaccuracy. e4 was best. } (1. e4 {\n\
             [%eval 0.20] }) 1... e5 { [%eval -0.50] } 2. g4 $5 { [%eval #-1] Nc3 was best.\n\
             } (2. e4) (2. Nc3 { [%eval -0.50] }) 2... Qh4# 0-1\n\n"
        );
    }

    /// Remarks of an earlier run are not repeated, and remarks of annotators are kept.
    #[test]
    fn an_annotated_game_can_be_analysed_again() {
        let text = "1. f3 {before} e5 2. g4 (2. e4) Qh4# 0-1";
        let first = annotated(text, "Lancet 0.0.9, 1 node");
        let again = annotated(&first, "Lancet 0.1.0, 2 nodes");
        assert_eq!(again, first.replace("0.0.9, 1 node", "0.1.0, 2 nodes"));
        let others = annotated("[Annotator \"Nunn\"]\n\n1. f3 e5 2. g4 Qh4#", "Lancet");
        assert!(others.contains("[Annotator \"Nunn\"]"), "{others}");
        let others =
            "1. f3 {e4 was best.} (1. e4 {why not?}) (1. d4 {[%eval 0.1]}) e5 2. g4 Qh4# *";
        let shown = annotated(others, "me").replace('\n', " ");
        for kept in ["{ e4 was best. }", "(1. e4 { why not? })", "(1. d4 { [%eval 0.1] })"] {
            assert!(shown.contains(kept), "{kept}: {shown}");
        }
        // A move that is no longer an error loses its sign. If the kind of error has changed, so
        // does the sign.
        let wrong = "1. f3 $4 {[%eval -0.9] Blunder. d4 was best.} (1. d4 {[%eval 0.1]}) \
                     1... e5 $2 {[%eval -0.1] Mistake. d5 was best.} (1... d5 {[%eval 0.1]}) \
                     2. g4 $1 {[%eval -3.0] d4 was best.} 2... Qh4# *";
        let right = annotated("1. f3 e5 2. g4 $1 Qh4# *", "me");
        assert_eq!(annotated(wrong, "me"), right);
        // An annotator's sign is not mistaken for the program's, even if both are the same.
        let own = annotated("1. f3 $6 e5 2. g4 Qh4# *", "me");
        assert!(own.contains("1. f3 $6 { [%eval -0.40] e4 was best. }"), "{own}");
        assert_eq!(annotated(&own, "me"), own);
        // A mark after a comment counts too.
        let marked = annotated("1. f3 {c} $2 e5 2. g4 Qh4# *", "me");
        assert!(marked.contains("1. f3 { [%eval -0.40] e4 was best. } { c } $2 ("), "{marked}");
    }

    #[test]
    fn moves_of_every_notation_are_replayed() {
        let moves = |text: &str| replay(&read(text)).unwrap().1.len();
        assert_eq!(moves("1. b1c3 e7e5 2. Ng1-f3 b8c6 3. Nf3e5 c6e5 4. d4, Nd3++ *"), 8);
        assert_eq!(moves("[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\n\n1. a8Q, a1q+ *"), 2);
    }

    /// Check signs are corrected, even in variations, and repeated glyphs are removed.
    #[test]
    fn lines_are_tidied() {
        let mut game =
            read("1. f3+ e5# (1... e6 $1 $1 2. g4 Qh4 $2 $14 $2) 2. g2g4?? $4 (2. Ke4+) Qh4+ *");
        tidy(&mut game.main, &Position::default());
        let tidied = "1. f3 e5 (1... e6 $1 2. g4 Qh4# $2 $14) 2. g4 $4 (2. Ke4+) 2... Qh4# *\n\n";
        assert_eq!(write(&game, 0), tidied);
    }

    #[test]
    fn illegal_moves_name_their_line() {
        let broken = |text: &str| replay(&read(text)).unwrap_err().to_string();
        assert_eq!(broken("[Event \"x\"]\n\n1. e4 e5\n2. Nf6 *"), "4: 2. Nf6 is not legal");
        assert_eq!(
            broken("\n1. e4 e5 2. Bb5 Nf6 3. Bxd7+\nZ0\n"),
            "3: 3... -- is not legal in check"
        );
        assert!(broken("[FEN \"8/8/8 w\"]\n\n*").starts_with("1: unreadable FEN '8/8/8 w'"));
        assert_eq!(
            broken("[Variant \"Atomic\"]\n\n*"),
            "1: unsupported variant 'atomic': expected Chess960 or standard chess"
        );
    }

    #[test]
    fn chess960_and_other_starts() {
        let fen = "4k2r/5p2/8/8/8/8/8/1R2K3 b Bh - 0 9";
        let text = format!("[Variant \"Chess960\"]\n[FEN \"{fen}\"]\n\n9... O-O 10. O-O-O *");
        let (start, moves) = replay(&read(&text)).unwrap();
        assert_eq!((ply(&start), moves.len()), (17, 2));
        assert!(moves.iter().all(|m| m.is_some_and(|m| m.is_castle())));
        for (variant, chess960) in [
            ("FRC", true),
            ("Freestyle", true),
            ("chess 960", true),
            ("Fischerandom", true),
            ("Standard chess", false),
            ("Normal", false),
            ("-", false),
        ] {
            let mode =
                super::start(&read(&format!("[Variant \"{variant}\"]\n\n1. e4 *"))).unwrap().mode();
            assert_eq!(mode.is_chess960(), chess960, "{variant}");
        }
    }

    #[test]
    fn evaluations_in_comments() {
        for (text, rest) in [
            ("[%eval 0.3]", "[%eval 9.99]"),
            ("good [%eval #-3,12] move", "[%eval 9.99] | good move"),
            ("[%clk 1:00] [%eval 1]", "[%eval 9.99] [%clk 1:00]"),
            ("in [%eval 1] all [%clk 1:00]", "[%eval 9.99] [%clk 1:00] | in all"),
            ("one [%eval 1][%eval 2] two [%eval 3", "[%eval 9.99] | one two [%eval 3"),
            ("[%eval", "[%eval 9.99] | [%eval"),
            ("plain", "[%eval 9.99] | plain"),
        ] {
            let mut items = vec![Item::Comment(text.to_owned())];
            remark(&mut items, Some("[%eval 9.99]".to_owned()), None, |_| None);
            let comments = items.iter().filter_map(|item| match item {
                Item::Comment(text) => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(comments.collect::<Vec<_>>().join(" | "), rest);
        }
        let many = "[%eval 0.1] a ".repeat(100_000);
        assert_eq!(pgn::split_comment(&many).1.len(), "a ".len() * 100_000 - 1);
        let texts = [35, -7, MATE - 3, -MATE + 2, 30_900].map(evaluation_text);
        assert_eq!(
            texts,
            ["[%eval 0.35]", "[%eval -0.07]", "[%eval #3]", "[%eval #-2]", "[%eval 290.00]"]
        );
    }
}
