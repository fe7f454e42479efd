//! Compares the rules of [`Position`] and [`Game`] with recorded answers (`tests/data/README.md`).

use lancet::chess::position::{Ending, Game, Position};
use shakmaty::{CastlingMode, uci::UciMove};

use crate::common::chess::position;

/// Returns the fields of each line of a table, without its heading.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split('\t').collect())
}

#[test]
fn valid_fens_are_read_and_written() {
    let mut count = 0;
    for fen in include_str!("../data/valid_fens.txt").lines() {
        let first = position(fen);
        let again = position(&first.fen());
        assert_eq!(again.fen(), first.fen());
        assert_eq!(again.keys(), first.keys(), "{fen}");
        count += 1;
    }
    assert_eq!(count, 500);
}

/// Most of these FENs are refused. Unusual but possible ones (with three checkers, for example) are
/// accepted and behave like any other position.
#[test]
fn invalid_fens_are_refused_or_survived() {
    let (mut refused, mut taken) = (0, 0);
    let invalid = rows(include_str!("../data/invalid_fens.tsv"));
    for row in invalid.chain(rows(include_str!("../data/destruction_fens.tsv"))) {
        match Position::from_fen(row[0]) {
            Err(error) => {
                assert!(error.to_string().contains(row[0].trim()), "{error}");
                assert_ne!(row[1], "VALID", "{error}");
                refused += 1;
            }
            Ok(position) => {
                assert!(!row[1].contains("KING") && !row[1].contains("OPPOSITE"), "{}", row[0]);
                for m in position.legal_moves() {
                    let child = position.play(m);
                    assert_eq!(*child.keys(), child.keys_from_scratch(), "{}", row[0]);
                }
                taken += 1;
            }
        }
    }
    assert!(refused > 400 && taken > 20, "{refused} refused, {taken} taken");
}

#[test]
fn chess960_start_positions() {
    let mut count = 0;
    for row in rows(include_str!("../data/chess960_startpos.tsv")) {
        let [_, shredder, x_fen] = row[..] else { panic!("{row:?}") };
        let [a, b] = [shredder, x_fen]
            .map(|fen| Position::from_fen_in(fen, CastlingMode::Chess960).unwrap());
        assert_eq!(a.keys(), b.keys(), "{shredder}");
        assert_eq!(a.legal_moves().len(), b.legal_moves().len(), "{shredder}");
        count += 1;
    }
    assert_eq!(count, 120);
}

#[test]
fn edge_positions_have_their_moves() {
    let mut count = 0;
    for row in rows(include_str!("../data/edge_positions.tsv")) {
        let [name, fen, moves, check, mate, stalemate, _] = row[..] else { panic!("{row:?}") };
        let position = position(fen);
        assert_eq!(position.legal_moves().len().to_string(), moves, "{name}");
        assert_eq!(position.is_check(), check == "1", "{name}");
        let ending = Game::from(position).ending();
        assert_eq!(ending == Some(Ending::Checkmate), mate == "1", "{name}");
        assert_eq!(ending == Some(Ending::Draw), stalemate == "1", "{name}");
        count += 1;
    }
    assert_eq!(count, 17);
}

/// Compares repetitions and draws by the rules with recorded games.
#[test]
fn repetitions_as_recorded() {
    let mut count = 0;
    for row in rows(include_str!("../data/repetition_fifty_sequences.tsv")) {
        let [name, fen, moves, occurrences, halfmoves, threefold, fifty, mate, ..] = row[..] else {
            panic!("{row:?}")
        };
        let mut game = Game::from(position(fen));
        for text in moves.split_whitespace() {
            let m = text.parse::<UciMove>().unwrap().to_move(game.position().chess()).unwrap();
            game.play(m);
        }
        assert_eq!(game.occurrences().to_string(), occurrences, "{name}");
        assert_eq!(game.position().halfmoves().to_string(), halfmoves, "{name}");
        if mate == "1" {
            assert_eq!(game.ending(), Some(Ending::Checkmate), "{name}");
        } else if threefold == "1" || fifty == "1" {
            assert_eq!(game.ending(), Some(Ending::Draw), "{name}");
        }
        count += 1;
    }
    assert_eq!(count, 223);
}

#[test]
fn insufficient_material_as_recorded() {
    let mut count = 0;
    for row in rows(include_str!("../data/insufficient_material.tsv")) {
        let [name, fen, answer] = row[..] else { panic!("{row:?}") };
        assert_eq!(position(fen).is_insufficient_material(), answer == "1", "{name}");
        count += 1;
    }
    assert_eq!(count, 20);
}
