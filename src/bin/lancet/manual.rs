//! The pages behind `--help`: what the list of options does not say. Text only.

pub const LANCET: &str = "\
Description:
  Lancet is meant to be run by a GUI, a match runner or a bot, which speak UCI with it. Load the file of the program \
there as a UCI engine.

  Typed at a terminal, the same loop answers for people: a coloured board, lines of thought in columns, SAN. `help` \
lists its commands. With the command `uci`, or when input or output is not a terminal, there is nothing but UCI.

Examples:
  lancet
  lancet \"position startpos moves e2e4\" \"go depth 12\" quit
  lancet \"setoption name Threads value 4\" \"go infinite\"
  lancet analyse --help

Environment:
  NO_COLOR  set to anything, it switches colours off

Exit status:
  0  at `quit`, at the end of the input, or when nobody reads the output any more
  2  if the command line was wrong";

pub const UCI: &str = "\
Description:
  The same as no command at all, for programs that insist on one.

Examples:
  lancet uci

Exit status:
  0  at `quit`, at the end of the input, or when nobody reads the output any more";

pub const BENCH: &str = "\
Description:
  On one thread the number of nodes is the same on every machine: it names the behaviour of the search. Commits that \
change it carry it as `Bench: N`. The last line is `N nodes M nps`, for OpenBench.

Examples:
  lancet bench
  lancet bench 14 2 256       depth 14, 2 threads, 256 MiB

Exit status:
  0  when all positions were searched
  1  if there is not enough memory";

pub const DATAGEN: &str = "\
Description:
  Every thread writes its own file. Ctrl-C or a kill lose at most the games being played, a power failure also those of \
the last ten seconds: the same command continues.

  The games of a file depend on the settings, the seed and the thread's number alone. With one thread the same command \
gives the same games; with several, timing decides how many of them come from each.

Examples:
  lancet datagen --out games --nodes 5000 --positions 10000000
  lancet datagen --out games960 --nodes 5000 --games 100000 --chess960 100 --threads 2

Files:
  DIR/games-SEED-THREAD.vf  the games, in the format viriformat
  DIR/datagen.toml          the settings: a directory holds games of one kind

Exit status:
  0  when the limit was reached or Ctrl-C was typed
  1  if a file could not be used, with its name and the reason";

pub const PERFT: &str = "\
Description:
  Without --suite, the paths of one position are counted and timed. With it, the counts of whole files are compared \
with what is written there; perft/README.md lists the suites.

Examples:
  lancet perft 6
  lancet perft 5 --divide --fen \"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\"
  lancet perft --suite perft/*.epd --max-nodes 10000000 --threads 2 --through search
  lancet perft --suite perft/*.epd --max-nodes 1000000 --threads 2 --through network

Exit status:
  0  when every count is right
  1  if a count is wrong
  2  if a file, a line or the command line could not be used";

pub const EPD: &str = "\
Description:
  Limits combine: whichever is reached first ends a search. Without one that is sure to end it (time,
  nodes or depth), each position gets one second.

  A move of bm is right, a move of am is wrong; dm N and bm #N want a proven mate in at most N moves, by any move; \
points (c8 and c9, or c0 \"Nf3=10, ...\") are earned by the move played. epd/README.md lists the suites.

Examples:
  lancet epd epd/bk.epd --movetime 200
  lancet epd epd/*.epd --nodes 100000 --jobs 2 --json result.json --save-failed failed.epd
  lancet epd epd/wac.epd --engine stockfish --engine \"other-engine --uci\"

Exit status:
  0    when all positions were searched
  1    if fewer than --require are solved, or an engine failed
  2    if a line, a file or the command line could not be used
  130  after Ctrl-C, which prints the results so far (twice: leaves at once)";

pub const ANALYSE: &str = "\
Description:
  Games are read one at a time, so files may be of any size. Limits combine: whichever is reached first ends a search. \
Without any, each position gets half a second. With one job and --nodes the result is the same every time.

  Every move gets its evaluation, [%eval 0.35] for White. A move that gives away 5 % of the winning chances gets ?!, \
10 % ?, 15 % ??, and the better line as a variation; a sign that somebody has put there already stays. What the file \
said is kept, signs such as += by their numbers ($14); but older [%eval] are replaced, and lines that begin with % and \
results inside variations go. Tags are added: Annotator, ECO and Opening (if missing), and for each \
player Accuracy (a mean over all moves, 0 to 100) and AverageLoss (in centipawns, each move's score cut off at 10 pawns).

  Winning chances and accuracy are the curves that https://lichess.org/page/accuracy describes. Names of openings: \
lichess-org/chess-openings, CC0. A game that is not legal chess is named with its line and left out.

  Ctrl-C, a kill or a power failure lose at most the game being analysed: --resume continues. A finished file is never \
overwritten.

Examples:
  lancet analyse games.pgn --out annotated.pgn
  lancet analyse *.pgn --out annotated.pgn --nodes 200000 --jobs 4 --svg pictures
  lancet analyse games.pgn --out annotated.pgn --nodes 200000 --resume

Files:
  ANNOTATED.pgn            the games
  ANNOTATED.pgn.progress   how far it has come; removed at the end
  DIR/0001-White-Black.svg the evaluation of each game

Exit status:
  0    when all games were annotated
  1    if a file could not be used
  2    if a game was broken (unless --lenient), or the command line was wrong
  130  after Ctrl-C (twice: leaves at once)";

pub const EXPLAIN: &str = "\
Description:
  The best two moves are searched, by default for two seconds. A threat is what the best move would be followed by if \
the opponent passed, and gained by it. Pieces are compared with the average of their kind on the same board: what the \
evaluation loses when a piece is taken away is what the piece is worth.

Examples:
  lancet explain startpos moves e4 e5 Bc4 Nc6 Qh5
  lancet explain \"r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3\" --json
  lancet explain \"8/8/8/8/8/4k3/4p3/4K3 w - - 0 1\" --depth 20

Exit status:
  0  when the position was explained
  1  if there is not enough memory
  2  if the position or the command line could not be used";

pub const DATA: &str = "\
Description:
  Files of games are in the format viriformat, as `lancet datagen` writes them.

Examples:
  lancet data stats games/*.vf
  lancet data check games/*.vf
  lancet data shuffle games/*.vf --out shuffled.vf --seed 1
  lancet data shuffle --help

Exit status:
  0  when all went well
  1  if a file could not be used or is damaged";

/// `lancet data ...`
pub const DATA_COMMANDS: [(&str, &str); 5] = [
    (
        "stats",
        "\
Description:
  Counts games, different ones among them, results, lengths, and positions; of those that the trainer keeps, also the \
pieces on the board and the mean size of the scores. An incomplete last game is named and left out.

Examples:
  lancet data stats games/*.vf

Exit status:
  0  when all files were counted
  1  if a file could not be read, or a game is damaged",
    ),
    (
        "check",
        "\
Description:
  Decodes every game: start position, legality of all moves, result, and the end of the file. The first bad game of a \
file is named with its number and its byte.

Examples:
  lancet data check games/*.vf

Exit status:
  0  when every file is good
  1  if one is not",
    ),
    (
        "shuffle",
        "\
Description:
  The same files and the same seed give the same order. All games are held in memory. Files are checked first, and FILE \
is never overwritten. The trainer shuffles by itself: this is for others.

Examples:
  lancet data shuffle games/*.vf --out shuffled.vf --seed 1

Exit status:
  0  when FILE was written
  1  if a file could not be used or is damaged",
    ),
    (
        "merge",
        "\
Description:
  Games stay in the order of the files. All of them are held in memory. Files are checked first, and FILE is never \
overwritten.

Examples:
  lancet data merge games/*.vf --out all.vf

Exit status:
  0  when FILE was written
  1  if a file could not be used or is damaged",
    ),
    (
        "view",
        "\
Description:
  A game is shown with the start position, the result, and after each move the score that its search gave, in pawns \
for White.

Examples:
  lancet data view games/games-1-0.vf --game 3 --count 2
  lancet data view games/games-1-0.vf --positions

Exit status:
  0  when the games were shown
  1  if the file could not be read, or there is no such game",
    ),
];

pub const TRAIN: &str = "\
Description:
  A network learns from games alone: from the scores of the searches and from the results. Ctrl-C writes a checkpoint; \
--resume continues as if nothing had happened. The trainer rounds its weights in every step as the network does: \
before that is written, both are compared on 10,000 positions, and more than 5 cp apart it is not written.

Examples:
  lancet train --data games/*.vf --out lancet.nnue
  lancet train --data games/*.vf --hidden 512 --buckets 8 --passes 40 --out large.nnue
  lancet \"setoption name EvalFile value lancet.nnue\" eval quit

Files:
  NET            the network, with an account of how it was made
  NET.csv, .svg  the loss curves
  NET.toml       the schedule, for --schedule

Exit status:
  0  when the network was written, or Ctrl-C was typed
  1  if a file or a setting could not be used";

pub const WDL: &str = "\
Description:
  How often games were won, drawn and lost, by score and material count, and the curves that fit it best. UCI_ShowWDL \
reports them; the program is built with src/eval/wdl/fitted.rs.

Examples:
  lancet wdl games/*.vf
  lancet wdl games/*.vf --out src/eval/wdl/fitted.rs --svg src/eval/wdl/curve.svg --note \"5000 nodes a move\"

Exit status:
  0  when the curves were fitted
  1  if a file could not be used, or holds too little";

pub const DOCTOR: &str = "\
Description:
  Measures this machine on the spot: nodes a second by threads, what the memory of a hash table costs before the first \
game and between games, how late sleeps and searches of 10 ms end on a quiet and on a busy machine. Looks at the files \
that options will name. Ends with values for Hash, Threads and Move Overhead, and why. Nothing else should run \
meanwhile.

Examples:
  lancet doctor
  lancet doctor --games 4 --syzygy /tables/wdl:/tables/dtz --book book.bin
  lancet doctor --syzygy tables --checksums tables/checksum.md5
  lancet doctor --json > machine.json

Exit status:
  0  when all was measured and every file is what it should be
  1  if there is not enough memory, or a file is damaged or missing";

pub const LAB: &str = "\
Description:
  Every algorithm of alpha-beta's family runs on the same positions and must return the same values; the table shows \
what each cost. `lancet lab explain` lists what can be explained.

Examples:
  lancet lab --depth 4
  lancet lab epd/bk.epd --depth 5 --interior pvs --root asp-gradual --root mtdf --svg costs.svg
  lancet lab explain pvs

Exit status:
  0  when all values agree
  1  if they do not
  2  if a file or the command line could not be used";

/// `lancet lab ...`
pub const LAB_COMMANDS: [(&str, &str); 1] = [(
    "explain",
    "\
Description:
  Without a name, what can be explained is listed. A worked example is searched on the spot, by the same functions that \
the lab compares; --tree gives it another tree to work through: `max` or `min` for the side to move, then the moves in brackets: numbers, \
more brackets, or `??` where nobody should have to look.

Examples:
  lancet lab explain
  lancet lab explain mtdf
  lancet lab explain pvs --tree \"max (40 (30 ??))\"

Exit status:
  0  when it was explained
  2  if there is nothing of this name, or the tree could not be read",
)];
