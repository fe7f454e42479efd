//! Tests `lancet explain`: every sentence is parsed and checked against the rules, the tablebases
//! or another search. `cargo test --test suite explain:: -- --ignored --nocapture` does so for 500
//! positions, and prints how many sentences of each kind were confirmed.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use clap::{Args as _, FromArgMatches as _};
use lancet::{
    Engine, Game, Limits, Position, Settings,
    chess::{
        epd,
        lines::{self, Line},
        notation,
        score::{Score, mate_distance},
    },
    eval,
    tools::explain::command::{Args, explained},
};
use serde_json::Value;
use shakmaty::{Bitboard, Board, Color, File, Move, Position as _, Rank, Role, Square, attacks};

use crate::{
    ROOT,
    common::{
        chess::{nodes, search},
        data::data,
        program::{run, text},
        tables,
    },
};

/// Exchange values in centipawns, pawn to queen.
const VALUES: [i32; 5] = [100, 320, 330, 500, 950];
const ROLES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];

fn explain(words: &str, effort: u64) -> Value {
    let effort = effort.to_string();
    let args = ["explain", words, "--nodes", &effort, "--hash", "1"];
    let matches = Args::augment_args(clap::Command::new("explain")).get_matches_from(args);
    let args = Args::from_arg_matches(&matches).unwrap();
    serde_json::to_value(explained(&args).unwrap()).unwrap()
}

/// Returns `count` positions spread evenly over the suites.
fn positions(count: usize) -> Vec<Position> {
    let suites = glob::glob("epd/*.epd").unwrap().map(|path| lines::read(&path.unwrap()).unwrap());
    let suites: Vec<Vec<Line>> = suites.collect();
    let each = count.div_ceil(suites.len());
    let evenly = |length: usize, count: usize| (0..count).map(move |i| i * length / count);
    let of_suite = |suite: &'_ Vec<Line>| {
        evenly(suite.len(), each.min(suite.len()))
            .map(|i| epd::parse(&suite[i]).unwrap().position)
            .collect::<Vec<_>>()
    };
    let all: Vec<Position> = suites.iter().flat_map(of_suite).collect();
    evenly(all.len(), count.clamp(1, all.len())).map(|i| all[i].clone()).collect()
}

/// Returns the positions of `tests/data/explain.toml`.
fn examples() -> Vec<String> {
    let file = fs::read_to_string(Path::new(ROOT).join("tests/data/explain.toml")).unwrap();
    let cases: Value = toml::from_str(&file).unwrap();
    let cases = cases["position"].as_array().unwrap().iter();
    cases.map(|case| case["position"].as_str().unwrap().to_owned()).collect()
}

/// An explained position, with the facts for checking it.
struct Case {
    root: Position,
    /// The position before the last move.
    before: Option<Position>,
    last: Option<Move>,
    json: Value,
    /// The PV.
    line: Vec<Move>,
    /// Nodes of the explained search. Checking searches get at least twice as many.
    effort: u64,
    /// The network of the checking searches.
    network: Option<Arc<eval::nnue::Network>>,
}

/// A part of a sentence to be parsed.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn list(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.0.split([' ', ',', ';', ':']).map(|word| word.trim_end_matches('.'))
    }

    /// Returns the squares in the text, such as c6 in `on c6`, but not those in SAN moves.
    fn squares(&self) -> Vec<Square> {
        self.list().filter_map(|word| word.parse().ok()).collect()
    }

    fn square(&self) -> Square {
        self.squares()[0]
    }

    /// Returns the first word that is a legal move of `at`, unless it is a square after `on` or
    /// `than`.
    fn san(&self, at: &Position) -> Option<Move> {
        let words: Vec<&str> = self.list().collect();
        let sans = words.windows(2).filter(|pair| pair[0] != "on" && pair[0] != "than");
        sans.filter_map(|pair| {
            notation::read_any_move(at, pair[1]).ok().filter(|&m| notation::san(at, m) == pair[1])
        })
        .next()
    }

    fn role(&self) -> Option<Role> {
        let found = self
            .list()
            .find_map(|word| ROLES.iter().position(|role| word.trim_end_matches('s') == *role))?;
        Some(Role::ALL[found])
    }

    fn number(&self) -> Option<f64> {
        self.list().find_map(|word| word.parse().ok())
    }

    fn has(&self, part: &str) -> bool {
        self.0.contains(part)
    }
}

fn color(words: &Words) -> Color {
    let white = words.0.find("White").unwrap_or(usize::MAX);
    Color::from_white(white < words.0.find("Black").unwrap_or(usize::MAX))
}

/// Returns the board with a square emptied.
fn without(board: &Board, square: Square) -> Board {
    let mut board = board.clone();
    board.discard_piece_at(square);
    board
}

fn attacks_king(board: &Board, king: Color, by: Square) -> bool {
    board.attacks_from(by).contains(board.king_of(king).unwrap())
}

/// Returns the maximum that the side to move wins by captures on `square`, by trying all of them.
fn exchange(at: &Position, square: Square) -> i32 {
    let taken = |m: &Move| match m {
        Move::EnPassant { from, to } => Square::from_coords(to.file(), from.rank()),
        m => m.to(),
    };
    let takes = at.legal_moves().into_iter().filter(|m| m.is_capture() && taken(m) == square);
    let gain = |m: Move| {
        let won = VALUES[m.capture().unwrap() as usize - 1]
            + m.promotion().map_or(0, |role| VALUES[role as usize - 1] - 100);
        won - exchange(&at.play(m), m.to())
    };
    takes.map(gain).max().unwrap_or(0).max(0)
}

fn least(score: Score, least: Score) -> Result<(), String> {
    if score >= least { Ok(()) } else { Err(format!("{score} < {least}")) }
}

/// Returns White's pieces minus Black's, by role.
fn balance(board: &Board) -> [i32; 5] {
    let count = |color, role| (board.by_color(color) & board.by_role(role)).count() as i32;
    std::array::from_fn(|index| {
        let role = Role::ALL[index];
        count(Color::White, role) - count(Color::Black, role)
    })
}

/// Parses text such as `a queen and two pawns for a rook` into counts by role.
fn trade(text: &str) -> [i32; 5] {
    let mut counts = [0; 5];
    let (mut sign, mut number) = (1, 0);
    for word in text.split([' ', ',', '.']) {
        match word {
            "for" => sign = -1,
            // A rook for a minor piece.
            "exchange" => {
                counts[3] += sign;
                counts[1] -= sign;
            }
            "a" | "the" => number = 1,
            word => {
                let numbers = ["two", "three", "four", "five", "six", "seven", "eight", "nine"];
                if let Some(index) = (2..).zip(numbers).find(|(_, name)| *name == word) {
                    number = index.0;
                }
                if let Some(role) =
                    ROLES.iter().position(|role| word.trim_end_matches('s') == *role)
                {
                    counts[role] += sign * number;
                }
            }
        }
    }
    counts
}

/// Returns the same counts with knights and bishops added up.
const fn alike([pawns, knights, bishops, rooks, queens]: [i32; 5]) -> [i32; 4] {
    [pawns, knights + bishops, rooks, queens]
}

fn worth(counts: [i32; 5]) -> i32 {
    counts.iter().zip(VALUES).map(|(count, value)| count * value).sum()
}

impl Case {
    fn new(words: &str, effort: u64) -> Case {
        let (start, moves) = notation::read_line(words).unwrap();
        let (mut root, mut before) = (start, None);
        for &m in &moves {
            before = Some(root.clone());
            root = root.play(m);
        }
        let json = explain(words, effort);
        let line = json["best"]["line"].as_str().unwrap_or_default();
        let line = notation::read_moves(&root, line).unwrap();
        let network = Some(eval::default_network());
        Case { root, before, last: moves.last().copied(), json, line, effort, network }
    }

    fn best(&self) -> Move {
        self.line[0]
    }

    fn after(&self) -> Position {
        self.root.play(self.best())
    }

    fn us(&self) -> Color {
        self.root.turn()
    }

    /// Returns the score of another search for the side to move. With `psqt` it does not use the
    /// network.
    fn searched(&self, at: &Position, limits: Limits, psqt: bool) -> Score {
        let settings = Settings { hash: 4, ..Settings::default() };
        let mut engine = Engine::new(settings).unwrap();
        engine.set_network(if psqt { None } else { self.network.clone() });
        search(&mut engine, &Game::from(at.clone()), limits).info.score
    }

    /// Returns the best score of all moves except the best one.
    fn others(&self, effort: u64) -> Score {
        let others = self.root.legal_moves().into_iter().filter(|&m| m != self.best());
        let limits = Limits { searchmoves: others.collect(), ..nodes(effort) };
        self.searched(&self.root, limits, false)
    }

    /// Returns whether the side to move in `at` mates in at most `moves` moves.
    fn mates_in(&self, at: &Position, moves: u32) -> bool {
        let limits = Limits { mate: Some(moves), ..nodes(1_000_000) };
        let score = self.searched(at, limits, false);
        mate_distance(score).is_some_and(|found| found > 0 && found <= moves as i32)
    }

    /// Checks that `line` wins the material that `text` names, and that a search with a simple
    /// evaluation agrees that its side is better by that much.
    fn wins(&self, at: &Position, line: &[Move], text: &str) -> Result<(), String> {
        let us = at.turn();
        let sign = us.fold_wb(1, -1);
        let said = match text.split_once("wins ").map_or("", |(_, won)| won) {
            won if won.starts_with("the exchange") => [0, -1, 0, 1, 0],
            won => trade(won.trim_end_matches(" in the main line.")),
        };
        // The material captured by the last move must be won back first.
        let mut old = balance(at.board()).map(|count| count * sign);
        if let Some(role) =
            self.last.filter(|_| at.key() == self.root.key()).and_then(|m| m.capture())
        {
            old[role as usize - 1] += 1;
        }
        let mut now = at.clone();
        let mut reached = false;
        for &m in line.iter().take(8) {
            now = now.play(m);
            let new = balance(now.board()).map(|count| count * sign);
            reached |= alike(std::array::from_fn(|role| new[role] - old[role])) == alike(said);
        }
        if !reached {
            return Err(format!("not in the line: {said:?}"));
        }
        if text.contains("in the main line") {
            return Ok(());
        }
        let before = worth(old);
        let after = at.play(line[0]);
        let score = -self.searched(&after, nodes(2 * self.effort), true);
        least(score, before + worth(said) - 150)
    }

    /// Checks a sentence about the move `m` in the position `at` against the rules. Returns `None`
    /// for other kinds of sentence.
    fn of_rules(&self, at: &Position, m: Move, kind: &str, words: &Words) -> Option<bool> {
        let us = at.turn();
        let (after, before) = (at.play(m), at.board());
        let board = after.board();
        let step = us.fold_wb(1, -1);
        let gained = m.capture().map_or(0, |role| VALUES[role as usize - 1])
            + m.promotion().map_or(0, |role| VALUES[role as usize - 1] - 100);
        let to = match m {
            Move::Castle { king, rook } => {
                Square::from_coords(if rook > king { File::F } else { File::D }, king.rank())
            }
            _ => m.to(),
        };
        Some(match kind {
            "forks" => {
                let attacked = board.attacks_from(to);
                let king = !words.has("the king") || attacks_king(board, !us, to);
                king && words.squares().iter().all(|&square| attacked.contains(square))
                    && words.squares().len() + usize::from(words.has("the king")) > 1
            }
            "pinned-defender" => {
                let [on, by] = words.squares()[..] else { return Some(false) };
                on == m.to()
                    && board.attacks_from(by).contains(on)
                    && !after.legal_moves().iter().any(|reply| reply.to() == on)
            }
            "pins" => {
                let square = words.square();
                !attacks_king(board, !us, to) && attacks_king(&without(board, square), !us, to)
            }
            "discovered-attack" => {
                let [by, target] = words.squares()[..] else { return Some(false) };
                board.attacks_from(by).contains(target) && !before.attacks_from(by).contains(target)
            }
            "recaptures" => m.is_capture() && words.square() == m.to(),
            "takes" => {
                let free = !after
                    .legal_moves()
                    .iter()
                    .any(|reply| reply.is_capture() && reply.to() == m.to());
                m.capture() == words.role()
                    && words.square()
                        == if m.is_en_passant() {
                            Square::from_coords(m.to().file(), m.from().unwrap().rank())
                        } else {
                            m.to()
                        }
                    && (!words.has("no piece can recapture") || free)
                    && exchange(&after, to) - gained < 250
            }
            "sacrifices" => {
                let taken = words.0.split_once(" for ").and_then(|(_, taken)| Words(taken).role());
                board.role_at(to) == words.role()
                    && m.capture() == taken
                    && exchange(&after, to) - gained >= 200
            }
            "promotes" => {
                let mut queens = at
                    .legal_moves()
                    .into_iter()
                    .filter(|queen| queen.to() == to && queen.promotion() == Some(Role::Queen));
                let stalemate = queens.any(|queen| at.play(queen).chess().is_stalemate());
                m.promotion() == words.role() && (!words.has("stalemate") || stalemate)
            }
            "passed" => {
                let was = m.from().is_some_and(|from| passed(before, us).contains(from));
                board.role_at(to) == Some(Role::Pawn)
                    && words.square() == to
                    && words.has("advances") == was
                    && passed(board, us).contains(to)
                    && !after.legal_moves().iter().any(|reply| reply.is_en_passant())
            }
            "blockades" => {
                let pawn = words.square();
                passed(board, !us).contains(pawn)
                    && pawn.file() == to.file()
                    && i32::from(pawn.rank()) - i32::from(to.rank()) == step
            }
            "attacks" => {
                let passed = after.play_null()?;
                words.squares().iter().all(|&target| {
                    let m = passed
                        .legal_moves()
                        .into_iter()
                        .find(|m| m.from() == Some(to) && m.to() == target && m.is_capture());
                    m.is_some() && exchange(&passed, target) >= 50
                })
            }
            "castles" => {
                let from = board.king_of(us).zip(m.from());
                let central = |square: Square| matches!(square.file(), File::D | File::E);
                m.is_castle() && from.is_some_and(|(now, old)| central(old) && !central(now))
            }
            "develops" => {
                let home = us.fold_wb(Rank::First, Rank::Eighth);
                Some(m.role()) == words.role()
                    && m.from()?.rank() == home
                    && to.rank() != home
                    && before.occupied().count() > 20
            }
            "checks" => {
                let checkers = after.chess().checkers();
                let discovered = !checkers.contains(to);
                checkers.any()
                    && words.has("double") == checkers.more_than_one()
                    && (words.has("double") || words.has("discovered") == discovered)
            }
            "open-file" => {
                let file = to.file();
                (board.pawns() & Bitboard::from(file)).is_empty()
                    && words.has(&format!("{}-file", file.char()))
                    && board.role_at(to) == Some(Role::Rook)
            }
            _ => return None,
        })
    }

    /// Returns whether the side to move in `at` cannot win anything on `square`. If that side is in
    /// check, the check must not be the only reason. So it must also win nothing after some reply
    /// by a piece that does not attack the square, followed by a pass.
    fn is_safe(&self, at: &Position, square: Square) -> bool {
        if !at.is_check() {
            return exchange(at, square) < 50;
        }
        let attackers = at.board().attacks_to(square, at.turn(), at.board().occupied());
        let others = |m: &Move| m.from().is_some_and(|from| !attackers.contains(from));
        let replies: Vec<Move> = at.legal_moves().into_iter().filter(others).collect();
        let safe = |&m: &Move| {
            let next = at.play(m);
            next.play_null().is_none_or(|passed| exchange(&passed, square) < 50)
        };
        exchange(at, square) < 50 && (replies.is_empty() || replies.iter().any(safe))
    }

    /// Checks a sentence about the best move.
    fn reason(&self, kind: &str, text: &str) -> Result<(), String> {
        let words = Words(text);
        let (root, us, best, after) = (&self.root, self.us(), self.best(), self.after());
        let holds = |truth: bool| truth.then_some(()).ok_or_else(|| "not so".to_owned());
        let choice = &self.json["best"];
        match kind {
            "forks" if words.has("is followed by") => {
                let mut at = root.clone();
                let which = Words(text.split_once("which ").unwrap().1);
                holds(self.line.iter().any(|&m| {
                    let told = at.turn() == us && words.list().any(|w| w == notation::san(&at, m));
                    let forks = told && self.of_rules(&at, m, "forks", &which) == Some(true);
                    at = at.play(m);
                    forks
                }))
            }
            "promotes" if words.has("promotes with") => {
                let mut at = root.clone();
                let found = self.line.iter().any(|&m| {
                    let told = words.list().any(|w| w == notation::san(&at, m));
                    let found = at.turn() == us && told && m.is_promotion();
                    at = at.play(m);
                    found
                });
                if words.has("in the main line") {
                    return holds(found);
                }
                let score = -self.searched(&after, nodes(2 * self.effort), true);
                let old = worth(balance(root.board())) * us.fold_wb(1, -1);
                least(score, if found { old } else { Score::MAX })
            }
            "promotes" | "forks" | "pinned-defender" | "pins" | "discovered-attack"
            | "recaptures" | "takes" | "sacrifices" | "passed" | "blockades" | "attacks"
            | "castles" | "develops" | "checks" | "open-file" => {
                holds(self.of_rules(root, best, kind, &words) == Some(true))
            }
            "mate" if words.has("is mate") => {
                let rank = us.fold_wb(Rank::Eighth, Rank::First);
                let checkers = after.chess().checkers();
                let king = after.board().king_of(!us).unwrap();
                let back = king.rank() == rank && checkers.into_iter().all(|by| by.rank() == rank);
                holds(after.chess().is_checkmate() && back)
            }
            "draw" => self.drawn(&words),
            "mate" => {
                let moves = words.number().unwrap() as usize;
                let mut end = root.clone();
                self.line.iter().for_each(|&m| end = end.play(m));
                if end.chess().is_checkmate() {
                    let rank = us.fold_wb(Rank::Eighth, Rank::First);
                    let king = end.board().king_of(!us).unwrap();
                    let back = !words.has("back rank")
                        || king.rank() == rank
                            && end.chess().checkers().into_iter().all(|by| by.rank() == rank);
                    let first = ["sacrifices", "promotes"].into_iter().all(|kind| {
                        !words.has(kind) || self.of_rules(root, best, kind, &words) == Some(true)
                    });
                    holds(self.line.len() == 2 * moves - 1 && back && first)
                } else {
                    holds(!words.has("back rank") && self.mates_in(root, moves as u32))
                }
            }
            "delays" => {
                let moves = words.number().unwrap() as i32;
                if !words.has("other") {
                    return holds(choice["mate"].as_i64().unwrap().abs() == i64::from(moves));
                }
                let others = mate_distance(self.others(200_000)).map(|moves| -moves);
                holds(others.is_some_and(|others| others > 0 && others < moves))
            }
            "wins" => self.wins(root, &self.line, text),
            "zugzwang" => {
                holds(color(&words) == !us)?;
                self.zugzwang(&after)
            }
            "repeats" => {
                let (mut at, mut seen) = (root.clone(), vec![root.key()]);
                for &m in &self.line {
                    at = at.play(m);
                    seen.push(at.key());
                }
                let repeated =
                    seen.iter().enumerate().any(|(index, key)| seen[..index].contains(key));
                let checks = self.line.iter().enumerate().scan(root.clone(), |at, (index, &m)| {
                    *at = at.play(m);
                    Some(index % 2 == 1 || at.is_check())
                });
                holds(
                    repeated && (!words.has("perpetual") || checks.into_iter().all(|check| check)),
                )
            }
            "exchanges" => {
                let back = self.line[1];
                holds(
                    best.is_capture()
                        && back.is_capture()
                        && back.to() == best.to()
                        && words.square() == best.to(),
                )
            }
            "threatens-mate" => {
                let passed = after.play_null().unwrap();
                let mate = words.san(&passed).ok_or("no move")?;
                holds(passed.play(mate).chess().is_checkmate())
            }
            "threatens" => self.threat(&after, &words),
            "stops-mate" => {
                let passed = root.play_null().unwrap();
                let mate = words.san(&passed).ok_or("no move")?;
                let mates = |at: &Position, m: Move| at.play(m).chess().is_checkmate();
                holds(
                    mates(&passed, mate)
                        && !after.legal_moves().into_iter().any(|m| mates(&after, m)),
                )
            }
            "opposition" => {
                let [a, b] = Color::ALL.map(|color| after.board().king_of(color).unwrap());
                let between = attacks::between(a, b);
                holds(between.count() == 1 && (a.file() == b.file() || a.rank() == b.rank()))
            }
            "only" => {
                let pieces = root.board().occupied().count();
                if pieces <= 4 && !words.has("mate") && tables::directory().is_some() {
                    let others = root.legal_moves().into_iter().filter(|&m| m != best);
                    let mut results = others.filter_map(|m| tables::winner(&root.play(m)));
                    let kept = i64::from(words.has("wins"));
                    return holds(results.all(|opponent| -opponent < kept));
                }
                let others = self.others(self.effort * if pieces <= 12 { 8 } else { 2 });
                if words.has("mate") {
                    return holds(mate_distance(others).is_some_and(|moves| moves < 0));
                }
                least(if words.has("wins") { 200 } else { -200 }, others)
            }
            "saves" => {
                let (square, now) = if words.has("to safety") {
                    (best.from().unwrap(), best.to())
                } else {
                    (words.square(), words.square())
                };
                let passed = root.play_null().ok_or("in check")?;
                holds(exchange(&passed, square) >= 50 && self.is_safe(&after, now))
            }
            "meets-threat" => {
                let passed = root.play_null().ok_or("in check")?;
                words.san(&passed).ok_or("no move")?;
                let (free, now) = (
                    self.searched(&passed, nodes(2 * self.effort), false),
                    self.searched(&after, nodes(2 * self.effort), false),
                );
                least(free, now + 50)
            }
            "approaches" => {
                let centre = [Square::D4, Square::E4, Square::D5, Square::E5];
                let targets = if words.has("the centre") {
                    centre.to_vec()
                } else if words.has("the enemy king") {
                    root.board().king_of(!us).into_iter().collect()
                } else {
                    words.squares()
                };
                let distance =
                    |from: Square| targets.iter().map(|&target| from.distance(target)).min();
                let pawns = root.board().pawns();
                holds(
                    best.role() == Role::King
                        && distance(best.to()) < distance(best.from().unwrap())
                        && words.squares().into_iter().all(|square| pawns.contains(square)),
                )
            }
            "better-square" if words.has("passed pawn") => {
                let mut at = root.clone();
                holds(self.line.iter().any(|&m| {
                    let pawn = at.turn() == us && m.role() == Role::Pawn;
                    at = at.play(m);
                    let file = Bitboard::from(m.to().file());
                    pawn && m.to() == words.square() && passed(root.board(), us).intersects(file)
                }))
            }
            "better-square" => {
                let [mut to, mut from] = words.squares()[..] else { return Err("squares".into()) };
                if words.role() == Some(Role::Pawn) {
                    (to, from) = (from, to);
                }
                let first = self.line[0].to() == to && self.line[0].from() == Some(from);
                holds(words.has("In the main line") != first)?;
                let network = self.network.as_ref().unwrap();
                let value = |at: &Position, square: Square| {
                    let evaluate =
                        |board: &Board| eval::weighted(network.evaluate(board, us), board);
                    evaluate(at.board()) - evaluate(&without(at.board(), square))
                };
                let (old, said) = (value(root, from), words.number().unwrap() * 100.0);
                let mut at = root.clone();
                holds(self.line.iter().any(|&m| {
                    let brought = at.turn() == us && m.to() == to && Some(m.role()) == words.role();
                    at = at.play(m);
                    brought && (f64::from(value(&at, to) - old) - said).abs() <= 6.0
                }))
            }
            "known-ending" => {
                if tables::oracle().is_none() || root.board().occupied().count() > 4 {
                    return Ok(());
                }
                let result = |at: &Position| tables::winner(at).map(|winner| -winner);
                let wanted = i64::from(words.has("win")) - i64::from(words.has("loses"));
                let moves = root.legal_moves();
                let keep = moves.iter().filter(|&&m| result(&root.play(m)) == Some(wanted));
                holds(
                    result(&after) == Some(wanted)
                        && (!words.has("every other") || keep.count() == moves.len()),
                )
            }
            _ => Err("no check".to_owned()),
        }
    }

    /// Checks that a pass is better for the side to move in `at` than every move, by the tablebases
    /// or by searches with eight times the nodes.
    fn zugzwang(&self, at: &Position) -> Result<(), String> {
        let passed = at.play_null().ok_or("in check")?;
        let results = [at, &passed].map(tables::winner);
        if at.board().occupied().count() <= 4
            && let [Some(result), Some(free)] = results
        {
            return (result < -free).then_some(()).ok_or_else(|| "no zugzwang".to_owned());
        }
        let [score, free] =
            [at, &passed].map(|at| self.searched(at, nodes(8 * self.effort), false));
        least(-free, score + 150)
    }

    fn drawn(&self, words: &Words) -> Result<(), String> {
        let (mut at, mut game) = (self.root.clone(), Game::from(self.root.clone()));
        for (index, &m) in self.line.iter().enumerate() {
            at = at.play(m);
            game.play(m);
            let drawn = if words.has("stalemate") {
                at.chess().is_stalemate()
            } else if words.has("mating material") {
                at.is_insufficient_material()
            } else if words.has("three times") {
                game.occurrences() >= 3
            } else if words.has("fifty-move") {
                at.halfmoves() >= 100
            } else {
                tables::winner(&at).is_none_or(|winner| winner == 0)
            };
            if drawn && (index > 0) == words.has("leads to") {
                return Ok(());
            }
        }
        Err("no such draw".to_owned())
    }

    /// Checks a threat such as `threatens Nc7+, which forks the king and the rook on a8` in `at`,
    /// whose side to move passes.
    fn threat(&self, at: &Position, words: &Words) -> Result<(), String> {
        let passed = at.play_null().ok_or("in check")?;
        let m = words.san(&passed).ok_or("no move")?;
        let after = passed.play(m);
        let holds = |truth: bool| truth.then_some(()).ok_or_else(|| "no threat".to_owned());
        let which = words.0.split_once("which ").map_or("", |(_, which)| which);
        if which.is_empty() && !m.is_promotion() {
            return holds(after.chess().is_checkmate());
        }
        let words = Words(which);
        if which.contains("mates in") {
            let limits = Limits { searchmoves: vec![m], ..nodes(300_000) };
            let score = self.searched(&passed, limits, false);
            return holds(
                mate_distance(score)
                    .is_some_and(|moves| moves > 0 && f64::from(moves) <= words.number().unwrap()),
            );
        }
        if which.starts_with("forks") {
            holds(self.of_rules(&passed, m, "forks", &words) == Some(true))?;
        }
        // The threatened move must improve on the current score by at least 60 centipawns.
        let free = -self.searched(&after, nodes(2 * self.effort), false);
        let now = -self.searched(at, nodes(2 * self.effort), false);
        least(free, now + 60)
    }

    /// Checks a sentence that is not about the best move.
    fn of_position(&self, kind: &str, text: &str) -> Result<(), String> {
        let words = Words(text);
        let (root, board) = (&self.root, self.root.board());
        let holds = |truth: bool| truth.then_some(()).ok_or_else(|| "not so".to_owned());
        match kind {
            "last-move" => {
                let (before, last) = (self.before.as_ref().unwrap(), self.last.unwrap());
                let (_, rest) =
                    text.strip_prefix("The last move, ").unwrap().split_once(", ").unwrap();
                let words = Words(rest);
                let verb = words.list().next().unwrap();
                let kind = match verb {
                    "takes" if words.has("pinned") => "pinned-defender",
                    "advances" | "creates" => "passed",
                    "discovers" => "discovered-attack",
                    verb => verb,
                };
                holds(self.of_rules(before, last, kind, &words).ok_or("no check")?)
            }
            "in-check" => {
                let checkers: Bitboard = words.squares().into_iter().collect();
                holds(root.chess().checkers() == checkers && color(&words) == root.turn())
            }
            "threat" => {
                holds(color(&words) != root.turn())?;
                self.threat(root, &words)
            }
            "zugzwang" => {
                holds(color(&words) == root.turn())?;
                self.zugzwang(root)
            }
            "only-legal" => holds(root.legal_moves().len() == 1),
            "fifty-move-rule" => {
                let left = words.number().unwrap();
                holds(f64::from(root.halfmoves()) + left == 100.0)
            }
            "material" => {
                let sign = color(&words).fold_wb(1, -1);
                let have = balance(board).map(|count| count * sign);
                holds(alike(trade(text)) == alike(have))
            }
            "pinned" => {
                let [pinned, by] = words.squares()[..] else { return Err("squares".to_owned()) };
                let us = color(&words);
                holds(
                    board.color_at(pinned) == Some(us)
                        && !attacks_king(board, us, by)
                        && attacks_king(&without(board, pinned), us, by),
                )
            }
            "passed-pawns" => {
                let said: Bitboard = words.squares().into_iter().collect();
                holds(said == passed(board, color(&words)))
            }
            "open-file" => {
                let rook = words.square();
                let file = Bitboard::from(rook.file());
                let us = color(&words);
                let against = board.pawns() | board.by_color(!us) & board.rooks_and_queens();
                holds(
                    board.piece_at(rook) == Some(us.rook())
                        && (against & file).is_empty()
                        && words.has(&format!("{}-file", rook.file().char())),
                )
            }
            "king" => self.king(&words),
            "worth" => {
                let square = words.square();
                let piece = self.json["pieces"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|piece| piece["square"] == square.to_string())
                    .unwrap();
                let [here, usual] = ["worth", "usual"].map(|name| piece[name].as_f64().unwrap());
                let alone = self.sentences().filter(|(kind, other)| {
                    kind != "worth" && Words(other).squares().contains(&square)
                });
                holds(words.has("well") == (here > usual) && alone.count() == 0)
            }
            _ => Err("no check".to_owned()),
        }
    }

    fn king(&self, words: &Words) -> Result<(), String> {
        let (root, board) = (&self.root, self.root.board());
        let aimed = words.has("attack squares");
        let us = if aimed { !color(words) } else { color(words) };
        let king = board.king_of(us).unwrap();
        let them = board.by_color(!us) & !board.pawns() & !board.kings();
        let holds = |truth: bool| truth.then_some(()).ok_or_else(|| "not so".to_owned());
        // Only positions with enough attacking pieces may have such a sentence.
        holds((them & board.queens()).any() && them.count() >= 3)?;
        if aimed {
            let ring = attacks::king_attacks(king);
            let near = words.squares();
            holds(
                near.len() >= 3
                    && near.iter().all(|&from| {
                        them.contains(from) && (board.attacks_from(from) & ring).any()
                    }),
            )
        } else if words.has("castle") {
            holds(!root.chess().castles().has_color(us) && matches!(king.file(), File::D | File::E))
        } else {
            let ahead = |rank: i32| rank * us.fold_wb(1, -1) > 0;
            let pawns = board.pawns() & board.by_color(us);
            holds(!pawns.into_iter().any(|pawn| {
                let up = i32::from(pawn.rank()) - i32::from(king.rank());
                pawn.file().distance(king.file()) <= 1 && ahead(up) && up.abs() <= 2
            }))
        }
    }

    /// Checks the verdict.
    fn standing(&self, text: &str) -> Result<(), String> {
        let holds = |truth: bool| truth.then_some(()).ok_or_else(|| "not so".to_owned());
        let best = &self.json["best"];
        let sign = i64::from(color(&Words(text)).fold_wb(1, -1));
        let known = tables::winner(&self.root)
            .filter(|_| self.root.board().occupied().count() <= 4)
            .map(|winner| winner * i64::from(self.us().fold_wb(1, -1)));
        if let Some(mate) = best["mate"].as_i64() {
            return holds(text.ends_with(&format!("mates in {}", mate.abs())) && mate * sign > 0);
        }
        if text.contains("draw") {
            return holds(known.unwrap_or(0) == 0);
        }
        if text.contains(": ") {
            return holds(known.is_none_or(|winner| winner * sign > 0));
        }
        let pawns = best["centipawns"].as_i64().unwrap();
        holds(match pawns * sign {
            _ if text.contains("equal") => pawns.abs() < 10,
            10..50 => text.ends_with("is slightly better"),
            50..150 => text.ends_with("is better"),
            150..400 => text.ends_with("is much better"),
            400.. => text.ends_with("is winning"),
            _ => false,
        })
    }

    /// Returns all sentences with their kinds.
    fn sentences(&self) -> impl Iterator<Item = (String, String)> {
        let parts = ["before", "about", "board"].map(|part| self.json[part].as_array());
        parts.into_iter().flatten().flatten().map(|sentence| {
            let [kind, text] = ["kind", "text"].map(|part| sentence[part].as_str().unwrap());
            (kind.to_owned(), text.to_owned())
        })
    }

    /// Returns every sentence with the result of its check.
    fn checked(&self) -> Vec<(String, String, Result<(), String>)> {
        let mut checked = Vec::new();
        for part in ["before", "about", "board"] {
            for sentence in self.json[part].as_array().unwrap() {
                let [kind, text] = ["kind", "text"].map(|name| sentence[name].as_str().unwrap());
                let result = if part == "about" {
                    self.reason(kind, text)
                } else {
                    self.of_position(kind, text)
                };
                checked.push((kind.to_owned(), text.to_owned(), result));
            }
        }
        if let Some(text) = self.json["standing"].as_str() {
            checked.push(("standing".to_owned(), text.to_owned(), self.standing(text)));
        }
        checked
    }

    /// Returns the sentences if they state a fact twice, or if they give another reason beside a
    /// mate or a draw, which is reason enough.
    fn superfluous(&self) -> Option<String> {
        let all: Vec<(String, String)> = self.sentences().collect();
        let moves = |text: &str| -> Vec<String> {
            let words = Words(text).list().map(str::to_owned);
            words.filter(|word| word.ends_with(['#', '+'])).collect()
        };
        // A mate may be mentioned twice: as a threat, and as the threat that the best move stops.
        let threats = all.iter().filter(|(kind, _)| {
            matches!(&**kind, "threat" | "last-move" | "threatens-mate" | "threatens")
        });
        let mut sans: Vec<String> = threats.flat_map(|(_, text)| moves(text)).collect();
        let told = sans.len();
        sans.sort_unstable();
        sans.dedup();
        let about = self.json["about"].as_array()?;
        let ends = about
            .iter()
            .any(|sentence| matches!(sentence["kind"].as_str(), Some("mate" | "draw" | "delays")));
        let texts: std::collections::HashSet<&String> = all.iter().map(|(_, text)| text).collect();
        let mates = about.first().is_some_and(|sentence| sentence["kind"] == "mate");
        let has =
            |kinds: &[&str]| kinds.iter().all(|kind| all.iter().any(|(told, _)| told == kind));
        let twice = has(&["exchanges", "passed"]) || about.len() > 1 && has(&["checks"]);
        (sans.len() < told
            || ends && about.len() > 1
            || twice
            || mates && (all.len() > 1 || !self.json["second"].is_null())
            || texts.len() < all.len())
        .then(|| format!("{all:?}"))
    }
}

/// Returns the squares of the passed pawns of a side.
fn passed(board: &Board, color: Color) -> Bitboard {
    let pawns = |color| board.pawns() & board.by_color(color);
    let is_free = |pawn: &Square| {
        let mut ahead = Vec::new();
        let mut square = *pawn;
        while let Some(next) = square.offset(color.fold_wb(8, -8)) {
            ahead.push(next);
            square = next;
        }
        ahead.into_iter().all(|square| {
            let near = Square::ALL.into_iter().filter(|other| {
                other.rank() == square.rank() && other.file().distance(square.file()) <= 1
            });
            !pawns(color).contains(square) && !near.into_iter().any(|s| pawns(!color).contains(s))
        })
    };
    pawns(color).into_iter().filter(is_free).collect()
}

/// Kinds of sentence that depend on a search, and `all` for the sum over the kinds. Other searches
/// may contradict two sentences of each kind, plus one in every hundred. All sentences of other
/// kinds must be confirmed.
const SEARCHED: [&str; 9] = [
    "all",
    "delays",
    "only",
    "meets-threat",
    "promotes",
    "threat",
    "threatens",
    "wins",
    "zugzwang",
];

#[test]
fn what_is_said_is_so() {
    // With so few nodes, more best moves have no reason.
    confirm(50, 10_000, 10);
}

#[test]
#[ignore = "minutes: 500 positions"]
fn what_is_said_of_five_hundred_positions_is_so() {
    confirm(500, 100_000, 20);
}

/// Checks every kind of sentence over `count` positions and the examples. Every second position is
/// also checked after its best move, from the opponent's side. At most two best moves, plus one in
/// every `silent`, may have no reason.
fn confirm(count: usize, effort: u64, silent: usize) {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut wrong, mut best, mut reasons) = (Vec::new(), 0, 0);
    let roots = positions(count).into_iter().map(|root| root.fen());
    for (index, mut words) in roots.chain(examples()).enumerate() {
        for _ in 0..1 + index % 2 {
            let case = Case::new(&words, effort);
            for (kind, text, result) in case.checked() {
                for kind in [&kind, "all"] {
                    let (told, confirmed) = kinds.entry(kind.to_owned()).or_default();
                    (*told, *confirmed) = (*told + 1, *confirmed + usize::from(result.is_ok()));
                }
                wrong
                    .extend(result.err().map(|error| format!("{kind}: {text} ({error}), {words}")));
            }
            assert_eq!(case.superfluous(), None, "{words}");
            if case.line.is_empty() {
                break;
            }
            let about = case.json["about"].as_array().unwrap();
            let is_only = case.root.legal_moves().len() == 1;
            assert!(!is_only || about.is_empty(), "{words}");
            // Forced moves and mates need no reasons.
            if !is_only && case.json["best"]["mate"].is_null() {
                best += 1;
                reasons += usize::from(!about.is_empty());
            }
            let moves = if words.contains(" moves ") { "" } else { " moves" };
            words = format!("{words}{moves} {}", case.json["best"]["uci"].as_str().unwrap());
        }
    }
    for (kind, (told, confirmed)) in &kinds {
        println!("{kind:16} {told:5} {confirmed:5} {:6.1} %", share(*confirmed, *told));
    }
    println!("{reasons} of {best} best moves have a reason\n{}", wrong.join("\n"));
    for (kind, (told, confirmed)) in &kinds {
        let doubts = if SEARCHED.contains(&&**kind) { 2 + told / 100 } else { 0 };
        assert!(told - confirmed <= doubts, "{kind}: {}", wrong.join("\n"));
    }
    assert!(best - reasons <= 2 + best / silent, "{reasons} of {best}");
}

fn share(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// Compares the known endings with the tablebases.
#[test]
fn book_endings_are_known() {
    for (fen, standing) in [
        ("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1", "draw: the pawn cannot be promoted"),
        ("8/8/8/4k3/8/8/4P3/4K3 b - - 0 1", "draw: the pawn cannot be promoted"),
        ("8/8/4k3/8/4K3/8/4P3/8 w - - 0 1", "White is winning: the pawn promotes"),
        ("5k2/8/8/8/8/8/4B2P/6K1 w - - 0 1", "draw: the king holds the corner"),
        ("8/4k3/7P/8/7K/8/8/5B2 b - - 0 1", "draw: the king holds the corner"),
        ("3k4/8/P7/8/8/1K6/3B4/8 b - - 0 1", "draw: the king holds the corner"),
        ("4k3/8/8/8/8/4r3/4N3/4K3 w - - 0 1", "a draw is likely: the king protects"),
        ("8/8/8/4k3/8/3b4/8/R3K3 w - - 0 1", "a draw is likely: the king protects"),
        ("8/8/8/4k3/8/3n4/8/R5K1 w - - 0 1", "a draw is likely: the king protects"),
        ("Q7/7K/8/8/8/8/2pk4/8 w - - 0 1", "a draw is likely: the king is too far away to help"),
        ("4k3/8/8/8/8/8/8/NN2K3 w - - 0 1", "draw: two knights cannot force mate"),
        ("8/5k2/4b3/8/8/4B3/3P1K2/8 w - - 0 1", "a draw is likely: the bishops are of opposite"),
    ] {
        let json = explain(fen, 4000);
        assert!(json["standing"].as_str().unwrap().contains(standing), "{fen}: {json}");
    }
    // The bare king wins the bishop or the knight.
    for fen in [
        "8/1B4K1/8/N1k5/8/8/8/8 b - - 0 1",
        "8/8/2k5/B7/N5K1/8/8/8 b - - 0 1",
        "2k1B3/4N3/8/4K3/8/8/8/8 b - - 0 1",
        "4B3/3N4/5k2/8/8/8/8/5K2 b - - 0 1",
        "N7/8/8/2k5/8/B7/1K6/8 b - - 0 1",
    ] {
        let json = explain(fen, 4000);
        assert!(!json["standing"].as_str().unwrap().contains("winning"), "{fen}: {json}");
    }
    // Two knights mate a king that goes, or must go, to the wrong square.
    for fen in ["6k1/8/5N1K/4N3/8/8/8/8 b - - 0 1", "7k/8/5N1K/4N3/8/8/8/8 w - - 0 1"] {
        let json = explain(fen, 4000);
        let moves = json["moves"].to_string();
        assert!(!moves.contains("does every other move"), "{fen}: {json}");
        assert_eq!(
            json["standing"].as_str().unwrap().contains("draw"),
            fen.contains(" b "),
            "{json}"
        );
    }
    if let Some(tables) = tables::directory() {
        let fen = "8/8/8/3k4/8/8/1B6/K5N1 w - - 0 1";
        let said =
            text(&run(&["explain", fen, "--depth", "1", "--syzygy", tables.to_str().unwrap()]));
        assert!(said.contains("White wins according to the tablebases"), "{said}");
    }
    let Some(data) = data("endgame/tb_wdl_dtz_generated.epd") else { return };
    let wrong = data.with_file_name("../draws/wrong_bishop_generated.epd");
    let pawn = data.with_file_name("kpk_generated.epd");
    let (mut draws, mut wins, mut errors) = (0, 0, Vec::new());
    let pawn = lines::read(&pawn).unwrap().into_iter();
    let lines = pawn.step_by(5).chain(lines::read(&wrong).unwrap().into_iter().step_by(4));
    for line in lines.chain(lines::read(&data).unwrap().into_iter().step_by(20)) {
        let root = epd::parse(&line).unwrap().position;
        let json = explain(&root.fen(), 500);
        let Some(said) = json["standing"].as_str() else { continue };
        let winner = tables::winner(&root).unwrap_or(0);
        let white = winner * i64::from(root.turn().fold_wb(1, -1));
        let wins_told = said.contains("promotes by force") || said.contains("force mate");
        if said.contains("draw") {
            draws += 1;
            errors.extend((winner != 0).then(|| format!("{said}: {}", root.fen())));
        } else if wins_told {
            wins += 1;
            let side = if white > 0 { "White" } else { "Black" };
            errors.extend((white == 0 || !said.starts_with(side)).then(|| root.fen()));
        }
    }
    println!("{draws} draws and {wins} wins known");
    assert!(draws >= 40 && wins >= 20 && errors.is_empty(), "{draws} {wins} {errors:?}");
}

#[test]
fn positions_are_explained() {
    // The position after 1. e4 e5 2. Bc4 Nc6. This test does not check the best move.
    let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/8/PPPP1PPP/RNBQK1NR w KQkq - 2 3";
    let output = run(&["explain", fen, "--nodes", "20000", "--json"]);
    assert!(output.status.success(), "{}", text(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["fen"], fen);
    assert_ne!(json["best"]["uci"], json["second"]["uci"]);
    assert!((0.0..=1.0).contains(&json["best"]["chances"].as_f64().unwrap()), "{json}");
    let score: f64 = json["best"]["score"].as_str().unwrap().parse().unwrap();
    assert_eq!(json["best"]["centipawns"], (score * 100.0).round() as i64);
    assert_eq!(json["pieces"].as_array().unwrap().len(), 14, "all but pawns and kings");
    let mate = run(&["explain", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "--depth", "3", "--json"]);
    let json: Value = serde_json::from_slice(&mate.stdout).unwrap();
    assert_eq!((&json["best"]["mate"], &json["best"]["centipawns"]), (&1.into(), &Value::Null));
    let about = serde_json::json!([{"kind": "mate", "text": "It is mate on the back rank."}]);
    assert_eq!(json["about"], about);

    let said = text(&run(&["explain", "startpos", "moves", "1.", "e4", "--nodes", "5000"]));
    for line in ["Black to move; ", "Scores are from White's point of view.", "Best is "] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    let wrong = run(&["explain", "8/8/8/8/8/8/8/8 w - - 0 1"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong).contains("illegal position"), "{}", text(&wrong));
}
