//! Opening books from other sources, and Polyglot's keys of positions.

use std::{collections::HashMap, fs};

use crate::common::{
    chess::{book_entry, position},
    data::data,
};
use lancet::{
    chess::{
        notation::{move_text, read_move},
        position::Position,
    },
    play::book::Book,
};
use shakmaty::{CastlingMode, Move};

fn shared(name: &str) -> Option<Book> {
    let bytes = fs::read(data(name)?).unwrap();
    Some(Book::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Each recorded key finds its position.
#[test]
fn keys_as_recorded() {
    let mut count = 0;
    for line in include_str!("../data/polyglot_keys.tsv").lines() {
        let Some((fen, key)) = line.rsplit_once('\t').filter(|(fen, _)| fen.contains('/')) else {
            continue;
        };
        let key = u64::from_str_radix(key.trim().trim_start_matches("0x"), 16).unwrap();
        let fen = fen.split('\t').find(|field| field.contains('/')).unwrap();
        let position = position(fen);
        let plain = |m: &Move| !m.is_castle() && !m.is_promotion();
        let Some(m) = position.legal_moves().into_iter().find(plain) else { continue };
        let entry = book_entry(key, &move_text(m, CastlingMode::Standard), 1);
        assert_eq!(Book::from_bytes(&entry).unwrap().best(&position), Some(m), "{fen}");
        count += 1;
    }
    assert!(count > 400, "{count}");
}

/// Follows all lines of real books from the start position. All their moves are legal.
#[test]
fn real_books_are_read() {
    for (name, least) in
        [("books/cutechess_book_small.bin", 10_000), ("books/eco_openings_cc0.bin", 5_000)]
    {
        let Some(book) = shared(name) else { return };
        let mut seen = HashMap::from([(Position::default().key(), 0)]);
        let mut open = vec![Position::default()];
        while let Some(position) = open.pop() {
            let moves = book.moves(&position);
            seen.insert(position.key(), moves.len());
            for (m, _) in moves {
                let child = position.play(m);
                if !seen.contains_key(&child.key()) {
                    open.push(child);
                }
            }
        }
        let reached: usize = seen.values().sum();
        assert!(reached >= least, "{name}: {reached} entries");
    }
}

/// Follows a book that has moves for Black only, up to a promotion to a knight.
#[test]
fn the_lasker_trap_is_set() {
    let Some(book) = shared("books/lasker-trap.bin") else { return };
    let mut position = Position::default();
    let mut replies = Vec::new();
    for text in ["d2d4", "c2c4", "d4e5", "e2e3", "c1d2", "d2b4", "e1e2"] {
        position = position.play(read_move(&position, text).unwrap());
        let reply = book.best(&position).unwrap();
        replies.push(move_text(reply, CastlingMode::Standard));
        position = position.play(reply);
    }
    assert_eq!(replies, ["d7d5", "e7e5", "d5d4", "f8b4", "d4e3", "e3f2", "f2g1n"]);
}
