//! Tests `lancet epd` as a program: its output, files and exit status.

use std::{fs, path::Path, process::Output, thread};

use crate::common::{
    program::{Directory, LANCET, Running, lancet, run, signal, stderr, stdout},
    tables,
};
use serde_json::Value;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
/// A position with one solution: mate in one by Ra8.
const BACK_RANK: &str = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - -";

fn epd(args: &[&str]) -> Output {
    run(&[&["epd"], args].concat())
}

fn json(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn broken_lines_are_named_and_skipped() {
    let dir = Directory::new();
    let cases: &[(&str, usize, &str)] = &[
        ("8/8/8/8/8/8/8 w - - bm e4;", 1, "'8/8/8/8/8/8/8' is not a board: 7 ranks, expected 8"),
        (
            "rnbqkbnr/pppppppp/8/8/8/7/PPPPPPPP/RNBQKBNR w KQkq - bm e4;",
            25,
            "'rnbqkbnr/pppppppp/8/8/8/7/PPPPPPPP/RNBQKBNR' is not a board: rank 3 has 7 squares, expected 8",
        ),
        (
            "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4;",
            14,
            "'rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR' is not a board: 'x' is neither a piece nor 1 to 8",
        ),
        ("8/8/8/8/8/8/k1K5/8 x - - bm Kc3;", 20, "'x' is not a side to move: expected 'w' or 'b'"),
        (
            "8/8/8/8/8/8/k1K5/8 w KX - bm Kc3;",
            22,
            "'KX' is not a set of castling rights: expected letters such as KQkq or HAha, or '-'",
        ),
        ("8/8/8/8/8/8/k1K5/8 w -", 23, "the line ends before the en passant square"),
        ("8/8/8/8/8/8/K7/8 w - - bm Ka3;", 1, "illegal position: missing king"),
        (
            "7k/5Q2/6K1/8/8/8/8/8 b - - id \"over\";",
            1,
            "the game is over: there are no legal moves",
        ),
        (
            "8/8/8/8/8/8/k1K5/8 w - - bm Ka3;",
            29,
            "bm: illegal move 'Ka3': no White piece can make this move",
        ),
        (
            "8/8/8/8/8/8/k1K5/8 w - - am Kd3 id \"x\";",
            33,
            "am: 'id' is not a move; is a ';' missing before it?",
        ),
        ("4k3/8/8/8/8/1N3N2/8/4K3 w - - bm Nd4;", 34, "bm: 'Nd4' is ambiguous: Nbd4 or Nfd4"),
        ("8/8/8/8/8/8/k1K5/8 w - - bm;", 26, "bm needs at least one move"),
        ("8/8/8/8/8/8/k1K5/8 w - - id \"never;", 29, "the string has no closing '\"'"),
        (
            "8/8/8/8/8/8/k1K5/8 w - - dm soon;",
            29,
            "dm 'soon': expected a number of moves to mate, from -999 to 999 except 0",
        ),
        ("8/8/8/8/8/8/k1K5/8 w - - bm Kc3; am c2c3;", 34, "Kc3 is both in bm and in am"),
        ("8/8/8/8/8/8/k1K5/8 w - - bm Kc3; bm Kd3;", 34, "bm is given twice"),
        (
            "8/8/8/8/8/8/k1K5/8 w - - +bm Kc3;",
            26,
            "'+bm' is not an opcode: expected a letter, then letters, digits or '_'",
        ),
        (
            "8/8/8/8/8/8/k1K5/8 w - - hmvc -1; bm Kc3;",
            31,
            "hmvc '-1': expected a whole number from 0 to 9999",
        ),
        (
            "8/8/8/8/8/8/k1K5/8 w - - c8 \"10 5\"; c9 \"c2c3\";",
            26,
            "c8 has 2 numbers, but c9 has 1 move",
        ),
        (
            "8/8/8/8/8/8/k1K5/8 w - - c0 \"Kc3=10, Kd3=x\";",
            38,
            "c0 'Kd3=x': expected 'move=points'",
        ),
    ];
    let mut text = format!("{BACK_RANK} bm Ra8#; id \"good\";\n");
    cases.iter().for_each(|(line, ..)| text.push_str(&format!("{line}\n")));
    let suite = dir.file("broken_lines.epd", &text);
    let output = epd(&[&suite, "--depth", "3"]);
    assert_eq!(output.status.code(), Some(2));
    let complaints = stderr(&output);
    let complaints: Vec<&str> = complaints.lines().collect();
    assert_eq!(complaints.len(), cases.len(), "{complaints:#?}");
    for (index, (_, column, reason)) in cases.iter().enumerate() {
        let line = index + 2;
        assert_eq!(complaints[index], format!("lancet: {suite}:{line}:{column}: {reason}"));
    }
    let shown = stdout(&output);
    assert!(shown.contains(&format!("{} broken lines skipped", cases.len())), "{shown}");
    assert!(shown.contains("|    1/1 |    100.0 |"), "the run goes on: {shown}");
    assert_eq!(epd(&[&suite, "--depth", "3", "--lenient"]).status.code(), Some(0));

    let missing = epd(&["/no/such/suite.epd", "--depth", "1", "--lenient"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).starts_with("lancet: /no/such/suite.epd: "));
}

#[test]
fn encodings_comments_and_notations() {
    let dir = Directory::new();
    let mut bytes = b"\xef\xbb\xbf# a comment\r\n\r\n".to_vec();
    for (number, m) in ["Ra8", "Ra8#", "a1a8", "Ra1-a8!", "Ra1a8+", "#1"].iter().enumerate() {
        bytes.extend(format!("{BACK_RANK} bm {m}; id \"n{number}\";\r\n").bytes());
    }
    // A FEN, an unknown opcode, tablebase opcodes, Latin-1, and no final newline or semicolon.
    bytes.extend(format!("{BACK_RANK} bm Ra8; // a comment\n").bytes());
    bytes.extend(format!("{BACK_RANK} 3 40 pv Ra8; wdl 2; dtz 1; bm Ra8; id \"R").bytes());
    bytes.extend(b"\xe9ti\"");
    let suite = dir.file("encodings.epd", &bytes);
    let out = dir.path("encodings.json");
    let output = epd(&[&suite, "--depth", "2", "--json", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("|    8/8 |"), "{}", stdout(&output));
    let last = &json(&out)["suites"][0]["results"][0]["positions"][7];
    assert_eq!(last["id"], "Réti");
    assert_eq!(last["fen"], "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 3 40");
    assert_eq!(last["operations"]["wdl"][0], "2");
}

/// Errors in unneeded operations must not hide the solution.
#[test]
fn comments_may_say_anything() {
    let dir = Directory::new();
    let fen = BACK_RANK.strip_suffix(" -").unwrap();
    let lines = [
        format!("{BACK_RANK} ce +M3; acd 12.5; acn; acs soon; bm Ra8; id \"a\";"),
        format!("{BACK_RANK} c0 \"one\"; c0 \"two\"; bm Ra8; c0 \"three\";"),
        format!("{BACK_RANK} c0 \"5\" wheel\"; bm Ra8; c1 \"never closed"),
        format!("{BACK_RANK} c0 \"5\"\"; bm Ra8; c1 \"one; two\";"),
        format!("{fen} -;bm Ra8;"),
        format!("{BACK_RANK} 3 40;bm Ra8;"),
    ];
    let suite = dir.file("anything.epd", lines.join("\n"));
    let out = dir.path("anything.json");
    let output = epd(&[&suite, "--depth", "2", "--json", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("|    6/6 |"), "{}", stdout(&output));
    let positions = &json(&out)["suites"][0]["results"][0]["positions"];
    assert_eq!(positions[0]["id"], "a");
    assert_eq!(positions[0]["operations"]["acd"][0], "12.5");
    assert_eq!(positions[1]["operations"]["c0"], serde_json::json!(["one"]));
    assert_eq!(positions[2]["operations"]["c1"][0], "never closed");
    assert_eq!(positions[3]["operations"]["c1"][0], "one; two");
}

/// Megabytes of operations must be read fast, although repeated opcodes have to be found.
#[test]
fn a_line_may_have_many_operations() {
    let dir = Directory::new();
    let operations: String = (0..200_000).map(|number| format!(" a{number} 1;")).collect();
    let suite = dir.file("many.epd", format!("{BACK_RANK} bm Ra8;{operations}\n"));
    let output = epd(&[&suite, "--depth", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("|    1/1 |"), "{}", stdout(&output));
}

#[test]
fn chess960_castling_is_understood() {
    let dir = Directory::new();
    // The same castling move in four notations.
    let castles = "6k1/5ppp/8/8/8/8/5PPP/4RK1R w H - bm";
    let text: String =
        ["O-O", "0-0", "f1h1", "Kf1h1"].iter().map(|m| format!("{castles} {m};\n")).collect();
    let suite = dir.file("chess960.epd", text);
    let out = dir.path("chess960.json");
    let output = epd(&[&suite, "--depth", "1", "--json", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let positions = &json(&out)["suites"][0]["results"][0]["positions"];
    for index in 0..4 {
        assert_eq!(positions[index]["best_moves"][0], "f1h1");
    }
}

#[test]
fn strategic_points() {
    let dir = Directory::new();
    // All moves have points, so any move earns some.
    let moves = ["Kb1", "Kb2", "Ka2"];
    let line = "8/8/8/8/8/8/6k1/K7 w - - bm Kb2;";
    let new =
        format!("{line} id \"STS(v1.0) Undermine.001\"; c8 \"3 10 5\"; c9 \"a1b1 a1b2 a1a2\";");
    let old = format!("{line} id \"STS(v1.0) Undermine.002\"; c0 \"Kb1 = 3, Kb2 =10, Ka2=5\";");
    let comment = format!(
        "{line} id \"STS(v2.2) Files.001\"; c0 \"Kb2! wins the opposition, par=2\"; c8 \"1\";"
    );
    let suite = dir.file("points.epd", format!("{new}\n{old}\n{comment}\n"));
    let out = dir.path("points.json");
    let output = epd(&[&suite, "--depth", "1", "--json", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all = json(&out);
    let result = &all["suites"][0]["results"][0];
    for index in 0..2 {
        let position = &result["positions"][index];
        let played = moves.iter().position(|&m| position["san"] == m).unwrap();
        assert_eq!(position["points"], [3, 10, 5][played]);
        assert_eq!(position["max_points"], 10);
        assert_eq!(position["move_points"]["a1b1"], 3);
        assert_eq!(position["solved"], position["san"] == "Kb2");
    }
    assert_eq!(result["positions"][2]["max_points"], 0);
    assert_eq!(result["themes"][0]["theme"], "STS(v1.0) Undermine");
    assert_eq!(result["themes"][0]["summary"]["max_points"], 20);
    assert_eq!(result["themes"][1]["theme"], "STS(v2.2) Files");
    assert!(stdout(&output).contains("| theme "), "{}", stdout(&output));

    // The customary rating estimate needs a suite with ten points for each position.
    let suite = dir.file("points10.epd", format!("{new}\n{old}\n"));
    let shown = stdout(&epd(&[&suite, "--depth", "1"]));
    assert!(shown.contains("(a customary estimate, not a measured rating)"), "{shown}");
}

#[test]
fn mates_need_a_proof() {
    let dir = Directory::new();
    let suite = dir.file(
        "mates.epd",
        format!(
            "{BACK_RANK} dm 1; bm h3; id \"any move that mates\";\n\
             {BACK_RANK} bm #1; id \"matetrack\";\n\
             7k/8/6K1/8/8/8/8/R7 b - - bm #-1; id \"is mated\"; PV: h8g8 a1a8;\n\
             {START} dm 1; id \"no mate\";\n"
        ),
    );
    let out = dir.path("mates.json");
    let output = epd(&[&suite, "--depth", "4", "--mate", "--json", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all = json(&out);
    let positions = &all["suites"][0]["results"][0]["positions"];
    let solved: Vec<&Value> = (0..4).map(|index| &positions[index]["solved"]).collect();
    assert_eq!(solved, [true, true, true, false], "{}", stdout(&output));
    assert_eq!(positions[0]["lines"][0]["score"]["mate"], 1);
    assert_eq!(positions[2]["lines"][0]["score"]["mate"], -1);
    assert_eq!(all["limits"]["mate"], true);
}

#[test]
fn requirements_and_failed_positions() {
    let dir = Directory::new();
    let good = format!("{BACK_RANK} bm Ra8; id \"good\";");
    let bad = format!("{BACK_RANK} am Ra8; id \"bad\"; c1 \"kept; as it is\";");
    let plain = format!("{START} id \"nothing to grade\";");
    let suite = dir.file("require.epd", format!("{good}\n{bad}\n{plain}\n"));
    let failed = dir.path("failed.epd");
    let output = epd(&[&suite, "--nodes", "1000", "--require", "1", "--save-failed", &failed]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(fs::read_to_string(&failed).unwrap(), format!("{bad}\n"));
    let shown = stdout(&output);
    assert!(shown.contains("1 without a solution, not graded"), "{shown}");
    assert!(shown.contains(&format!("\nWrote {failed}\n")), "{shown}");
    assert!(shown.contains("(am Ra8)"), "{shown}");
    assert!(stderr(&output).is_empty(), "no progress bar outside a terminal: {}", stderr(&output));

    // Files that exist are only replaced with --force.
    let again = [suite.as_str(), "--nodes", "10", "--save-failed", &failed];
    let output = epd(&again);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("failed.epd: the file exists; use --force"), "{output:?}");
    assert_eq!(fs::read_to_string(&failed).unwrap(), format!("{bad}\n"));
    assert_eq!(epd(&[&again[..], &["--force"]].concat()).status.code(), Some(0));
    fs::write(&failed, format!("{bad}\n")).unwrap();

    let output = epd(&[&suite, "--nodes", "1000", "--require", "2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("1 solved, 2 required"));
    // Rerun the missed positions.
    assert_eq!(epd(&[&failed, "--nodes", "1000", "--require", "1"]).status.code(), Some(1));
}

#[test]
fn limits_hold_and_stop_early_stops() {
    let dir = Directory::new();
    let suite = dir.file(
        "limits.epd",
        format!("{START} bm a3 a4 b3 b4 c3 c4 d3 d4 e3 e4 f3 f4 g3 g4 h3 h4 Na3 Nc3 Nf3 Nh3;\n"),
    );
    let out = dir.path("limits.json");
    let position = |args: &[&str]| {
        let mut all = vec![suite.as_str(), "--json", &out, "--force"];
        all.extend(args);
        let output = epd(&all);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json(&out)["suites"][0]["results"][0]["positions"][0].clone()
    };
    // Every move is a solution, so it is found at depth 1.
    let early = position(&["--depth", "40", "--nodes", "2000000", "--stop-early", "3"]);
    assert_eq!(early["found"]["depth"], 1);
    assert!((3..12).contains(&early["lines"][0]["depth"].as_u64().unwrap()), "{early}");
    assert!(early["nodes"].as_u64().unwrap() < 10_000, "{early}");
    let full = position(&["--depth", "5"]);
    assert_eq!(full["lines"][0]["depth"], 5);
    assert_eq!(position(&["--nodes", "2000", "--depth", "60"])["nodes"], 2000);
    assert_eq!(position(&["--nodes", "9000000", "--depth", "2"])["lines"][0]["depth"], 2);
    let time = position(&["--movetime", "50"])["time"].as_u64().unwrap();
    // The engine keeps one millisecond back.
    assert!(time >= 49, "{time}");
    let lines = position(&["--depth", "3", "--multipv", "3", "--threads", "2", "--hash", "2"]);
    let ranks: Vec<&Value> = (0..3).map(|index| &lines["lines"][index]["rank"]).collect();
    assert_eq!(ranks, [1, 2, 3]);
}

#[test]
fn jobs_and_nodes_are_reproducible() {
    let dir = Directory::new();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("epd/bk.epd");
    let suite = suite.to_str().unwrap();
    let moves = |jobs: &str, name: &str| {
        let out = dir.path(name);
        let output = epd(&[suite, "--nodes", "3000", "--jobs", jobs, "--json", &out]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let all = json(&out);
        let positions = all["suites"][0]["results"][0]["positions"].as_array().unwrap().clone();
        positions.iter().map(|p| (p["id"].clone(), p["move"].clone())).collect::<Vec<_>>()
    };
    let alone = moves("1", "alone.json");
    assert_eq!(alone.len(), 24);
    assert_eq!(alone, moves("2", "beside.json"));
}

#[test]
fn csv_has_a_row_per_position_and_engine() {
    let dir = Directory::new();
    let suite = dir
        .file("rows.epd", format!("{BACK_RANK} bm Ra8; id \"a, \"; c0 \"b\";\n{START} bm Nh3;\n"));
    let out = dir.path("rows.csv");
    let output = epd(&[&suite, "--depth", "2", "--csv", &out, "--engine", LANCET]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut reader = csv::Reader::from_path(&out).unwrap();
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    let cell = |row: usize, name: &str| {
        let column = header.iter().position(|title| title == name).unwrap();
        rows[row][column].to_owned()
    };
    for row in [0, 2] {
        assert_eq!(cell(row, "id"), "a, ");
        assert_eq!(cell(row, "solved"), "true");
        assert_eq!(cell(row, "move"), "a1a8");
        assert_eq!(cell(row, "mate"), "1");
        assert_eq!(cell(row, "cp"), "");
        assert_eq!(cell(row, "line"), "1");
    }
    assert_eq!(cell(1, "solved"), "false");
    assert_ne!(cell(0, "engine"), cell(2, "engine"));
}

/// Ids in foreign files must not send control characters to a terminal or formulas to a
/// spreadsheet.
#[test]
fn hostile_ids_do_nothing() {
    let dir = Directory::new();
    let ids = ["\u{1b}]0;title\u{7}", "=1+1", "-35"];
    let line = |id: &&str| format!("{BACK_RANK} bm Ra8; id \"{id}\";\n");
    let broken = format!("{BACK_RANK} bm \u{1b}[2J\u{9b}2J;\n");
    let suite = dir.file("ids.epd", ids.iter().map(line).collect::<String>() + &broken);
    let out = dir.path("ids.csv");
    let output = epd(&[&suite, "--depth", "1", "--csv", &out]);
    let shown = stdout(&output) + &stderr(&output);
    assert!(shown.contains("]0;title") && shown.contains("[2J"), "{shown}");
    assert!(!shown.chars().any(|c| c != '\n' && c.is_control()), "{shown:?}");
    let mut reader = csv::Reader::from_path(&out).unwrap();
    let column = reader.headers().unwrap().iter().position(|title| title == "id").unwrap();
    let cells: Vec<String> =
        reader.records().map(|record| record.unwrap()[column].to_owned()).collect();
    // Control characters become spaces in a text file.
    assert_eq!(cells, [" ]0;title ", "'=1+1", "-35"]);
}

#[test]
fn another_engine_beside_us() {
    let dir = Directory::new();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("epd/bk.epd");
    let suite = suite.to_str().unwrap();
    let out = dir.path("engines.json");
    let args = [suite, "--depth", "6", "--json", &out, "--engine", LANCET, "--jobs", "2"];
    let output = epd(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all = json(&out);
    assert_eq!(all["engines"][0]["command"], Value::Null);
    assert_eq!(all["engines"][1]["command"], LANCET);
    let results = &all["suites"][0]["results"];
    // The same engine through UCI gives the same moves and scores.
    for index in 0..24 {
        let (ours, theirs) = (&results[0]["positions"][index], &results[1]["positions"][index]);
        for key in ["id", "move", "solved"] {
            assert_eq!(ours[key], theirs[key], "{ours:#}\n{theirs:#}");
        }
        assert_eq!(ours["lines"][0]["score"], theirs["lines"][0]["score"]);
        assert_eq!(theirs["lines"][0]["depth"], 6);
        assert!(theirs["nodes"].as_u64().unwrap() > 500, "{theirs:#}");
        assert_eq!(theirs["failure"], Value::Null);
    }
    let alone = epd(&[suite, "--depth", "1", "--engine", LANCET, "--engines-only"]);
    assert_eq!(alone.status.code(), Some(0));
    let table = stdout(&alone);
    assert!(table.contains("bk.epd by Lancet") && !table.contains("| Lancet"), "{table}");

    let missing = epd(&[suite, "--depth", "1", "--engine", "/no/such/engine"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("--engine '/no/such/engine': cannot start"));
}

/// With several engines, the table has a column for each engine and a row for each theme. Positions
/// that only one engine solved are listed.
#[cfg(unix)]
#[test]
fn engines_side_by_side() {
    let dir = Directory::new();
    let script = "while read line; do case \"$line\" in\n\
                  uci) echo 'id name Other'; echo uciok;;\n\
                  isready) echo readyok;;\n\
                  quit) exit 0;;\n\
                  go*) echo info depth 1 score cp 5 nodes 9 pv a1a2; echo bestmove a1a2;;\n\
                  esac; done\n";
    let engine = format!("sh {}", dir.file("engine.sh", script));
    let goals = ["bm Ra8; id \"mate.1\"", "am Ra3; id \"mate.2\"", "bm Ra2; id \"rook.1\""];
    let lines = goals.map(|goal| format!("{BACK_RANK} {goal};\n"));
    let suite = dir.file("beside.epd", lines.concat());
    let output = epd(&[&suite, "--depth", "2", "--engine", &engine]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown = stdout(&output);
    let rows = shown.lines().filter(|line| line.starts_with('|'));
    let rows = rows.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let rows: Vec<String> = rows.collect();
    let name = concat!("Lancet ", env!("CARGO_PKG_VERSION"));
    assert_eq!(rows[0], format!("| theme | {name} | Other |"), "{shown}");
    assert_eq!(rows[2], "| mate | 2/2 (100.0%) | 1/2 (50.0%) |", "{shown}");
    assert_eq!(rows[3], "| rook | 0/1 (0.0%) | 1/1 (100.0%) |", "{shown}");
    assert_eq!(rows[4], "| all | 2/3 (66.7%) | 2/3 (66.7%) |", "{shown}");
    // The nodes are those that the engine last reported.
    assert!(shown.contains(" nodes reported  move") && !shown.contains(" nodes  move"), "{shown}");
    assert!(shown.contains("\nOther: 9 nodes reported per position\n"), "{shown}");
    for (name, id) in [(name, "mate.1"), ("Other", "rook.1")] {
        let alone = format!("{name}: 1 solved by this engine only: {id}\n");
        assert!(shown.contains(&alone), "{shown}");
    }
}

/// Misbehaving engines (shell scripts) must not stop the run, and their answers are judged
/// correctly.
#[cfg(unix)]
#[test]
fn misbehaving_engines_do_no_harm() {
    let dir = Directory::new();
    let script = |name: &str, on_go: &str| {
        let body = format!(
            "while read line; do case \"$line\" in\n\
             uci) echo 'id name {name}'; echo uciok;;\n\
             isready) echo readyok;;\n\
             quit) exit 0;;\n\
             go*) {on_go};;\n\
             esac; done\n"
        );
        format!("sh {}", dir.file(&format!("{name}.sh"), body))
    };
    let run = |command: &str, positions: usize, timeout: &str| {
        let suite = format!("{BACK_RANK} bm Ra8;\n").repeat(positions);
        let suite = dir.file(&format!("harm-{}.epd", command.replace(['/', ' '], "-")), suite);
        let limits = ["--nodes", "100", "--engine-timeout", timeout, "--engines-only"];
        let output = epd(&[&[suite.as_str(), "--engine", command], &limits[..]].concat());
        (output.status.code(), stdout(&output), stderr(&output))
    };
    // A long timeout, so that slow answers on a busy machine are not missed.
    const LONG: &str = "120";
    let (status, shown, _) = run(&script("crash", "exit 7"), 5, LONG);
    assert_eq!(status, Some(1));
    assert_eq!(
        shown
            .matches("the engine exited (exit status: 7); the last command or expected answer was 'bestmove'")
            .count(),
        3
    );
    assert_eq!(shown.matches("skipped after 3 failures in a row").count(), 2);
    assert!(shown.contains("crash: 5 not answered (counted as not solved)"), "{shown}");

    let (status, shown, _) = run(&script("illegal", "echo bestmove a1b3"), 1, LONG);
    assert_eq!(status, Some(1));
    assert!(shown.contains("bestmove: illegal move 'a1b3': "), "{shown}");

    // A right answer counts even without a usable info line.
    let answer = "echo info depth x score cp pv; echo bestmove a1a8 ponder 0000";
    let (status, shown, _) = run(&script("terse", answer), 5, LONG);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("|    5/5 |"), "{shown}");

    // This engine does not know `go nodes` and answers at once, without a search. So the program
    // sends a very deep `go depth` instead, and `stop` when enough nodes are reported.
    let answer = "case \"$line\" in *nodes*) echo bestmove a1a2;; *) \
                  echo info depth 9 score cp 5 nodes 101 pv a1a8;; esac;; \
                  stop) echo bestmove a1a8";
    let (status, shown, _) = run(&script("ignorant", answer), 5, LONG);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("|    5/5 |") && shown.contains(" 101 "), "{shown}");

    // These engines obey `go nodes` but stop within an iteration. One always reports its nodes. The
    // other is silent on the first position only. Later positions must still use `go nodes`.
    let quiet = "case \"$line\" in *nodes*) echo info depth 9 score cp 5 nodes 10 pv a1a8; \
                 echo bestmove a1a8;; *) echo bestmove a1a2;; esac";
    let (status, shown, _) = run(&script("quiet", quiet), 5, LONG);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("|    5/5 |"), "{shown}");
    let once = "n=$((n + 1)); case \"$n $line\" in 1*) echo bestmove a1a2;; \
                *nodes*) echo info depth 9 score cp 5 nodes 10 pv a1a8; echo bestmove a1a8;; \
                *) echo bestmove a1a2;; esac";
    let (status, shown, _) = run(&script("once", once), 5, LONG);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("|    4/5 |"), "{shown}");

    // These engines complete the handshake but send no move. One is silent, the other prints other
    // lines.
    let [hang, talker] = [("hang", ":"), ("talker", "while echo still here; do sleep 0.1; done")]
        .map(|(name, on_go)| script(name, on_go));
    let run = &run;
    thread::scope(|scope| {
        for engine in [&hang, &talker] {
            scope.spawn(move || {
                let (status, shown, _) = run(engine, 1, "10");
                assert_eq!(status, Some(1));
                assert!(shown.contains("no bestmove 10 s after 'stop'"), "{engine}: {shown}");
            });
        }
        for other in ["cat", "yes"] {
            scope.spawn(move || {
                let (status, _, complaint) = run(other, 1, "1");
                assert_eq!(status, Some(1));
                assert!(
                    complaint.contains("the engine did not send 'uciok' in time"),
                    "{other}: {complaint}"
                );
            });
        }
    });
}

/// All jobs of Lancet share the tablebases, and other engines get their path.
#[cfg(unix)]
#[test]
fn all_engines_get_the_tables() {
    let dir = Directory::new();
    let log = dir.path("log");
    let script = format!(
        "while read line; do echo \"$line\" >> '{log}'; case \"$line\" in\n\
         uci) echo 'option name SyzygyPath type string default <empty>'; echo uciok;;\n\
         isready) echo readyok;;\n\
         quit) exit 0;;\n\
         go*) echo info depth 1 score cp 5 nodes 9 pv h1h5; echo bestmove h1h5;;\n\
         esac; done\n"
    );
    let engine = format!("sh {}", dir.file("engine.sh", script));
    let suite = dir.file("rook.epd", "8/8/8/3k4/8/8/8/K6R w - - bm Rh5+;\n");
    let out = dir.path("rook.json");
    let run = |tables: &str| {
        let output = epd(&[
            &["--depth", "1", "--jobs", "2", "--syzygy", tables][..],
            &["--json", &out, "--force", "--engine", &engine, &suite],
        ]
        .concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let told = fs::read_to_string(&log).unwrap();
        assert!(told.contains(&format!("setoption name SyzygyPath value {tables}\n")), "{told}");
        let all = json(&out);
        assert_eq!(all["syzygy"], tables);
        let cp = &all["suites"][0]["results"][0]["positions"][0]["lines"][0]["score"]["cp"];
        (cp.as_i64().unwrap(), stderr(&output))
    };
    let (without, said) = run(&dir.path(""));
    assert_eq!(said.matches("SyzygyPath: no tablebases found").count(), 1, "{said}");
    let Some(directory) = tables::directory() else { return };
    let (with, _) = run(directory.to_str().unwrap());
    assert!(without < 5000 && with > 5000, "{without} {with}");
}

/// Ctrl-C ends a long run and prints the results so far.
#[cfg(unix)]
#[test]
fn an_interrupt_prints_the_summary() {
    let dir = Directory::new();
    use std::{
        io::{BufRead as _, BufReader, Read as _},
        process::Stdio,
    };

    let mut text = format!("{BACK_RANK} bm Ra8;\n");
    text.push_str(&format!("{START} bm Na3;\n").repeat(3));
    let suite = dir.file("interrupt.epd", text);
    let next = dir.file("next.epd", format!("{BACK_RANK} bm Ra8;\n"));
    let out = dir.path("interrupt.json");
    let args = ["epd", &suite, &next, "--movetime", "3600000", "--stop-early", "2", "--json", &out];
    let mut child = Running::start(lancet(&args).stdout(Stdio::piped()));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut shown = String::new();
    while !shown.contains("found") {
        assert!(output.read_line(&mut shown).unwrap() > 0, "{shown}");
    }
    assert!(shown.contains("position                   answer "), "{shown}");
    signal(child.id(), "-TERM");
    output.read_to_string(&mut shown).unwrap();
    assert_eq!(child.ended().code(), Some(130));
    assert!(shown.contains("|    1/1 |") && shown.contains("3 not reached"), "{shown}");
    assert!(!shown.contains("next.epd"), "{shown}");
    assert!(shown.contains("Interrupted. The tables show the results so far."), "{shown}");
    let all = json(&out);
    assert_eq!(all["interrupted"], true);
    assert_eq!(all["suites"][0]["results"][0]["positions"].as_array().unwrap().len(), 1);
}

/// `nohup` ignores SIGHUP for the programs that it starts.
#[cfg(unix)]
#[test]
fn an_ignored_hangup_stays_ignored() {
    use std::io::{BufRead as _, BufReader};

    let dir = Directory::new();
    let suite = dir.file("nohup.epd", format!("{BACK_RANK} bm Ra8;\n{BACK_RANK} bm Ra8;\n"));
    let script = "trap '' HUP; exec \"$0\" epd \"$1\" --movetime 300";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, LANCET, &suite]).stdout(std::process::Stdio::piped());
    let mut child = Running::start(&mut command);
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(output.any(|line| line.unwrap().contains("found")));
    signal(child.id(), "-HUP");
    assert_eq!(output.filter(|line| line.as_ref().unwrap().contains("|    2/2 |")).count(), 1);
    assert_eq!(child.ended().code(), Some(0));
}

#[test]
fn wrong_command_lines() {
    let dir = Directory::new();
    let suite = dir.file("command.epd", format!("{BACK_RANK} bm Ra8;\n"));
    let games = dir.file("games.pgn", "[Event \"One\"]\n[Site \"A\"]\n\n1. e4 e5 *\n");
    let (suite, games) = (suite.as_str(), games.as_str());
    for (args, why) in [
        (&[suite, "--nodes", "0"][..], "expected a whole number from 1 to 10^18"),
        (&[], "required arguments"),
        (&[suite, "--nodes", "-5"], "expected a whole number from 1 to 10^18"),
        (&[suite, "--movetime", "-0.5"], "expected a whole number from 1 to 86400000"),
        (&[suite, "--depth", "x"], "expected a whole number from 1"),
        (&[suite, "--threads", "0"], "expected a whole number from 1"),
        (&[suite, "--hash", "0"], "expected a whole number from 1"),
        (&[suite, "--engines-only"], "--engine"),
        (&[suite, "--syzygy", "/no/such/folder"], "'/no/such/folder' is not a directory"),
        (&[suite, "--json", "/no/such/folder/x.json"], "cannot write /no/such/folder/x.json"),
        (&[games], "games.pgn: expected positions, found games; 'lancet analyse' reads games"),
    ] {
        let output = epd(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = stderr(&output);
        assert!(said.contains(why) && !said.contains("-- -"), "{said}");
    }
}

/// All suites of the repository can be read and searched.
#[test]
fn shipped_suites() {
    // The program must expand this pattern itself, without a shell.
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("epd/*.epd");
    let output = epd(&[files.to_str().unwrap(), "--nodes", "1", "--hash", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown = stdout(&output);
    assert!(shown.matches(".epd by Lancet").count() >= 19 && shown.contains("\n| wac "), "{shown}");
}

/// Every line belongs to one shard and gets the same answer there.
#[test]
fn shards_are_the_whole() {
    let dir = Directory::new();
    let file = |name: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("epd").join(name).to_str().unwrap().to_owned()
    };
    let suites = [file("bk.epd"), file("nullmove.epd"), dir.file("bad.epd", "nonsense\n")];
    let rows = |shard: &str, name: &str| -> Vec<String> {
        let (csv, failed) = (dir.path(name), dir.path(&format!("{name}.failed")));
        let options =
            ["--nodes", "2000", "--shard", shard, "--csv", &csv, "--save-failed", &failed];
        let suites = suites.iter().map(String::as_str);
        let output = epd(&suites.chain(options).collect::<Vec<_>>());
        let bad = stderr(&output).contains("bad.epd:1:");
        assert_eq!(output.status.code(), Some(if bad { 2 } else { 0 }), "{}", stderr(&output));
        let mut reader = csv::Reader::from_path(&csv).unwrap();
        let times: Vec<usize> = reader
            .headers()
            .unwrap()
            .iter()
            .enumerate()
            .filter_map(|(i, title)| title.contains("time").then_some(i))
            .collect();
        let row = |row: csv::StringRecord| -> Vec<String> {
            let cells = row.iter().enumerate().filter(|(i, _)| !times.contains(i));
            cells.map(|(_, cell)| cell.to_owned()).collect()
        };
        let rows = reader.records().map(|record| row(record.unwrap()).join(","));
        let failed = fs::read_to_string(failed).unwrap();
        rows.chain(bad.then(|| "bad".to_owned())).chain(failed.lines().map(str::to_owned)).collect()
    };
    let mut whole = rows("1/1", "whole");
    let parts = (1..=4).map(|number| rows(&format!("{number}/4"), &format!("part{number}")));
    let parts: Vec<Vec<String>> = parts.collect();
    assert!(parts.iter().all(|part| part.len() >= 7));
    let mut joined = parts.concat();
    whole.sort();
    joined.sort();
    assert_eq!(joined, whole);
    let wrong = epd(&[&suites[0], "--shard", "5/4"]);
    assert!(stderr(&wrong).contains("expected K/N with K from 1 to N"), "{}", stderr(&wrong));
}
