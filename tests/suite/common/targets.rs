//! The readers of external data, one function each. (The tests of `src/train` have those of
//! training games.) A reader must return without a panic and must read what Lancet writes. (The
//! fuzzer and `hostile_files.rs` also limit its memory.) Property tests (`tests/suite/parsers.rs`),
//! hostile files (`tests/suite/hostile_files.rs`) and the fuzzer (`tests/fuzz`) use them.

use std::{fs, io::Cursor};

use lancet::{
    chess::{
        epd, lines,
        pgn::{self, read::Games},
        position::Position,
        score::{EVALUATION_LIMIT, MATE},
    },
    eval::{default_network, nnue::Network},
    play::book::Book,
    search::tt::{Table, file::VERSION},
    tools::{
        analyse::annotate,
        study::{self, file::Study, tree::Tree},
    },
    uci::{
        self, UciMessage,
        command::{self, Command},
    },
};
use shakmaty::CastlingMode;

/// A reader of bytes. Returns whether any part was valid.
pub type Target = fn(&[u8]) -> bool;

/// All readers, with the names that the fuzzer uses.
pub const ALL: [(&str, Target); 8] = [
    ("uci", uci),
    ("fen", fen),
    ("epd", epd),
    ("pgn", pgn),
    ("network", network),
    ("hash", hash),
    ("book", book),
    ("study", study),
];

/// Returns whether the tests may send this line. Excludes commands that take long (deep perft,
/// `bench`, `speedtest`, `genfens`), `wait`, and options that name a file or need much memory.
fn is_harmless(line: &[u8]) -> bool {
    match command::parse(line) {
        Ok(Some(Command::Perft(depth))) => depth <= 2,
        Ok(Some(
            Command::Bench(_) | Command::GenFens { .. } | Command::SpeedTest(_) | Command::Wait,
        )) => false,
        Ok(Some(Command::Message(UciMessage::SetOption { name, value }, _))) => {
            let text = value.unwrap_or_default();
            let at_most = |most: usize| text.parse().is_ok_and(|number: usize| number <= most);
            match name.to_ascii_lowercase().as_str() {
                "hash" => at_most(8),
                "threads" => at_most(4),
                "hash file" | "evalfile" | "bookfile" | "syzygypath" | "debug log file" => {
                    text.is_empty()
                }
                _ => true,
            }
        }
        _ => true,
    }
}

/// Runs the whole front end: every `go` and `isready` must be answered once.
pub fn uci(bytes: &[u8]) -> bool {
    let (mut script, mut searches, mut questions) = (Vec::new(), 0, 0);
    for line in bytes.split(|&byte| byte == b'\n').filter(|line| is_harmless(line)) {
        script.extend_from_slice(line);
        script.push(b'\n');
        match command::parse(line) {
            Ok(Some(Command::Message(UciMessage::Go { .. }, _))) => searches += 1,
            Ok(Some(Command::Message(UciMessage::IsReady, _))) => questions += 1,
            Ok(Some(Command::Message(UciMessage::Quit, _))) => break,
            _ => {}
        }
    }
    // Without this `stop`, a search with limits would run to its end after the end of the input.
    script.extend_from_slice(b"stop\n");
    let mut output = Vec::new();
    uci::run(Cursor::new(script), &mut output);
    let output = String::from_utf8(output).expect("answers are text");
    let count = |start: &str| output.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("bestmove "), count("readyok")), (searches, questions), "{output}");
    searches + questions > 0
}

/// A position must be the same after writing and reading, and its moves must lead to valid
/// positions.
pub fn fen(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut read = false;
    for mode in [CastlingMode::Standard, CastlingMode::Chess960] {
        let position = match Position::from_fen_in(&text, mode) {
            Ok(position) => position,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        let again =
            Position::from_fen_in(&position.fen(), position.mode()).expect("own FENs are read");
        assert_eq!((again.fen(), again.keys()), (position.fen(), position.keys()));
        let score = default_network().evaluate(position.board(), position.turn());
        assert!(score.abs() <= EVALUATION_LIMIT);
        for m in position.legal_moves() {
            let child = position.play(m);
            assert_eq!(*child.keys(), child.keys_from_scratch(), "{} {m:?}", position.fen());
        }
        read = true;
    }
    read
}

/// Every line must be a record or give an error that names its place.
pub fn epd(bytes: &[u8]) -> bool {
    let mut read = false;
    for line in lines::split(bytes).unwrap_or_default() {
        match epd::parse(&line) {
            Ok(record) => {
                let fen = record.position.fen();
                assert!(Position::from_fen_in(&fen, record.position.mode()).is_ok(), "{fen}");
                read = true;
            }
            Err(error) => {
                assert!((1..=line.text.chars().count() + 1).contains(&error.column), "{error}");
                assert!(!error.to_string().is_empty());
            }
        }
    }
    read
}

/// Games must be the same after writing and reading.
pub fn pgn(bytes: &[u8]) -> bool {
    let mut games = Games::new(bytes);
    let mut read = false;
    while let Ok(Some(game)) = games.next_game() {
        let Ok(game) = game else { continue };
        let Ok((start, moves)) = annotate::replay(&game) else { continue };
        let ply = annotate::ply(&start);
        let text = pgn::write::write(&game, ply);
        let again = Games::new(text.as_bytes()).next_game();
        let again =
            again.expect("memory is readable").expect("a game").expect("own games are read");
        assert_eq!(pgn::write::write(&again, ply), text);
        assert_eq!(annotate::replay(&again).map(|(_, moves)| moves), Ok(moves));
        read = true;
    }
    read
}

/// Reads the bytes, and then the bytes with the right hash. A valid network must evaluate
/// positions, and its bytes must be the same after writing.
pub fn network(bytes: &[u8]) -> bool {
    let _ = Network::from_bytes(bytes);
    let Some(hashed) = with_hash(bytes) else { return false };
    let Ok(network) = Network::from_bytes(&hashed) else { return false };
    assert_eq!(network.to_bytes(), hashed);
    let position = Position::default();
    let score = network.evaluate(position.board(), position.turn());
    assert!(score.abs() <= EVALUATION_LIMIT);
    true
}

/// Sets the hash to the FNV-1a hash of the other bytes. Pads the parameters with zeros to the size
/// that the header implies, because a fuzzer does not generate so many.
pub fn with_hash(bytes: &[u8]) -> Option<Vec<u8>> {
    const HEADER: usize = 44;
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(four) as usize)
    };
    let (inputs, hidden, buckets, text) = (number(12)?, number(16)?, number(20)?, number(32)?);
    if inputs > 4 * 768 || hidden > 64 || buckets > 32 || text > 1000 || bytes.len() < HEADER {
        return None;
    }
    let length =
        HEADER + text + 2 * (inputs * hidden + hidden + 2 * hidden * buckets) + 4 * buckets;
    let mut hashed = bytes.to_vec();
    hashed.resize(length, 0);
    let fnv = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let rest = hashed[..36].iter().chain(&hashed[HEADER..]);
    let hash = rest.fold(0xcbf2_9ce4_8422_2325, fnv);
    hashed[36..HEADER].copy_from_slice(&hash.to_le_bytes());
    Some(hashed)
}

/// Reads the bytes, and then the bytes as a file with the right length and checksum.
pub fn hash(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| Table::read(bytes, bytes.len() as u64, 0);
    let _ = read(bytes);
    let file = as_table(bytes, 0);
    let Ok(table) = read(&file) else { return false };
    assert_eq!(table.mib(), 1);
    let mut again = Vec::new();
    table.write(&mut again, 0).expect("writing to memory succeeds");
    assert_eq!(again[24..again.len() - 4], file[24..file.len() - 4]);
    for key in 0..64_u64 {
        // The keys of the seed (see `mutate`).
        if let Some(entry) = table.probe(key << 49) {
            assert!(entry.bounds.lower <= entry.bounds.upper);
        }
    }
    true
}

/// Returns the bytes as the file of a table of 1 MiB, with the right checksum.
pub fn as_table(bytes: &[u8], evaluation: u64) -> Vec<u8> {
    const HEADER: usize = 64;
    const MIB: usize = 1 << 20;
    let mut file = vec![0; HEADER + MIB];
    let length = bytes.len().min(file.len());
    file[..length].copy_from_slice(&bytes[..length]);
    // The header of a table of 1 MiB, whatever the bytes say.
    file[..8].copy_from_slice(b"LANCETTT");
    file[8..12].copy_from_slice(&VERSION.to_le_bytes());
    file[16..HEADER].fill(0);
    file[16..24].copy_from_slice(&(MIB as u64 / 32).to_le_bytes());
    file[24..32].copy_from_slice(&evaluation.to_le_bytes());
    let checksum = crc32fast::hash(&file);
    file.extend_from_slice(&checksum.to_le_bytes());
    file
}

/// All moves of a book must be legal.
pub fn book(bytes: &[u8]) -> bool {
    let Ok(book) = Book::from_bytes(bytes) else { return false };
    let position = Position::default();
    for (m, weight) in book.moves(&position) {
        assert!(weight > 0 && position.legal_moves().contains(&m));
    }
    true
}

/// Reads the bytes, and then the bytes with the right checksums for their lines. A valid study can
/// be shown and continued, and must be the same when it is read again.
pub fn study(bytes: &[u8]) -> bool {
    let directory = tempfile::tempdir().expect("a directory for the file");
    let path = directory.path().join("a.study");
    let mut read = false;
    for bytes in [bytes.to_vec(), with_checksums(bytes)] {
        fs::write(&path, bytes).expect("room for the file");
        let mut opened = match Study::open(&path) {
            Ok(opened) => opened,
            Err(error) => {
                assert!(error.to_string().contains("a.study"), "{error}");
                continue;
            }
        };
        let start = opened.tree().node(Tree::START).position.legal_moves();
        if let Some(&m) = start.first() {
            opened.add(Tree::START, m, Some(true)).expect("it can be added to");
        }
        drop(study::html::page(&opened, 50, &[]));
        let text = study::pgn::text(&opened, 50, &[]);
        if opened.played().tags.iter().all(is_plain) {
            let game = Games::new(text.as_bytes()).next_game();
            let game = game.expect("memory is readable").expect("a game").expect("it is read");
            assert!(annotate::replay(&game).is_ok(), "{text}");
        }
        let before = content(&opened);
        // A copy, because programs that other tests start may still hold the lock for a moment.
        drop(opened);
        let copy = path.with_file_name("copy.study");
        fs::copy(&path, &copy).expect("room for the file");
        assert_eq!(content(&Study::open(&copy).expect("own studies are read")), before);
        read = true;
    }
    read
}

/// Returns whether a PGN file can have this tag, and the tag does not change the start position.
fn is_plain((name, value): &(String, String)) -> bool {
    let is_start = ["FEN", "Variant"].iter().any(|start| name.eq_ignore_ascii_case(start));
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !is_start && !name.is_empty() && name.bytes().all(is_name) && !value.contains(char::is_control)
}

/// Returns the whole content of a study.
fn content(study: &Study) -> String {
    let tree = study.tree();
    let mut nodes = Vec::new();
    for id in 0..tree.positions() {
        let (position, value) = (&tree.node(id).position, tree.node(id).value);
        assert!(value.is_none_or(|value| value.abs() <= MATE), "{value:?}");
        nodes.push((position.fen(), value));
    }
    format!("{nodes:?}, {:?}, {} nodes, {:?}", study.played(), study.nodes(), study.damaged())
}

/// Returns the lines with the right checksums.
pub fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut checked = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let space = line.iter().position(|&byte| byte == b' ');
        let event = &line[space.map_or(0, |space| space + 1)..];
        let text = event.strip_suffix(b"\n").unwrap_or(event);
        checked.extend_from_slice(format!("{:08x} ", crc32fast::hash(text)).as_bytes());
        checked.extend_from_slice(event);
    }
    checked
}
