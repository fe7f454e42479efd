//! Tests `lancet analyse` as a program: its output files and messages, also after interruptions and
//! with invalid input.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use crate::common::program::{Running, interrupt, lancet, limited, text};
use lancet::{
    chess::pgn::{Game, Item, Nag, read::Games},
    tools::analyse::annotate::replay,
};
use tempfile::TempDir;

/// A game with a blunder, a game with a variation, and a drawn Chess960 game.
const GAMES: &str = "\
[Event \"One\"]
[White \"Pupil, A.\"]
[Black \"Teacher\"]
[Result \"0-1\"]

1. f3 e5 2. g4 { [%eval 5.0] [%clk 0:00:01] oops } Qh4# 0-1

[Event \"Two\"]
[White \"Teacher\"]
[Black \"Pupil, A.\"]
[Result \"1-0\"]

1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 (3... g6 $1 4. Qf3 { again }) 4. Qxf7# 1-0

[Event \"Three\"]
[White \"?\"]
[Variant \"Chess960\"]
[FEN \"4k2r/5p2/8/8/8/8/8/1R2K3 b Bh - 0 9\"]

9... O-O 10. O-O-O 1/2-1/2
";

/// An illegal move, a comment without an end, and a legal game.
const BROKEN: &str = "
[Event \"Four\"]

1. e4 e5
2. Nf6 d5 *

[Event \"Five\"]

1. d4 { never closed

[Event \"Six\"]

1. c4 c5 *
";

/// A game in which Black's only good move is mate.
const MATE: &str = "
[Event \"Seven\"]
[FEN \"rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2\"]

2... Qh4# 0-1
";

/// Returns a temporary directory, and a file of games in it.
fn games(content: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("games.pgn");
    fs::write(&file, content).unwrap();
    (dir, file)
}

fn read(path: &Path) -> Vec<Game> {
    let text = fs::read(path).unwrap();
    let mut games = Games::new(&text[..]);
    std::iter::from_fn(|| games.next_game().unwrap()).map(Result::unwrap).collect()
}

/// The tag before the data of each game on a page.
const ELEMENT: &str = "class=\"game\">";

/// Reads the games of a page.
fn on_page(page: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(page).unwrap();
    let games = text.split(ELEMENT).skip(1).filter_map(|rest| rest.split("</script>").next());
    games.map(|json| serde_json::from_str(json).unwrap()).collect()
}

/// Returns the comments on the moves of the main line.
fn comments(game: &Game) -> Vec<&str> {
    let items = game.main.moves.iter().flat_map(|node| &node.items);
    items
        .filter_map(|item| if let Item::Comment(text) = item { Some(text.as_str()) } else { None })
        .collect()
}

#[test]
fn games_are_annotated() {
    let (dir, file) = games(&format!("{GAMES}{BROKEN}{MATE}"));
    let (file, out) = (file.to_str().unwrap(), dir.path().join("out.pgn"));
    let (pictures, page) = (dir.path().join("pictures"), dir.path().join("out.html"));
    let args = [
        "analyse",
        file,
        "--out",
        out.to_str().unwrap(),
        "--nodes",
        "3000",
        "--hash",
        "1",
        "--svg",
        pictures.to_str().unwrap(),
        "--html",
        page.to_str().unwrap(),
    ];
    let output = lancet(&args).output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for line in [
        "games.pgn:25: 2. Nf6 is not legal",
        "games.pgn:29: a comment begins here and does not end",
        "2 broken games skipped",
        "Pupil, A. - Teacher 0-1, A00 Barnes Opening: Fool's Mate - accuracy",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }

    let [wrote, html, svg] = [&out, &page, &pictures].map(|path| path.to_str().unwrap());
    assert!(said.contains(&format!("\nWrote {wrote}, {html}, {svg}\n")), "{said}");

    let annotated = read(&out);
    let events: Vec<_> = annotated.iter().map(|game| game.tag("Event").unwrap()).collect();
    assert_eq!(events, ["One", "Two", "Three", "Six", "Seven"]);
    for game in &annotated {
        replay(game).unwrap();
        assert!(game.tag("Annotator").unwrap().ends_with("3000 nodes a position"));
    }
    let [fool, shepherd, shuffled, _, mate] = &annotated[..] else { unreachable!() };
    // The move has a glyph, one evaluation, the old comment, and the better line.
    let blunder = &fool.main.moves[2].items;
    assert_eq!(blunder[0], Item::Nag(Nag::BLUNDER));
    let said = "[%eval #-1] [%clk 0:00:01] Blunder. ";
    assert!(matches!(&blunder[1], Item::Comment(c) if c.starts_with(said)), "{blunder:?}");
    assert_eq!(blunder[2], Item::Comment("oops".to_owned()));
    assert!(matches!(&blunder[3], Item::Variation(line) if line.moves.len() >= 4));
    assert!(fool.main.moves[3].items.is_empty(), "a mate needs no comment");
    assert_eq!(fool.tag("ECO"), Some("A00"));
    assert_eq!(mate.tag("BlackAccuracy"), Some("100.0"));
    // The network decides how good Black's one move before the mate is.
    let accuracy = |tag| fool.tag(tag).unwrap().parse::<f64>().unwrap();
    assert!(accuracy("BlackAccuracy") > 95.0 && accuracy("WhiteAccuracy") < 60.0);
    // The old variation is still there, before the new one.
    let blunder = &shepherd.main.moves[5].items;
    assert_eq!(blunder[0], Item::Nag(Nag::BLUNDER));
    let variations: Vec<_> = blunder
        .iter()
        .filter_map(|i| if let Item::Variation(l) = i { Some(l) } else { None })
        .collect();
    assert_eq!(variations[0].moves[1].items, [Item::Comment("again".to_owned())]);
    assert_eq!(variations.len(), 2);
    assert!(comments(shuffled).iter().all(|comment| comment.starts_with("[%eval ")));

    let drawn = fs::read_dir(&pictures).unwrap().count();
    assert_eq!(drawn, annotated.len());
    let svg = fs::read_to_string(pictures.join("0001-Pupil-Teacher.svg")).unwrap();
    assert!(svg.contains("Pupil, A. - Teacher (0-1)") && svg.contains("g4??"), "{svg}");

    let html = fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches(ELEMENT).count(), annotated.len());
    let first = &on_page(&page)[0];
    assert_eq!(
        (&first["title"], &first["result"]),
        (&"Pupil, A. - Teacher (0-1)".into(), &"0-1".into())
    );
    let blunder = &first["spots"][3];
    assert_eq!((&blunder["san"], &blunder["mark"]), (&"2. g4".into(), &"??".into()));
    assert_eq!(
        (&blunder["score"], &blunder["best"]),
        (&"#-1".into(), &serde_json::json!(["d8", "h4"]))
    );
    let comment = blunder["comment"].as_str().unwrap();
    assert!(comment.starts_with("oops Lancet: Blunder. ") && comment.ends_with(" was best."));
    assert_eq!(blunder["clock"], "0:00:01");
    assert!(first["players"][0][0] == "Pupil, A." && first["spots"][4]["over"] == "checkmate");

    // Existing files are not overwritten.
    let again = lancet(&args).output().unwrap();
    assert!(!again.status.success());
    assert!(text(&again).contains("out.pgn: the file exists; use --force"), "{}", text(&again));
    let before = fs::read(&out).unwrap();
    let resumed = lancet(&args).arg("--resume").output().unwrap();
    assert!(resumed.status.success(), "{}", text(&resumed));
    assert!(text(&resumed).contains("out.pgn is already complete"), "{}", text(&resumed));
    assert_eq!(fs::read(&out).unwrap(), before);
    let other = lancet(&args).args(["--resume", "--depth", "3"]).output().unwrap();
    assert_eq!(other.status.code(), Some(1), "{}", text(&other));
    let why = "3000 nodes a position, not by Lancet";
    assert!(text(&other).contains(why), "{}", text(&other));
    // An analysis of other games, or of one shard, is not this analysis either.
    let more = dir.path().join("more.pgn");
    fs::write(&more, "1. e4 e5 *\n").unwrap();
    let options: [&[&str]; 3] = [&[], &["--shard", "1/2"], &["--shard", "2/2"]];
    for (files, options) in [(Some(&more), options[0]), (None, options[1]), (None, options[2])] {
        let other = lancet(&args).args(files).args(options).arg("--resume").output().unwrap();
        assert_eq!(other.status.code(), Some(1), "{}", text(&other));
        let why = "out.pgn: cannot resume; the file is a complete analysis";
        assert!(text(&other).contains(why), "{}", text(&other));
    }
    for no_analysis in ["[White \"A\"]\n\n1. e4 e5 *\n", "a letter\n"] {
        fs::write(&out, no_analysis).unwrap();
        let refused = lancet(&args).arg("--resume").output().unwrap();
        assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
        assert!(text(&refused).contains("out.pgn: cannot resume"), "{}", text(&refused));
        assert_eq!(fs::read(&out).unwrap(), no_analysis.as_bytes());
    }
    fs::write(&out, "what was there, and longer than what comes\n".repeat(1000)).unwrap();
    let forced = lancet(&args).arg("--force").output().unwrap();
    assert_eq!(forced.status.code(), Some(2), "{}", text(&forced));
    assert_eq!((fs::read(&out).unwrap(), fs::read_to_string(&page).unwrap()), (before, html));
    for missing in [&pictures, &page] {
        fs::rename(missing, dir.path().join("elsewhere")).unwrap();
        let refused = lancet(&args).arg("--resume").output().unwrap();
        let why = format!("is complete, but {} does not exist", missing.display());
        assert!(text(&refused).contains(&why), "{}", text(&refused));
        fs::rename(dir.path().join("elsewhere"), missing).unwrap();
    }
}

/// An annotator's own mark appears in all outputs, check signs are corrected, and repeated glyphs
/// are removed.
#[test]
fn marks_are_the_same_everywhere() {
    let name = "A name of many letters, which is too long for the legend";
    let (dir, file) =
        games(&format!("[White \"{name}\"]\n\n1. f3 e5# 2. g4 !? $5 {{why}} Qh4 0-1\n"));
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (pictures, page) = (path("pictures"), path("out.html"));
    let more = ["--svg", &pictures, "--html", &page];
    let written = annotated(file.to_str().unwrap(), &dir.path().join("out.pgn"), &more);
    assert_eq!(written.matches("$5").count(), 1, "{written}");
    let words = written.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("1... e5 {") && words.contains("Qh4# 0-1"), "{written}");
    let picture_name = "0001-Anameofmanyletters-.svg";
    let picture_path = Path::new(&pictures).join(picture_name);
    let picture = fs::read_to_string(&picture_path).unwrap();
    assert!(picture.contains(">A name of many letters, which …: accuracy "), "{picture}");
    assert!(picture.contains(">g4!?</text>") && !picture.contains("g4??"), "{picture}");
    assert!(picture.contains("<title>2. g4!? #-1</title>"), "{picture}");
    let spots = &on_page(Path::new(&page))[0]["spots"];
    // The page shows that the move is an error, although the game marks it differently.
    assert_eq!((&spots[3]["mark"], &spots[3]["other"]), (&"!?".into(), &true.into()));
    assert_eq!(spots[4]["other"], false);
    // Another run does not replace the picture or the page, even with --resume if its output does
    // not exist yet.
    fs::write(&page, "mine").unwrap();
    for (more, kept) in [(&more[..2], picture_name), (&["--html", &page, "--resume"], "out.html")] {
        let args = ["analyse", file.to_str().unwrap(), "--out", &path("other.pgn"), "--nodes", "1"];
        let said = text(&lancet(&args).args(more).output().unwrap());
        assert!(said.contains(&format!("{kept}: the file exists; use --force")), "{said}");
        assert!(!Path::new(&path("other.pgn")).exists());
    }
    assert_eq!(fs::read_to_string(&picture_path).unwrap(), picture);
    assert_eq!(fs::read_to_string(&page).unwrap(), "mine");
}

/// For a single file that is analysed completely, the default output is beside the file. In other
/// cases --out is required.
#[test]
fn the_output_is_named_after_the_games() {
    let (dir, file) = games("1. e4 *\n");
    let file = file.to_str().unwrap();
    let zipped = dir.path().join("b.pgn.gz");
    let mut encoder = flate2::write::GzEncoder::new(
        fs::File::create(&zipped).unwrap(),
        flate2::Compression::fast(),
    );
    std::io::Write::write_all(&mut encoder, b"1. d4 *\n").unwrap();
    encoder.finish().unwrap();
    for (games, written) in
        [(file, "games-annotated.pgn"), (zipped.to_str().unwrap(), "b-annotated.pgn")]
    {
        let output = lancet(&["analyse", games, "--nodes", "10", "--hash", "1"]).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        assert_eq!(read(&dir.path().join(written)).len(), 1);
    }
    let again = lancet(&["analyse", file, "--nodes", "10"]).output().unwrap();
    assert!(text(&again).contains("games-annotated.pgn: the file exists"), "{}", text(&again));
    for unnamed in [&[file, file][..], &["-"], &[file, "--shard", "1/2"], &["--join", file]] {
        let refused = lancet(&[&["analyse"], unnamed].concat()).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused).contains("--out is required"), "{}", text(&refused));
    }
}

/// A run that writes no game leaves no output file, whatever ends it.
#[test]
fn a_failure_leaves_no_files() {
    let (dir, file) = games("1. e5 *\n");
    let cut = dir.path().join("cut.pgn.gz");
    fs::write(&cut, [31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 51, 212]).unwrap();
    let before = fs::read_dir(dir.path()).unwrap().count();
    let page = dir.path().join("page.html");
    for input in [&file, &cut] {
        let args = ["analyse", input.to_str().unwrap(), "--nodes", "10", "--html"];
        let output = lancet(&args).arg(&page).output().unwrap();
        assert!(!output.status.success(), "{}", text(&output));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "{}", text(&output));
        // The error is about the input, not about files of the run.
        assert!(!text(&output).contains(".progress"), "{}", text(&output));
    }
    // The same holds for a run that cannot write its page.
    fs::write(&page, "kept").unwrap();
    fs::write(&file, "1. e4 *\n").unwrap();
    let args = ["analyse", file.to_str().unwrap(), "--nodes", "10", "--html"];
    assert!(!lancet(&args).arg(&page).output().unwrap().status.success());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before + 1);
}

#[test]
fn players_are_summed_up_and_nodes_reproduce() {
    let (dir, file) = games(GAMES);
    let run = |name: &str, more: &[&str]| {
        let out = dir.path().join(name);
        let args = ["analyse", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
        let output =
            lancet(&args).args(["--nodes", "2000", "--hash", "1"]).args(more).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        (fs::read_to_string(out).unwrap(), text(&output))
    };
    let (first, said) = run("a.pgn", &[]);
    assert_eq!(first, run("b.pgn", &[]).0);
    let row = said.lines().find(|line| line.starts_with("| Pupil, A.")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[2..4], ["2", "5"], "{said}");
    // A player who plays both sides counts as having played one game.
    let alone = dir.path().join("alone.pgn");
    fs::write(&alone, "[White \"A\"]\n[Black \"A\"]\n\n1. e4 e5 2. d4 *\n").unwrap();
    let args = ["analyse", alone.to_str().unwrap(), "--nodes", "100", "--hash", "1", "--out"];
    let said = text(&lancet(&args).arg(dir.path().join("one.pgn")).output().unwrap());
    let row = said.lines().find(|line| line.starts_with("| A ")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[2..4], ["1", "3"], "{said}");
    // In parallel, the same games come out in the same order.
    let (parallel, _) = run("c.pgn", &["--jobs", "3"]);
    let events = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("[Event ")).map(str::to_owned).collect()
    };
    assert_eq!(events(&first).len(), 3);
    assert_eq!(events(&parallel), events(&first));
}

/// A limit on file sizes ends the run in the middle.
#[cfg(unix)]
#[test]
fn an_interrupted_analysis_goes_on() {
    let (dir, file) = games(&[GAMES, "\n1. e4 nonsense *\n\n", GAMES, "\n", GAMES].concat());
    let file = file.to_str().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (whole, torn) = (path("whole.pgn"), path("torn.pgn"));
    let options = ["--nodes", "20000", "--hash", "1", "--lenient"];
    let output = lancet(&["analyse", file, "--out", &whole]).args(options).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));

    let progress = PathBuf::from(format!("{torn}.progress"));
    let mut killed = limited("ulimit -c 0 && ulimit -f 4", &["analyse", file, "--out", &torn]);
    let status = killed.args(options).output().unwrap().status;
    assert!(status.code() == Some(1) && progress.exists(), "{status}");
    fs::write(&torn, fs::read_to_string(&torn).unwrap() + "[Event \"torn").unwrap();

    // A run cannot be resumed if its output has lost games.
    let begun = fs::read_to_string(&torn).unwrap();
    fs::write(&torn, &begun[..100]).unwrap();
    let resume = ["analyse", file, "--out", &torn, "--resume"];
    let short = lancet(&resume).args(options).output().unwrap();
    assert!(
        text(&short).contains("torn.pgn: the file is shorter than its .progress file says"),
        "{}",
        text(&short)
    );
    fs::write(&torn, begun).unwrap();

    let refused = lancet(&["analyse", file, "--out", &torn]).args(options).output().unwrap();
    assert!(text(&refused).contains("use --resume to continue it"), "{}", text(&refused));
    // Another process is writing the file.
    let taken = fs::File::open(&torn).unwrap();
    taken.lock().unwrap();
    let refused = lancet(&resume).args(options).output().unwrap();
    assert!(text(&refused).contains("another analysis is writing"), "{}", text(&refused));
    drop(taken);
    let other = ["--resume", "--nodes", "7"];
    let refused = lancet(&["analyse", file, "--out", &torn]).args(other).output().unwrap();
    assert!(text(&refused).contains("was run with 20000 nodes a position"), "{}", text(&refused));
    let resumed = lancet(&resume).args(options).output().unwrap();
    assert!(resumed.status.success(), "{}", text(&resumed));
    assert_eq!(fs::read_to_string(&torn).unwrap(), fs::read_to_string(&whole).unwrap());
    let table =
        |output: &Output| text(output).lines().filter(|l| l.starts_with('|')).collect::<String>();
    assert_eq!(table(&resumed), table(&output));
    assert!(!progress.exists());
}

/// Ctrl-C drops the game being analysed and summarises the others. --resume continues.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_an_analysis_that_can_go_on() {
    use std::io::{BufRead as _, BufReader, Read as _};

    let (dir, file) = games(&[GAMES, "\n", GAMES].concat());
    let file = file.to_str().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (whole, torn) = (path("whole.pgn"), path("torn.pgn"));
    let options = ["--nodes", "20000", "--hash", "1"];
    let output = lancet(&["analyse", file, "--out", &whole]).args(options).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));

    let page = path("torn.html");
    let arguments = ["analyse", file, "--out", &torn, "--html", &page];
    let interrupted = || {
        let mut child = Running::start(lancet(&arguments).args(options).stdout(Stdio::piped()));
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut shown = String::new();
        for first in ["White's number is before the slash", "   1  Pupil, A. - Teacher"] {
            shown.clear();
            said.read_line(&mut shown).unwrap();
            assert!(shown.starts_with(first), "{shown}");
        }
        interrupt(&child);
        said.read_to_string(&mut shown).unwrap();
        (child.ended().code(), shown)
    };
    let (mut code, mut shown) = interrupted();
    // On a busy machine the run may finish before the signal is sent. Then try again.
    let mut tries = 0;
    while code == Some(0) && tries < 20 {
        fs::remove_file(&torn).and_then(|()| fs::remove_file(&page)).unwrap();
        (code, shown) = interrupted();
        tries += 1;
    }
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains("| Pupil, A.") && shown.contains("--resume to continue."), "{shown}");
    let begun = fs::read_to_string(&torn).unwrap();
    let finished = fs::read_to_string(&whole).unwrap();
    assert!(!begun.is_empty() && begun.len() < finished.len() && finished.starts_with(&begun));
    let begun = on_page(Path::new(&page));
    assert!((1..6).contains(&begun.len()), "{}", begun.len());

    let resumed = lancet(&arguments).arg("--resume").args(options).output().unwrap();
    assert!(resumed.status.success(), "{}", text(&resumed));
    assert_eq!(fs::read_to_string(&torn).unwrap(), finished);
    let whole = on_page(Path::new(&page));
    assert!(whole.len() == 6 && whole.starts_with(&begun));
}

#[test]
fn what_cannot_be_analysed_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let missing =
        lancet(&["analyse", &path("no.pgn"), "--out", &path("out.pgn")]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    // The message of the operating system.
    let reason = fs::metadata(path("no.pgn")).unwrap_err();
    assert!(text(&missing).contains(&format!("no.pgn: {reason}")), "{}", text(&missing));
    fs::write(path("binary.pgn"), [0_u8, 159, 146, 150].repeat(1000)).unwrap();
    let binary =
        lancet(&["analyse", &path("binary.pgn"), "--out", &path("out.pgn")]).output().unwrap();
    assert_eq!(binary.status.code(), Some(2));
    assert!(text(&binary).contains("binary.pgn:1: '"), "{}", text(&binary));
    // Empty input from a file or a pipe writes no output.
    fs::write(path("blank.pgn"), "\n\n% nothing\n").unwrap();
    for resume in [&[][..], &["--resume"]] {
        let blank = ["analyse", &path("blank.pgn"), "--out", &path("nothing.pgn")];
        let blank = lancet(&blank).args(resume).output().unwrap();
        assert_eq!(blank.status.code(), Some(1));
        let named = format!("lancet: {}: no games\n", path("blank.pgn"));
        assert!(text(&blank).ends_with(&named), "{}", text(&blank));
        assert!(!Path::new(&path("nothing.pgn")).exists());
    }
    fs::write(path("old.pgn"), "1. e4 *\n").unwrap();
    let forced = ["analyse", &path("blank.pgn"), "--out", &path("old.pgn"), "--force"];
    assert_eq!(lancet(&forced).output().unwrap().status.code(), Some(1));
    assert_eq!(fs::read(path("old.pgn")).unwrap(), b"1. e4 *\n");
    assert!(!Path::new(&path("old.pgn.progress")).exists());
    let stdout = lancet(&["analyse", &path("blank.pgn"), "--out", "-"]).output().unwrap();
    assert_eq!(stdout.status.code(), Some(2));
    assert!(text(&stdout).contains("cannot be written to standard output"), "{}", text(&stdout));
    // An output that is also an input would be lost.
    let same =
        lancet(&["analyse", &path("binary.pgn"), "--out", &path("binary.pgn")]).output().unwrap();
    assert_eq!(same.status.code(), Some(1));
    let same = ["analyse", &path("binary.pgn"), "--out", &path("binary.pgn"), "--force"];
    let same = lancet(&same).output().unwrap();
    assert!(text(&same).contains("already reads or writes it"), "{}", text(&same));
    let same = ["analyse", &path("old.pgn"), "--out", &path("old.pgn"), "--resume"];
    let same = lancet(&same).output().unwrap();
    assert_eq!(same.status.code(), Some(1));
    assert!(text(&same).contains("already reads or writes it"), "{}", text(&same));
    assert_eq!(fs::read(path("binary.pgn")).unwrap().len(), 4000);
}

/// Names in games must not send control characters to a terminal or into a picture.
#[test]
fn hostile_names_do_nothing() {
    let (dir, file) = games(
        "[White \"\u{1b}]0;x\u{7}\u{9b}2Jhostile\"]\n\n1. e4 *\n\n1. \u{9b}2Jhostile\n\n\
         [Variant \"\u{9b}2Jhostile\"]\n\n1. e4 *\n",
    );
    let (out, pictures) = (dir.path().join("out.pgn"), dir.path().join("pictures"));
    let [file, out, svg] = [&file, &out, &pictures].map(|path| path.to_str().unwrap());
    let args = ["analyse", file, "--out", out, "--nodes", "10", "--svg", svg];
    let mut shown = text(&lancet(&args).output().unwrap());
    // The game, the player, and two broken games.
    assert_eq!(shown.matches("hostile").count(), 4, "{shown:?}");
    for picture in fs::read_dir(&pictures).unwrap() {
        shown += &fs::read_to_string(picture.unwrap().path()).unwrap();
    }
    assert!(shown.contains("</svg>"), "{shown}");
    assert!(!shown.chars().any(|c| c != '\n' && c.is_control()), "{shown:?}");
}

/// A game with an error in a tag is not lost.
#[test]
fn what_is_left_out_of_a_game_is_named() {
    let (dir, file) = games("[Event \"a\"]\n[Site b]\n\n1. e4 e5 1-0 1. d4 *\n");
    let out = dir.path().join("out.pgn");
    let args = ["analyse", file.to_str().unwrap(), "--out", out.to_str().unwrap(), "--nodes", "10"];
    let output = lancet(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("games.pgn:2: '[Site b]' is not a tag"), "{}", text(&output));
    let annotated = read(&out);
    let moves = annotated.iter().map(|game| game.main.moves.len()).collect::<Vec<_>>();
    assert_eq!((annotated[0].tag("Event"), moves), (Some("a"), vec![2, 1]));
}

/// The program refuses an output that is also an input: through a link, as the progress file, or as
/// standard input.
#[cfg(unix)]
#[test]
fn no_input_is_written() {
    let (dir, file) = games(GAMES);
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::hard_link(&file, path("link.pgn")).unwrap();
    fs::copy(&file, path("other.pgn.progress")).unwrap();
    for (input, out) in [
        (path("games.pgn"), path("link.pgn")),
        (path("other.pgn.progress"), path("other.pgn")),
        ("-".to_owned(), path("games.pgn")),
    ] {
        let mut command = lancet(&["analyse", &input, "--out", &out, "--nodes", "10", "--force"]);
        let output = command.stdin(fs::File::open(&file).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{input}");
        assert!(text(&output).contains("already reads or writes it"), "{}", text(&output));
    }
    for name in ["games.pgn", "other.pgn.progress"] {
        assert_eq!(fs::read_to_string(path(name)).unwrap(), GAMES);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

/// Analyses games with few nodes. Returns the annotated games.
fn annotated(input: &str, out: &Path, more: &[&str]) -> String {
    let args = ["analyse", input, "--out", out.to_str().unwrap(), "--nodes", "300", "--hash", "1"];
    let output = lancet(&args).args(more).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    fs::read_to_string(out).unwrap()
}

/// Input files may have any name, be compressed, or come through a pipe.
#[test]
fn games_come_from_anywhere() {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    let (dir, file) = games(GAMES);
    let path = |name: &str| dir.path().join(name);
    let expected = annotated(file.to_str().unwrap(), &path("plain.pgn"), &[]);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(GAMES.as_bytes()).unwrap();
    fs::write(path("games.pgn.gz"), gzip.finish().unwrap()).unwrap();
    let zstd = compress_to_vec(GAMES.as_bytes(), CompressionLevel::Fastest);
    fs::write(path("games.pgn.zst"), &zstd).unwrap();
    for name in ["games.pgn.gz", "games.pgn.zst"] {
        let out = path(&format!("{name}.out"));
        assert_eq!(annotated(path(name).to_str().unwrap(), &out, &[]), expected, "{name}");
    }
    for (input, out) in [(GAMES.as_bytes(), "piped.pgn"), (&zstd, "packed.pgn")] {
        let out = path(out);
        let args =
            ["analyse", "-", "--out", out.to_str().unwrap(), "--nodes", "300", "--hash", "1"];
        let mut child = Running::start(lancet(&args).stdin(Stdio::piped()).stdout(Stdio::null()));
        child.stdin.take().unwrap().write_all(input).unwrap();
        assert!(child.ended().success());
        assert_eq!(fs::read_to_string(out).unwrap(), expected);
    }
}

/// Broken games do not disturb the shards, even if each shard has a different number of them.
#[test]
fn shards_joined_are_the_whole() {
    let (dir, file) = games(&[GAMES, BROKEN, "\n", GAMES, "\n", BROKEN].concat());
    let file = file.to_str().unwrap();
    let path = |name: &str| dir.path().join(name);
    let options = ["--lenient", "--svg"];
    let pictures = |name: &str| path(name).to_str().unwrap().to_owned();
    let all = pictures("all");
    let whole = annotated(file, &path("whole.pgn"), &[&options[..], &[&all]].concat());
    let names = |dir: &str| {
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    for of in [1, 3, 10] {
        let each = pictures(&format!("each-{of}"));
        let part = |number| path(&format!("part-{of}-{number}.pgn")).to_str().unwrap().to_owned();
        let parts: Vec<String> = (1..=of).map(part).collect();
        for (number, part) in (1..).zip(&parts) {
            let shard = format!("{number}/{of}");
            let more = [&options[..], &[&each, "--shard", &shard]].concat();
            annotated(file, Path::new(part), &more);
        }
        let joined = path(&format!("joined-{of}.pgn"));
        let out = ["--out", joined.to_str().unwrap()];
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let output = lancet(&["analyse", "--join"]).args(&parts).args(out).output().unwrap();
        assert!(text(&output).contains("8 games joined"), "{}", text(&output));
        assert_eq!(fs::read_to_string(&joined).unwrap(), whole);
        let again = lancet(&["analyse", "--join"]).args(&parts).args(out).output().unwrap();
        assert!(text(&again).contains("the file exists; use --force"), "{}", text(&again));
        if of == 3 {
            let order = [parts[2], parts[0], parts[1]];
            let wrong =
                lancet(&["analyse", "--join", "--force"]).args(order).args(out).output().unwrap();
            let why = "found '% end of shard 3/3, games: 2', expected a game or";
            assert!(text(&wrong).contains(why), "{}", text(&wrong));
            assert_eq!(fs::read_to_string(&joined).unwrap(), whole, "the old file stays");
        }
        if of == 10 {
            // A part without games is complete too.
            let more = [&options[..], &[&each, "--shard", "10/10", "--resume"]].concat();
            assert_eq!(annotated(file, Path::new(parts[9]), &more).lines().count(), 1);
            let page = pictures("empty.html");
            for last in ["--force", "--resume"] {
                let more = ["--lenient", "--html", &page, "--shard", "10/10", last];
                assert_eq!(annotated(file, Path::new(parts[9]), &more).lines().count(), 1);
            }
        }
        assert_eq!((names(&all), names(&all).len()), (names(&each), 8));
    }
}

#[test]
fn long_notation_null_moves_and_signs_of_others() {
    let (dir, file) = games(
        "1. e2-e4 e7-e5 2. Ng1-f3 -- 3. Nf3xe5 Z0 4. Bf1-c4 Ng8-f6 5. Bc4xf7+ Ke8-e7 *\n\n\
         1. f3 e5 2. g4? Qh4# 0-1\n\n1. f3 e5 2. g4?? Qh4# 0-1\n",
    );
    annotated(file.to_str().unwrap(), &dir.path().join("out.pgn"), &[]);
    let annotated = read(&dir.path().join("out.pgn"));
    let moves: Vec<String> =
        annotated[0].main.moves.iter().map(|node| node.san.to_string()).collect();
    assert_eq!(moves, ["e4", "e5", "Nf3", "--", "Nxe5", "--", "Bc4", "Nf6", "Bxf7+", "Ke7"]);
    let null = &annotated[0].main.moves[3].items;
    assert!(matches!(&null[..], [Item::Comment(text)] if text.starts_with("[%eval ")), "{null:?}");
    // The comment names the kind of error only if the program has added the glyph.
    let blunder = |game: &Game| match &game.main.moves[2].items[..] {
        [Item::Nag(nag), Item::Comment(text), ..] => (*nag, text.contains("Blunder")),
        items => panic!("{items:?}"),
    };
    assert_eq!(blunder(&annotated[1]), (Nag::MISTAKE, false));
    assert_eq!(blunder(&annotated[2]), (Nag::BLUNDER, false));
}

/// All engines share the tablebases.
#[test]
fn tables_are_opened_once() {
    let (dir, file) = games(GAMES);
    let (tables, out) = (dir.path().to_str().unwrap(), dir.path().join("out.pgn"));
    let small = ["--nodes", "10", "--hash", "1", "--syzygy", tables];
    let analyse = ["analyse", file.to_str().unwrap(), "--jobs", "3", "--out"];
    let mut analyse = lancet(&analyse);
    let mut explain = lancet(&["explain", "8/8/8/3k4/8/8/8/K6R w - - 0 1"]);
    for command in [analyse.arg(out), &mut explain] {
        let said = text(&command.args(small).output().unwrap());
        assert_eq!(said.matches("SyzygyPath: no tablebases found").count(), 1, "{said}");
    }
}
