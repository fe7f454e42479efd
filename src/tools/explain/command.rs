//! The command `lancet explain`: an explanation as data, as JSON and as text.

use std::{process::ExitCode, slice, time::Duration};

use anyhow::Context as _;
use indicatif::HumanCount;
use serde::Serialize;

use super::{
    NOTHING, board,
    examine::{Threat, examine},
    moves::{Claim, Played, later},
    standing,
    words::{list, material, the},
    worth::{self, Worth},
};
use crate::{
    chess::{
        notation::{self, color_name},
        position::{Game, Position},
        score::{Score, is_decisive, mate_distance, winning_chances},
    },
    engine::{Engine, threads},
    play::report::Info,
    tools::{
        self,
        options::{Effort, Tables},
        say,
    },
};

/// Explain a position: the threat, the best move, what hangs, and the pieces
///
/// The best two moves are searched, by default for two seconds. Each threat gets a quarter of the
/// time and the nodes. A threat is what a side would play, and win something by, if the other
/// passed. Statements about moves and pieces (mates, threats, forks, pins, what hangs, passed
/// pawns, the kings) are checked by the rules before they are printed.
///
/// The worth of a piece is what the evaluation loses when the piece is taken off the board. The
/// piece is well or badly placed if that differs by 0.6 pawns and a sixth from what its kind is
/// worth on average in the positions of the benchmark. Differences below a tenth of a pawn are
/// not mentioned.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = r#"Examples:
  lancet explain startpos moves 1. e4 e5 2. Bc4 Nc6 3. Qh5
  lancet explain "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3" --json
  lancet explain "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1" --depth 20

Exit status:
  0  when the position was explained
  1  if there was not enough memory
  2  if the position or the command line could not be used"#)]
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
    #[command(flatten)]
    tables: Tables,
    /// Write JSON, for programs
    #[arg(long)]
    json: bool,
}

/// Time for the best two moves where nothing else ends a search.
const DEFAULT_MOVETIME: Duration = Duration::from_secs(2);
/// Longest line shown, in plies.
const LINE_LENGTH: usize = 12;

/// A position explained. Scores are White's; sentences were checked by the rules.
#[derive(Clone, Debug, Default, Serialize)]
struct Explanation {
    /// The position.
    fen: String,
    /// `white` or `black`.
    turn: &'static str,
    /// How the game is over, if it is; then there is nothing else.
    over: Option<String>,
    /// Who stands better.
    standing: Option<String>,
    /// What the last move did, and what the opponent threatens.
    before: Vec<String>,
    /// The best move.
    best: Option<Choice>,
    /// What it does and threatens, and what its line makes use of.
    about: Vec<String>,
    /// The second best move, if it is worse by a tenth of a pawn.
    second: Option<Choice>,
    /// Material, what hangs, pins, passed pawns, kings, and remarkable pieces.
    board: Vec<String>,
    /// Every piece but pawns and kings, the best placed first.
    pieces: Vec<Piece>,
    /// Iterations of the search for the two moves.
    depth: u32,
    /// Nodes of that search.
    nodes: u64,
}

/// A move and what comes of it.
#[derive(Clone, Debug, Serialize)]
struct Choice {
    /// The move in SAN.
    san: String,
    /// The move in UCI notation.
    uci: String,
    /// `+0.35`, `#3`.
    score: String,
    /// The expected result for the side to move, 0 to 1.
    chances: f64,
    /// The expected line in SAN, this move first.
    line: String,
}

/// A piece and its worth to its own side, in pawns.
#[derive(Clone, Debug, Serialize)]
struct Piece {
    /// Its FEN letter.
    piece: char,
    /// Where it stands.
    square: String,
    /// By how much the evaluation falls without it.
    worth: f64,
    /// What its kind is worth on average.
    usual: f64,
}

/// `lancet explain`. The exit status is described in its help.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (game, before) = match read(&args.position) {
        Ok(read) => read,
        Err(error) => return Ok(tools::unusable(&error)),
    };
    let explanation = threads::run("explain", || explain(&game, before.as_ref(), args))
        .context("cannot start the search's thread")??;
    if args.json {
        say(serde_json::to_string_pretty(&explanation)?);
    } else {
        text(&explanation).iter().for_each(say);
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads `FEN [moves ...]`, given as one or several words. Returns the game, and the position
/// before its last move.
fn read(words: &[String]) -> anyhow::Result<(Game, Option<Position>)> {
    let (start, moves) = notation::read_line(&words.join(" "))?;
    let (mut game, mut before) = (Game::from(start), None);
    for m in moves {
        before = Some(game.position().clone());
        game.play(m);
    }
    Ok((game, before))
}

/// Searches and explains.
///
/// # Errors
///
/// If there is not enough memory for the table.
fn explain(game: &Game, before: Option<&Position>, args: &Args) -> anyhow::Result<Explanation> {
    let root = game.position();
    let turn = if root.turn().is_white() { "white" } else { "black" };
    let explanation = Explanation { fen: root.fen(), turn, ..Explanation::default() };
    if let Some(over) = board::over(game) {
        return Ok(Explanation { over: Some(over), ..explanation });
    }
    let mut engine = Engine::new(tools::settings(args.hash, args.threads))?;
    args.tables.open_for(slice::from_mut(&mut engine));
    // Making the table ready is none of the search's time.
    engine.prepare(&|| true)?;
    let found = examine(&mut engine, game, &args.effort.limits(DEFAULT_MOVETIME));
    let (best, second) = (found.best.as_ref(), found.second.as_ref());
    let second = second.filter(|second| best.is_some_and(|best| is_worse(second, best)));
    let placed = worth::placed(root, engine.network().map(AsRef::as_ref));
    let mut board: Vec<String> = material(root.board()).into_iter().collect();
    board.extend(board::on_the_board(root));
    // In a game that is decided the pieces' places are of no account.
    if best.is_some_and(|best| !is_decisive(best.score)) {
        board.extend(worth::said(root, &placed));
    }
    Ok(Explanation {
        standing: best.map(|best| standing(notation::white(best.score, root.turn()))),
        before: situation(game, before, found.threat.as_ref()),
        best: best.and_then(|best| choice(root, best)),
        about: best.map_or_else(Vec::new, |best| about(game, best, found.next.as_ref())),
        second: second.and_then(|second| choice(root, second)),
        board,
        pieces: placed.iter().map(piece).collect(),
        depth: found.depth,
        nodes: found.nodes,
        ..explanation
    })
}

/// Is a move worse by so much that it is worth telling?
fn is_worse(second: &Info, best: &Info) -> bool {
    let both_decided = is_decisive(best.score) && is_decisive(second.score);
    best.score - second.score >= NOTHING
        && !(both_decided && (best.score > 0) == (second.score > 0))
}

/// What the last move did, and what the opponent threatens.
fn situation(game: &Game, before: Option<&Position>, threat: Option<&Threat>) -> Vec<String> {
    let (root, last) = (game.position(), game.last());
    let (us, them) = (color_name(root.turn()), color_name(!root.turn()));
    let mut said = Vec::new();
    if let Some(played) = before.and_then(|before| Played::new(before, last.as_slice(), None)) {
        let claims = played.claims(&format!("The last move, {},", played.san()));
        said.extend(claims.into_iter().map(|(_, text)| text));
    }
    if root.is_check() {
        let checkers = root.checkers().into_iter().map(|square| the(root.board(), square));
        said.push(format!("{us} is in check from {}.", list(checkers)));
    }
    said.extend(threat.map(|threat| threatened(threat, &format!("{them} threatens"))));
    if let [only] = root.legal_moves()[..] {
        said.push(format!("{} is {us}'s only legal move.", notation::san(root, only)));
    }
    said
}

/// What the best move does and threatens, and what its line makes use of.
fn about(game: &Game, best: &Info, next: Option<&Threat>) -> Vec<String> {
    let root = game.position();
    let played = Played::new(root, &best.pv, game.last());
    let claims = played.map_or_else(Vec::new, |played| played.claims("It"));
    let mates = claims.iter().any(|(kind, _)| matches!(kind, Claim::MateIn | Claim::ThreatensMate));
    let next = next.filter(|_| !mates).map(|next| threatened(next, "It threatens"));
    let claims = claims.into_iter().map(|(_, text)| text);
    claims.chain(next).chain(later(root, &best.pv)).collect()
}

/// `White threatens Nc7+, which forks the king and the rook on a8.`
fn threatened(Threat { position, info }: &Threat, subject: &str) -> String {
    let Some(played) = Played::new(position, &info.pv, None) else { return String::new() };
    let (san, claim) = (played.san(), played.claims("which").into_iter().next());
    match (mate_distance(info.score), claim) {
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

fn piece(&Worth { piece, square, worth, usual }: &Worth) -> Piece {
    let [worth, usual] = [worth, usual].map(|score: Score| f64::from(score) / 100.0);
    Piece { piece: piece.char(), square: square.to_string(), worth, usual }
}

/// The explanation as lines for people.
fn text(explanation: &Explanation) -> Vec<String> {
    let Explanation { fen, best, second, .. } = explanation;
    if let Some(over) = &explanation.over {
        return vec![fen.clone(), over.clone()];
    }
    let us = if explanation.turn == "white" { "White" } else { "Black" };
    let standing = explanation.standing.as_deref().unwrap_or_default();
    let mut lines = vec![fen.clone(), format!("{us} to move; {standing}. Scores are White's.")];
    let indented = |text: &String| format!("  {text}");
    lines.extend(explanation.before.iter().map(indented));
    if let Some(Choice { san, score, line, .. }) = best {
        let (depth, nodes) = (explanation.depth, HumanCount(explanation.nodes));
        lines.push(format!("\nBest is {san} ({score}), depth {depth}, {nodes} nodes"));
        lines.push(indented(line));
        lines.extend(explanation.about.iter().map(indented));
    }
    if let (Some(best), Some(Choice { san, score, line, chances, .. })) = (best, second) {
        let [better, worse] =
            [best.chances, *chances].map(|chances| format!("{:.0} %", 100.0 * chances));
        let instead = if better == worse {
            String::new()
        } else {
            format!(": {us}'s chances are {worse} instead of {better}")
        };
        lines.push(format!("\nSecond best is {san} ({score}){instead}"));
        lines.push(indented(line));
    }
    if !explanation.board.is_empty() {
        lines.push("\nOn the board".to_owned());
        lines.extend(explanation.board.iter().map(indented));
    }
    lines
}

#[cfg(test)]
mod tests;
