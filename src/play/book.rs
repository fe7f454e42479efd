//! Polyglot opening books: positions and weighted moves in one sorted file. The engine decides
//! whether to play from the book.
//!
//! A file consists of entries of 16 bytes, big-endian and sorted by key: key (8 bytes), move (2),
//! weight (2), learning data (4, not used). The key is that of Polyglot, whose Zobrist numbers
//! shakmaty uses too. Source: Polyglot's documentation by Fabien Letouzey.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::{io, path::Path};

use rand::{Rng, seq::IndexedRandom as _};
use shakmaty::{EnPassantMode, Move, Position as _, zobrist::Zobrist64};

use crate::{
    chess::position::{PackedMove, Position},
    system::files,
};

/// Size of an entry, in bytes.
const ENTRY: usize = 16;
/// Largest accepted file, in bytes. The largest books are less than a tenth as long.
const LONGEST_FILE: u64 = 4 << 30;

/// A book move in the position with this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BookMove {
    key: u64,
    /// From the lowest bit: target square (6 bits), origin (6), promotion (3). The promotions are
    /// none, knight, bishop, rook and queen. Castling is a move of the king to the square of its
    /// rook.
    code: u16,
    weight: u16,
}

/// A book in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    entries: Vec<BookMove>,
}

/// The error returned for a file that is not a usable book.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The book has no moves.
    #[error("the book has no moves")]
    Empty,
    /// The last entry is incomplete.
    #[error("not a Polyglot book, or truncated: {bytes} bytes is not a multiple of 16")]
    Truncated {
        /// Length of the file, in bytes.
        bytes: usize,
    },
    /// The entries are not sorted by key.
    #[error("not a Polyglot book, or damaged: entry {entry} is out of order")]
    Unsorted {
        /// Number of the first entry with a smaller key than the one before it, from 1.
        entry: usize,
    },
    /// The move of an entry is not valid.
    #[error("not a Polyglot book, or damaged: entry {entry} is not a valid move")]
    Move {
        /// Number of the entry, from 1.
        entry: usize,
    },
}

impl Book {
    /// Reads a book file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a book.
    pub fn load(path: &Path) -> Result<Book, BookError> {
        Book::from_bytes(&files::read_regular(path, LONGEST_FILE)?)
    }

    /// Reads a book from the bytes of its file.
    ///
    /// # Errors
    ///
    /// If the bytes are not a book, or there is not enough memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Book, BookError> {
        let (records, rest) = bytes.as_chunks::<ENTRY>();
        if !rest.is_empty() {
            return Err(BookError::Truncated { bytes: bytes.len() });
        }
        let mut entries: Vec<BookMove> = Vec::new();
        entries.try_reserve_exact(records.len()).map_err(io::Error::from)?;
        for (&record, number) in records.iter().zip(1..) {
            let bits = u128::from_be_bytes(record);
            let entry = BookMove {
                key: (bits >> 64) as u64,
                code: (bits >> 48) as u16,
                weight: (bits >> 32) as u16,
            };
            if entries.last().is_some_and(|last| last.key > entry.key) {
                return Err(BookError::Unsorted { entry: number });
            }
            if entry.code >> 12 > 4 {
                return Err(BookError::Move { entry: number });
            }
            // Some books contain Polyglot's null move, which cannot be played.
            if entry.code != 0 {
                entries.push(entry);
            }
        }
        if entries.is_empty() { Err(BookError::Empty) } else { Ok(Book { entries }) }
    }

    /// Returns the book's legal moves in a position, with their weights. Moves with weight zero are
    /// left out.
    pub fn moves(&self, position: &Position) -> Vec<(Move, u16)> {
        let key = key(position);
        let first = self.entries.partition_point(|entry| entry.key < key);
        let here = self.entries[first..].iter().take_while(|entry| entry.key == key);
        let legal = position.legal_moves();
        here.filter(|entry| entry.weight > 0)
            .filter_map(|entry| {
                let m = legal.iter().copied().find(|&m| code(m) == entry.code)?;
                Some((m, entry.weight))
            })
            .collect()
    }

    /// Returns a random move for this position, with probabilities proportional to the weights.
    pub fn choose(&self, position: &Position, rng: &mut impl Rng) -> Option<Move> {
        let moves = self.moves(position);
        // The sum of the weights may exceed 16 bits.
        moves.choose_weighted(rng, |&(_, weight)| u64::from(weight)).ok().map(|&(m, _)| m)
    }

    /// Returns the move with the largest weight.
    pub fn best(&self, position: &Position) -> Option<Move> {
        self.moves(position).into_iter().max_by_key(|&(_, weight)| weight).map(|(m, _)| m)
    }
}

/// Returns Polyglot's key of a position. Unlike the engine's own key, it includes the en passant
/// file whenever an enemy pawn is beside the pushed pawn, even a pinned one.
fn key(position: &Position) -> u64 {
    let Zobrist64(key) = position.chess().zobrist_hash(EnPassantMode::PseudoLegal);
    key
}

/// Returns Polyglot's code for a move. It has the fields of a packed move in another order, and
/// promotions without the pawn.
fn code(m: Move) -> u16 {
    let bits = PackedMove::from(m).bits();
    bits >> 6 & 63 | (bits & 63) << 6 | (bits >> 12).saturating_sub(1) << 12
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use shakmaty::{CastlingMode, Square, uci::UciMove};

    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).unwrap()
    }

    fn entry(key: u64, code: u16, weight: u16) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..8].copy_from_slice(&key.to_be_bytes());
        bytes[8..10].copy_from_slice(&code.to_be_bytes());
        bytes[10..12].copy_from_slice(&weight.to_be_bytes());
        bytes
    }

    fn book(position: &Position, moves: &[(&str, u16)]) -> Book {
        let entries = moves.iter().map(|&(text, weight)| {
            let m = text.parse::<UciMove>().unwrap().to_move(position.chess()).unwrap();
            entry(key(position), code(m), weight)
        });
        Book::from_bytes(&entries.collect::<Vec<_>>().concat()).unwrap()
    }

    /// Keys from Polyglot's documentation: the start position, after 1. e4 d5 2. e5 f5 (en passant
    /// possible) and after 3. Ke2 Kf7 (castling rights lost).
    #[test]
    fn keys_of_the_documentation() {
        for (fen, expected) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0x463b_9618_1691_fc9c),
            (
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
                0x22a4_8b5a_8e47_ff78,
            ),
            ("rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4", 0x00fd_d303_c946_bdd9),
        ] {
            assert_eq!(key(&position(fen)), expected, "{fen}");
        }
    }

    #[test]
    fn castling_and_promotions() {
        let castling = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
        let found = book(&castling, &[("e1g1", 3), ("e1c1", 1)]).moves(&castling);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|(m, _)| m.is_castle()));
        // Polyglot writes e1h1 and e1a1.
        let kingside = Square::E1 as u16 * 64 + Square::H1 as u16;
        let bytes = entry(key(&castling), kingside, 1);
        assert_eq!(Book::from_bytes(&bytes).unwrap().best(&castling), Some(found[0].0));

        let promotion = position("8/P6k/8/8/8/8/8/K7 w - - 0 1");
        for text in ["a7a8q", "a7a8r", "a7a8b", "a7a8n"] {
            let m = book(&promotion, &[(text, 1)]).best(&promotion).unwrap();
            assert_eq!(m.to_uci(CastlingMode::Standard).to_string(), text);
        }
    }

    /// Moves are chosen in proportion to their weights. Moves with weight zero are never chosen.
    #[test]
    fn weights_are_shares() {
        let start = Position::default();
        let book = book(&start, &[("e2e4", 600), ("d2d4", 300), ("c2c4", 100), ("f2f3", 0)]);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut counts: HashMap<String, u32> = HashMap::new();
        for _ in 0..10_000 {
            let m = book.choose(&start, &mut rng).unwrap();
            *counts.entry(m.to_uci(CastlingMode::Standard).to_string()).or_default() += 1;
        }
        assert_eq!(counts.len(), 3, "{counts:?}");
        for (text, share) in [("e2e4", 6000), ("d2d4", 3000), ("c2c4", 1000)] {
            assert!(counts[text].abs_diff(share) < 200, "{counts:?}");
        }
        // The largest possible weights.
        let heavy = super::tests::book(&start, &[("e2e4", u16::MAX), ("d2d4", u16::MAX)]);
        assert!(heavy.choose(&start, &mut rng).is_some());
        let none = super::tests::book(&start, &[("f2f3", 0)]);
        assert_eq!(none.choose(&start, &mut rng), None);
        assert_eq!(book.choose(&position("8/8/8/8/8/4k3/8/4K2R w K - 0 1"), &mut rng), None);
    }

    #[test]
    fn damaged_books_are_refused() {
        let good = [entry(1, 2, 1), entry(2, 2, 1), entry(2, 1, 1)].concat();
        assert_eq!(Book::from_bytes(&good).unwrap().entries.len(), 3);
        let message = |bytes: &[u8]| Book::from_bytes(bytes).unwrap_err().to_string();
        assert_eq!(message(b""), "the book has no moves");
        assert_eq!(message(&[0; 64]), "the book has no moves");
        assert!(message(&good[..47]).contains("47 bytes"));
        let swapped = [entry(2, 2, 1), entry(1, 2, 1)].concat();
        assert!(message(&swapped).contains("entry 2 is out of order"));
        assert!(message(&entry(1, 5 << 12, 1)).contains("entry 1 is not a valid move"));
        assert!(Book::load(Path::new("/nowhere/book.bin")).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(book) = Book::from_bytes(&bytes) {
                prop_assert_eq!(book.moves(&Position::default()), vec![]);
            }
        }
    }
}
