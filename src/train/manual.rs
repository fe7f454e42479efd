//! The pages that `--help` shows below the list of options. Text only.

pub const LANCET_TRAIN: &str = "\
Description:
  Makes the networks that Lancet plays by: plays games against itself, looks after files of games, trains networks on \
them, and fits the winning chances. `lancet-train learn` does all of it from nothing. Every command has a page of its own.

Examples:
  lancet-train datagen --out games --nodes 5000 --positions 10000000
  lancet-train train --data games/*.vf --out lancet.nnue
  lancet-train learn --out grown --hours 2
  lancet-train train --help

Environment:
  NO_COLOR  switches colours off when set to anything

Exit status:
  0  if all went well
  1  if a file or a setting could not be used
  2  if the command line was wrong";

pub const DATAGEN: &str = "\
Description:
  Every thread writes its own file. Ctrl-C or a kill loses at most the games in progress, a power failure also those of \
the last ten seconds. The same command carries on.

  The games in a file depend only on the settings, the seed and the thread's number. With one thread the same command \
gives the same games; with several, timing decides how many of them each thread plays.

  A game ends by the rules, by the tablebases of --syzygy, or when both sides agree on a score for some plies: --win-score, \
--win-plies, --draw-score, --draw-plies and --draw-from say when. --play-on percent of the games ignore the score, so that won \
and dead drawn positions are seen too. Openings that the first search finds beyond 300 centipawns are not played.

Examples:
  lancet-train datagen --out games --nodes 5000 --positions 10000000
  lancet-train datagen --out games960 --nodes 5000 --games 100000 --chess960 100 --threads 2
  lancet-train datagen --out books --nodes 150 --book a.epd --book b.epd --book-share 80 --book-plies 2

Files:
  DIR/games-SEED-THREAD.vf  the games, in viriformat
  DIR/datagen.toml          the settings; a directory holds games of one kind only

Exit status:
  0  when the limit was reached, or after Ctrl-C (a second Ctrl-C quits at once, with 130)
  1  if a file could not be used (it is named, with the reason)";

pub const DATA: &str = "\
Description:
  Files of games are in viriformat, as `lancet-train datagen` writes them.

Examples:
  lancet-train data stats games/*.vf
  lancet-train data check games/*.vf
  lancet-train data shuffle games/*.vf --out shuffled.vf --seed 1
  lancet-train data shuffle --help

Exit status:
  0  if all went well
  1  if a file could not be used or is damaged";

pub const DATA_STATS: &str = "\
Description:
  Counts games, how many of them differ, results, lengths and positions; for the positions that the trainer keeps, also \
the pieces on the board and the mean absolute score. An incomplete last game is reported and left out.

Examples:
  lancet-train data stats games/*.vf

Exit status:
  0  when all files were counted
  1  if a file could not be read, or a game is damaged";

pub const DATA_CHECK: &str = "\
Description:
  Decodes every game: the start position, the legality of all moves, the result, and the end of the file. The first bad \
game in a file is named by its number and its byte.

Examples:
  lancet-train data check games/*.vf

Exit status:
  0  if every file is good
  1  if one is not";

pub const DATA_SHUFFLE: &str = "\
Description:
  The same files and the same seed give the same order. All games are held in memory. The files are checked first, and \
FILE is never overwritten. Lancet's trainer shuffles by itself: this is for other trainers.

Examples:
  lancet-train data shuffle games/*.vf --out shuffled.vf --seed 1

Exit status:
  0  when FILE was written
  1  if a file could not be used or is damaged";

pub const DATA_MERGE: &str = "\
Description:
  Games stay in the order of the files. All of them are held in memory. The files are checked first, and FILE is never \
overwritten.

Examples:
  lancet-train data merge games/*.vf --out all.vf

Exit status:
  0  when FILE was written
  1  if a file could not be used or is damaged";

pub const DATA_POSITIONS: &str = "\
Description:
  Writes quiet positions of the games, in which the side to move is not in check and the move played is neither a capture \
nor a promotion. None is written twice. `lancet epd --csv` makes an exam of them, with the scores of a long search by \
Lancet or by another engine.

Examples:
  lancet-train data positions games/*.vf --count 20k > exam.epd
  lancet epd exam.epd --nodes 20k --jobs 2 --csv exam.csv

Exit status:
  0  when they were written
  1  if a file could not be read, or a game is damaged";

pub const DATA_GRADE: &str = "\
Description:
  Compares static evaluations, or the scores of shorter searches, with the scores of an exam. The error is the root mean \
square error in winning probability, by the scale that suits the candidate best; the rank is Spearman's rank correlation.

Examples:
  lancet-train data grade exam.csv old.nnue new.nnue
  lancet-train data grade exam.csv answers.csv

Exit status:
  0  when all were graded
  1  if a file could not be used";

pub const DATA_VIEW: &str = "\
Description:
  A game is shown with its start position, its result, and after each move the score of its search, in pawns from White's \
point of view.

Examples:
  lancet-train data view games/games-1-0.vf --game 3 --count 2
  lancet-train data view games/games-1-0.vf --positions

Exit status:
  0  when the games were shown
  1  if the file could not be read, or there is no such game";

pub const TRAIN: &str = "\
Description:
  A network learns from games alone: from the scores of their searches and from their results. Ctrl-C writes a checkpoint; \
--resume carries on as if nothing had happened. At every step the trainer rounds its weights as the network will. Before \
the network is written, the two are compared on 10,000 positions; if they differ by more than 5 centipawns it is not written.

  Quiet positions are learned from: no check, no capture or promotion next, and not the first plies after the opening \
(`skip_plies` in the schedule, 8).

Examples:
  lancet-train train --data games/*.vf --out lancet.nnue
  lancet-train train --data games/*.vf --hidden 512 --buckets 8 --samples 1G --out large.nnue
  lancet \"setoption name EvalFile value lancet.nnue\" eval quit

Files:
  NET            the network, with a record of how it was made
  NET.csv, .svg  the loss curves
  NET.toml       the schedule, for --schedule
  NET.lock       keeps other runs away from NET while it is being trained

Exit status:
  0  when the network was written, or after Ctrl-C (a second Ctrl-C quits at once, with 130)
  1  if a file or a setting could not be used";

pub const AVERAGE: &str = "\
Description:
  Every number of the new network is the mean of theirs. Networks that were trained from the same one, by other seeds or on \
other games, err in different ways, and their mean often plays better than each.

Examples:
  for seed in 1 2 3; do lancet-train train --data games/*.vf --from old.nnue --seed $seed --out $seed.nnue; done
  lancet-train average 1.nnue 2.nnue 3.nnue --out new.nnue

Exit status:
  0  when the network was written
  1  if a file could not be used, or the networks differ in shape";

pub const LEARN: &str = "\
Description:
  The first games are played by material and piece-square tables; no other engine's games, scores or networks are involved. \
A generation is games by the best network so far, a training on the newest games (from random weights at first, then from the \
best network's), and a match of the new network against the best one at the same nodes per move, by a sequential test of 0 \
against 10 Elo over pairs of games. The new one takes the other's place only if it wins; if --match-games games do not decide, \
the likelier of both cases counts.

  A generation plays half as many positions as there are, until --window are there; older ones are then deleted. With --hours \
a full window is then renewed for a quarter of an hour at a time, with --generations by a quarter.

  Ctrl-C or a kill loses at most the games in progress and two minutes of training, a power failure also the games of the \
last ten seconds; the same command goes on. \
With --generations and one thread the same seed gives the same networks.

Examples:
  lancet-train learn --out grown --hours 2
  lancet-train learn --out small --generations 8 --threads 1 --hidden 64 --first 200000
  lancet \"setoption name EvalFile value grown/best.nnue\" bench quit

Files:
  DIR/best.nnue           the best network
  DIR/lineage.toml        settings, and every generation with its games, losses, match and hours
  DIR/lineage.svg         Elo, positions and loss over hours
  DIR/generation-0001/    its games (.vf), its network, its loss curves and its match

Exit status:
  0  when the hours or generations are over, or after Ctrl-C (a second Ctrl-C quits at once, with 130)
  1  if a file could not be used, or there was not enough memory";

pub const WDL: &str = "\
Description:
  Counts how often games were won, drawn and lost by score and material count, and fits curves to that. UCI_ShowWDL \
reports them; the program is built with those in src/eval/wdl/fitted.rs.

Examples:
  lancet-train wdl games/*.vf
  lancet-train wdl games/*.vf --out src/eval/wdl/fitted.rs --svg src/eval/wdl/curve.svg --note \"5000 nodes a move\"

Exit status:
  0  when the curves were fitted
  1  if a file could not be used, or holds too few games";
