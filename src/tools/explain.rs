//! The command `lancet explain`: a position in words. What is best, what it
//! threatens, what happens after the second best move, which pieces carry the
//! evaluation.

use std::{
    process::ExitCode,
    sync::{Mutex, atomic::Ordering},
    time::Duration,
};

use clap::value_parser;
use indicatif::HumanCount;
use serde::Serialize;
use shakmaty::{CastlingMode, Color, Move, Role};

use super::{complain, say};
use crate::{
    chess::{
        notation,
        position::{Ending, Game, Position, START_FEN},
        score::{DRAW, Score, is_decisive, winning_chances},
    },
    engine::{Engine, Job, MemoryError, threads},
    eval::parts::Parts,
    play::report::{Info, Limits, Reporter},
    system::sync::{lock, unpoisoned},
};

/// Explain a position: best move, threat, second-best move, pieces
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A FEN or `startpos`; then, after the word `moves`, moves from there (SAN or UCI)
    #[arg(required = true, value_name = "FEN", num_args = 1..)]
    position: Vec<String>,
    /// Time for the best two moves, in milliseconds; threats get a quarter of it
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,
    /// Nodes for the best two moves; threats get a quarter as many
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Depth, in plies
    #[arg(long, value_name = "PLIES", value_parser = super::depth)]
    depth: Option<u32>,
    /// Search threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::thread_count)]
    threads: usize,
    /// Hash table size, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = super::hash_size)]
    hash: usize,
    /// Write JSON, for programs
    #[arg(long)]
    json: bool,
}

/// Time for the best two moves where nothing else ends a search.
const DEFAULT_MOVETIME: Duration = Duration::from_secs(2);
/// A free move that gains this much, in centipawns, is a threat.
const THREAT: Score = 60;
/// Longest line shown, in plies.
const LINE_LENGTH: usize = 12;
/// Best and worst placed pieces shown.
const PIECES: usize = 3;
/// Excess over the average, in centipawns, that is worth telling.
const REMARKABLE: Score = 10;

impl Args {
    fn limits(&self) -> Limits {
        super::limits(self.movetime, self.nodes, self.depth, DEFAULT_MOVETIME)
    }
}

/// A position explained. Scores are White's.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The position.
    pub fen: String,
    /// `white` or `black`.
    pub turn: &'static str,
    /// How the game is over, if it is.
    pub over: Option<&'static str>,
    /// The best move.
    pub best: Option<Choice>,
    /// What it threatens.
    pub threat: Option<Threat>,
    /// The second best move, and what it costs.
    pub second: Option<Choice>,
    /// Without a search.
    pub evaluation: Evaluation,
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

/// What the best move threatens.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Threat {
    /// It gives check: the opponent cannot pass.
    Check,
    /// It ends the game.
    End,
    /// Nothing that a pass of the opponent would let through.
    None,
    /// What would be played if the opponent passed.
    Move(Choice),
}

/// The static evaluation.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// In pawns.
    pub pawns: f64,
    /// What evaluates.
    pub by: String,
    /// Who has more of what, in words.
    pub material: String,
    /// Every piece, best placed first.
    pub pieces: Vec<Piece>,
}

/// A piece's part of the evaluation.
#[derive(Clone, Debug, Serialize)]
pub struct Piece {
    /// Its FEN letter.
    pub piece: char,
    /// Where it stands.
    pub square: String,
    /// What it contributes to its side, in pawns; a king cannot be missing.
    pub contribution: Option<f64>,
    /// By how much that exceeds the average of its kind on this board, in
    /// pawns, if there are several.
    pub placement: Option<f64>,
}

/// `lancet explain`
#[must_use]
pub fn run(args: &Args) -> ExitCode {
    let game = match read(&args.position) {
        Ok(game) => game,
        Err(error) => {
            complain(error);
            return ExitCode::from(2);
        }
    };
    match threads::run("explain", || explain(&game, args)) {
        Ok(Ok(explanation)) if args.json => match serde_json::to_string_pretty(&explanation) {
            Ok(json) => say(json),
            Err(error) => {
                complain(error);
                return ExitCode::FAILURE;
            }
        },
        Ok(Ok(explanation)) => text(&explanation).iter().for_each(say),
        Ok(Err(error)) => {
            complain(error);
            return ExitCode::FAILURE;
        }
        Err(error) => {
            complain(format_args!("cannot start the search's thread: {error}"));
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Reads `FEN [moves ...]`, given as one or several words.
fn read(words: &[String]) -> Result<Game, String> {
    let text = words.join(" ");
    let mut words = text.split_whitespace();
    let fen: Vec<&str> = words.by_ref().take_while(|word| *word != "moves").collect();
    let fen = match fen[..] {
        ["startpos"] => START_FEN.to_owned(),
        _ => fen.join(" "),
    };
    let position =
        Position::from_fen(&fen, CastlingMode::Standard).map_err(|error| error.to_string())?;
    let mut game = Game::from(position);
    for word in words {
        let m = notation::read_any_move(game.position(), word)
            .map_err(|error| format!("{error} (in '{}')", game.position().fen()))?;
        game.play(m);
    }
    Ok(game)
}

/// Remembers the best two lines of the last whole iteration: the first of one
/// that was broken off cannot be compared with the second of another.
#[derive(Default)]
struct Lines(Mutex<Pair>);

#[derive(Default)]
struct Pair {
    /// The first line of the iteration that is being reported.
    first: Option<Info>,
    /// Both lines; one if there is only one move.
    whole: Vec<Info>,
}

impl Reporter for Lines {
    fn info(&self, info: &Info) {
        let mut pair = lock(&self.0);
        if info.multipv == 1 {
            pair.first = Some(info.clone());
            if pair.whole.len() < 2 {
                pair.whole = vec![info.clone()];
            }
        } else {
            pair.whole = pair.first.take().into_iter().chain([info.clone()]).collect();
        }
    }
}

/// Searches and explains.
///
/// # Errors
///
/// If there is not enough memory for the table.
fn explain(game: &Game, args: &Args) -> Result<Explanation, MemoryError> {
    let mut engine = Engine::new(super::settings(args.hash, args.threads))?;
    engine.live().multi_pv.store(2, Ordering::Relaxed);
    let root = game.position();
    let lines = Lines::default();
    let outcome = engine.go(&Job::new(game.clone(), args.limits()), &lines);
    let lines = unpoisoned(lines.0.into_inner()).whole;
    let (best, second) = (lines.first(), lines.get(1));
    let threat = best.and_then(|best| {
        engine.live().multi_pv.store(1, Ordering::Relaxed);
        Some(threat(&mut engine, root, *best.pv.first()?, best.score, &args.limits()))
    });
    Ok(Explanation {
        fen: root.fen(),
        turn: if root.turn().is_white() { "white" } else { "black" },
        over: match game.ending() {
            Some(Ending::Checkmate) => Some("checkmate"),
            Some(Ending::Draw) => Some("draw"),
            None => None,
        },
        best: best.and_then(|line| choice(root, line.score, &line.pv)),
        threat,
        second: second.and_then(|line| choice(root, line.score, &line.pv)),
        evaluation: evaluation(root, &engine),
        depth: outcome.info.depth,
        nodes: outcome.info.nodes,
    })
}

/// A move with its line; `None` without a move.
fn choice(position: &Position, score: Score, pv: &[Move]) -> Option<Choice> {
    let &m = pv.first()?;
    let shown = if is_decisive(score) { pv.len() } else { pv.len().min(LINE_LENGTH) };
    Some(Choice {
        san: notation::san(position, m),
        uci: notation::move_text(m, position.mode()),
        score: notation::pawns(notation::white(score, position.turn())),
        chances: winning_chances(score),
        line: notation::line(position, &pv[..shown]),
    })
}

/// What `best`, worth `score`, threatens: what would be played next if the
/// opponent passed.
fn threat(
    engine: &mut Engine,
    root: &Position,
    best: Move,
    score: Score,
    limits: &Limits,
) -> Threat {
    let after = root.play(best);
    if after.legal_moves().is_empty() {
        return Threat::End;
    }
    if after.is_check() {
        return Threat::Check;
    }
    let Some(passed) = after.play_null() else { return Threat::None };
    let limits = Limits {
        movetime: limits.movetime.map(|time| time / 4),
        nodes: limits.nodes.map(|nodes| (nodes / 4).max(1)),
        ..limits.clone()
    };
    let info =
        engine.go(&Job::new(Game::from(passed.clone()), limits), &crate::play::report::Silent).info;
    // Nothing is gained upon a win but time: a win as quick is threatened, too.
    let wins = is_decisive(info.score) && info.score > DRAW && info.score >= score;
    if !wins && info.score < score + THREAT {
        return Threat::None;
    }
    choice(&passed, info.score, &info.pv).map_or(Threat::None, Threat::Move)
}

fn evaluation(position: &Position, engine: &Engine) -> Evaluation {
    let parts = Parts::new(position, engine.network().map(AsRef::as_ref));
    let placement = parts.placement();
    let pawns = |centipawns: Score| f64::from(centipawns) / 100.0;
    let mut pieces: Vec<Piece> = parts
        .pieces
        .iter()
        .map(|&(square, piece, white)| Piece {
            piece: piece.char(),
            square: square.to_string(),
            contribution: white.map(|white| pawns(notation::white(white, piece.color))),
            placement: placement.iter().find(|p| p.0 == square).map(|p| pawns(p.2)),
        })
        .collect();
    let key = |piece: &Piece| piece.placement.unwrap_or_default();
    pieces.sort_by(|a, b| key(b).total_cmp(&key(a)));
    Evaluation {
        pawns: pawns(parts.total),
        by: parts.evaluator,
        material: material(position),
        pieces,
    }
}

/// Who has more of what: `White has a knight for two pawns`.
fn material(position: &Position) -> String {
    let board = position.board();
    let more = |color: Color| {
        let extra = |role: Role| {
            let count = |color| (board.by_color(color) & board.by_role(role)).count();
            let extra = count(color).saturating_sub(count(!color));
            let name = format!("{role:?}").to_lowercase();
            let number = ["", "a", "two", "three", "four"].get(extra).copied();
            let number = number.map_or_else(|| extra.to_string(), str::to_owned);
            (extra > 0).then(|| format!("{number} {name}{}", if extra > 1 { "s" } else { "" }))
        };
        Role::ALL.into_iter().rev().filter_map(extra).collect::<Vec<_>>().join(" and ")
    };
    match (more(Color::White), more(Color::Black)) {
        (white, black) if white.is_empty() && black.is_empty() => "even".to_owned(),
        (white, black) if black.is_empty() => format!("White has {white} more"),
        (white, black) if white.is_empty() => format!("Black has {black} more"),
        (white, black) => format!("White has {white}, Black {black}"),
    }
}

/// The explanation as lines for people.
fn text(explanation: &Explanation) -> Vec<String> {
    let Explanation { best, threat, second, evaluation, .. } = explanation;
    let [us, them] =
        if explanation.turn == "white" { ["White", "Black"] } else { ["Black", "White"] };
    let mut lines = vec![explanation.fen.clone(), format!("{us} to move; scores are White's")];
    if let Some(over) = explanation.over {
        lines.push(format!("The game is over: {over}"));
    }
    if let Some(best) = best {
        lines.push(format!(
            "\nBest is {} ({}), depth {}, {} nodes",
            best.san,
            best.score,
            explanation.depth,
            HumanCount(explanation.nodes)
        ));
        lines.push(format!("  {}", best.line));
        lines.extend(threat.as_ref().map(|threat| threat_text(threat, them)));
    }
    if let (Some(best), Some(second)) = (best, second) {
        let percent = |choice: &Choice| 100.0 * choice.chances;
        lines.push(format!(
            "\nSecond best is {} ({}): {us}'s chances are {:.0} % instead of {:.0} %",
            second.san,
            second.score,
            percent(second),
            percent(best)
        ));
        lines.push(format!("  {}", second.line));
    } else if best.is_some() {
        lines.push(format!("\nIt is {us}'s only move"));
    }
    lines.push(format!(
        "\nThe position itself is worth {:+.2}, by {}",
        evaluation.pawns, evaluation.by
    ));
    lines.push(format!("  Material: {}", evaluation.material));
    lines.extend(placed(evaluation, "Well placed", |excess| excess));
    lines.extend(placed(evaluation, "Badly placed", |excess| -excess));
    lines
}

fn threat_text(threat: &Threat, them: &str) -> String {
    match threat {
        Threat::Check => "  It gives check".to_owned(),
        Threat::End => "  It ends the game".to_owned(),
        Threat::None => "  It threatens nothing at once".to_owned(),
        Threat::Move(choice) => format!(
            "  It threatens {} ({}): if {them} passed, {}",
            choice.san, choice.score, choice.line
        ),
    }
}

/// The pieces of which `goodness` of the placement is remarkable.
fn placed(evaluation: &Evaluation, title: &str, goodness: fn(f64) -> f64) -> Option<String> {
    let mut pieces: Vec<(f64, &Piece)> = evaluation
        .pieces
        .iter()
        .filter_map(|piece| Some((goodness(piece.placement?), piece)))
        .filter(|(good, _)| *good >= f64::from(REMARKABLE) / 100.0)
        .collect();
    pieces.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let name = |&(_, piece): &(f64, &Piece)| {
        let side = if piece.piece.is_uppercase() { "White" } else { "Black" };
        let letter = piece.piece.to_ascii_uppercase().to_string().replace('P', "");
        let (square, placement) = (&piece.square, piece.placement.unwrap_or_default());
        format!("{side}'s {letter}{square} ({placement:+.2})")
    };
    let names: Vec<String> = pieces.iter().take(PIECES).map(name).collect();
    (!names.is_empty())
        .then(|| format!("  {title}, against the average of their kind: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(words: &[&str]) -> Explanation {
        let position = words.iter().map(|&word| word.to_owned()).collect();
        let args = Args {
            position,
            movetime: None,
            nodes: Some(20_000),
            depth: None,
            threads: 1,
            hash: 1,
            json: false,
        };
        explain(&read(&args.position).unwrap(), &args).unwrap()
    }

    #[test]
    fn a_mate_in_one_is_what_the_best_move_threatens() {
        // A quiet queen move threatens Qxf7 mate; the second best does not.
        let words = ["startpos", "moves", "e4", "e5", "Bc4", "Nc6"];
        let game = read(&words.map(str::to_owned)).unwrap();
        let queen = notation::read_any_move(game.position(), "Qf3").unwrap();
        let mut engine = Engine::new(crate::engine::Settings::default()).unwrap();
        let limits = Limits { depth: Some(6), ..Limits::default() };
        let Threat::Move(choice) = threat(&mut engine, game.position(), queen, 0, &limits) else {
            panic!("no threat");
        };
        assert_eq!((choice.san.as_str(), choice.score.as_str()), ("Qxf7#", "#1"));
        assert_eq!(choice.line, "4. Qxf7#");
    }

    /// Kb6 mates by force, and what forces is the threat of a mate at once.
    #[test]
    fn a_won_position_still_has_threats() {
        let explanation = explained(&["k7/8/8/1K6/8/8/8/6R1 w - - 0 1"]);
        let best = explanation.best.as_ref().unwrap();
        assert_eq!((best.san.as_str(), best.score.as_str()), ("Kb6", "#2"));
        let lines = text(&explanation).join("\n");
        assert!(lines.contains("It threatens Rg8# (#1): if Black passed, 2. Rg8#"), "{lines}");
    }

    #[test]
    fn two_different_moves_and_their_worth() {
        // Taking the rook wins; everything else is worse.
        let explanation = explained(&["3qk3/8/8/8/3R4/8/8/4K3", "b", "-", "-", "0", "1"]);
        let (best, second) =
            (explanation.best.clone().unwrap(), explanation.second.clone().unwrap());
        assert_ne!(best.uci, second.uci);
        assert!(best.chances > second.chances, "{explanation:?}");
        let lines = text(&explanation).join("\n");
        assert!(lines.contains(&format!("Best is {} (", best.san)), "{lines}");
        assert!(lines.contains("Material: White has a rook, Black a queen"), "{lines}");
    }

    #[test]
    fn forced_moves_and_ends() {
        let only = text(&explained(&["k6r/8/8/8/8/8/PPP3q1/7K w - - 0 1"])).join("\n");
        assert!(only.contains("It is White's only move"), "{only}");
        let mate = explained(&["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"]);
        assert_eq!((mate.over, mate.best.is_none()), (Some("checkmate"), true));
        assert!(text(&mate).contains(&"The game is over: checkmate".to_owned()));
        let check = explained(&["6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"]);
        assert!(matches!(check.threat, Some(Threat::End)), "{check:?}");
    }

    #[test]
    fn material_in_words() {
        let words = |fen: &str| material(&Position::from_fen(fen, CastlingMode::Standard).unwrap());
        assert_eq!(words(START_FEN), "even");
        assert_eq!(
            words("4k3/pp6/8/8/8/8/8/N3K3 w - - 0 1"),
            "White has a knight, Black two pawns"
        );
        assert_eq!(words("4k3/8/8/8/8/8/8/RB2K3 w - - 0 1"), "White has a rook and a bishop more");
    }

    #[test]
    fn bad_positions_name_the_word() {
        let error = |text: &str| read(&[text.to_owned()]).unwrap_err();
        assert!(error("8/8/8 w").starts_with("unreadable FEN '8/8/8 w'"));
        let message = error("startpos moves e4 e5 Nf6");
        assert!(
            message.starts_with(
                "illegal move 'Nf6': White cannot move like this (in 'rnbqkbnr/pppp1ppp"
            )
        );
    }
}
