//! Translates `go` into the limits of a search.

use std::time::Duration;

use shakmaty::Move;
use vampirc_uci::{UciMove, UciSearchControl, UciTimeControl};

use super::extension::Extension;
use crate::{
    chess::{notation::read_move, position::Position},
    play::limits::{Clock, Limits},
};

/// Returns the limits of a `go` in the position `root`. Reports skipped arguments to `say`.
pub fn limits(
    control: Option<&UciTimeControl>,
    search: &UciSearchControl,
    extension: &Extension,
    root: &Position,
    say: &dyn Fn(&str),
) -> Limits {
    let mut limits = Limits {
        depth: search.depth.map(u32::from),
        nodes: search.nodes,
        mate: search.mate.map(u32::from),
        searchmoves: searchmoves(&search.search_moves, &extension.moves, root, say),
        ..Limits::default()
    };
    for control in control.into_iter().chain(&extension.controls) {
        match *control {
            UciTimeControl::Ponder => limits.ponder = true,
            UciTimeControl::Infinite => limits.infinite = true,
            UciTimeControl::MoveTime(time) => limits.movetime = Some(duration(time)),
            UciTimeControl::TimeLeft {
                white_time,
                black_time,
                white_increment,
                black_increment,
                moves_to_go,
            } => {
                let mut sides = [(white_time, white_increment), (black_time, black_increment)];
                sides.rotate_left(usize::from(root.turn().is_black()));
                limits.clock = clock(sides, moves_to_go);
                if moves_to_go.is_some() && limits.clock.is_none() {
                    say("'movestogo' without a clock: skipped");
                }
            }
        }
    }
    limits
}

/// Lists the limits that are set, for `debug on`.
pub fn describe(limits: &Limits) -> String {
    let flag = |name: &str, on: bool| on.then(|| name.to_owned());
    let clock = limits.clock.map(|Clock { time, increment, moves_to_go }| {
        let moves = moves_to_go.map(|moves| format!(" for {moves} moves")).unwrap_or_default();
        format!("clock {} + {} ms{moves}", time.as_millis(), increment.as_millis())
    });
    let searchmoves = limits.searchmoves.len();
    let set = [
        limits.depth.map(|depth| format!("depth {depth}")),
        limits.nodes.map(|nodes| format!("nodes {nodes}")),
        limits.mate.map(|moves| format!("mate {moves}")),
        limits.movetime.map(|time| format!("movetime {} ms", time.as_millis())),
        clock,
        flag("infinite", limits.infinite),
        flag("ponder", limits.ponder),
        flag("UCI_AnalyseMode", limits.analyse),
        (searchmoves > 0).then(|| format!("{searchmoves} searchmoves")),
    ];
    let set: Vec<String> = set.into_iter().flatten().collect();
    if set.is_empty() { "no limits".to_owned() } else { set.join(", ") }
}

fn searchmoves(
    moves: &[UciMove],
    others: &[String],
    root: &Position,
    say: &dyn Fn(&str),
) -> Vec<Move> {
    let given = moves.iter().map(UciMove::to_string).chain(others.iter().cloned());
    let mut legal = Vec::with_capacity(moves.len());
    for word in given {
        match read_move(root, &word) {
            Ok(m) => legal.push(m),
            Err(error) => say(&format!("searchmoves: {error}; skipped")),
        }
    }
    if legal.is_empty() && !(moves.is_empty() && others.is_empty()) {
        say("searchmoves: none is legal; searching all moves");
    }
    legal
}

/// Time left and increment of one side, if given.
type Side = (Option<vampirc_uci::Duration>, Option<vampirc_uci::Duration>);

/// Returns the clock of the side to move, which is the first in `sides`. If the GUI sends only the
/// other side's time, that side's time and increment are used. If it sends only increments, the
/// time left is 0.
fn clock(sides: [Side; 2], moves_to_go: Option<u8>) -> Option<Clock> {
    let (time, increment) = match sides {
        [(Some(time), increment), _] | [(None, _), (Some(time), increment)] => (time, increment),
        [(None, None), (None, None)] => return None,
        [(None, increment), (None, _)] => (vampirc_uci::Duration::zero(), increment),
    };
    let increment = increment.map(duration).unwrap_or_default();
    Some(Clock { time: duration(time), increment, moves_to_go: moves_to_go.map(u32::from) })
}

/// Converts a time to the standard library's type. Returns 0 for negative times.
fn duration(time: vampirc_uci::Duration) -> Duration {
    time.to_std().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use vampirc_uci::UciMessage;

    use super::*;
    use crate::uci::command::{self, Command};

    /// Returns the limits of a `go` line in the position `root`, and the messages about it.
    fn read(line: &str, root: &Position) -> (Limits, Vec<String>) {
        let parsed = command::parse(line.as_bytes()).unwrap().unwrap();
        let Command::Message(UciMessage::Go { time_control, search_control }, extension) = parsed
        else {
            panic!("{line}: {parsed:?}")
        };
        let said = RefCell::new(Vec::new());
        let say = |text: &str| said.borrow_mut().push(text.to_owned());
        let search = search_control.unwrap_or_default();
        let limits = limits(time_control.as_ref(), &search, &extension, root, &say);
        (limits, said.into_inner())
    }

    #[test]
    fn the_side_to_move_has_the_clock() {
        let white = Position::default();
        let black = white.play(read_move(&white, "e2e4").unwrap());
        let clock = |line: &str, root| {
            let clock = read(line, root).0.clock;
            clock.map(|c| (c.time.as_millis(), c.increment.as_millis(), c.moves_to_go))
        };
        let both = "go wtime 1000 btime 2000 winc 10 movestogo 7";
        assert_eq!(clock(both, &white), Some((1000, 10, Some(7))));
        assert_eq!(clock(both, &black), Some((2000, 0, Some(7))));
        assert_eq!(clock("go wtime 100 winc 5 binc 9", &black), Some((100, 5, None)));
        assert_eq!(clock("go wtime -100", &white), Some((0, 0, None)));
        assert_eq!(clock("go winc 5", &white), Some((0, 5, None)));
        assert_eq!(clock("go winc 5", &black), Some((0, 0, None)));
        let (limits, said) = read("go movestogo 5 depth 3", &black);
        assert_eq!((limits.clock, limits.depth), (None, Some(3)));
        assert_eq!(said, ["'movestogo' without a clock: skipped"]);
    }

    #[test]
    fn limits_add_up() {
        let root = &Position::default();
        let line = "go infinite ponder movetime 5 wtime 9 depth 4 mate 3 nodes 2000000000000";
        let expected = Limits {
            depth: Some(4),
            nodes: Some(2_000_000_000_000),
            mate: Some(3),
            movetime: Some(Duration::from_millis(5)),
            clock: Some(Clock { time: Duration::from_millis(9), ..Clock::default() }),
            infinite: true,
            ponder: true,
            ..Limits::default()
        };
        assert_eq!(read(line, root), (expected, vec![]));
        assert_eq!(read("go", root), (Limits::default(), vec![]));
    }

    #[test]
    fn only_limits_that_are_set_are_listed() {
        let root = &Position::default();
        let describe = |line: &str| describe(&read(line, root).0);
        assert_eq!(describe("go"), "no limits");
        assert_eq!(describe("go depth 4 infinite"), "depth 4, infinite");
        assert_eq!(
            describe("go ponder wtime 9 winc 2 movestogo 7 nodes 5 mate 3 searchmoves e2e4 d2d4"),
            "nodes 5, mate 3, clock 9 + 2 ms for 7 moves, ponder, 2 searchmoves"
        );
        assert_eq!(describe("go movetime 100"), "movetime 100 ms");
    }

    #[test]
    fn moves_that_are_skipped_are_named() {
        let root = &Position::default();
        let (limits, said) = read("go searchmoves e2e4 Nf3 e2e5 d2d4", root);
        let moves: Vec<_> = ["e2e4", "d2d4"].map(|m| read_move(root, m).unwrap()).into();
        assert_eq!(limits.searchmoves, moves);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("searchmoves: illegal move 'e2e5': "), "{said:?}");
        assert!(said[1].starts_with("searchmoves: 'Nf3' is "), "{said:?}");
        let (limits, said) = read("go searchmoves 0000", root);
        assert_eq!(limits, Limits::default());
        assert_eq!(said[1], "searchmoves: none is legal; searching all moves");
    }
}
