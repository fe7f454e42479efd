//! The command `lancet explain`: the explanation as data, JSON and text.

use std::{process::ExitCode, slice, time::Duration};

use anyhow::Context as _;
use indicatif::HumanCount;
use serde::Serialize;

use shakmaty::{Bitboard, Move, Square};

use super::{
    board, endings,
    examine::{SURE, Searched, examine},
    moves::{Context, Played, threatened},
    sentence::{Kind, NOTHING, Sentence},
    standing,
    words::{material, the_pieces},
    worth::{self, Worth},
};
use crate::{
    chess::{
        notation::{self, MovesError, color_name, counted},
        position::{Game, Position},
        score::{Score, is_decisive, is_mate, mate_distance, winning_chances},
    },
    engine::{Engine, threads},
    play::report::Info,
    tools::{
        self,
        options::{Effort, Tables},
        say,
    },
};

/// Explain a position: the threat, the best move with its reasons, and the pieces
///
/// --movetime, --nodes and --depth limit the search for the two best moves. Without them, it takes
/// two seconds. More searches follow. The search for each side's threat, and the search that
/// confirms the gain of a line, get a quarter of the time and nodes. If only the best move seems to
/// win, hold or avoid mate, all other moves are searched with the full limits. Possible zugzwang
/// is confirmed by two searches with twice the time and nodes.
///
/// A threat is the move that a side would play if the other side passed, provided that it mates or
/// wins material. The reasons for the best move are sorted, the most important first. The rules,
/// another search or the evaluation confirm every sentence. Some simple endings are recognised
/// without tablebases, such as king and pawn against king, the wrong-coloured bishop, or two
/// knights.
///
/// The worth of a piece is the amount by which the evaluation falls when the piece is removed from
/// the board. A piece stands well or badly if its worth differs from the usual worth of its kind by
/// at least 0.6 pawns and by at least a sixth. The usual worth is an average over the benchmark's
/// positions. If this position has more than 20 pieces, only such positions count. Otherwise, only
/// the others count.
///
/// Two moves, or two squares for a piece, count as equal if their scores differ by less than a
/// tenth of a pawn.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = r#"Examples:
  lancet explain startpos moves 1. e4 e5 2. Bc4 Nc6 3. Qh5
  lancet explain "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1" --depth 20
  lancet explain "2b1k3/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1" --json

Exit status:
  0  when the position was explained
  1  if there was not enough memory, or a thread could not be started
  2  if the position or the command line could not be used"#)]
pub struct Args {
    /// A FEN or `startpos`, optionally followed by the word `moves` and moves from there (SAN or
    /// UCI, with or without numbers)
    #[arg(required = true, value_name = "FEN", num_args = 1..)]
    position: Vec<String>,
    #[command(flatten)]
    effort: Effort,
    /// Search threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = tools::thread_count)]
    threads: usize,
    /// Hash table size, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = tools::hash_size)]
    hash: usize,
    #[command(flatten)]
    tables: Tables,
    /// Write JSON, for programs
    #[arg(long)]
    json: bool,
}

/// Time for the best two moves if no option limits the search.
const DEFAULT_MOVETIME: Duration = Duration::from_secs(2);
/// Maximum length of a line shown, in plies.
const LINE_LENGTH: usize = 12;
/// Score in centipawns above which a side wins in any case.
const PLENTY: Score = 1000;
/// Halfmove clock from which the fifty-move rule is mentioned.
const CLOCK: u32 = 80;

/// The explanation of a position. Scores are from White's point of view. All sentences were
/// confirmed by the rules, a search or the evaluation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Explanation {
    /// The position.
    fen: String,
    /// `white` or `black`.
    turn: &'static str,
    /// The end of the game, if it is over. Then only this, `fen` and `turn` are set.
    over: Option<String>,
    /// The verdict: who is better.
    standing: Option<String>,
    /// The effect of the last move, a check, the opponent's threat, zugzwang, an only legal move,
    /// and a near draw by the fifty-move rule.
    before: Vec<Sentence>,
    /// The best move.
    best: Option<Choice>,
    /// The reasons for the best move; none if it is the only legal move.
    about: Vec<Sentence>,
    /// The second best move, if it is worse by at least a tenth of a pawn, and the two moves do not
    /// both win or both lose.
    second: Option<Choice>,
    /// Sentences about material, pins, passed pawns, open files, kings and remarkable pieces.
    board: Vec<Sentence>,
    /// Every piece except pawns and kings, the best placed first.
    pieces: Vec<Piece>,
    /// Depth of the search for the two moves.
    depth: u32,
    /// Nodes of that search.
    nodes: u64,
}

/// A move with its score and line.
#[derive(Clone, Debug, Serialize)]
struct Choice {
    /// The move in SAN.
    san: String,
    /// The move in UCI notation.
    uci: String,
    /// The score, such as `+0.35` or `#3`.
    score: String,
    /// The score in centipawns, if it is not decisive.
    centipawns: Option<Score>,
    /// Moves to mate, negative if Black mates.
    mate: Option<i32>,
    /// The winning chances of the side to move, from 0 to 1 (its expected score).
    chances: f64,
    /// The PV in SAN, beginning with this move.
    line: String,
}

/// A piece and its worth to its own side, in pawns.
#[derive(Clone, Debug, Serialize)]
struct Piece {
    /// Its FEN letter.
    piece: char,
    /// The square of the piece.
    square: String,
    /// The amount by which the evaluation falls without the piece.
    worth: f64,
    /// The average worth of its kind.
    usual: f64,
}

/// Runs the command `lancet explain`. Its help describes the exit status.
///
/// # Errors
///
/// If there is not enough memory, a thread cannot be started, or the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let explanation = match explained(args) {
        Err(error) if error.is::<MovesError>() => return Ok(tools::unusable(&error)),
        explained => explained?,
    };
    if args.json {
        say(serde_json::to_string_pretty(&explanation)?);
    } else {
        text(&explanation).iter().for_each(say);
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads `FEN [moves ...]`, given as one or several arguments. Also returns the game before the
/// last move.
fn read(words: &[String]) -> anyhow::Result<(Game, Option<Game>)> {
    let (start, moves) = notation::read_line(&words.join(" "))?;
    let mut game = Game::from(start);
    let Some((&last, earlier)) = moves.split_last() else { return Ok((game, None)) };
    earlier.iter().for_each(|&m| game.play(m));
    let before = game.clone();
    game.play(last);
    Ok((game, Some(before)))
}

/// Searches and explains the position that `args` specify.
///
/// # Errors
///
/// If the position cannot be read, there is not enough memory for the table, or a thread cannot be
/// started.
pub fn explained(args: &Args) -> anyhow::Result<Explanation> {
    let (game, before) = read(&args.position)?;
    let root = game.position();
    let turn = if root.turn().is_white() { "white" } else { "black" };
    let explanation = Explanation { fen: root.fen(), turn, ..Explanation::default() };
    if let Some(over) = board::over(&game) {
        return Ok(Explanation { over: Some(over), ..explanation });
    }
    let mut engine = Engine::new(tools::settings(args.hash, args.threads))?;
    args.tables.open_for(slice::from_mut(&mut engine));
    // The time to prepare the table must not count as search time.
    engine.prepare(&|| true)?;
    let limits = args.effort.limits(DEFAULT_MOVETIME);
    let found = threads::run("explain", || examine(&mut engine, &game, &limits))
        .context("cannot start the search's thread")?;
    let best = found.best.as_ref();
    let network = engine.network().map(AsRef::as_ref);
    let placed = worth::placed(root, network);
    // In a decided position, small differences do not matter.
    let matters = |best: &&Info| best.score > -SURE && !is_settled(best, found.second.as_ref());
    let improved = best.filter(matters).and_then(|best| worth::improved(root, &best.pv, network));
    let context = Context { found: &found, improved };
    let mut about =
        Played::best(&game, &context).map_or_else(Vec::new, |played| played.reasons("It"));
    about.retain(|sentence| !repeats_headline(sentence));
    // A forced move needs no reasons.
    if root.legal_moves().len() == 1 {
        about.clear();
    }
    let explanation = Explanation {
        standing: best.map(|best| {
            let known = endings::known(root).filter(|_| !is_decisive(best.score));
            standing(notation::white(best.score, root.turn()), known, best.drawn)
        }),
        best: best.and_then(|best| choice(root, best)),
        about,
        pieces: placed.iter().map(piece).collect(),
        depth: found.depth,
        nodes: found.nodes,
        ..explanation
    };
    let Some(best) = best.filter(|best| !(best.score > 0 && is_mate(best.score))) else {
        // If there is a mate, nothing else is worth mentioning.
        return Ok(explanation);
    };
    let before = situation(&game, before.as_ref(), &found);
    let material = material(root.board()).map(|text| Sentence::new(Kind::Material, text));
    let mut board: Vec<Sentence> = material.into_iter().collect();
    // If the game is decided, features of the board do not matter.
    if !is_decisive(best.score) {
        board.extend(board::on_the_board(root));
        let told = before.iter().chain(&explanation.about).chain(&board);
        let told = told.fold(threatening(&found), told_squares);
        board.extend(worth::said(root, &placed, told));
    }
    let second = found.second.as_ref().filter(|second| is_worse(second, best));
    let second = second.and_then(|second| choice(root, second));
    Ok(Explanation { before, second, board, ..explanation })
}

/// Returns whether a sentence only repeats the headline, which has the move and its score.
fn repeats_headline(Sentence { kind, text }: &Sentence) -> bool {
    match kind {
        Kind::Mate => {
            text == "It is mate." || text.starts_with("It mates in ") && text.ends_with(" moves.")
        }
        Kind::Delays => !text.contains("than with"),
        Kind::Checks => text == "It gives check.",
        _ => false,
    }
}

/// Returns the squares of the pieces that make the threats.
fn threatening(found: &Searched) -> Bitboard {
    let first = |info: &Info| info.pv.first().copied();
    let threats = [&found.threat, &found.next].into_iter().flatten();
    let threats = threats.filter_map(|threat| first(&threat.info)?.from());
    // The threat of the best move may be made by the piece that moved.
    let best: Option<Move> = found.best.as_ref().and_then(first);
    let origin = |square: Square| match best {
        Some(m) if m.to() == square => m.from().unwrap_or(square),
        _ => square,
    };
    threats.map(origin).collect()
}

/// Adds the squares that a sentence names. No other sentence then says that a piece there stands
/// well or badly.
fn told_squares(squares: Bitboard, sentence: &Sentence) -> Bitboard {
    let words = sentence.text.split(|c: char| !c.is_ascii_alphanumeric());
    let named = words.filter_map(|word| word.get(word.len().checked_sub(2)?..)?.parse().ok());
    named.fold(squares, |squares, square: Square| squares.with(square))
}

/// Returns whether a move is worse by so much that the difference should be mentioned.
fn is_worse(second: &Info, best: &Info) -> bool {
    let both_decided = is_decisive(best.score) && is_decisive(second.score);
    best.score - second.score >= NOTHING
        && !(both_decided && (best.score > 0) == (second.score > 0))
        && !is_settled(best, Some(second))
}

/// Returns whether both moves win, or both lose, by more than [`PLENTY`].
fn is_settled(best: &Info, second: Option<&Info>) -> bool {
    let all = |test: &dyn Fn(Score) -> bool| {
        test(best.score) && second.is_none_or(|second| test(second.score))
    };
    all(&|score| score > PLENTY) || all(&|score| score < -PLENTY)
}

/// Describes the effect of the last move, a check, the opponent's threat, zugzwang, an only legal
/// move, and a near draw by the fifty-move rule.
fn situation(game: &Game, before: Option<&Game>, found: &Searched) -> Vec<Sentence> {
    let (root, last) = (game.position(), game.last());
    let (us, them) = (color_name(root.turn()), color_name(!root.turn()));
    let threat = found.threat.as_ref().and_then(threatened);
    let mut said = Vec::new();
    let played = |before| Played::new(Game::position(before), last.as_slice(), before.last());
    if let Some(played) = before.and_then(played) {
        said.extend(played.as_last(threat.is_none() && !root.is_check()));
    }
    let mut say = |kind, text| said.push(Sentence::new(kind, text));
    if root.is_check() {
        let checkers: Vec<Square> = root.checkers().into_iter().collect();
        let checkers = the_pieces(root.board(), &checkers);
        say(Kind::InCheck, format!("{us} is in check from {checkers}."));
    }
    if let Some(threat) = threat {
        say(Kind::Threat, format!("{them} {threat}."));
    }
    if found.zugzwang == Some(root.turn()) {
        let text = format!("{us} is in zugzwang: a pass would be better than any move.");
        say(Kind::Zugzwang, text);
    }
    if let [only] = root.legal_moves()[..] {
        let san = notation::san(root, only);
        say(Kind::OnlyLegal, format!("{san} is {us}'s only legal move."));
    }
    if root.halfmoves() >= CLOCK {
        let left = counted(100 - root.halfmoves() as usize, "more half-move");
        let text = format!(
            "The game will be drawn by the fifty-move rule after {left} without a capture or a \
             pawn move, unless the last one mates."
        );
        say(Kind::FiftyMoveRule, text);
    }
    said
}

/// Describes the first move of the PV of a search. Returns `None` if the PV is empty.
fn choice(position: &Position, info: &Info) -> Option<Choice> {
    let (&m, score, pv) = (info.pv.first()?, info.score, &info.pv);
    let shown = if is_decisive(score) { pv.len() } else { pv.len().min(LINE_LENGTH) };
    let white = notation::white(score, position.turn());
    Some(Choice {
        san: notation::san(position, m),
        uci: notation::move_text(m, position.mode()),
        score: notation::pawns(white),
        centipawns: (!is_decisive(white)).then_some(white),
        mate: mate_distance(white),
        chances: winning_chances(score),
        line: notation::line(position, &pv[..shown]),
    })
}

fn piece(&Worth { piece, square, worth, usual }: &Worth) -> Piece {
    let [worth, usual] = [worth, usual].map(|score: Score| f64::from(score) / 100.0);
    Piece { piece: piece.char(), square: square.to_string(), worth, usual }
}

/// Formats the explanation as lines of text.
fn text(explanation: &Explanation) -> Vec<String> {
    let Explanation { fen, best, second, .. } = explanation;
    if let Some(over) = &explanation.over {
        return vec![fen.clone(), over.clone()];
    }
    let us = if explanation.turn == "white" { "White" } else { "Black" };
    let standing = explanation.standing.as_deref().unwrap_or_default();
    let mut lines = vec![
        fen.clone(),
        format!("{us} to move; {standing}. Scores are from White's point of view."),
    ];
    let indented = |text: &String| format!("  {text}");
    let sentence = |sentence: &Sentence| indented(&sentence.text);
    lines.extend(explanation.before.iter().map(sentence));
    if let Some(Choice { san, score, mate, line, .. }) = best {
        let (depth, nodes) = (explanation.depth, HumanCount(explanation.nodes));
        lines.push(format!("\nBest is {san} ({score}), depth {depth}, {nodes} nodes"));
        lines.push(indented(line));
        lines.extend(explanation.about.iter().map(sentence));
        let is_forced =
            || explanation.before.iter().any(|sentence| sentence.kind == Kind::OnlyLegal);
        if explanation.about.is_empty() && mate.is_none() && !is_forced() {
            lines.push("  No single reason stands out.".to_owned());
        }
    }
    if let (Some(best), Some(Choice { san, score, line, chances, .. })) = (best, second) {
        let [better, worse] =
            [best.chances, *chances].map(|chances| format!("{:.0} %", 100.0 * chances));
        let instead = if better == worse {
            String::new()
        } else {
            format!(": {us}'s winning chances are {worse} instead of {better}")
        };
        lines.push(format!("\nSecond best is {san} ({score}){instead}"));
        lines.push(indented(line));
    }
    if !explanation.board.is_empty() {
        lines.push("\nOn the board".to_owned());
        lines.extend(explanation.board.iter().map(sentence));
    }
    lines
}

#[cfg(test)]
mod tests;
