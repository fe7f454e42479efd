//! Positions, suites, games, searches of them, and opening books.

use lancet::{
    chess::{
        epd::{self, Record},
        lines,
        notation::read_move,
        position::{Game, Position},
    },
    engine::{Engine, Job},
    play::{
        limits::Limits,
        report::{Outcome, Silent},
    },
};

/// Peter McKenzie's position, which has moves of all kinds.
pub const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// Returns a position of standard chess.
pub fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the game from a position with moves in UCI notation.
pub fn game(fen: &str, moves: &[&str]) -> Game {
    let mut game = Game::from(position(fen));
    for text in moves {
        game.play(read_move(game.position(), text).unwrap());
    }
    game
}

/// Returns a game of at least `plies` plies: knights go out and back, and about once in `every`
/// plies each side pushes a pawn.
pub fn long_game(plies: usize, every: usize) -> Vec<&'static str> {
    let pushes = "a2a3 a7a6 a3a4 a6a5 b2b3 b7b6 b3b4 b6b5 c2c3 c7c6 c3c4 c6c5";
    let (mut moves, mut pushes) = (Vec::new(), pushes.split(' '));
    while moves.len() < plies {
        moves.extend(["g1f3", "g8f6", "f3g1", "f6g8"]);
        if moves.len() % every < 4 {
            moves.extend(pushes.by_ref().take(2));
        }
    }
    moves
}

/// Returns the positions of a suite.
pub fn suite(text: &str) -> Vec<Record> {
    let lines = lines::split(text.as_bytes()).unwrap();
    lines.iter().map(|line| epd::parse(line).unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// Searches a game without reports.
pub fn search(engine: &mut Engine, game: &Game, limits: Limits) -> Outcome {
    engine.go(&Job::new(game.clone(), limits), &Silent)
}

/// Returns limits with only a depth, in plies.
pub fn depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

/// Returns limits with only a number of nodes.
pub fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

/// Returns a book file with these moves and weights in the start position.
pub fn book(moves: &[(&str, u16)]) -> Vec<u8> {
    // Polyglot's key of the start position.
    let entry = |&(m, weight): &(&str, u16)| book_entry(0x463b_9618_1691_fc9c, m, weight);
    moves.iter().flat_map(entry).collect()
}

/// Returns an entry of a book for the position with this key. The move must not castle or promote.
pub fn book_entry(key: u64, m: &str, weight: u16) -> [u8; 16] {
    // Squares are numbered from a1, rank by rank.
    let square = |text: &[u8]| u16::from(text[0] - b'a') + 8 * u16::from(text[1] - b'1');
    let code = square(&m.as_bytes()[2..4]) | square(&m.as_bytes()[..2]) << 6;
    let mut entry = [0; 16];
    entry[..8].copy_from_slice(&key.to_be_bytes());
    entry[8..10].copy_from_slice(&code.to_be_bytes());
    entry[10..12].copy_from_slice(&weight.to_be_bytes());
    entry
}
