use rand::{SeedableRng as _, seq::IndexedRandom as _};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use super::*;

/// A position with texts that its explanation must or must not contain.
#[derive(Debug, Deserialize)]
struct Case {
    kind: String,
    position: String,
    must: Vec<String>,
    #[serde(default)]
    must_not: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Cases {
    position: Vec<Case>,
}

fn explained(position: &str, nodes: u64) -> Explanation {
    let args = Args {
        position: vec![position.to_owned()],
        effort: Effort { movetime: None, nodes: Some(nodes), depth: None },
        threads: 1,
        hash: 1,
        tables: Tables { syzygy: None },
        json: false,
    };
    super::explained(&args).unwrap()
}

/// Checks the explanations of the positions in `tests/data/explain.toml`.
#[test]
fn positions_of_the_data_file() {
    let cases: Cases = toml::from_str(include_str!("../../../../tests/data/explain.toml")).unwrap();
    assert!(cases.position.len() >= 30, "{}", cases.position.len());
    let mut wrong = Vec::new();
    for Case { kind, position, must, must_not } in &cases.position {
        let said = text(&explained(position, 20_000)).join("\n");
        let missing = must.iter().filter(|text| !said.contains(*text));
        let unwanted = must_not.iter().filter(|text| said.contains(*text));
        let faults: Vec<_> = missing
            .map(|text| format!("lacks '{text}'"))
            .chain(unwanted.map(|text| format!("has '{text}'")))
            .collect();
        if !faults.is_empty() {
            wrong.push(format!("{kind}: {}\n{said}", faults.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Plays a random game. Differences below a tenth of a pawn must not be mentioned, and a finished
/// game is explained in two lines.
#[test]
fn small_differences_are_not_mentioned() {
    let mut position = Position::default();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for ply in 0..60 {
        let Some(&m) = position.legal_moves().choose(&mut rng) else { break };
        position = position.play(m);
        if ply % 4 != 0 {
            continue;
        }
        let explanation = explained(&position.fen(), 500);
        let lines = text(&explanation);
        if explanation.over.is_some() {
            assert_eq!(lines.len(), 2, "{lines:?}");
        }
        if let (Some(best), Some(second)) = (&explanation.best, &explanation.second)
            && let (Ok(best), Ok(second)) = (best.score.parse::<f64>(), second.score.parse::<f64>())
        {
            assert!((best - second).abs() > 0.095, "{lines:?}");
        }
        let sentences = [&explanation.before, &explanation.about, &explanation.board];
        for Sentence { text, .. } in sentences.into_iter().flatten() {
            assert!(text.ends_with('.') && !text.contains("  "), "{text}");
        }
    }
}

#[test]
fn two_different_moves_and_their_worth() {
    // Capturing the rook wins. Every other move is worse.
    let explanation = explained("3qk3/8/8/8/3R4/8/8/4K3 b - - 0 1", 20_000);
    let (best, second) = (explanation.best.clone().unwrap(), explanation.second.clone().unwrap());
    assert_ne!(best.uci, second.uci);
    assert!(best.chances > second.chances, "{explanation:?}");
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(json["best"]["san"], best.san.as_str());
    assert_eq!(json["board"][0]["kind"], "material");
    assert_eq!(json["board"][0]["text"], "Black has a queen for a rook.");
}
