//! Tests of the command `learn` as a program: it continues after a kill at any moment, and the same
//! seed gives the same networks.

use std::{fs, path::Path, process::Stdio};

use crate::common::program::{Directory, Running, fail, lancet, succeed, wait_for_bytes};
use lancet::eval::{
    self,
    nnue::{Network, features::INPUTS},
};
use lancet_train::learn::lineage::{Generation, Lineage};

fn learn(dir: &str) -> Vec<String> {
    let words = "learn --generations 3 --threads 1 --hidden 32 --buckets 1 --first 4000 \
                 --most 9000 --nodes 20 --match-games 12 --out";
    words.split_whitespace().chain([dir]).map(str::to_owned).collect()
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn lineage(dir: &str) -> Lineage {
    toml::from_str(&fs::read_to_string(Path::new(dir).join("lineage.toml")).unwrap()).unwrap()
}

/// Returns the generations without their times.
fn generations(dir: &str) -> Vec<Generation> {
    lineage(dir).generations.into_iter().map(|one| Generation { hours: 0.0, ..one }).collect()
}

#[test]
fn killed_and_continued() {
    let dir = Directory::new();
    let (whole, torn) = (dir.path("whole"), dir.path("torn"));
    let said = succeed(&words(&learn(&whole)));
    assert!(said.contains("generation 3 against "), "{said}");

    // Killed during self-play, before and during the match, and between generations.
    let arguments = learn(&torn);
    for (file, bytes) in [
        ("generation-0001/datagen.toml", 10),
        ("generation-0001/net.nnue", 10),
        ("generation-0001/match.txt", 8),
        ("lineage.svg", 10),
        ("generation-0002/datagen.toml", 10),
    ] {
        let running = Running::start(lancet(&words(&arguments)).stderr(Stdio::null()));
        wait_for_bytes(&Path::new(&torn).join(file), bytes);
        drop(running);
    }
    succeed(&words(&arguments));
    assert_eq!(generations(&torn), generations(&whole));
    let all = generations(&whole);
    assert_eq!(all.len(), 3);
    for one in &all {
        assert!(one.positions >= 2000 && one.learned > 0 && one.pairs.games() >= 2, "{one:?}");
        let network = |dir: &str| {
            fs::read(Path::new(dir).join(format!("generation-{:04}/net.nnue", one.number))).ok()
        };
        assert!(network(&torn) == network(&whole), "{one:?}");
    }
    // Each generation adds to the pool.
    let [first, second, third] = &all[..] else { panic!() };
    assert_eq!(second.pool, first.positions + second.positions);
    assert_eq!(third.pool, second.pool + third.positions);
    assert!(all.iter().all(|one| one.exam_error.is_none()), "{all:?}");
    let picture = fs::read_to_string(Path::new(&whole).join("lineage.svg")).unwrap();
    assert!(picture.contains("</svg>"));
    // The run is complete, and other options are refused.
    let said = succeed(&words(&arguments));
    assert!(!said.contains("generation 4") && !said.contains("same command again"), "{said}");
    let other = [&arguments[..], &["--seed".to_owned(), "2".to_owned()]].concat();
    let text = fail(&words(&other));
    assert!(text.contains("other options") && text.contains("seed = 2"), "{text}");
    let text = fail(&["learn", "--out", &torn]);
    assert!(text.contains("--hours"), "{text}");
    // An exam that cannot be read and an invalid shape are refused before self-play.
    let (none, exam) = (dir.path("none"), dir.path("no.csv"));
    let text = fail(&["learn", "--out", &none, "--hours", "1", "--exam", &exam]);
    assert!(text.contains("no.csv"), "{text}");
    let text = fail(&["learn", "--out", &none, "--hours", "1", "--hidden", "33"]);
    assert!(text.contains("multiple of 32") && !Path::new(&none).exists(), "{text}");
}

/// A network that wins its match replaces its parent, plays the next games, and provides the
/// initial weights of the next training run.
#[test]
fn winners_are_promoted() {
    let dir = Directory::new();
    let out = dir.path("out");
    let first = Path::new(&out).join("generation-0001");
    fs::create_dir_all(&first).unwrap();
    // A network that is already trained: one king bucket of the default network.
    let mut parameters = eval::default_network().parameters();
    parameters.weights.truncate(INPUTS * parameters.biases.len());
    let network = Network::new(&parameters, "").unwrap();
    fs::write(first.join("net.nnue"), network.to_bytes()).unwrap();
    let (hidden, buckets) = (network.hidden().to_string(), network.buckets().to_string());
    let exam = dir.path("exam.csv");
    fs::write(&exam, "id,cp,mate,fen\na,90,,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n").unwrap();
    let said = succeed(&[
        "learn",
        "--out",
        &out,
        "--generations",
        "2",
        "--threads",
        "2",
        "--hidden",
        &hidden,
        "--buckets",
        &buckets,
        "--first",
        "400",
        "--nodes",
        "20",
        "--match-games",
        "100",
        "--exam",
        &exam,
    ]);
    assert!(said.contains("generation 1 against piece-square tables: +"), "{said}");
    let lineage = lineage(&out);
    let [one, two] = &lineage.generations[..] else { panic!("{said}") };
    assert!(one.promoted && one.elo > 100.0, "{one:?}");
    assert_eq!((one.parent, two.parent), (0, 1));
    assert!(two.exam_error.is_some(), "{two:?}");
    let recipe = fs::read_to_string(Path::new(&out).join("generation-0002/datagen.toml")).unwrap();
    assert!(recipe.contains(&network.name()), "{recipe}");
    let bytes = fs::read(Path::new(&out).join("generation-0002/net.nnue")).unwrap();
    let second = Network::from_bytes(&bytes).unwrap();
    assert!(second.provenance().contains(&network.name()), "{}", second.provenance());
    let best = fs::read(Path::new(&out).join("best.nnue")).unwrap();
    let expected = if two.promoted { &bytes } else { &network.to_bytes() };
    assert!(best == *expected);
}
