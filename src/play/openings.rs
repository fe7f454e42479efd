//! Openings for games between engines: random moves from the start position, from a Chess960
//! position or from a position of a book.

use std::path::Path;

use rand::{Rng, seq::IndexedRandom as _};
use rand_chacha::ChaCha8Rng;
use shakmaty::{Board, CastlingMode, Setup};

use crate::{
    chess::{
        fen,
        lines::{self, Line, LineError},
        position::{Game, Position},
        score::Score,
    },
    system::files::FileError,
};

/// Largest score that a short search may give either side of an opening, in centipawns. With 1000,
/// a network learned less from self-play of the same length (`src/eval/nnue/HISTORY.md`).
pub const BALANCE: Score = 300;
/// Random plies without a book.
pub const RANDOM_PLIES: u32 = 8;
/// Random plies after a book position, so that few games are played twice.
pub const RANDOM_PLIES_AFTER_BOOK: u32 = 2;

/// The kinds of openings to make.
#[derive(Clone, Debug)]
pub struct Openings {
    /// Books, each a list of positions to start from.
    pub books: Vec<Vec<Position>>,
    /// Share of games that start from a book position, in per cent. Every book is chosen equally
    /// often.
    pub book_share: u32,
    /// Random plies after a book position. Each opening has this many or one more.
    pub book_plies: u32,
    /// Random plies after a start position. Each opening has this many or one more.
    pub random_plies: u32,
    /// Share of the remaining games that start from a random Chess960 position, in per cent.
    pub chess960: u32,
}

impl Openings {
    /// Returns openings made by random moves from the start position.
    pub const fn random() -> Openings {
        Openings::from_books(Vec::new())
    }

    /// Returns openings from these books; without books, random moves from the start position.
    pub const fn from_books(books: Vec<Vec<Position>>) -> Openings {
        Openings {
            books,
            book_share: 100,
            book_plies: RANDOM_PLIES_AFTER_BOOK,
            random_plies: RANDOM_PLIES,
            chess960: 0,
        }
    }

    /// Returns an opening in which the game is not over. Does not check its balance. A book may
    /// have no such opening, so this tries until `stopped` returns true, and then returns `None`.
    pub fn make(&self, rng: &mut ChaCha8Rng, stopped: impl Fn() -> bool) -> Option<Position> {
        while !stopped() {
            let (start, plies) = self.start(rng);
            let plies = plies + rng.random_range(0..2);
            if let Some(position) = random_moves(start, plies, rng)
                && Game::from(position.clone()).ending().is_none()
            {
                return Some(position);
            }
        }
        None
    }

    /// Returns the position that an opening starts from, and the number of random plies.
    fn start(&self, rng: &mut ChaCha8Rng) -> (Position, u32) {
        let mut percent = |share| rng.random_range(0..100) < share;
        let (from_book, from_chess960) = (percent(self.book_share), percent(self.chess960));
        let book = self.books.choose(rng).filter(|_| from_book);
        if let Some(position) = book.and_then(|book| book.choose(rng)) {
            (position.clone(), self.book_plies)
        } else if from_chess960 {
            (chess960(rng), self.random_plies)
        } else {
            (Position::default(), self.random_plies)
        }
    }
}

fn random_moves(mut position: Position, plies: u32, rng: &mut ChaCha8Rng) -> Option<Position> {
    for _ in 0..plies {
        let m = *position.legal_moves().choose(rng)?;
        position = position.play(m);
    }
    Some(position)
}

/// Returns one of the 960 start positions at random.
pub fn chess960(rng: &mut impl Rng) -> Position {
    let mut setup = Setup::initial();
    setup.board = Board::chess960(rng.random_range(0..960));
    setup.castling_rights = setup.board.rooks();
    let read = Position::from_setup_in(setup, Some(CastlingMode::Chess960));
    read.map_or_else(|_| Position::default(), |(position, _)| position)
}

/// Reads a book with a position in FEN or EPD on each line. Skips blank lines, comments (see
/// [`lines::split`]) and positions in which the game is over.
///
/// # Errors
///
/// If the file cannot be read, a line has no legal position, or no position remains.
pub fn read_book(path: &Path) -> Result<Vec<Position>, FileError> {
    let lines = lines::read(path).map_err(|error| FileError::new(path, error))?;
    let mut book = Vec::new();
    for line in &lines {
        let position = read_position(line).map_err(|LineError { line, column, reason }| {
            FileError::new(path, format!("line {line}, column {column}: {reason}"))
        })?;
        if Game::from(position.clone()).ending().is_none() {
            book.push(position);
        }
    }
    if book.is_empty() {
        return Err(FileError::new(path, "no position in this book to play from"));
    }
    Ok(book)
}

/// Returns the position of a line and ignores its EPD operations.
fn read_position(line: &Line) -> Result<Position, LineError> {
    let (setup, _) =
        fen::read_epd(&line.text).map_err(|error| line.error(error.at, error.reason))?;
    Position::from_setup(setup).map_err(|error| line.error(0, format!("illegal position: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use shakmaty::Position as _;
    use std::collections::HashSet;

    /// Dead draws are not openings. If a book has no playable opening, `make` can be stopped.
    #[test]
    fn a_book_of_endings_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kings.epd");
        std::fs::write(&path, "8/8/8/4k3/8/8/8/4K3 w - -\n").unwrap();
        assert!(read_book(&path).unwrap_err().reason.contains("no position"));
        // After the forced capture of the queen only kings remain.
        std::fs::write(&path, "8/8/8/8/8/8/1q6/K6k w - -\n").unwrap();
        let openings = Openings::from_books(vec![read_book(&path).unwrap()]);
        let tries = std::cell::Cell::new(0);
        let stopped = || tries.replace(tries.get() + 1) == 1000;
        assert!(openings.make(&mut ChaCha8Rng::seed_from_u64(1), stopped).is_none());
    }

    #[test]
    fn openings_vary_in_parity_and_follow_the_seed() {
        let openings = Openings { chess960: 50, ..Openings::random() };
        let make = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            (0..50).map(|_| openings.make(&mut rng, || false).unwrap().fen()).collect::<Vec<_>>()
        };
        let fens = make(3);
        assert_eq!(fens, make(3));
        assert_ne!(fens, make(4));
        assert!(fens.iter().any(|fen| fen.contains(" w ")));
        assert!(fens.iter().any(|fen| fen.contains(" b ")));
        assert_eq!(fens.iter().collect::<HashSet<_>>().len(), 50);
    }

    /// Every book is chosen equally often, whatever its length. Other games start from the start
    /// position.
    #[test]
    fn books_are_mixed() {
        let position = |fen: &str| Position::from_fen(fen).unwrap();
        let rook = vec![position("4k3/8/8/8/8/8/8/R3K3 w - - 0 1"); 9];
        let queen = vec![position("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1")];
        let openings =
            Openings { book_share: 50, book_plies: 0, ..Openings::from_books(vec![rook, queen]) };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut count = [0; 3];
        for _ in 0..2000 {
            let board = openings.make(&mut rng, || false).unwrap().board().clone();
            let place = if board.occupied().count() > 3 { 2 } else { board.rooks().count() };
            count[place] += 1;
        }
        assert!((400..600).contains(&count[0]) && (400..600).contains(&count[1]), "{count:?}");
    }

    #[test]
    fn chess960_positions_are_legal_and_castle() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..50 {
            let position = chess960(&mut rng);
            assert_eq!(position.chess().castles().castling_rights().count(), 4);
            assert_eq!(position.board().occupied().count(), 32);
        }
    }

    #[test]
    fn books_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            let book = read_book(file.path());
            book.map(|book| book.iter().map(Position::fen).collect::<Vec<_>>())
                .map_err(|error| error.reason)
        };
        let book = "# comment\r\n8/8/8/8/8/4k3/8/R3K3 w Q - bm Ra3; id \"a 1\";\r\n\n\
                    8/8/8/8/8/4k3/4P3/4K3 b - - 3 9\n7k/8/8/8/8/8/8/K6r w - - 0 1\n";
        assert_eq!(
            read(book).unwrap(),
            [
                "8/8/8/8/8/4k3/8/R3K3 w Q - 0 1",
                "8/8/8/8/8/4k3/4P3/4K3 b - - 3 9",
                "7k/8/8/8/8/8/8/K6r w - - 0 1"
            ]
        );
        for (text, reason) in [
            ("", "no position in this book to play from"),
            (
                "7k/5Q2/8/8/8/8/8/K7 b - - 0 1\n\n8/8/8/8 w - -",
                "line 3, column 1: '8/8/8/8' is not a board: 4 ranks, expected 8",
            ),
            (
                "8/8/8/8/8/8/8/8 w - -",
                "line 1, column 1: illegal position: empty board, missing king",
            ),
            (
                "7k/8/8/8/8/8/8/K7 w -",
                "line 1, column 22: the line ends before the en passant square",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), reason);
        }
    }
}
