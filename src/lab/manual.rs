//! The pages that `--help` shows below the list of options. Text only: what the options do is
//! said with them, what the algorithms do in `topics.md`.

pub const LANCET_LAB: &str = "\
Description:
  Searches the positions with every algorithm, checks that all return the same values, and prints \
what each cost, the smallest trees first. Without axes that is every algorithm where it is at its \
best; with --all, every algorithm and every other axis varied by itself. With axes it is the product \
of what they name; the others stay at pvs, asp-gradual, 50, exact, two-bounds, two-level, 65536, none.
  \"The lecture notes\" are D. Eppstein's on variants of alpha-beta search (1999), \"the post\" is \
H. G. Muller's on scores that a search adjusts (2007). `lancet-lab explain` has all sources.

Examples:
  lancet-lab --depth 5
  lancet-lab --game connect-four
  lancet-lab epd/bk.epd --depth 5 --interior pvs --root asp-gradual --root mtdf --svg costs.svg
  lancet-lab explain pvs

Exit status:
  0  if all values agree
  1  if they do not
  2  if a file or the command line could not be used";

pub const EXPLAIN: &str = "\
Description:
  Without a name, it lists what can be explained. The worked example is searched on the spot, by \
the functions that the lab compares. --tree names another tree to work through: `max` or `min` for \
the side to move, then the moves in brackets, each a number, more brackets, or `??` for a leaf \
that no search should have to look at.

Examples:
  lancet-lab explain
  lancet-lab explain mtdf
  lancet-lab explain pvs --tree \"max (40 (30 ??))\"

Exit status:
  0  when it was explained
  2  if there is no such name, or the tree could not be read";

pub const REPORT: &str = "\
Description:
  Runs the lab's experiments on positions of `lancet bench` and writes DIR/lab.html: alpha-beta in \
five minutes, what each experiment asks and found, and every algorithm on a tree to step through, in \
one file that needs nothing else. At depth 4 that takes some 15 seconds, at depth 5 five times as \
long.

Examples:
  lancet-lab report --out page
  lancet-lab report --out page --depth 3 --limit 10

Exit status:
  0  if it was written and all sound searches agree
  1  if they do not
  2  if it could not be written";
