//! The pages that `--help` shows below the list of options. The options themselves are described
//! where they are defined, and the algorithms in `topics.md`.

pub const LANCET_LAB: &str = "\
Description:
  Searches the positions with several algorithms, checks that all sound ones (those \
that must return the minimax score) return the same scores, and prints the cost of each, deepest \
searches and then smallest trees first. An axis is one of the options above under \"Axes\", and a \
cell is one value on each axis. Without axes, the lab runs ten searches: \
four root drivers with PVS, four other algorithms with the full window, and two searches without a \
table. With --all, it runs every algorithm, and varies every other axis one at a time. With axes, \
it runs all combinations of the given values. The other axes stay at --interior pvs --root \
asp-gradual --window 50 --table exact --entries two-bounds --replacement two-level --size 65536 \
--delay none.
  \"The lecture notes\" are D. Eppstein's on variants of alpha-beta search (1999). \"The post\" is \
H. G. Muller's on adjusting the scores that a search returns (2007). `lancet-lab explain NAME` names \
the sources of a topic.

Examples:
  lancet-lab --depth 5
  lancet-lab --game connect-four
  lancet-lab epd/bk.epd --depth 5 --interior pvs --root asp-gradual --root mtdf --svg costs.svg
  lancet-lab explain pvs

Exit status:
  0  if all sound searches agree, or their scores were not compared
  1  if they do not agree
  2  if a file or the command line could not be used";

pub const EXPLAIN: &str = "\
Description:
  Explains an algorithm or a setting, and runs its examples with the functions that the lab \
compares. Without a name, it lists the topics. --tree gives another tree for the example: `max` \
or `min` for the side to move, then its moves in brackets. A move is a number, WIN, TIE or LOSS \
for MAX, more brackets, or `??` for a leaf that no search should need to look at. Nodes in \
brackets are named A (the root), B, C and so on. `@9` after an opening bracket gives the node a \
static evaluation, and `=C` is the node C again.

Examples:
  lancet-lab explain
  lancet-lab explain mtdf
  lancet-lab explain pvs --tree \"max (40 (30 ??))\"

Exit status:
  0  if the topic was explained
  2  if there is no such topic, or the tree could not be read";

pub const REPORT: &str = "\
Description:
  Runs the lab's experiments and writes DIR/lab.html: alpha-beta in \
five minutes, the questions and results of the experiments, and every algorithm on a tree to step \
through. The file is self-contained. Writing it takes about 15 seconds at depth 4, and five \
times as long at depth 5.

Examples:
  lancet-lab report --out page
  lancet-lab report --out page --depth 3 --limit 10

Exit status:
  0  if the page was written and all sound searches agree
  1  if they do not agree
  2  if the page could not be written";
