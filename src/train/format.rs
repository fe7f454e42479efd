//! Reads and writes files of games in `viriformat`, which other trainers also use.
//!
//! A file is a sequence of games. A game is a packed start position, four bytes for every move (16
//! bits for the move, 16 bits for the score from White's point of view), and four zero bytes. The
//! start position consists of these little-endian fields:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 8 | the occupied squares |
//! | 16 | four bits for each occupied square, see `pack_pieces` |
//! | 1 | the en passant square or 64, plus 128 if Black is to move |
//! | 1 | the halfmove clock |
//! | 2 | the move number |
//! | 2 | zero |
//! | 1 | the result, see [`GameResult`] |
//! | 1 | zero |
//!
//! All input is checked: no byte sequence makes this module panic or gives an illegal game.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, ensure};
use rayon::prelude::*;
use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Position as _,
    PositionError, Role, Setup, Square,
};

use lancet::{
    chess::{fen::IllegalPosition, position::Position, score::Score},
    system::{files, memory},
};

/// Length of the packed start position, in bytes.
const HEADER: usize = 32;
/// Offset of the result in the packed start position.
const RESULT_AT: usize = 30;
/// Piece code of a rook that may still castle.
const CASTLING_ROOK: u8 = 6;
/// Value of the en passant byte if there is no en passant square.
const NO_SQUARE: u8 = 64;
/// Bit of the en passant byte that is set if Black is to move.
const BLACK_TO_MOVE: u8 = 128;

/// Label of a position without a score: its search left only a bound, or the label does not fit
/// into 16 bits. No search gives a score as large as this. Other trainers drop such positions, as
/// they drop mates.
pub(crate) const NO_LABEL: i16 = i16::MAX;

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum GameResult {
    /// Black won.
    BlackWins = 0,
    /// The game was drawn.
    Draw = 1,
    /// White won.
    WhiteWins = 2,
}

impl GameResult {
    /// Returns the result of a game that `color` won.
    pub(crate) const fn win(color: Color) -> GameResult {
        match color {
            Color::White => GameResult::WhiteWins,
            Color::Black => GameResult::BlackWins,
        }
    }

    /// Returns the half points that `color` scored, 0 to 2.
    pub(crate) const fn half_points(self, color: Color) -> u8 {
        match color {
            Color::White => self as u8,
            Color::Black => 2 - self as u8,
        }
    }
}

/// A position of a game.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// Plies since the end of the opening, which is [`Record::start`].
    pub ply: u32,
    /// The position.
    pub chess: &'a Chess,
    /// The move played there.
    pub m: Move,
    /// The label for the side to move, in centipawns: the score of the search, divided by the
    /// factor for material unless it is decisive. `None` if the score was only a bound.
    pub score: Option<Score>,
}

/// A game with a score for every move.
#[derive(Clone, Debug)]
pub struct Record {
    /// Position at the end of the opening.
    pub start: Position,
    /// Result of the game.
    pub result: GameResult,
    /// The moves, each with the label of the position before it, from White's point of view.
    pub moves: Vec<(Move, i16)>,
}

/// The error returned for bytes that are not a legal game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The bytes end inside a game.
    #[error("the file ends inside a game")]
    Truncated,
    /// The start position is impossible.
    #[error("bad start position: {0}")]
    Start(String),
    /// A result other than 0 to 2.
    #[error("bad result {0}: expected 0 (Black wins), 1 (draw) or 2 (White wins)")]
    Result(u8),
    /// A move that cannot be played.
    #[error("bad move at ply {}: {reason}", .index + 1)]
    Move {
        /// Index of the move in the game, from 0.
        index: usize,
        /// Description of the error.
        reason: String,
    },
}

/// Reads a whole file of games, up to the size of the available memory.
///
/// # Errors
///
/// If the file cannot be read, is a device, or does not fit into the available memory.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    // Files of up to 64 MiB are always read.
    let limit = memory::available().unwrap_or(u64::MAX).max(64 << 20);
    files::read(path, limit)
        .map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => anyhow!("not enough memory for the whole file"),
            _ => error.into(),
        })
        .with_context(|| path.display().to_string())
}

/// A file of games in memory, not yet decoded. Games are counted from 0.
pub(crate) struct GameFile {
    path: PathBuf,
    bytes: Vec<u8>,
    /// End of each complete game, in bytes from the start of the file.
    ends: Vec<usize>,
}

impl GameFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The same as for [`read`].
    pub fn read(path: &Path) -> anyhow::Result<GameFile> {
        Ok(GameFile::new(path, read(path)?))
    }

    /// Finds the games in the bytes of the file at `path`.
    pub fn new(path: &Path, bytes: Vec<u8>) -> GameFile {
        let mut end = 0;
        let ends = frames(&bytes).map(|frame| {
            end += frame.len();
            end
        });
        GameFile { ends: ends.collect(), path: path.to_owned(), bytes }
    }

    /// Returns the number of complete games.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    fn start(&self, game: usize) -> usize {
        if game == 0 { 0 } else { self.ends[game - 1] }
    }

    /// Returns the bytes of a game.
    pub fn frame(&self, game: usize) -> &[u8] {
        &self.bytes[self.start(game)..self.ends[game]]
    }

    /// Returns the bytes of each complete game.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count()).map(move |game| self.frame(game))
    }

    /// Returns the bytes of all complete games.
    pub fn whole(&self) -> &[u8] {
        &self.bytes[..self.start(self.count())]
    }

    /// Returns the number of bytes after the last complete game.
    pub fn torn(&self) -> usize {
        self.bytes.len() - self.whole().len()
    }

    /// Checks and decodes a game.
    ///
    /// # Errors
    ///
    /// If the game is invalid. The error names the file, the game and its byte offset.
    pub fn game(&self, game: usize) -> anyhow::Result<Record> {
        Record::decode(self.frame(game)).with_context(|| {
            let (path, start) = (self.path.display(), self.start(game));
            format!("{path}: game {}, at byte {start}", game + 1)
        })
    }

    /// Decodes all games, on all cores and in order.
    pub fn games(&self) -> impl IndexedParallelIterator<Item = anyhow::Result<Record>> {
        (0..self.count()).into_par_iter().map(move |game| self.game(game))
    }

    /// Checks that the file ends with a complete game.
    ///
    /// # Errors
    ///
    /// If it ends inside a game.
    pub fn check_end(&self) -> anyhow::Result<()> {
        ensure!(
            self.torn() == 0,
            "{}: {} after {} games, at byte {} of {}",
            self.path.display(),
            FormatError::Truncated,
            self.count(),
            self.whole().len(),
            self.bytes.len()
        );
        Ok(())
    }
}

/// Splits `bytes` into games without checking them. Leaves out an incomplete last game.
pub fn frames(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let moves = bytes.get(HEADER..)?;
        let end = moves.chunks_exact(4).position(|entry| entry == [0; 4])?;
        let (game, rest) = bytes.split_at(HEADER + 4 * (end + 1));
        bytes = rest;
        Some(game)
    })
}

impl Record {
    /// Checks and decodes one game.
    ///
    /// # Errors
    ///
    /// If the bytes are not a legal game. Bytes after the game are ignored.
    pub fn decode(frame: &[u8]) -> Result<Record, FormatError> {
        let start = decode_start(frame)?;
        let result = match frame[RESULT_AT] {
            0 => GameResult::BlackWins,
            1 => GameResult::Draw,
            2 => GameResult::WhiteWins,
            other => return Err(FormatError::Result(other)),
        };
        let mut chess = start.chess().clone();
        let mut moves = Vec::with_capacity(frame.len() / 4);
        for (index, entry) in frame[HEADER..].chunks(4).enumerate() {
            let &[a, b, c, d] = entry else { return Err(FormatError::Truncated) };
            if [a, b, c, d] == [0; 4] {
                return Ok(Record { start, result, moves });
            }
            let m = decode_move(&chess, u16::from_le_bytes([a, b]), index)?;
            moves.push((m, i16::from_le_bytes([c, d])));
            chess.play_unchecked(m);
        }
        Err(FormatError::Truncated)
    }

    /// Encodes the game.
    pub fn encode(&self) -> Vec<u8> {
        let chess = self.start.chess();
        let mut bytes = Vec::with_capacity(HEADER + 4 * self.moves.len() + 4);
        bytes.extend(chess.board().occupied().0.to_le_bytes());
        bytes.extend(pack_pieces(chess.board(), chess.castles().castling_rights()));
        let en_passant = chess.ep_square(EnPassantMode::Legal).map_or(NO_SQUARE, |at| at as u8);
        bytes.push(en_passant | if chess.turn().is_black() { BLACK_TO_MOVE } else { 0 });
        bytes.push(u8::try_from(chess.halfmoves()).unwrap_or(u8::MAX));
        let number = u16::try_from(chess.fullmoves().get()).unwrap_or(u16::MAX);
        bytes.extend(number.to_le_bytes());
        bytes.extend([0, 0, self.result as u8, 0]);
        for &(m, score) in &self.moves {
            bytes.extend(encode_move(m).to_le_bytes());
            bytes.extend(score.to_le_bytes());
        }
        bytes.extend([0; 4]);
        bytes
    }

    /// Calls `f` for every position, with its ply from 0, the move played, and the score from the
    /// point of view of the side to move.
    pub fn visit(&self, mut f: impl FnMut(Visit)) {
        let mut chess = self.start.chess().clone();
        for (&(m, score), ply) in self.moves.iter().zip(0..) {
            let score = match score {
                NO_LABEL => None,
                score if chess.turn().is_white() => Some(Score::from(score)),
                score => Some(-Score::from(score)),
            };
            f(Visit { ply, chess: &chess, m, score });
            chess.play_unchecked(m);
        }
    }
}

/// Packs the pieces into four bits each, in the order of their squares, lower half of a byte first.
/// The value is the role minus 1, or 6 for a rook that may still castle, plus 8 for a black piece.
pub(crate) fn pack_pieces(board: &Board, castling_rooks: Bitboard) -> [u8; 16] {
    let mut packed = [0; 16];
    for (i, (square, piece)) in board.iter().enumerate().take(32) {
        let role =
            if castling_rooks.contains(square) { CASTLING_ROOK } else { piece.role as u8 - 1 };
        packed[i / 2] |= (role | if piece.color.is_black() { 8 } else { 0 }) << (4 * (i % 2));
    }
    packed
}

/// Encodes a move. From the lowest bit: origin and destination (six bits each), role of a promotion
/// (two bits), and kind (two bits): 1 en passant, 2 castling, 3 promotion. The destination of
/// castling is the square of the rook.
fn encode_move(m: Move) -> u16 {
    let manner = match m {
        Move::EnPassant { .. } => 1 << 14,
        Move::Castle { .. } => 2 << 14,
        _ => m.promotion().map_or(0, |role| 3 << 14 | (role as u16 - 2) << 12),
    };
    manner | (m.to() as u16) << 6 | m.from().map_or(0, |square| square as u16)
}

fn decode_start(frame: &[u8]) -> Result<Position, FormatError> {
    let header: &[u8; HEADER] = frame.first_chunk().ok_or(FormatError::Truncated)?;
    let (occupied, rest) = header.split_first_chunk().ok_or(FormatError::Truncated)?;
    let occupied = Bitboard(u64::from_le_bytes(*occupied));
    let bad = |reason: String| FormatError::Start(reason);
    if occupied.count() > 32 {
        return Err(bad(format!("{} pieces, expected at most 32", occupied.count())));
    }
    let mut setup = Setup::empty();
    for (i, at) in occupied.into_iter().enumerate() {
        let code = rest[i / 2] >> (4 * (i % 2)) & 15;
        let role = match code & 7 {
            CASTLING_ROOK => {
                setup.castling_rights.add(at);
                Role::Rook
            }
            7 => {
                return Err(bad(format!("piece code {code} on {at}, expected 0 to 6 or 8 to 14")));
            }
            role => Role::ALL[usize::from(role)],
        };
        setup.board.set_piece_at(at, role.of(Color::from_white(code < 8)));
    }
    setup.turn = Color::from_white(header[24] < BLACK_TO_MOVE);
    setup.ep_square = match header[24] & !BLACK_TO_MOVE {
        NO_SQUARE => None,
        at => {
            let reason = || format!("en passant square {at}, expected 0 to 63, or 64 for none");
            Some(Square::try_from(at).map_err(|_| bad(reason()))?)
        }
    };
    setup.halfmoves = u32::from(header[25]);
    let fullmoves = u32::from(u16::from_le_bytes([header[26], header[27]]));
    setup.fullmoves = std::num::NonZeroU32::new(fullmoves).unwrap_or(std::num::NonZeroU32::MIN);
    let mode = CastlingMode::detect(&setup);
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material)
        .map(Position::from)
        .map_err(|error| bad(IllegalPosition(error.kinds()).to_string()))
}

/// Decodes a move and checks that it is legal. `index` is its ply in the game, for errors.
fn decode_move(chess: &Chess, bits: u16, index: usize) -> Result<Move, FormatError> {
    let at = |shift: u16| Square::new(u32::from(bits >> shift & 63));
    let bad = |reason: String| FormatError::Move { index, reason };
    let (from, to) = (at(0), at(6));
    let board = chess.board();
    let role = board.role_at(from).ok_or_else(|| bad(format!("no piece on {from}")))?;
    let promotion = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    let normal = |promotion| Move::Normal { role, from, capture: board.role_at(to), to, promotion };
    let m = match bits >> 14 {
        0 => normal(None),
        1 => Move::EnPassant { from, to },
        2 => Move::Castle { king: from, rook: to },
        _ => normal(Some(promotion[usize::from(bits >> 12 & 3)])),
    };
    if chess.is_legal(m) { Ok(m) } else { Err(bad(format!("{from}{to} is not legal"))) }
}

/// Numbers of White's wins, draws and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Games by [`GameResult`]: Black wins, draws, White wins.
    pub results: [u64; 3],
}

impl Tally {
    /// Counts a game.
    pub const fn add(&mut self, result: GameResult) {
        self.results[result as usize] += 1;
    }

    /// Adds the games of another tally.
    pub fn merge(&mut self, other: &Tally) {
        for (ours, theirs) in self.results.iter_mut().zip(other.results) {
            *ours += theirs;
        }
    }

    /// Returns the number of games.
    pub fn games(&self) -> u64 {
        self.results.iter().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [black, draws, white] = self.results;
        write!(f, "+{white} ={draws} -{black}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use viriformat::dataformat::Game;

    fn random_game(start: Position, rng: &mut ChaCha8Rng) -> Record {
        let mut position = start.clone();
        let mut moves = Vec::new();
        while moves.len() < 200 {
            let legal = position.legal_moves();
            // Castling, en passant and promotion are rare among random moves.
            let rare = legal.iter().copied().find(|m| {
                m.is_castle() || m.is_en_passant() || (m.is_promotion() && rng.random_bool(0.3))
            });
            let Some(m) =
                rare.or_else(|| legal.get(rng.random_range(0..legal.len().max(1))).copied())
            else {
                break;
            };
            moves.push((m, rng.random_range(-32_000..32_000)));
            position = position.play(m);
        }
        let result = [GameResult::WhiteWins, GameResult::Draw, GameResult::BlackWins];
        Record { start, result: result[rng.random_range(0..3)], moves }
    }

    /// A book may contain positions that no game can reach.
    #[test]
    fn games_from_too_much_material_survive() {
        let fen = "rnbqkbnr/qqqqqqqq/8/8/8/8/QQQQQQQQ/RNBQKBNR w KQkq - 0 1";
        let game = random_game(Position::from_fen(fen).unwrap(), &mut ChaCha8Rng::seed_from_u64(2));
        let decoded = Record::decode(&game.encode()).unwrap();
        assert_eq!((decoded.start.fen(), decoded.moves), (fen.to_owned(), game.moves));
    }

    #[test]
    fn games_survive_the_round_trip() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut bytes = Vec::new();
        let mut games = Vec::new();
        let mut rare = [0; 3];
        for number in 0..300 {
            let start = if number % 2 == 0 {
                Position::default()
            } else {
                lancet::play::openings::chess960(&mut rng)
            };
            // A later start position tests en passant squares and lost castling rights.
            let mut game = random_game(start, &mut rng);
            let skipped: Vec<_> =
                game.moves.drain(..(number % 8).min(game.moves.len() / 2)).collect();
            for (m, _) in skipped {
                game.start = game.start.play(m);
            }
            for (m, _) in &game.moves {
                rare[0] += usize::from(m.is_castle());
                rare[1] += usize::from(m.is_en_passant());
                rare[2] += usize::from(m.is_promotion());
            }
            bytes.extend(game.encode());
            games.push(game);
        }
        assert!(rare.iter().all(|&count| count > 20), "{rare:?}");

        let found: Vec<&[u8]> = frames(&bytes).collect();
        assert_eq!((found.len(), found.concat()), (games.len(), bytes.clone()));
        let file = GameFile::new(Path::new("games"), bytes.clone());
        assert_eq!((file.count(), file.torn()), (games.len(), 0));
        for (number, (game, frame)) in games.iter().zip(found).enumerate() {
            assert_eq!(file.frame(number), frame);
            let decoded = Record::decode(frame).unwrap();
            assert_eq!(decoded.start.key(), game.start.key(), "{}", game.start.fen());
            assert_eq!(decoded.start.halfmoves(), game.start.halfmoves().min(255));
            assert_eq!(decoded.moves, game.moves);
            assert_eq!(decoded.result, game.result);
            // The crate that defines the format reads the same game, and writes the same position.
            let theirs = Game::deserialise_from(&mut &*frame, Vec::new()).unwrap();
            assert_eq!(theirs.len(), game.moves.len());
            let header = theirs.initial_position().to_marlinformat(0, frame[RESULT_AT], 0);
            assert_eq!(header.as_bytes(), frame[..HEADER]);
        }
    }

    /// Example game of the specification. (The specification prints the two pieces of a byte in
    /// reading order, but the lower four bits are the first piece.)
    #[test]
    fn the_example_of_the_specification() {
        let mut start = Position::default();
        let mut moves = Vec::new();
        for (uci, score) in [("e2e4", 10), ("e7e5", 20), ("d1h5", -30)] {
            let m = start
                .legal_moves()
                .into_iter()
                .find(|m| m.to_uci(CastlingMode::Standard).to_string() == uci)
                .unwrap();
            moves.push((m, score));
            start = start.play(m);
        }
        let game = Record { start: Position::default(), result: GameResult::WhiteWins, moves };
        let hex: String = game.encode().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "ffff00000000ffff16422561000000008888\
             88889ecaade940000100000002000c070a0034091400c309e2ff00000000"
        );
    }

    #[test]
    fn every_truncation_and_every_flipped_byte_is_survived() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let bytes = random_game(Position::default(), &mut rng).encode();
        for length in 0..bytes.len() {
            assert!(frames(&bytes[..length]).next().is_none());
            assert!(Record::decode(&bytes[..length]).is_err());
        }
        for at in 0..bytes.len() {
            for value in [0, 7, 64, 255] {
                let mut bytes = bytes.clone();
                bytes[at] = value;
                let _ = Record::decode(&bytes);
            }
        }
        let mut wrong = bytes.clone();
        wrong[RESULT_AT] = 4;
        assert_eq!(Record::decode(&wrong).unwrap_err(), FormatError::Result(4));
        let mut wrong = bytes;
        wrong[32..34].copy_from_slice(&[0x04, 0x0a]); // e1 to a6
        let error = Record::decode(&wrong).unwrap_err();
        assert!(matches!(error, FormatError::Move { index: 0, .. }), "{error}");
    }

    #[test]
    fn results_by_colour() {
        assert_eq!(GameResult::win(Color::White).half_points(Color::White), 2);
        assert_eq!(GameResult::win(Color::White).half_points(Color::Black), 0);
        assert_eq!(GameResult::win(Color::Black).half_points(Color::Black), 2);
        assert_eq!(GameResult::Draw.half_points(Color::Black), 1);
    }
}
