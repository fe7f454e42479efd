//! Games on disk: the `viriformat` of other trainers, to and from shakmaty.
//!
//! A game is a packed start position (32 bytes), four bytes for every move
//! (16 bits of move, 16 bits of score from White's point of view) and four
//! zero bytes. Files are games laid end to end. A position without a game is a
//! game of one move with the result 3, which other trainers do not know. Everything read is checked:
//! no byte sequence makes this module panic or yields an illegal game.

use std::{fmt, io, path::Path};

use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Piece, Position as _,
    PositionError, Role, Setup, Square,
};
use viriformat::{
    chess::{board, chessmove, piece, types},
    dataformat,
};

use lancet::{
    chess::{fen::IllegalPosition, position::Position, score::Score},
    system::{files, memory},
};

/// Bytes of the packed start position.
const HEADER: usize = 32;
/// Which of them is the result.
const RESULT_AT: usize = 30;
/// Piece code of a rook that may still castle.
const CASTLING_ROOK: u8 = 6;

/// Stands for the score of a position that has none: its search was cut short
/// and left a bound only. No score of a search is as large; other trainers leave
/// such positions out as they leave out mates.
pub const NO_LABEL: i16 = i16::MAX;

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum GameResult {
    /// Black won.
    BlackWins = 0,
    /// Nobody won.
    Draw = 1,
    /// White won.
    WhiteWins = 2,
    /// There was no game: the position stands alone.
    Unknown = 3,
}

impl GameResult {
    /// The win of one side.
    pub const fn win(color: Color) -> GameResult {
        match color {
            Color::White => GameResult::WhiteWins,
            Color::Black => GameResult::BlackWins,
        }
    }

    /// 0, 1 or 2 half points for `color`, if there was a game.
    pub const fn half_points(self, color: Color) -> Option<u8> {
        match (self, color) {
            (GameResult::Unknown, _) => None,
            (_, Color::White) => Some(self as u8),
            (_, Color::Black) => Some(2 - self as u8),
        }
    }
}

/// A position of a game.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// Plies played since the end of the opening, that is since [`Record::start`];
    /// `None` for a position that stands alone.
    pub ply: Option<u32>,
    /// The position.
    pub chess: &'a Chess,
    /// The move played there.
    pub m: Move,
    /// The score that a search gave, in centipawns for the side to move; `None` if
    /// that was a bound only.
    pub score: Option<Score>,
}

/// A game with a score for every move.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where the game begins.
    pub start: Position,
    /// How it ended.
    pub result: GameResult,
    /// The moves, each with the score of the position it was played in, from
    /// White's point of view.
    pub moves: Vec<(Move, i16)>,
}

/// Why bytes are not a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The bytes end inside a game.
    Truncated,
    /// The start position is impossible.
    Start(String),
    /// A result other than 0 to 3.
    Result(u8),
    /// A move that cannot be played.
    Move {
        /// Index of the move in the game, from 0.
        index: usize,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::Truncated => write!(f, "the file ends inside a game"),
            FormatError::Start(reason) => write!(f, "bad start position: {reason}"),
            FormatError::Result(byte) => {
                write!(
                    f,
                    "bad result {byte}: expected 0 (Black wins), 1 (draw), 2 (White wins) or \
                     3 (no game)"
                )
            }
            FormatError::Move { index, reason } => write!(f, "bad move at ply {index}: {reason}"),
        }
    }
}

impl std::error::Error for FormatError {}

/// Reads a whole file of games, which may be as long as there is memory for it.
///
/// # Errors
///
/// If it cannot be read, is a device, or is longer.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Small files are not worth the question.
    let limit = memory::available().unwrap_or(u64::MAX).max(64 << 20);
    files::read(path, limit).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => {
            io::Error::new(io::ErrorKind::OutOfMemory, "not enough memory for the whole file")
        }
        _ => error,
    })
}

/// Reads the bytes of the next game into `buffer`, unchecked. Returns false at
/// the end of the file.
///
/// # Errors
///
/// What the reader reports; `UnexpectedEof` if the file ends inside a game.
pub fn next_frame(reader: &mut impl io::BufRead, buffer: &mut Vec<u8>) -> io::Result<bool> {
    buffer.clear();
    if reader.fill_buf()?.is_empty() {
        return Ok(false);
    }
    dataformat::Game::deserialise_fast_into_buffer(reader, buffer)?;
    Ok(true)
}

/// The games in `bytes`, unchecked; an incomplete last one is left out.
/// Also returns the length of the complete part.
pub fn frames(mut bytes: &[u8]) -> (Vec<&[u8]>, usize) {
    let total = bytes.len();
    let mut games = Vec::new();
    loop {
        let moves = bytes.get(HEADER..).unwrap_or_default();
        let Some(end) = moves.chunks_exact(4).position(|entry| entry == [0; 4]) else {
            return (games, total - bytes.len());
        };
        let (game, rest) = bytes.split_at(HEADER + 4 * (end + 1));
        games.push(game);
        bytes = rest;
    }
}

/// The result in an unchecked game.
///
/// # Errors
///
/// If the byte is not a result.
pub fn frame_result(frame: &[u8]) -> Result<GameResult, FormatError> {
    match frame.get(RESULT_AT).copied().ok_or(FormatError::Truncated)? {
        0 => Ok(GameResult::BlackWins),
        1 => Ok(GameResult::Draw),
        2 => Ok(GameResult::WhiteWins),
        3 => Ok(GameResult::Unknown),
        other => Err(FormatError::Result(other)),
    }
}

impl Record {
    /// Checks and decodes one game.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the bytes; trailing bytes are ignored.
    pub fn decode(frame: &[u8]) -> Result<Record, FormatError> {
        let start = decode_start(frame)?;
        let result = frame_result(frame)?;
        let mut chess = start.chess().clone();
        let mut moves = Vec::with_capacity(frame.len() / 4);
        for (index, entry) in frame[HEADER..].chunks(4).enumerate() {
            let &[a, b, c, d] = entry else { return Err(FormatError::Truncated) };
            if [a, b, c, d] == [0; 4] {
                return Ok(Record { start, result, moves });
            }
            let m = decode_move(&chess, u16::from_le_bytes([a, b]))
                .map_err(|reason| FormatError::Move { index, reason })?;
            moves.push((m, i16::from_le_bytes([c, d])));
            chess.play_unchecked(m);
        }
        Err(FormatError::Truncated)
    }

    /// The game as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut board = board(&self.start);
        *board.turn_mut() = colour(self.start.turn());
        let mut game = dataformat::Game::new(&board);
        game.set_outcome(match self.result {
            GameResult::WhiteWins => board::GameOutcome::WhiteWin(board::WinType::Adjudication),
            GameResult::BlackWins => board::GameOutcome::BlackWin(board::WinType::Adjudication),
            GameResult::Draw | GameResult::Unknown => {
                board::GameOutcome::Draw(board::DrawType::Adjudication)
            }
        });
        for &(m, score) in &self.moves {
            if let Some(m) = encode_move(m) {
                game.add_move(m, score);
            }
        }
        let mut bytes = Vec::with_capacity(HEADER + 4 * self.moves.len() + 4);
        // Writing to a Vec cannot fail.
        let _ = game.serialise_into(&mut bytes);
        bytes[RESULT_AT] = self.result as u8;
        bytes
    }

    /// Visits every position, counted from 0, with the move played there and its
    /// score from the point of view of the side to move.
    pub fn visit(&self, mut f: impl FnMut(Visit)) {
        let mut chess = self.start.chess().clone();
        for (&(m, score), ply) in self.moves.iter().zip(0..) {
            let ply = (self.result != GameResult::Unknown).then_some(ply);
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

fn colour(color: Color) -> piece::Colour {
    piece::Colour::new(color.is_black())
}

fn square(square: Square) -> types::Square {
    types::Square::new_clamped(square as u8)
}

/// The crate's board for a position: all that its packing looks at.
fn board(position: &Position) -> board::Board {
    let mut out = board::Board::new();
    for (at, Piece { color, role }) in position.board() {
        let kind = match role {
            Role::Pawn => piece::PieceType::Pawn,
            Role::Knight => piece::PieceType::Knight,
            Role::Bishop => piece::PieceType::Bishop,
            Role::Rook => piece::PieceType::Rook,
            Role::Queen => piece::PieceType::Queen,
            Role::King => piece::PieceType::King,
        };
        out.add_piece(square(at), piece::Piece::new(colour(color), kind));
    }
    let castles = position.chess().castles();
    for color in Color::ALL {
        let rook = |side| castles.rook(color, side).map(square);
        let rights = out.castling_rights_mut();
        *rights.kingside_mut(colour(color)) = rook(shakmaty::CastlingSide::KingSide);
        *rights.queenside_mut(colour(color)) = rook(shakmaty::CastlingSide::QueenSide);
    }
    *out.ep_sq_mut() = position.chess().ep_square(EnPassantMode::Legal).map(square);
    *out.halfmove_clock_mut() = u8::try_from(position.halfmoves()).unwrap_or(u8::MAX);
    let fullmoves = u32::from(position.chess().fullmoves());
    out.set_fullmove_clock(u16::try_from(fullmoves).unwrap_or(u16::MAX));
    out
}

fn encode_move(m: Move) -> Option<chessmove::Move> {
    use chessmove::{Move as Packed, MoveFlags};
    Some(match m {
        Move::Normal { from, to, promotion, .. } => {
            let kind = match promotion {
                None => return Some(Packed::new(square(from), square(to))),
                Some(Role::Knight) => piece::PieceType::Knight,
                Some(Role::Bishop) => piece::PieceType::Bishop,
                Some(Role::Rook) => piece::PieceType::Rook,
                Some(_) => piece::PieceType::Queen,
            };
            Packed::new_with_promo(square(from), square(to), kind)
        }
        Move::EnPassant { from, to } => {
            Packed::new_with_flags(square(from), square(to), MoveFlags::EnPassant)
        }
        Move::Castle { king, rook } => {
            Packed::new_with_flags(square(king), square(rook), MoveFlags::Castle)
        }
        Move::Put { .. } => return None, // never legal in chess
    })
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
            0 => Role::Pawn,
            1 => Role::Knight,
            2 => Role::Bishop,
            3 | CASTLING_ROOK => Role::Rook,
            4 => Role::Queen,
            5 => Role::King,
            _ => return Err(bad(format!("piece code {code} on {at}"))),
        };
        if code & 7 == CASTLING_ROOK {
            setup.castling_rights.add(at);
        }
        setup.board.set_piece_at(at, role.of(Color::from_white(code < 8)));
    }
    setup.turn = Color::from_white(header[24] < 128);
    setup.ep_square = match header[24] & 127 {
        64 => None,
        at => {
            Some(Square::try_from(at).map_err(|_| bad(format!("en passant square number {at}")))?)
        }
    };
    setup.halfmoves = u32::from(header[25]);
    let fullmoves = u32::from(u16::from_le_bytes([header[26], header[27]]));
    setup.fullmoves = std::num::NonZeroU32::new(fullmoves).unwrap_or(std::num::NonZeroU32::MIN);
    let mode = CastlingMode::detect(&setup);
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .map(Position::from)
        .map_err(|error| bad(IllegalPosition(error.kinds()).to_string()))
}

/// The legal move that the packed bits stand for, or what is wrong with them.
fn decode_move(chess: &Chess, bits: u16) -> Result<Move, String> {
    let at = |shift: u16| Square::new(u32::from(bits >> shift & 63));
    let (from, to) = (at(0), at(6));
    let board = chess.board();
    let role = board.role_at(from).ok_or_else(|| format!("no piece on {from}"))?;
    let promotion = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    let normal = |promotion| Move::Normal { role, from, capture: board.role_at(to), to, promotion };
    let m = match bits >> 14 {
        0 => normal(None),
        1 => Move::EnPassant { from, to },
        2 => Move::Castle { king: from, rook: to },
        _ => normal(Some(promotion[usize::from(bits >> 12 & 3)])),
    };
    if chess.is_legal(m) { Ok(m) } else { Err(format!("{from}{to} is not legal")) }
}

/// Wins, draws and losses of White.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games by [`GameResult`]: Black wins, draws, White wins.
    pub results: [u64; 3],
}

impl Tally {
    /// Counts a game, if there was one.
    pub fn add(&mut self, result: GameResult) {
        if let Some(count) = self.results.get_mut(result as usize) {
            *count += 1;
        }
    }

    /// Adds the games of another tally.
    pub fn merge(&mut self, other: &Tally) {
        for (ours, theirs) in self.results.iter_mut().zip(other.results) {
            *ours += theirs;
        }
    }

    /// All games.
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
            // Starting later tests en passant squares and lost castling rights.
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

        let (found, length) = frames(&bytes);
        assert_eq!((found.len(), length), (games.len(), bytes.len()));
        let mut reader = &bytes[..];
        let mut buffer = Vec::new();
        for (game, frame) in games.iter().zip(found) {
            assert!(next_frame(&mut reader, &mut buffer).unwrap());
            assert_eq!(buffer, frame);
            let decoded = Record::decode(frame).unwrap();
            assert_eq!(decoded.start.key(), game.start.key(), "{}", game.start.fen());
            assert_eq!(decoded.start.halfmoves(), game.start.halfmoves().min(255));
            assert_eq!(decoded.moves, game.moves);
            assert_eq!(decoded.result, game.result);
            // The crate that defines the format reads the same.
            let theirs = dataformat::Game::deserialise_from(&mut &*frame, Vec::new()).unwrap();
            assert_eq!(theirs.len(), game.moves.len());
        }
        assert!(!next_frame(&mut reader, &mut buffer).unwrap());
    }

    /// The specification's example game. (It prints the two pieces of a byte
    /// in reading order; the lower four bits are the first.)
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
            assert!(frames(&bytes[..length]).0.is_empty());
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
        assert_eq!(GameResult::win(Color::White).half_points(Color::White), Some(2));
        assert_eq!(GameResult::win(Color::White).half_points(Color::Black), Some(0));
        assert_eq!(GameResult::win(Color::Black).half_points(Color::Black), Some(2));
        assert_eq!(GameResult::Draw.half_points(Color::Black), Some(1));
        assert_eq!(GameResult::Unknown.half_points(Color::White), None);
    }

    /// A position without a game: kept with its score, counted as no game.
    #[test]
    fn positions_can_stand_alone() {
        let start = Position::default();
        let m = start.legal_moves()[0];
        let alone = Record { start, result: GameResult::Unknown, moves: vec![(m, -70)] };
        let bytes = alone.encode();
        assert_eq!(bytes[RESULT_AT], 3);
        let read = Record::decode(&bytes).unwrap();
        assert_eq!((read.result, &read.moves), (GameResult::Unknown, &alone.moves));
        assert_eq!(read.encode(), bytes);
        let mut seen = 0;
        read.visit(|visit| {
            assert_eq!((visit.ply, visit.score), (None, Some(-70)));
            seen += 1;
        });
        let mut tally = Tally::default();
        tally.add(read.result);
        assert_eq!((seen, tally), (1, Tally::default()));
    }
}
