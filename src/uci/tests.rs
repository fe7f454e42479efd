//! Tests of the loop, in this process: it ends whatever the input is, and answers every `go`
//! exactly once.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

/// Returns the answers to commands and then a script, line by line.
fn after(commands: &[&str], script: &[u8]) -> Vec<String> {
    let commands: Vec<String> = commands.iter().map(|&command| command.to_owned()).collect();
    let mut output = Vec::new();
    dialogue(&commands, &mut Cursor::new(script), &Output::new(&mut output, false));
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the answers to a script, line by line.
fn answers(script: &[u8]) -> Vec<String> {
    after(&[], script)
}

fn count(lines: &[String], start: &str) -> usize {
    lines.iter().filter(|line| line.starts_with(start)).count()
}

#[test]
fn the_end_of_input_is_quit() {
    for script in ["", "\n", "quit", "go infinite", "go ponder wtime 1000", "go\n", "bench 1"] {
        let lines = answers(script.as_bytes());
        assert_eq!(count(&lines, "bestmove "), usize::from(script.starts_with("go")), "{script}");
    }
    // At the end of the input, perft is finished, and unlimited searches are stopped.
    let lines = answers(b"perft 3");
    assert_eq!(lines.last().unwrap(), "Nodes searched: 8902");
}

#[test]
fn nothing_after_quit_is_read() {
    let lines = answers(b"isready\nquit\nuci\nisready\n");
    assert_eq!(lines, ["readyok"]);
}

#[test]
fn commands_come_before_input_and_searches_end() {
    let commands = ["position startpos moves e2e4", "go depth 3", "isready", "quit"];
    let lines = after(&commands, b"uci\n");
    assert!(count(&lines, "info depth 3 ") > 0 && count(&lines, "bestmove ") == 1, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "readyok");
    // A search ends by itself after `ponderhit`, too.
    let lines = after(&["go ponder depth 5", "ponderhit", "quit"], b"");
    assert!(count(&lines, "info depth 5 ") > 0, "{lines:?}");
    // Without `quit`, the input is read after the commands.
    assert_eq!(after(&["isready"], b"uci\n").last().unwrap(), "uciok");
}

#[test]
fn a_closed_output_ends_the_loop() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(ErrorKind::BrokenPipe))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    /// Never ends.
    struct Endless;
    impl io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let line = b"go infinite\nd\n";
            buffer[..line.len()].copy_from_slice(line);
            Ok(line.len())
        }
    }
    run(io::BufReader::new(Endless), Closed);
}

#[test]
fn dropped_fen_fields_are_reported() {
    let position = "position fen 4k3/8/8/8/8/8/8/4K2R w KQkq e6 0 1";
    let remarks = [
        "info string the board contradicts the castling rights 'KQkq': using 'K'",
        "info string the board contradicts the en passant square 'e6': using '-'",
    ];
    let script = format!("{position}\n{position} moves h1h2\nfen\n");
    let answers = answers(script.as_bytes());
    assert_eq!(answers[..2], remarks);
    // The remarks are not repeated with every move of the game.
    assert_eq!(answers[2..], ["4k3/8/8/8/8/8/7R/4K3 b - - 1 1"]);
}

#[test]
fn a_line_too_long_is_refused() {
    let mut script = b"position startpos moves e2e4 ".to_vec();
    script.resize(MAX_LINE, b' ');
    let whole = [&script, &b"\nfen\n"[..]].concat();
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert_eq!(answers(&whole), [fen]);
    let over = [&script, &b" \nfen\n"[..]].concat();
    let refused = "info string ignored a line of more than 1048576 bytes";
    assert_eq!(answers(&over), [refused, crate::chess::position::START_FEN]);
    script.resize(3 * MAX_LINE, b'x');
    let lines = answers(&[&script, &b" quit\nisready\n"[..]].concat());
    assert_eq!(lines, [refused, "readyok"]);
    // After a position that was refused, the answer to `go` is `bestmove 0000`.
    let answers_to_go = [
        ("position startpos moves ", true),
        ("joho Position startpos moves ", true),
        ("positionposition", false),
        ("go position ", false),
    ];
    for (start, is_refused) in answers_to_go {
        let mut script = start.as_bytes().to_vec();
        script.resize(MAX_LINE + 1, b'x');
        let lines = answers(&[&script, &b"\ngo nodes 50\n"[..]].concat());
        assert_eq!(lines[0], refused);
        let moves = lines.iter().filter(|line| line.starts_with("bestmove "));
        assert!(moves.clone().all(|line| (line == "bestmove 0000") == is_refused), "{start}");
        assert_eq!(moves.count(), 1, "{start}");
    }
}

/// Generates lines that a GUI, a person or a broken pipe may send. Searches are short or unlimited;
/// the end of the script stops the latter.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(
            &[
                "uci",
                "isready",
                "ucinewgame",
                "stop",
                "ponderhit",
                "debug on",
                "debug off",
                "register later",
                "d",
                "eval",
                "fen",
                "mirror",
                "help",
                "perft 2",
                "bench 1",
                "position startpos",
                "position startpos moves e2e4 e7e5 g1f3",
                "position startpos moves e2e4 e7e5 g1f3 b8c6",
                "position startpos moves e2e5",
                "position fen 8/8/8/8/8/4k3/8/4K2R w K - 0 1 moves e1g1",
                "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
                "position fen bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
                "position fen k/k/k",
                "setoption name MultiPV value 3",
                "setoption name MultiPV value 1",
                "setoption name Hash value 2",
                "setoption name Threads value 2",
                "setoption name Threads value 1",
                "setoption name UCI_Chess960 value true",
                "setoption name UCI_Chess960 value false",
                "setoption name Clear Hash",
                "setoption name Root Search value MTD(f)",
                "setoption name Root Search value Aspiration",
                "setoption name Hash value none",
                "setoption name Debug Log File value /",
                "go infinite",
                "go ponder wtime 1000 btime 1000",
                "go depth 3",
                "go nodes 500 searchmoves e2e4 a1a1",
                "go movetime 1",
                "go wtime 10 btime 10",
                "go mate 1 depth 2",
                "go depth x",
                "go",
            ][..]
        )
        .prop_map(str::to_owned),
        "[a-z0-9 ]{0,30}".prop_filter("it would end the script", |line| !line.contains("quit")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_go_is_answered_once(script in prop::collection::vec(any_line(), 0..25)) {
        let count_of = |wanted: fn(&UciMessage) -> bool| {
            let messages = script.iter().filter(|line| {
                matches!(command::parse(line.as_bytes()), Ok(Some(Command::Message(m, _))) if wanted(&m))
            });
            messages.count()
        };
        let searches = count_of(|message| matches!(message, UciMessage::Go { .. }));
        let ready = count_of(|message| *message == UciMessage::IsReady);
        let lines = answers(script.join("\n").as_bytes());
        prop_assert_eq!(count(&lines, "bestmove "), searches, "{:?}\n{:?}", script, lines);
        prop_assert_eq!(count(&lines, "readyok"), ready);
    }

    #[test]
    fn any_bytes_end(script in prop::collection::vec(any::<u8>(), 0..2000)) {
        answers(&script);
    }
}

/// Returns the lines that are printed during and after a search. `tell` reports the lines of the
/// search and may change options meanwhile. `minimal` is the initial value of the option Minimal.
fn printed(minimal: bool, tell: impl FnOnce(&dyn Fn(u32, usize), &DialogueOptions)) -> Vec<String> {
    let game = Game::default();
    let moves = game.position().legal_moves();
    let mut text = Vec::new();
    let output = Output::new(&mut text, false);
    output.options.minimal.store(minimal, Ordering::Relaxed);
    let printer = Printer::new(&output, &game, CastlingMode::Standard, None);
    let line = |depth, multipv: usize| {
        printer.info(&Info {
            depth,
            seldepth: depth,
            multipv,
            nodes: 1,
            pv: vec![moves[multipv]],
            ..Info::EMPTY
        });
    };
    tell(&line, &output.options);
    printer.finish();
    drop(printer);
    drop(output);
    let place = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        format!("depth {} line {}", words[2], words[6])
    };
    String::from_utf8(text).unwrap().lines().map(place).collect()
}

/// MultiPV may be reduced while Minimal holds back the lines of more ranks.
#[test]
fn minimal_keeps_the_lines_that_are_wanted() {
    let lines = printed(true, |tell, options| {
        options.live.multi_pv.store(3, Ordering::Relaxed);
        (1..=3).for_each(|rank| tell(7, rank));
        options.live.multi_pv.store(1, Ordering::Relaxed);
        tell(8, 1);
    });
    assert_eq!(lines, ["depth 8 line 1"]);
}

/// Minimal may be set between the lines of one MultiPV group.
#[test]
fn minimal_holds_from_the_first_line_on() {
    let lines = printed(false, |tell, options| {
        options.live.multi_pv.store(2, Ordering::Relaxed);
        tell(7, 1);
        options.minimal.store(true, Ordering::Relaxed);
        tell(7, 2);
        (1..=2).for_each(|rank| tell(8, rank));
        (1..=2).for_each(|rank| tell(9, rank));
    });
    assert_eq!(lines, ["depth 7 line 1", "depth 7 line 2", "depth 9 line 1", "depth 9 line 2"]);

    let lines = printed(true, |tell, options| {
        options.live.multi_pv.store(2, Ordering::Relaxed);
        tell(7, 1);
        options.minimal.store(false, Ordering::Relaxed);
        tell(7, 2);
        (1..=2).for_each(|rank| tell(8, rank));
    });
    assert_eq!(lines, ["depth 8 line 1", "depth 8 line 2"]);
}
