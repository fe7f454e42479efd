//! Tests of the commands `datagen`, `data` and `train` as programs: the files that they write, even
//! when they are killed.

use std::{
    collections::HashSet,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use crate::common::{
    chess::{nodes, position, search},
    program::{
        Running, fail, interrupt, lancet, stderr, stdout, succeed, wait_for_bytes, wait_until,
    },
    tables::{directory, oracle},
};
use lancet::{
    Signals,
    chess::pgn::read::Games,
    engine::{Engine, Settings, threads},
    eval::nnue::Network,
    tools::analyse::annotate,
};
use lancet_train::{
    format::{self, GameResult, Record},
    selfplay::{Conditions, Played, SelfPlay},
};

fn games(path: &Path) -> Vec<Record> {
    let bytes = fs::read(path).unwrap();
    let frames: Vec<&[u8]> = format::frames(&bytes).collect();
    assert_eq!(frames.concat(), bytes, "{}", path.display());
    frames.into_iter().map(|frame| Record::decode(frame).unwrap()).collect()
}

fn datagen<'a>(dir: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["datagen", "--out", dir, "--nodes", "60"], more].concat()
}

#[test]
fn killed_and_continued() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    let killed = dir.path().join("killed");
    let text = succeed(&datagen(whole.to_str().unwrap(), &["--threads", "1", "--games", "40"]));
    assert!(text.contains("40 games") && text.contains(" per position), "), "{text}");

    // Kill it each time it has written a few more games.
    let file = killed.join("games-1-0.vf");
    let arguments = datagen(killed.to_str().unwrap(), &["--threads", "1", "--games", "40"]);
    for goal in [1, 3000, 6000] {
        let running = Running::start(lancet(&arguments).stderr(Stdio::null()));
        wait_for_bytes(&file, goal);
        drop(running);
    }
    // The file as it is after a kill during a write, and after power failures that left zeros in
    // place of data.
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.len() >= 6000);
    for (kept, zeros) in [(bytes.len() - 3, 0), (bytes.len(), 64), (bytes.len() - 40, 5000)] {
        fs::write(&file, [&bytes[..kept], &vec![0; zeros]].concat()).unwrap();
        succeed(&arguments);
        assert_eq!(fs::read(&file).unwrap(), fs::read(whole.join("games-1-0.vf")).unwrap());
        assert_eq!(games(&file).len(), 40);
    }

    // Games with other options are refused.
    let other = ["datagen", "--out", killed.to_str().unwrap(), "--nodes", "61", "--games", "50"];
    let text = fail(&other);
    assert!(text.contains("other options") && text.contains("nodes = 60"), "{text}");

    // Another build continues with a message.
    let recipe = killed.join("datagen.toml");
    let text = fs::read_to_string(&recipe).unwrap();
    let (before, after) = text.split_once("build = ").unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    fs::write(&recipe, [before, "build = \"9.9\"\n", after].concat()).unwrap();
    let text = succeed(&arguments);
    assert!(text.contains("begun by 9.9, ") && text.contains("40 games"), "{text}");
}

#[test]
fn networks_of_one_shape() {
    let (dir, file) = some_games();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let file = file.to_str().unwrap();
    let net = path("net.nnue");
    succeed(&["train", "--data", file, "--out", &net, "--hidden", "32", "--samples", "5k"]);

    // A run starts with a network of its shape. Networks of one shape can be averaged.
    let (wide, mean) = (path("wide.nnue"), path("mean.nnue"));
    let words = ["train", "--data", file, "--samples", "5k", "--from", &net, "--hidden"];
    succeed(&[&words[..], &["32", "--out", &mean]].concat());
    assert!(fail(&[&words[..], &["64", "--out", &wide]].concat()).contains("network of 64"));
    succeed(&["train", "--data", file, "--samples", "5k", "--hidden", "64", "--out", &wide]);
    // An existing network is only replaced with --force.
    let average = ["average", &net, &net, "--out", &mean];
    for words in [&average[..], &[&words[..], &["32", "--out", &mean]].concat()] {
        let said = fail(words);
        assert!(said.contains("mean.nnue: the file exists; use --force to replace it"), "{said}");
    }
    // So are the files beside it.
    for kind in ["csv", "svg", "toml", "state"] {
        fs::write(path(&format!("notes.{kind}")), "notes").unwrap();
        let notes = path("notes.nnue");
        let words = ["train", "--data", file, "--samples", "5k", "--hidden", "32", "--out", &notes];
        let said = fail(&words);
        assert!(said.contains(&format!("notes.{kind}: the file exists; use --force")), "{said}");
        fs::remove_file(path(&format!("notes.{kind}"))).unwrap();
    }
    assert!(succeed(&[&average[..], &["--force"]].concat()).contains("768-32x2-1"));
    let said = fail(&["average", &net, &wide, "--out", &path("none.nnue")]);
    assert!(said.contains("768-64x2-1") && said.contains("expected 32 hidden neurons"), "{said}");
    assert!(fail(&["average", &net, "--out", &net]).contains("net.nnue"));
}

#[test]
fn two_writers_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let endless = datagen(out, &["--threads", "1", "--games", "1000000"]);
    let _running = Running::start(lancet(&endless).stderr(Stdio::null()));
    wait_for_bytes(&dir.path().join("games-1-0.vf"), 1);
    let text = fail(&endless);
    assert!(text.contains("another datagen is writing to this directory"), "{text}");
}

/// Ctrl-C drops the games in progress, and the same command continues.
#[cfg(unix)]
#[test]
fn interrupted_games_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (whole, torn) = (path("whole"), path("torn"));
    let file = Path::new(&torn).join("games-1-0.vf");
    let endless = datagen(&torn, &["--threads", "1", "--games", "1000000"]);
    let mut child = Running::start(lancet(&endless).stderr(Stdio::piped()));
    wait_for_bytes(&file, 1000);
    interrupt(&child);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.ended().success(), "{said}");
    let begun = games(&file).len();
    assert!(begun > 0 && said.contains(&format!("{begun} games")), "{said}");
    let more = (begun + 20).to_string();
    let arguments = datagen(&torn, &["--threads", "1", "--games", &more]);
    succeed(&arguments);
    succeed(&datagen(&whole, &["--threads", "1", "--games", &more]));
    let whole = Path::new(&whole).join("games-1-0.vf");
    let bytes = fs::read(whole).unwrap();
    assert_eq!(fs::read(&file).unwrap(), bytes);

    // A torn last game is cut off and played again. Longer damage is an error.
    fs::write(&file, &bytes[..bytes.len() - 5]).unwrap();
    let said = lancet(&arguments).output().unwrap();
    assert!(said.status.success() && fs::read(&file).unwrap() == bytes, "{said:?}");
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("the last game is incomplete"),
        "{said:?}"
    );
    let damaged = [&bytes[..2000], &vec![0x11; bytes.len() - 2000]].concat();
    fs::write(&file, &damaged).unwrap();
    let said = fail(&arguments);
    assert!(said.contains("games-1-0.vf: ") && said.contains("damaged after game"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), damaged);
    // The network must not overwrite its training data.
    let file = file.to_str().unwrap();
    let said = fail(&["train", "--data", file, "--out", file]);
    assert!(said.contains("this command already reads or writes it"), "{said}");
    assert_eq!(fs::read(file).unwrap(), damaged);
}

/// Ctrl-C ends even very long searches.
#[cfg(unix)]
#[test]
fn long_searches_are_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let words = ["datagen", "--out", out, "--threads", "2", "--nodes", "1000000000000"];
    let mut child = Running::start(lancet(&words).stderr(Stdio::null()));
    wait_for_bytes(&dir.path().join("datagen.toml"), 1);
    interrupt(&child);
    assert!(child.ended().success());
    for thread in 0..2 {
        assert_eq!(games(&dir.path().join(format!("games-1-{thread}.vf"))).len(), 0);
    }
}

#[test]
fn openings_and_endings() {
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("book.epd");
    fs::write(&book, "# comment\n4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - id \"one\";\n").unwrap();
    let out = dir.path().join("games");
    let out = out.to_str().unwrap();
    let book_name = book.to_str().unwrap();
    let half = ["--book-share", "50", "--chess960", "50"];
    let more = ["--threads", "2", "--games", "12", "--book", book_name];
    let more = [&more[..], &half].concat();
    succeed(&datagen(out, &more));
    let mut kinds = [0; 2];
    for thread in 0..2 {
        for game in games(&Path::new(out).join(format!("games-1-{thread}.vf"))) {
            let pieces = game.start.board().occupied().count();
            kinds[usize::from(pieces > 20)] += 1;
            assert!(!game.moves.is_empty());
        }
    }
    assert!(kinds.iter().all(|&count| count > 0) && kinds[0] + kinds[1] == 12, "{kinds:?}");

    // Another book of the same name is another recipe.
    fs::write(&book, "4k3/pppp4/8/8/8/8/PPP5/4K3 w - -\n").unwrap();
    let text = fail(&datagen(out, &more));
    assert!(text.contains("other options") && text.contains("book_hashes = "), "{text}");

    fs::write(&book, "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - -\nnonsense\n").unwrap();
    let text = fail(&datagen(out, &["--book", book_name]));
    assert!(text.contains("line 2"), "{text}");

    // A book without a balanced opening does not keep the program busy forever.
    fs::write(&book, "6k1/5ppp/8/8/8/8/8/QQQ1K3 w - -\n").unwrap();
    let lost = dir.path().join("lost");
    let only = ["--book", book_name, "--book-share", "100"];
    let text = fail(&datagen(lost.to_str().unwrap(), &only));
    assert!(text.contains("openings in a row were dropped"), "{text}");
}

/// Games that a tablebase decides before the first move are not stored.
#[test]
fn openings_in_the_tables_are_not_played() {
    let Some(tables) = directory() else { return };
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("book.epd");
    fs::write(&book, "8/8/8/4k3/8/8/8/K6R w - -\n4k3/pppp4/8/8/8/8/PPPP4/4K3 w - -\n").unwrap();
    let out = dir.path().join("games");
    let more = ["--threads", "1", "--games", "8", "--book-plies", "0"];
    let files = ["--book", book.to_str().unwrap(), "--syzygy", tables.to_str().unwrap()];
    succeed(&datagen(out.to_str().unwrap(), &[&more[..], &files].concat()));
    let games = games(&out.join("games-1-0.vf"));
    assert_eq!(games.len(), 8);
    assert!(games.iter().all(|game| !game.moves.is_empty()));
}

/// Returns a directory with forty quick games, and their file.
fn some_games() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("games");
    succeed(&datagen(out.to_str().unwrap(), &["--threads", "1", "--games", "40"]));
    let file = out.join("games-1-0.vf");
    (dir, file)
}

#[test]
fn data_tools() {
    let (dir, file) = some_games();
    let file_name = file.to_str().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (shuffled, joined, torn) = (path("shuffled.vf"), path("joined.vf"), path("torn.vf"));

    let text = succeed(&["data", "stats", file_name]);
    assert!(
        text.contains("40, 40 of them distinct") && text.contains("Chess960    0.0 %"),
        "{text}"
    );
    succeed(&["data", "shuffle", file_name, "--out", &shuffled, "--seed", "3"]);
    let sorted = |name: &str| {
        let bytes = fs::read(name).unwrap();
        let mut frames: Vec<Vec<u8>> = format::frames(&bytes).map(<[u8]>::to_vec).collect();
        frames.sort();
        frames
    };
    assert_ne!(fs::read(&shuffled).unwrap(), fs::read(&file).unwrap());
    assert_eq!(sorted(&shuffled), sorted(file_name));
    // Files can be concatenated.
    fs::write(&joined, [fs::read(&file).unwrap(), fs::read(&shuffled).unwrap()].concat()).unwrap();
    assert_eq!(games(Path::new(&joined)).len(), 80);
    assert!(fail(&["data", "shuffle", file_name, "--out", &joined]).contains("exists"));
    assert!(succeed(&["data", "stats", &joined]).contains("80, 40 of them distinct"));
    assert!(succeed(&["data", "check", &joined, file_name]).contains("80 games"));
    // The file of a thread that has not completed a game is empty.
    let (empty, with_empty) = (path("empty.vf"), path("with-empty.vf"));
    fs::write(&empty, "").unwrap();
    assert!(succeed(&["data", "check", &empty]).contains("0 games"));
    succeed(&["data", "shuffle", &empty, file_name, "--out", &with_empty]);
    assert_eq!(sorted(&with_empty), sorted(file_name));
    assert!(fail(&["data", "shuffle", &empty, "--out", &path("none.vf")]).contains("no games"));

    let bytes = fs::read(&file).unwrap();
    fs::write(&torn, &bytes[..bytes.len() - 1]).unwrap();
    let text = fail(&["data", "check", &torn]);
    assert!(text.contains("after 39 games"), "{text}");
    let mut wrong = bytes.clone();
    let second = format::frames(&bytes).next().unwrap().len();
    wrong[second + 30] = 9;
    fs::write(&torn, wrong).unwrap();
    let text = fail(&["data", "check", &torn]);
    assert!(text.contains("game 2, at byte") && text.contains("bad result 9"), "{text}");

    let text = succeed(&["data", "view", file_name, "--game", "2"]);
    let shown = Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
    let game = &games(&file)[1];
    let (start, moves) = annotate::replay(&shown).unwrap();
    assert_eq!((start.fen(), shown.tag("Round")), (game.start.fen(), Some("2")));
    assert!(moves.into_iter().eq(game.moves.iter().map(|&(m, _)| Some(m))), "{text}");
    let text = succeed(&["data", "view", file_name, "--positions"]);
    assert_eq!(text.lines().count(), games(&file)[0].moves.len());
    assert!(fail(&["data", "view", file_name, "--game", "41"]).contains("1 to 40"));
}

/// Returns the columns of `lancet epd --csv` that an exam uses: positions, and the scores of
/// searches of `count` nodes.
fn answers(fens: &[String], count: u64) -> String {
    let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
    let row = |fen: &String| {
        engine.new_game();
        let score = search(&mut engine, &position(fen).into(), nodes(count)).info.score;
        format!("{fen},{score}\n")
    };
    let rows = || fens.iter().map(row).collect::<String>();
    "fen,cp\n".to_owned() + &threads::run("search", rows).unwrap()
}

/// Quiet positions of PGN games are written. A game with an illegal move is reported and left out.
#[test]
fn positions_of_pgn() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("match.pgn");
    let game = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 5. d3 d6 6. Bg5 h6 7. Bxf6 Qxf6 *";
    fs::write(&file, format!("1. e4 e5 2. Ke3 *\n\n{game}\n")).unwrap();
    let file = file.to_str().unwrap();
    let run = lancet(&["data", "positions", file, "--count", "9", "--per-game", "9"]).output();
    let run = run.unwrap();
    let positions: Vec<_> = stdout(&run).lines().map(str::to_owned).collect();
    assert_eq!(positions.len(), 4, "{positions:?}");
    let first = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 w kq - 6 5";
    assert!(positions.iter().any(|fen| fen == first), "{positions:?}");
    assert!(stderr(&run).contains(&format!("{file}:1: 2. Ke3 is not legal: left out")));
    // Names of PGN files may be upper case.
    let upper = dir.path().join("UPPER.PGN");
    fs::copy(file, &upper).unwrap();
    let upper = upper.to_str().unwrap();
    let text = succeed(&["data", "positions", upper, "--count", "9", "--per-game", "9"]);
    assert_eq!(text.lines().take(4).collect::<Vec<_>>(), positions);
    // Other files are not read as games.
    let said = fail(&["data", "positions", "Cargo.toml", "--count", "9"]);
    assert!(said.contains("Cargo.toml: the file ends inside a game"), "{said}");
}

/// Positions from games become an exam. It grades networks and other searches, and training reports
/// the error on it.
#[test]
fn networks_take_exams() {
    let (dir, file) = some_games();
    let file = file.to_str().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let positions = |more: &[&str]| {
        let text = succeed(&[&["data", "positions", file, "--count"], more].concat());
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let few = positions(&["20"]);
    assert_eq!(few.iter().collect::<HashSet<_>>().len(), 20);
    assert_ne!(few, positions(&["20", "--seed", "2"]));
    assert!(positions(&["1k"]).len() <= 40, "more than one of a game");
    let many = positions(&["150", "--per-game", "5"]);
    assert_eq!(many.len(), 150);

    let (exam, quick, net) = (path("exam.csv"), path("quick.csv"), path("net.nnue"));
    fs::write(&exam, answers(&many, 3000)).unwrap();
    fs::write(&quick, answers(&many, 300)).unwrap();
    let errors = |candidates: &[&str]| -> Vec<f64> {
        let text = succeed(&[&["data", "grade", &exam], candidates].concat());
        text.lines().skip(1).map(|row| row.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let [built_in, psqt, answers, itself] = errors(&["psqt", &quick, &exam])
        .into_iter()
        .fold(errors(&[]), |mut all, error| {
            all.push(error);
            all
        })
        .try_into()
        .unwrap();
    assert!(itself < 1e-3 && answers < built_in && built_in < psqt, "{answers} {built_in} {psqt}");

    let words = ["train", "--data", file, "--hidden", "32", "--samples", "20k", "--batch", "256"];
    let more = ["--exam", &exam, "--out", &net];
    let said = succeed(&[&words[..], &more].concat());
    assert!(said.contains(" exam 0."), "{said}");
    let last = said.lines().rfind(|line| line.contains(" exam ")).unwrap();
    let followed: f64 =
        last.split(" exam ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    // The network's outputs are rounded to centipawns.
    let graded = errors(&[&net])[0];
    assert!((graded - followed).abs() < 2e-3, "{graded}: {said}");
    // Another run can start with the state of this run, and keep the size of its evaluations.
    let (state, next) = (path("net.state"), path("next.nnue"));
    let said =
        succeed(&[&words[..], &["--from", &state, "--size-of", &net, "--out", &next]].concat());
    let parts: Vec<&str> = said.split("output scaled by ").nth(1).unwrap().split(' ').collect();
    let [factor, ratio] = [parts[0].trim_end_matches(':'), parts[5]];
    assert!((ratio.parse::<f64>().unwrap() - 1.0).abs() < 0.02 && factor != "1.000", "{said}");
    assert!(fs::read(&next).unwrap() != fs::read(&net).unwrap());
}

/// A run that is interrupted twice by Ctrl-C and resumed makes exactly the same network as an
/// uninterrupted one.
#[cfg(unix)]
#[test]
fn interrupted_training_goes_on() {
    let (dir, file) = some_games();
    let schedule = dir.path().join("schedule.toml");
    fs::write(&schedule, "batch = 256\nvalidation = 0.2\nsamples = 1500000\nhidden = 32\n")
        .unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (file, schedule) = (file.to_str().unwrap(), schedule.to_str().unwrap());
    let (whole, torn) = (path("whole.nnue"), path("torn.nnue"));
    let train = |out: &str| -> Vec<String> {
        let words =
            ["train", "--data", file, "--schedule", schedule, "--threads", "2", "--out", out];
        words.map(str::to_owned).to_vec()
    };
    let words = train(&whole);
    succeed(&words.iter().map(String::as_str).collect::<Vec<_>>());

    let words = [train(&torn), vec!["--resume".to_owned()]].concat();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for resumed in [false, true] {
        let mut child = Running::start(lancet(&words).stderr(Stdio::piped()));
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        // Some points of the loss curves.
        let mut points = 0;
        let more = |line: &String| {
            points += u32::from(line.starts_with("step "));
            points < 5
        };
        let before: Vec<String> = said.by_ref().take_while(more).collect();
        assert_eq!(before.iter().any(|line| line.starts_with("resumed at step ")), resumed);
        interrupt(&child);
        let after: Vec<String> = said.collect();
        assert!(child.ended().success());
        assert!(after.last().unwrap().ends_with("use --resume to continue"), "{after:?}");
        assert!(Path::new(&path("torn.checkpoint")).exists() && !Path::new(&torn).exists());
    }
    succeed(&words);
    assert!(!Path::new(&path("torn.checkpoint")).exists());
    assert_eq!(fs::read(&torn).unwrap(), fs::read(&whole).unwrap());
}

/// Only one run at a time can train a network. The lock file of a killed run is ignored.
#[test]
fn two_runs_do_not_train_one_network() {
    let (dir, file) = some_games();
    let (net, lock) = (dir.path().join("net.nnue"), dir.path().join("net.lock"));
    let words = ["train", "--data", file.to_str().unwrap(), "--out", net.to_str().unwrap()];
    let train = |samples| [&words[..], &["--hidden", "32", "--samples", samples]].concat();
    let endless = train("1000G");
    let running = Running::start(lancet(&endless).stderr(Stdio::null()));
    wait_until("the lock", || lock.exists());
    assert!(fail(&train("1")).contains("net.lock: another run is training this network"));
    drop(running);
    assert!(lock.exists() && !net.exists());
    succeed(&train("1"));
    assert!(!lock.exists() && net.exists());
}

#[test]
fn training_run() {
    let (dir, file) = some_games();
    let net = dir.path().join("net.nnue");
    let schedule = dir.path().join("schedule.toml");
    fs::write(&schedule, "batch = 256\nvalidation = 0.2\nsamples = 8000\n").unwrap();
    let (file, net_name) = (file.to_str().unwrap(), net.to_str().unwrap());
    let arguments = [
        ["train", "--data", file, "--out", net_name],
        ["--schedule", schedule.to_str().unwrap(), "--hidden", "32", "--buckets"],
    ]
    .concat();
    let arguments = [&arguments[..], &["2", "--threads", "2"]].concat();
    let text = succeed(&arguments);
    assert!(text.contains("network against model"), "{text}");
    let bytes = fs::read(&net).unwrap();
    let network = Network::from_bytes(&bytes).unwrap();
    assert_eq!((network.hidden(), network.buckets()), (32, 2));
    for part in ["hidden = 32", "batch = 256", "games-1-0.vf", "validation_loss"] {
        assert!(network.provenance().contains(part), "{part}: {}", network.provenance());
    }
    let csv = fs::read_to_string(net.with_extension("csv")).unwrap();
    assert!(csv.lines().count() > 3);
    assert!(fs::read_to_string(net.with_extension("svg")).unwrap().contains("</svg>"));
    assert!(!net.with_extension("checkpoint").exists());

    // The schedule beside the network reproduces it exactly.
    let again = dir.path().join("again.nnue");
    let schedule = net.with_extension("toml");
    let (schedule, again_name) = (schedule.to_str().unwrap(), again.to_str().unwrap());
    succeed(&[
        "train",
        "--data",
        file,
        "--out",
        again_name,
        "--schedule",
        schedule,
        "--threads",
        "2",
    ]);
    assert_eq!(fs::read(&again).unwrap(), bytes);

    let text = fail(&["train", "--data", file, "--out", net_name, "--hidden", "33"]);
    assert!(text.contains("multiple of 32"), "{text}");
    // The network plays.
    let more = ["--threads", "1", "--games", "2", "--net", net_name];
    let out = dir.path().join("second");
    succeed(&datagen(out.to_str().unwrap(), &more));
    let settings = fs::read_to_string(out.join("datagen.toml")).unwrap();
    assert!(settings.contains("768-32x2-2"), "{settings}");
}

/// A game ends as soon as the tablebases know its result, and the result is right for either side
/// to move.
#[test]
fn tablebase_results() {
    let Some(tablebase) = oracle() else { return };
    let mut players =
        SelfPlay::new(Conditions::nodes(100), &[None], Some(Arc::new(tablebase))).unwrap();
    let stopped = Arc::new(Signals::default());
    stopped.stop();
    for (fen, expected) in [
        ("8/8/8/4k3/8/8/8/KQ6 w - - 0 1", Some(GameResult::WhiteWins)),
        ("8/8/8/4k3/8/8/8/KQ6 b - - 0 1", Some(GameResult::WhiteWins)),
        ("8/8/8/4K3/8/8/8/kq6 w - - 0 1", Some(GameResult::BlackWins)),
        ("8/8/8/4K3/8/8/8/kq6 b - - 0 1", Some(GameResult::BlackWins)),
        ("8/8/8/4k3/4P3/4K3/8/8 w - - 0 1", Some(GameResult::Draw)),
        // Tablebase results are exact only when the halfmove clock is 0.
        ("8/8/8/4k3/8/8/8/KQ6 w - - 5 1", None),
    ] {
        // The game is over or stopped before the first move.
        let result = match players.play(position(fen), &mut 0, &stopped) {
            Played::Game(game) => Some(game.result),
            _ => None,
        };
        assert_eq!(result, expected, "{fen}");
    }
}
