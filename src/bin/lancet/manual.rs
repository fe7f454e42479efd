//! The pages that `--help` shows below the list of options. Text only.

pub const LANCET: &str = "\
Description:
  Lancet is meant to be run by a GUI, a match runner or a bot that speaks UCI: add this program there as a UCI engine.

  At a terminal the same loop answers for people: a coloured board, lines of thought in columns, moves in SAN. Moves \
(`e4`, `e2e4`) and FENs may be typed as they are; `play`, `level 1500`, `hint`, `undo`, `save game.pgn` and more make a \
game of it. `help` lists everything. After the command `uci`, or when input or output is not a terminal, there is nothing but UCI.

Examples:
  lancet
  lancet \"position startpos moves e2e4\" \"go depth 12\" quit
  lancet \"setoption name Threads value 4\" \"go infinite\"
  lancet analyse --help

Environment:
  NO_COLOR  switches colours off when set to anything

Exit status:
  0  after `quit`, at the end of the input, or when nobody reads the output any more
  1  if the output could not be written
  2  if the command line was wrong";

pub const UCI: &str = "\
Description:
  The same as running lancet without a command, for programs that insist on one.

Examples:
  lancet uci

Exit status:
  0  after `quit`, at the end of the input, or when nobody reads the output any more
  1  if the output could not be written";

pub const BENCH: &str = "\
Description:
  On one thread the number of nodes is the same on every machine, so it identifies the behaviour of the search. Commits \
that change it state it as `Bench: N`. The last line is `N nodes M nps`, for OpenBench.

Examples:
  lancet bench
  lancet bench 14 2 256       depth 14, 2 threads, 256 MiB
  lancet bench --root mtdf    another driver at the root

Exit status:
  0  when all positions were searched
  1  if there was not enough memory";

pub const PERFT: &str = "\
Description:
  Without --suite, the paths from one position are counted and timed. With it, every count in a file is compared with \
the one given there; perft/README.md lists the suites. --shard K/N runs every N-th line of all suites together, from the K-th on.

Examples:
  lancet perft 6
  lancet perft 5 --divide --fen \"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\"
  lancet perft --suite perft/*.epd --max-nodes 10000000 --threads 2 --through search
  lancet perft --suite perft/*.epd --max-nodes 1000000 --threads 2 --through network
  parallel lancet perft --suite perft/*.epd --shard {}/8 ::: $(seq 8)

Exit status:
  0  if every count is right
  1  if a count is wrong
  2  if a file, a line or the command line could not be used";

pub const EPD: &str = "\
Description:
  Limits combine: whichever is reached first ends a search. Without a limit on time, nodes or depth, each position gets \
one second.

  A move listed in bm is right, one listed in am is wrong. dm N and bm #N ask for a proven mate in at most N moves, by any \
move. Points (c8 and c9, or c0 \"Nf3=10, ...\") go to the move played. epd/README.md lists the suites.

  --shard K/N runs every N-th line of all suites together, from the K-th on, for job runners that spread work over machines. At \
fixed --nodes every line gets the same answer as in one run, so the parts of --csv differ from that in times only. In \
--csv, a quote (') stands before text that a spreadsheet would take for a formula.

Examples:
  lancet epd epd/bk.epd --movetime 200
  lancet epd epd/*.epd --nodes 100000 --jobs 2 --json result.json --save-failed failed.epd
  parallel lancet epd epd/sts.epd --nodes 1000000 --shard {}/8 --save-failed failed-{}.epd ::: $(seq 8)
  grep -hFxf <(cat failed-*.epd) epd/sts.epd > failed.epd       what one run would have saved
  lancet epd epd/wac.epd --engine stockfish --engine \"other-engine --uci\"

Exit status:
  0    when all positions were searched
  1    if fewer than --require were solved, or an engine failed
  2    if a line, a file or the command line could not be used
  130  after Ctrl-C, which prints the results so far (a second Ctrl-C quits at once)";

pub const ANALYSE: &str = "\
Description:
  Games are read one at a time, so files may be of any size, also compressed by gzip or Zstandard, and from a pipe. Limits combine: whichever is reached first ends a search. \
Without any, each position gets half a second. With one job and --nodes the result is the same every time.

  Every move gets its evaluation, [%eval 0.35], from White's point of view. A move that gives away 5 % of the winning \
chances is marked ?!, 10 % ?, 15 % ??, and the better line is added as a variation; a mark already in the game stays. \
Everything else in the file is kept (signs such as += as their numbers, $14), except that older [%eval] comments are \
replaced, lines that begin with % and results inside variations are dropped, and moves of the game such as Ng8-f6 are written \
in standard notation. Null moves (--) are not judged. Tags are added: Annotator, ECO and Opening \
(if missing), and for each player Accuracy (a mean over all moves, 0 to 100) and AverageLoss (in centipawns, with every \
score cut off at 10 pawns).

  Winning chances and accuracy follow the curves described at https://lichess.org/page/accuracy. Opening names are from \
lichess-org/chess-openings, CC0. A game that is not legal chess is named with its line and left out, a broken tag without its game.

  Ctrl-C, a kill or a power failure loses at most the game being analysed: --resume carries on; where the games came through \
a pipe, give the same ones again. A finished file is overwritten with --force only.

  --shard K/N analyses every N-th game of all files together, from the K-th on, so that any job runner can spread a collection \
over machines. --join puts the parts together. Each part ends with a line such as `% end of shard 2/8, games: 17`, by which \
--join knows that it is whole and in its place; programs that read PGN ignore it. With one job and --nodes the result is, byte for byte, that of one run.

Examples:
  lancet analyse games.pgn --out annotated.pgn
  lancet analyse *.pgn --out annotated.pgn --nodes 200000 --jobs 4 --svg pictures
  lancet analyse games.pgn --out annotated.pgn --nodes 200000 --resume
  zstdcat database.pgn.zst | lancet analyse - --out annotated.pgn

  With GNU parallel, here on all cores; --sshlogin spreads over machines, --resume-failed repeats what failed:
    parallel --joblog jobs.log lancet analyse games.pgn --nodes 200000 --shard {}/100 --out part-{}.pgn --resume --lenient ::: $(seq 100)
    lancet analyse --join $(seq -f part-%g.pgn 100) --out annotated.pgn

  With Slurm, where tasks that were killed carry on when they are requeued:
    sbatch --wait --array=1-100 --requeue --wrap 'lancet analyse games.pgn --nodes 200000 --resume --lenient --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT --out part-$SLURM_ARRAY_TASK_ID.pgn'
    lancet analyse --join $(seq -f part-%g.pgn 100) --out annotated.pgn

Files:
  ANNOTATED.pgn            the games
  ANNOTATED.pgn.progress   how far the run has got; removed at the end
  DIR/0001-White-Black.svg the evaluation of each game

Exit status:
  0    when all games were annotated
  1    if a file could not be used, or is not to be overwritten
  2    if a game was broken (unless --lenient), or the command line was wrong
  130  after Ctrl-C (a second Ctrl-C quits at once)";

pub const EXPLAIN: &str = "\
Description:
  The best two moves are searched, by default for two seconds. A threat is what a side would play, and win something by, \
if the other passed. What is said of moves and pieces (mates, threats, forks, pins, what hangs, passed pawns, the kings) is \
checked by the rules before it is said. A piece is worth what the evaluation loses when it is taken off the board; it stands \
well or badly if that differs by 0.6 pawns and a sixth from what its kind is worth on average in the positions of the benchmark. Differences \
below a tenth of a pawn are not mentioned.

Examples:
  lancet explain startpos moves 1. e4 e5 2. Bc4 Nc6 3. Qh5
  lancet explain \"r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3\" --json
  lancet explain \"8/8/8/4k3/8/8/4P3/4K3 w - - 0 1\" --depth 20

Exit status:
  0  when the position was explained
  1  if there was not enough memory
  2  if the position or the command line could not be used";

pub const STUDY: &str = "\
Description:
  The tree grows best first: the deeper, the better its moves are. Searches begin with --step nodes; one that is made again \
gets twice as many, up to an eighth of all so far, and a new position half of what its parent had. Scores are backed up from the \
leaves; positions that several lines lead to are one; mates, draws and endgame tables need no growth. Without --hours or \
--nodes it grows until Ctrl-C, or not at all if there is something to pin or to write.

  The file is only ever appended to. Ctrl-C and a kill lose the searches in progress, a power failure also the last ten \
seconds. The same command goes on; so does the study's file alone, `lancet study FILE`. Of a game, all positions are grown; when \
more moves have been played, the same command takes them in.

  A pinned line counts as if its moves were best, so that growth keeps to it whatever it scores. `--at` grows one position only. \
--pgn and --html show the --size positions that growth takes for nearest: the game, pinned lines, good moves. The page needs \
nothing but a browser: arrow keys, Home and End walk, `f` turns the board.

  A position is searched with the line that reached it first, so repetitions and the fifty-move rule are those of that line.

Examples:
  lancet study game.pgn --hours 8
  lancet study startpos moves e4 e5 Nf3 Nc6 Bb5 --file spanish.study --hours 0.5 --jobs 2 --syzygy /tables
  lancet study spanish.study --at \"e4 e5 Nf3 Nc6 Bb5 a6\" --hours 1
  lancet study spanish.study --pin \"1. e4 e5 2. Nf3 Nc6 3. Bb5 f5\" --html spanish.html --pgn spanish.pgn

Files:
  FILE.study  the tree: a line of JSON behind its checksum for each move and each search

Exit status:
  0    when a limit was reached, or nothing is left to be searched
  1    if a file could not be written, or there was not enough memory
  2    if the study, the game, the position or the command line could not be used
  130  after Ctrl-C (a second Ctrl-C quits at once)";

pub const DOCTOR: &str = "\
Description:
  Measures nodes per second by number of threads, and how late searches of 10 ms end on a busy machine. Ends with values \
for Hash, Threads and Move Overhead, and the reasons. Nothing else should run at the same time.

Examples:
  lancet doctor
  lancet doctor --games 4

Exit status:
  0  when everything was measured
  1  if there was not enough memory";
