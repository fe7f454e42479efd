//! Output for commands beyond the protocol: the board, the evaluation, perft, help.

use std::{sync::Arc, time::Duration};

use shakmaty::{CastlingMode, Color, File, Position as _, Rank, Square};

use super::{command::COMMANDS, options, person};
use crate::{
    chess::{
        notation::{self, move_text},
        position::{Game, Position},
    },
    engine::Engine,
    eval::{
        default_network,
        nnue::{Network, simd},
        parts::Parts,
    },
    play::{memory::MemoryError, signals::Signals},
    system::version,
    tools::{bench, doctor::measure, explain},
};

/// Returns the board with the side `below` at the bottom, FEN, key, checkers and the state of the
/// game.
pub fn display(game: &Game, below: Color, colours: bool) -> Vec<String> {
    let position = game.position();
    let mut lines = person::board(position, below, colours);
    lines.push(String::new());
    lines.push(format!("Fen: {}", position.fen()));
    lines.push(format!("Key: {:016X}", position.key()));
    let checkers: Vec<String> =
        position.checkers().into_iter().map(|square| square.to_string()).collect();
    lines.push(format!("Checkers: {}", checkers.join(" ")).trim_end().to_owned());
    lines.push(state(game));
    lines
}

/// Returns the board for a person, and the state of the game.
pub fn board_and_state(game: &Game, below: Color) -> Vec<String> {
    let mut lines = person::board(game.position(), below, true);
    lines.push(state(game));
    lines
}

/// Returns the side to move, or the result of the game, in words.
fn state(game: &Game) -> String {
    if let Some(rule) = explain::drawn(game) {
        return format!("Drawn: {rule}");
    }
    let turn = notation::color_name(game.position().turn());
    let how = if game.ending().is_some() { "is checkmated" } else { "to move" };
    format!("{turn} {how}")
}

/// Returns the static evaluation: the contribution of each piece, the terms and the score.
pub fn evaluation(position: &Position, network: Option<&Network>) -> Vec<String> {
    let parts = Parts::new(position, network);
    let mut lines = contributions(&parts);
    lines.push(String::new());
    lines.push(format!("Terms in pawns for White, by {}:", parts.evaluator));
    for (term, value) in &parts.terms {
        lines.push(format!("{term:<26}{:>+8.2}", value / 100.0));
    }
    lines.push(String::new());
    let own = notation::white(parts.total, position.turn());
    let pawns = f64::from(parts.total) / 100.0;
    lines.push(format!("Evaluation: {pawns:+.2} pawns for White ({own} cp for the side to move)"));
    if position.is_check() {
        lines.push("The king is in check, so the search does not use this evaluation".to_owned());
    }
    lines
}

/// Draws a board with the contribution of each piece to the evaluation, in pawns from White's point
/// of view. The contribution is the difference between the evaluations with and without the piece.
fn contributions(parts: &Parts) -> Vec<String> {
    let border = format!("   +{}", "-------+".repeat(8));
    let mut lines = vec![border.clone()];
    for rank in Rank::ALL.into_iter().rev() {
        let (mut letters, mut values) = (format!(" {} |", rank.char()), "   |".to_owned());
        for file in File::ALL {
            let here = Square::from_coords(file, rank);
            let piece = parts.pieces.iter().find(|&&(square, ..)| square == here);
            letters.push_str(&piece.map_or_else(
                || "       |".to_owned(),
                |(_, piece, _)| format!("   {}   |", piece.char()),
            ));
            values.push_str(&piece.and_then(|&(.., value)| value).map_or_else(
                || "       |".to_owned(),
                |value| format!("{:>+6.2} |", f64::from(value) / 100.0),
            ));
        }
        lines.extend([letters, values, border.clone()]);
    }
    lines.push("       a       b       c       d       e       f       g       h".to_owned());
    lines
}

/// Returns details of this build.
pub fn compiler() -> Vec<String> {
    let mut lines = vec![format!("Lancet {}", version::VERSION)];
    let network = format!("{}, {} arithmetic", default_network().name(), simd::name());
    let details = version::details().into_iter().chain([("Network", network)]);
    lines.extend(details.map(|(name, text)| format!("{:<14}{text}", format!("{name}:"))));
    lines
}

/// Returns the help: one line for each command, or the arguments and the meaning of the command
/// `name`. For `setoption`, the options follow.
pub fn help(name: Option<&str>) -> Vec<String> {
    let mut lines = table(COMMANDS, name);
    if name == Some("setoption") {
        lines.extend([false, true].into_iter().flat_map(options::list).map(option));
    }
    lines
}

/// Returns the names and help texts of a table of commands, one line each. With `name`, returns the
/// arguments and the help text of that command.
pub fn table(table: &[(&str, &str, &str)], name: Option<&str>) -> Vec<String> {
    let lines = |&(command, arguments, text): &(&str, &str, &str)| match name {
        None => vec![format!("{command:<11}{text}")],
        Some(name) if name == command => {
            vec![format!("{command} {arguments}").trim_end().to_owned(), format!("    {text}")]
        }
        Some(_) => Vec::new(),
    };
    table.iter().flat_map(lines).collect()
}

/// Formats the help of an option, with its default and its values.
fn option([name, default, range, about]: [String; 4]) -> String {
    // The default of a combo option is one of its values, and is not repeated.
    let others: Vec<&str> = range.split(", ").filter(|&value| value != default).collect();
    let others = others.join(", ");
    let values = if default.is_empty() {
        range
    } else if range.is_empty() {
        format!("default {default}")
    } else if others == range {
        format!("default {default}, range {range}")
    } else {
        format!("default {default}; also {others}")
    };
    format!("    {name:<20}{about} ({values})")
}

/// Returns the position flipped vertically, with the colours and the side to move swapped. Returns
/// `None` if the result is not legal.
pub fn mirror(position: &Position) -> Option<Game> {
    let setup = position.chess().to_setup(shakmaty::EnPassantMode::Legal).into_mirrored();
    let (mirrored, _) = Position::from_setup_in(setup, Some(position.mode())).ok()?;
    Some(Game::from(mirrored))
}

/// Writes the number of leaf nodes below each move, and their sum. The leaves are `depth` plies
/// from the root.
pub fn perft(
    position: &Position,
    depth: u32,
    mode: CastlingMode,
    signals: &Signals,
    line: &dyn Fn(&str),
) {
    let mut total = 0;
    if depth == 0 {
        total = 1;
    } else {
        for m in position.legal_moves() {
            let Some(nodes) = paths(&position.play(m), depth - 1, signals) else { return };
            line(&format!("{}: {nodes}", move_text(m, mode)));
            total += nodes;
        }
    }
    line("");
    line(&format!("Nodes searched: {total}"));
}

/// Trees up to this depth, in plies, are counted without checking for `stop`. That takes well under
/// a second.
const QUICK: u32 = 4;

/// Returns the number of leaf nodes at `depth` plies, or `None` if stopped.
fn paths(position: &Position, depth: u32, signals: &Signals) -> Option<u64> {
    if signals.is_stopped() {
        return None;
    }
    if depth <= QUICK {
        return Some(shakmaty::perft(position.chess(), depth));
    }
    position.legal_moves().iter().map(|&m| paths(&position.play(m), depth - 1, signals)).sum()
}

/// Runs the benchmark with the evaluation and the root search of `engine`. `numbers` are depth,
/// threads and hash, if given.
pub fn bench(
    numbers: [Option<usize>; 3],
    engine: &Engine,
    signals: &Arc<Signals>,
    line: &dyn Fn(&str),
) -> anyhow::Result<()> {
    let defaults = bench::Args::default();
    let [depth, threads, hash] = numbers;
    let args = bench::Args {
        depth: depth.map_or(defaults.depth, |depth| depth as u32),
        threads: threads.unwrap_or(defaults.threads),
        hash: hash.unwrap_or(defaults.hash),
        root: engine.settings().root_search,
    };
    bench::bench(&args, engine.network().cloned(), signals, line)?;
    Ok(())
}

/// Default duration of a speed test in seconds.
const SPEED_TEST_SECONDS: usize = 3;

/// Measures nodes per second. `numbers` are threads (default: 1, 2, 4 ... up to all cores), hash
/// and seconds.
pub fn speed_test(
    numbers: [Option<usize>; 3],
    signals: &Signals,
    line: &dyn Fn(&str),
) -> Result<(), MemoryError> {
    let [threads, hash, seconds] = numbers;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let counts = threads.map_or_else(|| measure::thread_counts(cores).collect(), |n| vec![n]);
    let time = Duration::from_secs(seconds.unwrap_or(SPEED_TEST_SECONDS) as u64);
    let hash = hash.unwrap_or(measure::SPEED_HASH);
    for threads in counts {
        let speed = measure::speed(threads, hash, time, &|| signals.is_stopped())?;
        if signals.is_stopped() {
            break;
        }
        let speed = speed.nodes_per_second;
        line(&format!("Threads: {threads}  Hash: {hash}  Nodes/second: {speed}"));
    }
    Ok(())
}

/// Returns the tunable constants in the format of OpenBench's SPSA input.
#[cfg(feature = "tune")]
pub fn spsa() -> Vec<String> {
    let line = |p: &crate::system::tune::Param| {
        format!("{}, int, {}, {}, {}, {}, 0.002", p.name, p.default, p.min, p.max, p.step)
    };
    super::options::tunables().filter(|p| p.step > 0).map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn each_value_of_an_option_is_named_once() {
        let lines = super::help(Some("setoption"));
        let choice = "(default Aspiration; also Full Window, Bisection, MTD(f))";
        for values in [choice, "(default 16, range 1 to 1048576)", "(default false)", "(button)"] {
            assert!(lines.iter().any(|line| line.ends_with(values)), "{values}: {lines:?}");
        }
        for line in &lines[2..] {
            let (_, values) = line.rsplit_once(" (").unwrap();
            let mut seen = HashSet::new();
            assert!(values.split(", ").all(|value| seen.insert(value)), "{line}");
        }
    }
}
