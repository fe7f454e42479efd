//! The command `lancet explain`: an explanation as data, as JSON and as text.

use std::{process::ExitCode, time::Duration};

use anyhow::Context as _;
use indicatif::HumanCount;
use serde::Serialize;

use super::{
    NOTHING,
    claim::{Fact, Point},
    examine::{Searched, Threat, examine},
    find, standing,
    words::material,
    worth,
};
use crate::{
    chess::{
        notation::{self, color_name},
        position::{Ending, Game, Position},
        score::{Score, is_decisive, mate_distance, winning_chances},
    },
    engine::{Engine, threads},
    play::report::Info,
    tools::{self, options::Effort, say},
};

/// Explain a position: the threat, the best move, what hangs, and the pieces
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A FEN or `startpos`; then, after the word `moves`, moves from there (SAN or UCI,
    /// with or without numbers)
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
    /// Write JSON, for programs
    #[arg(long)]
    json: bool,
}

/// Time for the best two moves where nothing else ends a search.
const DEFAULT_MOVETIME: Duration = Duration::from_secs(2);
/// Longest line shown, in plies.
const LINE_LENGTH: usize = 12;

/// A position explained. Scores are White's; sentences were checked by the rules.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The position.
    pub fen: String,
    /// `white` or `black`.
    pub turn: &'static str,
    /// How the game is over, if it is; then there is nothing else.
    pub over: Option<String>,
    /// Who stands better.
    pub standing: Option<String>,
    /// What the last move did, and what the opponent threatens.
    pub before: Vec<String>,
    /// The best move.
    pub best: Option<Choice>,
    /// What it does and threatens, and what its line makes use of.
    pub about: Vec<String>,
    /// The second best move, if it is worse by a tenth of a pawn.
    pub second: Option<Choice>,
    /// Material, what hangs, pins, passed pawns, kings, and remarkable pieces.
    pub board: Vec<String>,
    /// Every piece but pawns and kings, the best placed first.
    pub pieces: Vec<Piece>,
    /// Iterations of the search for the two moves.
    pub depth: u32,
    /// Nodes of that search.
    pub nodes: u64,
}

/// A move and what comes of it.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// `+0.35`, `#3`.
    pub score: String,
    /// The expected result for the side to move, 0 to 1.
    pub chances: f64,
    /// The expected line in SAN, this move first.
    pub line: String,
}

/// A piece and its worth to its own side, in pawns.
#[derive(Clone, Debug, Serialize)]
pub struct Piece {
    /// Its FEN letter.
    pub piece: char,
    /// Where it stands.
    pub square: String,
    /// By how much the evaluation falls without it.
    pub worth: f64,
    /// What its kind is worth on average.
    pub usual: f64,
}

/// What is to be explained.
#[derive(Clone, Debug)]
struct Question {
    game: Game,
    /// The position before the last move.
    before: Option<Position>,
}

/// `lancet explain`
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let question = match read(&args.position) {
        Ok(question) => question,
        Err(error) => return Ok(tools::unusable(&error)),
    };
    let explanation = threads::run("explain", || explain(&question, args))
        .context("cannot start the search's thread")??;
    if args.json {
        say(serde_json::to_string_pretty(&explanation)?);
    } else {
        text(&explanation).iter().for_each(say);
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads `FEN [moves ...]`, given as one or several words.
fn read(words: &[String]) -> anyhow::Result<Question> {
    let (start, moves) = notation::read_line(&words.join(" "))?;
    let mut question = Question { game: Game::from(start), before: None };
    for m in moves {
        question.before = Some(question.game.position().clone());
        question.game.play(m);
    }
    Ok(question)
}

/// Searches and explains.
///
/// # Errors
///
/// If there is not enough memory for the table.
fn explain(question: &Question, args: &Args) -> anyhow::Result<Explanation> {
    let game = &question.game;
    let root = game.position();
    let mut explanation = Explanation {
        fen: root.fen(),
        turn: if root.turn().is_white() { "white" } else { "black" },
        over: over(game),
        standing: None,
        before: Vec::new(),
        best: None,
        about: Vec::new(),
        second: None,
        board: Vec::new(),
        pieces: Vec::new(),
        depth: 0,
        nodes: 0,
    };
    if explanation.over.is_some() {
        return Ok(explanation);
    }
    let mut engine = Engine::new(tools::settings(args.hash, args.threads))?;
    // Making the table ready is none of the search's time.
    engine.prepare(&|| true)?;
    let found = examine(&mut engine, game, &args.effort.limits(DEFAULT_MOVETIME));
    (explanation.depth, explanation.nodes) = (found.depth, found.nodes);
    explanation.before = before(question, &found);
    if let Some(best) = &found.best {
        explanation.standing = Some(standing(notation::white(best.score, root.turn())));
        explanation.best = choice(root, best);
        explanation.about = about(game, best, found.next.as_ref());
        let second = found.second.as_ref().filter(|second| is_worse(second, best));
        explanation.second = second.and_then(|second| choice(root, second));
    }
    let placed = worth::placed(root, engine.network().map(AsRef::as_ref));
    explanation.board = material(root.board()).into_iter().collect();
    explanation.board.extend(find::on_the_board(root.chess()));
    // In a game that is decided the pieces' places are of no account.
    if found.best.is_some_and(|best| !is_decisive(best.score)) {
        explanation.board.extend(worth::said(root, &placed));
    }
    let pawns = |score: Score| f64::from(score) / 100.0;
    let piece = |worth: &worth::Worth| {
        let piece = root.board().piece_at(worth.square)?.char();
        let (square, worth, usual) =
            (worth.square.to_string(), pawns(worth.worth), pawns(worth.usual));
        Some(Piece { piece, square, worth, usual })
    };
    explanation.pieces = placed.iter().filter_map(piece).collect();
    Ok(explanation)
}

/// How the game is over, if it is.
fn over(game: &Game) -> Option<String> {
    game.ending()?;
    let at = game.position().chess();
    let facts = [Fact::Checkmate, Fact::Stalemate, Fact::Dead, Fact::FiftyMoves];
    let said = facts.iter().find_map(|fact| fact.said(at));
    // Repetition is the game's, not the position's.
    let drawn = game.ending() == Some(Ending::Draw) && game.occurrences() >= 3;
    said.or_else(|| drawn.then(|| "The game is drawn by repetition.".to_owned()))
}

/// Is a move worse by so much that it is worth telling?
fn is_worse(second: &Info, best: &Info) -> bool {
    let both_decided = is_decisive(best.score) && is_decisive(second.score);
    best.score - second.score >= NOTHING
        && !(both_decided && (best.score > 0) == (second.score > 0))
}

/// What the last move did, and what the opponent threatens.
fn before(question: &Question, found: &Searched) -> Vec<String> {
    let game = &question.game;
    let root = game.position();
    let mut said = Vec::new();
    if let (Some(before), Some(last)) = (&question.before, game.last()) {
        let subject = format!("The last move, {},", notation::san(before, last));
        let points = find::about_move(before.chess(), last, &[last], None, &subject);
        said.extend(points.into_iter().map(|(_, text)| text));
    }
    let checkers = root.checkers().into_iter().collect::<Vec<_>>();
    if !checkers.is_empty() {
        said.extend(Fact::Check(checkers).said(root.chess()));
    }
    let them = color_name(!root.turn());
    said.extend(
        found.threat.as_ref().map(|threat| threatened(threat, &format!("{them} threatens"))),
    );
    if let [only] = root.legal_moves()[..] {
        said.extend(Fact::OnlyMove(only).said(root.chess()));
    }
    said
}

/// What the best move does and threatens, and what its line makes use of.
fn about(game: &Game, best: &Info, next: Option<&Threat>) -> Vec<String> {
    let Some(&m) = best.pv.first() else { return Vec::new() };
    let chess = game.position().chess();
    let points = find::about_move(chess, m, &best.pv, game.last(), "It");
    let mates =
        |(point, _): &(Point, String)| matches!(point, Point::MateIn(_) | Point::ThreatensMate(_));
    let next = next.filter(|_| !points.iter().any(mates));
    let mut said: Vec<String> = points.into_iter().map(|(_, text)| text).collect();
    said.extend(next.map(|next| threatened(next, "It threatens")));
    said.extend(find::later(chess, &best.pv));
    said
}

/// `White threatens Nc7+, which forks the king and the rook on a8.`
fn threatened(threat: &Threat, subject: &str) -> String {
    let Threat { position, info } = threat;
    let Some(&m) = info.pv.first() else { return String::new() };
    let san = notation::san(position, m);
    let about = find::about_move(position.chess(), m, &info.pv, None, "which");
    match (mate_distance(info.score), about.first()) {
        (Some(1), _) => format!("{subject} {san}."),
        (_, Some((_, about))) => format!("{subject} {san}, {about}"),
        (_, None) => {
            let score = notation::pawns(notation::white(info.score, position.turn()));
            format!("{subject} {san} ({score}).")
        }
    }
}

/// A move with its line; `None` without a move.
fn choice(position: &Position, info: &Info) -> Option<Choice> {
    let (&m, score, pv) = (info.pv.first()?, info.score, &info.pv);
    let shown = if is_decisive(score) { pv.len() } else { pv.len().min(LINE_LENGTH) };
    Some(Choice {
        san: notation::san(position, m),
        uci: notation::move_text(m, position.mode()),
        score: notation::pawns(notation::white(score, position.turn())),
        chances: winning_chances(score),
        line: notation::line(position, &pv[..shown]),
    })
}

/// The explanation as lines for people.
fn text(explanation: &Explanation) -> Vec<String> {
    let Explanation { best, second, .. } = explanation;
    if let Some(over) = &explanation.over {
        return vec![explanation.fen.clone(), over.clone()];
    }
    let us = if explanation.turn == "white" { "White" } else { "Black" };
    let standing = explanation.standing.as_deref().unwrap_or_default();
    let mut lines =
        vec![explanation.fen.clone(), format!("{us} to move; {standing}. Scores are White's.")];
    let indented = |text: &String| format!("  {text}");
    lines.extend(explanation.before.iter().map(indented));
    if let Some(best) = best {
        let (depth, nodes) = (explanation.depth, HumanCount(explanation.nodes));
        lines.push(String::new());
        lines.push(format!("Best is {} ({}), depth {depth}, {nodes} nodes", best.san, best.score));
        lines.push(indented(&best.line));
        lines.extend(explanation.about.iter().map(indented));
    }
    if let (Some(best), Some(second)) = (best, second) {
        let [better, worse] =
            [best, second].map(|choice| format!("{:.0} %", 100.0 * choice.chances));
        let chances = if better == worse {
            String::new()
        } else {
            format!(": {us}'s chances are {worse} instead of {better}")
        };
        lines.push(String::new());
        lines.push(format!("Second best is {} ({}){chances}", second.san, second.score));
        lines.push(indented(&second.line));
    }
    if !explanation.board.is_empty() {
        lines.push("\nOn the board".to_owned());
        lines.extend(explanation.board.iter().map(indented));
    }
    lines
}

#[cfg(test)]
mod tests;
