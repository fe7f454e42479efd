//! Tests `lancet study` as a program: trees that grow, are interrupted, continue and are shown. The
//! page is tested in a real browser if one is available.

use std::{
    fs,
    io::Read as _,
    path::Path,
    process::{Command, Stdio},
};

use crate::common::{
    program::{Directory, Running, fail, lancet, run, stdout, succeed, text, wait_for_bytes},
    tables,
};
use lancet::{
    chess::pgn::{Game, Item, Variation, read::Games},
    tools::{
        analyse::annotate::replay,
        study::{
            file::Study,
            tree::{Id, Tree},
        },
    },
};

/// Short searches with a small table, because these tests are about the tree.
const SMALL: [&str; 4] = ["--step", "400", "--hash", "1"];

fn grow(args: &[&str]) -> String {
    succeed(&[&["study"], args, &SMALL].concat())
}

fn games(path: &str) -> Vec<Game> {
    let text = fs::read(path).unwrap();
    let mut games = Games::new(&text[..]);
    std::iter::from_fn(|| games.next_game().unwrap()).map(Result::unwrap).collect()
}

/// Counts the moves of a game and its variations.
fn count(line: &Variation) -> usize {
    let variations = line.moves.iter().flat_map(|node| &node.items);
    let inside =
        variations.map(|item| if let Item::Variation(line) = item { count(line) } else { 0 });
    line.moves.len() + inside.sum::<usize>()
}

/// Returns the node at the end of a line in UCI notation.
fn walk(tree: &Tree, line: &str) -> Id {
    line.split_whitespace().fold(Tree::START, |at, text| {
        let node = tree.node(at);
        let m = lancet::chess::notation::read_move(&node.position, text).unwrap();
        node.edge(m).unwrap_or_else(|| panic!("no node for {text} of {line}")).to
    })
}

#[test]
fn a_position_is_grown_and_grown_on() {
    let dir = Directory::new();
    let file = dir.path("a.study");
    let start = ["startpos", "moves", "1.", "e4", "e5", "--file", &file];
    let said = grow(&[&start[..], &["--nodes", "20000"]].concat());
    assert!(said.contains("| move | score") && said.contains(" 20.0k nodes"), "{said}");
    let first = Study::open(Path::new(&file)).unwrap();
    let (nodes, positions) = (first.nodes(), first.tree().positions());
    // About fifty searches. Each is of a new position, or of the other moves of a position whose
    // best move has its own node.
    assert_eq!(nodes, 20_000);
    assert!((15..60).contains(&positions), "{positions}");
    let best = first.tree().node(walk(first.tree(), "e2e4 e7e5")).value.unwrap();
    assert!((-100..100).contains(&best), "{best}");
    drop(first);

    // Continue with the same command. Then continue with the file alone, below one position, and
    // with two engines.
    grow(&[&start[..], &["--nodes", "4000"]].concat());
    let said = grow(&[&file, "--nodes", "8000", "--at", "e4 e5 Nf3 Nc6 Bb5 a6", "--jobs", "2"]);
    assert!(said.contains("After 3... a6:\nr1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/5N2/"), "{said}");
    let study = Study::open(Path::new(&file)).unwrap();
    assert_eq!(study.nodes(), 32_000);
    let spanish = walk(study.tree(), "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6");
    assert!(study.tree().size(spanish) > 3, "{}", study.tree().size(spanish));
    assert!(study.tree().node(walk(study.tree(), "e2e4")).edges[0].pinned);
    drop(study);

    let other = fail(&[&["study", "startpos", "moves", "e5"][..], &SMALL].concat());
    assert!(other.contains("illegal move 'e5'"), "{other}");
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let other = fail(&["study", fen, "--file", &file, "--nodes", "1000"]);
    assert!(other.contains("a study of another position"), "{other}");
}

#[test]
fn a_game_is_studied_as_it_goes_on() {
    let dir = Directory::new();
    // White has missed a mate in one, and still has it.
    let moves = "{ Club } 1. e4 { best by test } e5 2. Bc4 Nc6 $1 $1 (2... Nf6 { also } 3. Ng5) \
                 3. Qh5+ { [%clk 0:01:00] } Nf6 4. d3 d6";
    let pgn = dir.file("a.pgn", format!("[White \"A <b>\"]\n[Black \"B\"]\n\n{moves} *\n"));
    let (study, out, page) = (dir.path("a.study"), dir.path("out.pgn"), dir.path("out.html"));
    let shows = ["--pgn", &out, "--html", &page, "--size", "60"];
    let said = grow(&[&[pgn.as_str(), "--nodes", "12000"][..], &shows].concat());
    assert!(said.contains(&format!("\nWrote {out}, {page}\n")), "{said}");
    // All positions of the game were searched, although the result is decided before its end.
    let tree = Study::open(Path::new(&study)).unwrap();
    assert!(tree.game_nodes().iter().all(|&id| tree.tree().node(id).rest.is_some()));
    drop(tree);
    let shown = games(&out).remove(0);
    // The game has no result, so the best line follows its moves.
    assert!(replay(&shown).unwrap().1.len() > 8);
    let last = &shown.main.moves[7].items;
    assert_eq!(last.last(), Some(&Item::Comment("End of the game so far.".to_owned())), "{last:?}");
    assert_eq!(shown.tag("White"), Some("A <b>"));
    // All annotations of the game are still there.
    assert!(shown.main.lead.contains(&Item::Comment("Club".to_owned())), "{:?}", shown.main.lead);
    assert!(shown.main.moves[0].items.contains(&Item::Comment("best by test".to_owned())));
    let own = &shown.main.moves[3].items;
    assert_eq!(own.iter().filter(|item| matches!(item, Item::Nag(_))).count(), 1, "{own:?}");
    let variation = own.iter().find_map(|item| match item {
        Item::Variation(line) => Some(line),
        _ => None,
    });
    let also = &variation.unwrap().moves[0];
    assert_eq!(
        (also.san.to_string().as_str(), &*also.items),
        ("Nf6", &[Item::Comment("also".into())][..])
    );
    let hurried = &shown.main.moves[4];
    let clock = |item: &Item| {
        matches!(item, Item::Comment(text)
        if text.starts_with("[%eval") && text.ends_with(" [%clk 0:01:00]"))
    };
    assert!(hurried.san.to_string() == "Qh5" && hurried.items.iter().any(clock), "{hurried:?}");
    let blunder = &shown.main.moves[5];
    assert!(matches!(&blunder.items[0], Item::Nag(nag) if nag.0 == 4), "{blunder:?}");
    let mate = &shown.main.moves[6].items;
    let mates = mate.iter().any(|item| match item {
        Item::Variation(line) => line.moves[0].san.to_string() == "Qxf7#",
        _ => false,
    });
    assert!(mates, "{mate:?}");
    assert!((20..200).contains(&count(&shown.main)), "{}", count(&shown.main));

    fs::write(&pgn, format!("[White \"A <b>\"]\n\n{moves} 5. Qxf7# 1-0\n")).unwrap();
    grow(&[&[pgn.as_str(), "--nodes", "400"][..], &shows].concat());
    let tree = Study::open(Path::new(&study)).unwrap();
    assert_eq!((tree.game_nodes().len(), tree.played().moves.len()), (10, 9));
    drop(tree);
    let shown = games(&out).remove(0);
    assert_eq!((shown.main.moves.len(), shown.result().as_str()), (9, "1-0"));
    // The outputs replace those of an earlier run, and no other files.
    let foreign = dir.file("foreign", "[Annotator \"Ann\"]\n\n*\n");
    for (option, file) in [("--pgn", &foreign), ("--html", &foreign), ("--html", &out)] {
        let before = fs::read(file).unwrap();
        let said = fail(&["study", &study, option, file]);
        assert!(said.contains(&format!("{file}: the file exists; use --force")), "{said}");
        assert_eq!(fs::read(file).unwrap(), before);
    }
    succeed(&["study", &study, "--pgn", &foreign, "--force"]);
    assert_eq!(games(&foreign)[0].main.moves.len(), 9);
    // The game must not be overwritten, and --file and --game do not apply to a study.
    for (refused, why) in [
        (&[pgn.as_str(), "--pgn", &pgn][..], "already reads or writes it"),
        (&[study.as_str(), "--game", "1"], "this is a study"),
        (&[study.as_str(), "--file", &out], "this is a study"),
    ] {
        let said = fail(&[&["study"][..], refused].concat());
        assert!(said.contains(why), "{said}");
    }
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("A \\u003cb>") && !page.contains("A <b>") && !page.contains("https://"));
    // The page opens before the last move of a finished game, with its marks and its result.
    let data = page.split_once("class=\"game\">").unwrap().1.split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let at = |name: &str| &data["spots"][data["at"].as_u64().unwrap() as usize][name];
    assert_eq!((at("san"), at("over")), (&"4... d6".into(), &serde_json::Value::Null));
    assert_eq!(
        (&at("moves")[0]["san"], &at("moves")[0]["score"]),
        (&"5. Qxf7#".into(), &"#1".into())
    );
    assert_eq!(at("moves")[0]["note"], "1");
    assert_eq!((&data["result"], &data["title"]), (&"1-0".into(), &"A <b> - ? (1-0)".into()));
    let marks = ["2... Nc6!", "3... Nf6??"].map(|marked| {
        let is_it = |spot: &&serde_json::Value| {
            format!(
                "{}{}",
                spot["san"].as_str().unwrap_or_default(),
                spot["mark"].as_str().unwrap()
            ) == marked
        };
        data["spots"].as_array().unwrap().iter().filter(is_it).count()
    });
    assert_eq!(marks, [1, 1], "{data}");
}

/// All engines share the tablebases.
#[test]
fn tables_are_opened_once() {
    let dir = Directory::new();
    let (file, tables) = (dir.path("a.study"), dir.path(""));
    let jobs = ["--jobs", "3", "--nodes", "1200", "--syzygy", &tables];
    let said = grow(&[&["startpos", "--file", &file][..], &jobs].concat());
    assert_eq!(said.matches("SyzygyPath: no tablebases found").count(), 1, "{said}");
}

/// The searches of a continued study have as many nodes as before.
#[test]
fn later_searches_are_no_shorter() {
    let dir = Directory::new();
    let file = dir.path("a.study");
    grow(&["startpos", "--file", &file, "--nodes", "20000"]);
    let searches = |file: &str| -> Vec<u64> {
        let text = fs::read_to_string(file).unwrap();
        let nodes = text.lines().filter_map(|line| line.split_once("\"nodes\":"));
        nodes.map(|(_, rest)| rest.split(',').next().unwrap().parse().unwrap()).collect()
    };
    let before = searches(&file).len();
    succeed(&["study", &file, "--nodes", "3000", "--step", "100", "--hash", "1"]);
    let after = searches(&file).split_off(before);
    // If only the nodes of the second run counted, no search could exceed an eighth of them.
    assert!(after.iter().any(|&nodes| nodes > 3000 / 8), "{after:?}");
}

/// If a PGN file is replaced by another game, the study of the first game is not changed.
#[test]
fn another_game_needs_another_study() {
    let dir = Directory::new();
    let pgn = dir.file("a.pgn", "1. e4 e5 2. Nf3 *\n");
    grow(&[&pgn, "--nodes", "400"]);
    fs::write(&pgn, "1. d4 d5 *\n").unwrap();
    let other = run(&[&["study", &pgn][..], &SMALL].concat());
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other).contains("a study of another game; use --file"), "{}", text(&other));
    let file = dir.path("b.study");
    grow(&[&pgn, "--nodes", "400", "--file", &file]);
    // A shorter or longer version is the same game.
    for moves in ["1. d4 *", "1. d4 d5 2. c4 *", "1. c4 d5 2. d4 *"] {
        fs::write(&pgn, moves).unwrap();
        grow(&[&pgn, "--nodes", "400", "--file", &file]);
    }
    // A shorter source does not shorten the studied game.
    let tagged = dir.file("c.pgn", "[White \"A\"]\n\n1. e4 e5 2. Nf3 *\n");
    grow(&[&tagged, "--nodes", "400"]);
    let whole = dir.path("c.study");
    for part in [&["startpos", "moves", "e4", "e5"][..], &["startpos", "moves", "e4", "e5", "Nf3"]]
    {
        grow(&[part, &["--nodes", "400", "--file", &whole]].concat());
        let study = Study::open(Path::new(&whole)).unwrap();
        let played = study.played();
        assert_eq!((played.moves.len(), &*played.tags[0].1), (3, "A"));
    }
    // Only a known extension is removed from the name.
    for name in ["round1.1", "round1.2"] {
        grow(&[&dir.file(name, "1. e4 *\n"), "--nodes", "400"]);
        assert!(Study::is_one(Path::new(&dir.path(&format!("{name}.study")))), "{name}");
    }
    let output = run(&[&["study", "startpos", "--game", "2"][..], &SMALL].concat());
    assert!(text(&output).contains("--game needs a file of games"), "{}", text(&output));
    // A wrong line leaves the study unchanged.
    for wrong in [&["--pin", "a4", "--pin", "e4 e5 Qh9"][..], &["--pin", "a4", "--at", "e5"]] {
        assert_eq!(run(&[&["study", &file], wrong].concat()).status.code(), Some(2));
    }
    let study = Study::open(Path::new(&file)).unwrap();
    // The pinned moves are 1. d4 and 1. c4.
    let edges = &study.tree().node(Tree::START).edges;
    assert_eq!(edges.iter().filter(|edge| edge.pinned).count(), 2);
}

/// Kills the program in each of five runs. The file must then be undamaged and have new searches.
#[cfg(unix)]
#[test]
fn a_killed_study_goes_on() {
    let dir = Directory::new();
    let file = dir.path("a.study");
    let (mut nodes, mut bytes) = (0, 0);
    for _ in 0..5 {
        let args = ["study", "startpos", "--file", &file, "--hours", "1"];
        let running = Running::start(&mut lancet(&[&args[..], &SMALL].concat()));
        wait_for_bytes(Path::new(&file), bytes + 3000);
        drop(running);
        bytes = fs::metadata(&file).unwrap().len();
        let study = Study::open(Path::new(&file)).unwrap();
        assert!(study.damaged().is_empty() && study.nodes() > nodes, "{}", study.nodes());
        nodes = study.nodes();
    }
    // A damaged line loses only its own data, and is reported.
    let mut content = fs::read(&file).unwrap();
    let last = content.len() - 20;
    content[last] ^= 1;
    fs::write(&file, content).unwrap();
    let said = text(&run(&[&["study", &file, "--nodes", "400"][..], &SMALL].concat()));
    assert!(said.contains(": damaged; line ignored") && said.contains("| move"), "{said}");
}

/// If two runs create the same study, one is refused or runs after the other. The file has all
/// searches of every run that ended well.
#[cfg(unix)]
#[test]
fn two_runs_begin_one_study() {
    let dir = Directory::new();
    for round in 0..5 {
        let file = dir.path(&format!("{round}.study"));
        let args = ["study", "startpos", "--file", &file, "--nodes", "2000"];
        let args = [&args[..], &SMALL].concat();
        let start = || Running::start(lancet(&args).stdout(Stdio::null()).stderr(Stdio::null()));
        let searched = |mut run: Running| if run.ended().success() { 2000_u64 } else { 0 };
        let searched: u64 = [start(), start()].into_iter().map(searched).sum();
        assert!(searched > 0);
        assert_eq!(Study::open(Path::new(&file)).unwrap().nodes(), searched, "{round}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_study_that_can_go_on() {
    use crate::common::program::interrupt;

    let dir = Directory::new();
    let file = dir.path("a.study");
    let args = ["study", "startpos", "--file", &file];
    let mut command = lancet(&[&args[..], &SMALL].concat());
    let mut child = Running::start(command.stdout(Stdio::piped()));
    wait_for_bytes(Path::new(&file), 3000);
    // The running program holds the lock of the file.
    assert!(fail(&["study", &file, "--nodes", "1"]).contains("another run is growing"));
    interrupt(&child);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.ended().code(), Some(130), "{said}");
    assert!(said.contains("Repeat the command to continue."), "{said}");
}

/// A study without --file is named after its moves or its game.
#[test]
fn studies_have_names_that_say_what_they_are() {
    let dir = Directory::new();
    dir.file("a.pgn", "1. e4 *\n\n[White \"Short, N.\"]\n[Black \"Timman\"]\n\n1. d4 *\n");
    for (source, name) in [
        (&["startpos", "moves", "e4", "e5", "Nf3"][..], "e4-e5-Nf3"),
        (&["startpos moves 1. e4 e5 2. Nf3"], "e4-e5-Nf3"),
        (&["startpos"], "startpos"),
        (&["a.pgn"], "a"),
        (&["a.pgn", "--game", "2"], "a-2-Short-Timman"),
    ] {
        let args = [&["study"], source, &["--nodes", "400"], &SMALL].concat();
        let output = lancet(&args).current_dir(dir.path("")).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        assert!(Study::is_one(Path::new(&dir.path(&format!("{name}.study")))), "{name}");
    }
}

/// For a study of a position, the PGN file has neutral tags and the page has a title. Both name the
/// line into which another one transposes.
#[test]
fn studies_of_positions_have_titles_and_tags() {
    let dir = Directory::new();
    let (file, out, page) = (dir.path("a.study"), dir.path("a.pgn"), dir.path("a.html"));
    grow(&["startpos", "--file", &file, "--nodes", "400"]);
    let pins = ["--pin", "Nf3 d5 d4", "--pin", "d4 d5 Nf3", "--nodes", "8000"];
    grow(&[&[file.as_str()][..], &pins, &["--pgn", &out, "--html", &page]].concat());
    let roster = "[Event \"Study\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n\
                  [White \"?\"]\n[Black \"?\"]\n[Result \"*\"]\n[Annotator ";
    let text = fs::read_to_string(&out).unwrap();
    assert!(text.starts_with(roster), "{text}");
    let text = text.replace('\n', " ");
    assert!(["2. d4.", "2. Nf3."].iter().any(|to| text.contains(&format!("Transposes to {to}"))));
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("\"title\":\"Study of the start position\""));
    assert!(["2. d4", "2. Nf3"].iter().any(|to| html.contains(&format!(", transposes to {to}\""))));
}

#[test]
fn lines_are_pinned_and_released() {
    let dir = Directory::new();
    let file = dir.path("a.study");
    grow(&["startpos", "--file", &file, "--nodes", "2000"]);
    // A run that only pins a line does not make the tree grow.
    grow(&[&file, "--pin", "1. a4 h5"]);
    let study = Study::open(Path::new(&file)).unwrap();
    assert_eq!(study.nodes(), 2000);
    let pinned = walk(study.tree(), "a2a4 h7h5");
    assert!(study.tree().node(pinned).rest.is_none());
    drop(study);
    grow(&[&file, "--nodes", "12000"]);
    let study = Study::open(Path::new(&file)).unwrap();
    assert!(study.tree().size(walk(study.tree(), "a2a4 h7h5")) > 2);
    drop(study);
    // Only pinned lines can be unpinned, and another pinned line keeps its moves.
    for wrong in ["a4 h5 Nf3", "d4", "a4 e5"] {
        let said = fail(&["study", &file, "--unpin", wrong]);
        assert!(said.contains(&format!("--unpin: '{wrong}' is not pinned")), "{said}");
    }
    grow(&[&file, "--pin", "a4 e5"]);
    grow(&[&file, "--unpin", "a4 h5"]);
    assert!(fail(&["study", &file, "--unpin", "a4 h5"]).contains("is not pinned"));
    // The shorter line would cut off the longer one.
    assert!(fail(&["study", &file, "--unpin", "a4"]).contains("'a4' is part of a longer pinned"));
    grow(&[&file, "--unpin", "a4 e5"]);
    let study = Study::open(Path::new(&file)).unwrap();
    assert!(study.tree().node(Tree::START).edges.iter().all(|edge| !edge.pinned));
    drop(study);
    assert!(fail(&["study", &file, "--pin", "a5"]).contains("illegal move 'a5'"));
}

/// The studied line stays pinned, also if the pinned line that continues it is removed.
#[test]
fn the_studied_line_cannot_be_unpinned() {
    let dir = Directory::new();
    let file = dir.path("a.study");
    grow(&["startpos", "moves", "e4", "e5", "Nf3", "--file", &file, "--nodes", "2000"]);
    grow(&[&file, "--pin", "e4 e5 Nf3 f5 Nxe5"]);
    grow(&[&file, "--unpin", "e4 e5 Nf3 f5 Nxe5"]);
    let study = Study::open(Path::new(&file)).unwrap();
    let pinned = |line: &str| study.tree().node(walk(study.tree(), line)).edges.iter();
    for (line, count) in [("", 1), ("e2e4", 1), ("e2e4 e7e5", 1), ("e2e4 e7e5 g1f3", 0)] {
        assert_eq!(pinned(line).filter(|edge| edge.pinned).count(), count, "{line}");
    }
    drop(study);
    for line in ["e4", "e4 e5 Nf3", "end"] {
        let said = fail(&["study", &file, "--unpin", line]);
        assert!(said.contains("belongs to the studied game"), "{said}");
    }
}

#[test]
fn what_is_decided_needs_no_growth() {
    let dir = Directory::new();
    let mate = dir.path("mate.study");
    let said = grow(&["7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "--file", &mate, "--nodes", "1000000"]);
    assert!(said.contains("The result is decided") && said.contains("#1"), "{said}");
    // The evaluation of a move is that of the position after it, with and without a node.
    let (study, out, page) = (dir.path("b.study"), dir.path("b.pgn"), dir.path("b.html"));
    let start = ["7k/8/5K2/8/8/8/8/6R1 w - - 0 1", "--file", &study];
    for source in [&start[..], &[&study, "--pin", "Kf7 Kh7"]] {
        grow(&[source, &["--nodes", "4000", "--pgn", &out, "--html", &page]].concat());
        let text = fs::read_to_string(&out).unwrap().replace('\n', " ");
        assert!(text.contains("{ [%eval #2] } 1. Kf7 { [%eval #1] }"), "{text}");
        assert!(!text.contains("#0"), "{text}");
    }
    assert!(fs::read_to_string(&page).unwrap().contains("\"san\":\"1. Kf7\""));
    let Some(directory) = tables::directory() else { return };
    // At this depth, only the tablebases know the result.
    let file = dir.path("tables.study");
    let paths = directory.to_str().unwrap();
    let fen = "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1";
    let said = grow(&[fen, "--file", &file, "--nodes", "1000000", "--syzygy", paths]);
    assert!(said.contains("The result is decided"), "{said}");
    let study = Study::open(Path::new(&file)).unwrap();
    assert_eq!((study.tree().positions(), study.tree().node(0).over), (1, Some(0)));
    // WDL tables without DTZ tables say who wins but give no score, so a search is needed.
    let results = dir.path("results");
    fs::create_dir(&results).unwrap();
    fs::copy(directory.join("KRvK.rtbw"), Path::new(&results).join("KRvK.rtbw")).unwrap();
    let file = dir.path("results.study");
    let won = "8/8/8/3k4/8/8/8/K6R w - - 0 1";
    grow(&[won, "--file", &file, "--nodes", "1200", "--syzygy", &results]);
    let study = Study::open(Path::new(&file)).unwrap();
    assert_ne!(study.tree().node(0).over, Some(0));
}

/// Tests the pages in the browser that `LANCET_TEST_BROWSER` names, such as `chromium`. The
/// fragment of the URL names a position, which must be on the board.
#[test]
fn the_pages_work_in_a_browser() {
    let Ok(browser) = std::env::var("LANCET_TEST_BROWSER") else { return };
    let dir = Directory::new();
    let pgn = dir.file("a.pgn", "[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n");
    let page = dir.path("a.html");
    grow(&[&pgn, "--nodes", "8000", "--html", &page, "--size", "40"]);
    let analysis = dir.path("b.html");
    let args =
        ["analyse", &dir.file("b.pgn", "1. e4 *\n\n1. f3 e5 2. g4 Qh4# 0-1\n"), "--nodes", "300"];
    succeed(&[&args[..], &["--html", &analysis]].concat());
    let see_in = |page: &str, hash: &str| {
        let output = Command::new(&browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg(format!("--user-data-dir={}", dir.path("profile")))
            .arg(format!("file://{page}{hash}"))
            .output()
            .unwrap();
        stdout(&output)
    };
    let see = |hash| see_in(&page, hash);
    // The second game, after its blunder.
    let blunder = see_in(&analysis, "#1.3");
    assert!(blunder.contains("class=\"sign blunder\">??</span>"), "{blunder}");
    assert!(blunder.contains("class=\"arrow\"") && blunder.contains("Black to move"), "{blunder}");
    let start = see("");
    // The dump also contains the script of the page.
    let pieces = start.matches("data-piece=\"").count() - start.matches("data-piece=\"$").count();
    assert_eq!(pieces, 32, "{start}");
    assert!(start.contains("<h1 id=\"title\">A - B</h1>") && start.contains("White to move"));
    let moves = start.matches("data-spot=").count();
    assert!(moves >= 10, "{moves}");
    let second = see("#1");
    assert!(second.contains("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq"), "{second}");
    assert!(second.contains("Black to move"));
}
