//! The texts of `lancet-lab explain`: data only.

use super::{
    delay::ScoreDelay,
    example::{
        Example, count_deepening, count_entries, count_reductions, count_replacements,
        count_replay, count_sizes, count_tables, count_ties,
    },
    interior::Interior,
    root::Root,
};

/// Something that can be explained.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// What it may be called, its proper name first.
    pub names: &'static [&'static str],
    /// One line.
    pub title: &'static str,
    /// What it does and what to know about it.
    pub text: &'static str,
    /// Pseudo-code in our own words.
    pub code: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Where it is in the program.
    pub place: &'static str,
    /// Trees to watch it on.
    pub examples: &'static [Example],
    /// Something to count on tic-tac-toe.
    pub counted: Option<fn() -> String>,
}

const LECTURE: &str = "D. Eppstein, \"Variants of Alpha-Beta Search\", lecture notes, ICS 180, UC Irvine, 1999, \
     https://www.ics.uci.edu/~eppstein/180a/990202b.html";
const SCOUT: &str = "J. Pearl, \"Asymptotic Properties of Minimax Trees and Game-Searching \
    Procedures\", Artificial Intelligence 14, 1980, https://doi.org/10.1016/0004-3702(80)90037-5; \
    in the form of course notes by an unknown author";
const TWO_BOUNDS: &str = "A. Plaat, J. Schaeffer, W. Pijls and A. de Bruin, \"Best-First \
    Fixed-Depth Minimax Algorithms\", Artificial Intelligence 87, 1996, \
    https://people.csail.mit.edu/plaat/mtdf.html; in the form of course notes by an unknown author";
const REPLACEMENT: &str = "D. M. Breuker, J. W. H. M. Uiterwijk and H. J. van den Herik, \
    \"Replacement Schemes for Transposition Tables\", ICCA Journal 17 (4), 1994, \
    https://www.chessprogramming.org/Transposition_Table#Replacement_Strategies";
const QUIESCENCE: &str = "D. F. Beal, \"A Generalised Quiescence Search Algorithm\", Artificial \
    Intelligence 43, 1990, https://www.chessprogramming.org/Quiescence_Search";
const TREES: &str = "C. Burch, \"Alpha-beta search\", notes to an assignment, 15-211, Carnegie \
    Mellon University, 1997, https://www.cs.cmu.edu/~cburch/211-fa97/alphabeta.html";
const KNUTH_MOORE: &str = "D. E. Knuth and R. W. Moore, \"An Analysis of Alpha-Beta Pruning\", \
    Artificial Intelligence 6, 1975, https://doi.org/10.1016/0004-3702(75)90019-3";
const POST: &str = "H. G. Muller, post on adjusting the scores that a search returns, TalkChess, \
    2007, https://www.talkchess.com/forum/viewtopic.php?t=16784&start=10";

const DEEPENING: &str = "D. J. Slate and L. R. Atkin, \"CHESS 4.5: The Northwestern University Chess Program\", in \
    Chess Skill in Man and Machine, 1977, https://www.chessprogramming.org/Iterative_Deepening";
const CLASSICAL: &str = "Chess Programming Wiki, \"Checkmate\" and \"Transposition Table\" (mate scores), 2018, \
    https://www.chessprogramming.org/Checkmate; the lecture notes of D. Eppstein, 1999, take it for granted";

const EMPTY: Topic = Topic {
    names: &[],
    title: "",
    text: "",
    code: "",
    source: "",
    place: "",
    examples: &[],
    counted: None,
};

const FORTY: Example = Example {
    caption: "MAX has 40; MIN has an answer worth 30 on the other side. Is ?? worth a look?",
    tree: "max (40 (30 ??))",
    interior: Interior::FailHard,
    root: Root::Full,
    delay: ScoreDelay::None,
    guess: 0,
    depth: 0,
};

const FIFTY: Example = Example {
    caption: "The same in the other direction: MIN has 40, MAX an answer worth 50.",
    tree: "min (40 (50 ??))",
    ..FORTY
};

const TIE: Example = Example {
    caption: "X has a tie. As far as X is concerned, O may treat a tie as a win.",
    tree: "max (TIE (TIE ??))",
    ..FORTY
};

const SECOND_BEST: &str = "max ((3 5) (6 9) (2 ??))";

const fn on(example: Example, interior: Interior) -> Example {
    Example { interior, ..example }
}

const fn driven(root: Root, guess: i32, caption: &'static str, tree: &'static str) -> Example {
    Example { caption, tree, interior: Interior::FailSoft, root, guess, ..FORTY }
}

const fn delayed(delay: ScoreDelay, caption: &'static str, tree: &'static str) -> Example {
    Example { caption, tree, interior: Interior::FailSoft, delay, ..FORTY }
}

/// Everything that can be explained, in reading order.
pub const TOPICS: &[Topic] = &[
    Topic {
        names: &["minimax"],
        title: "every move of every node: the reference",
        text: "\
The value of a node is the best of its moves for whoever is to move. Nothing is pruned, so
nothing can go wrong, and every other algorithm has to return the same value.",
        code: "
value(node):
    if the game is over or depth is used up: its value
    else: the greatest of -value(child) over all moves",
        source: TREES,
        place: "src/lab/interior.rs, minimax",
        examples: &[on(FORTY, Interior::Minimax)],
        ..EMPTY
    },
    Topic {
        names: &["stop-at-win"],
        title: "minimax that stops at a won move",
        text: "\
Nothing beats a win, so once a node has a winning move its other moves do not matter. Alpha-beta
is the same idea with \"win\" replaced by \"whatever the opponent would not allow anyway\".",
        code: "
best = -infinity
for each move: best = max(best, -value(child)); stop if best is a win",
        source: TREES,
        place: "src/lab/interior.rs, minimax",
        examples: &[Example { caption: "The second move wins; the third is not needed.", tree: "max (TIE WIN ??)", ..on(TIE, Interior::StopAtWin) }],
        counted: Some(count_ties),
    },
    Topic {
        names: &["fail-hard", "alpha-beta", "alphabeta"],
        title: "alpha-beta that returns alpha, beta or a number between",
        text: "\
Alpha is what the mover already has elsewhere, beta what the opponent already has. A score of beta
or more will not be allowed, so the node can be left at once. A result equal to alpha or to beta is
only a bound.

A move displaces the best one only if it is better. The notes write `score >= alpha`: then a move
that merely failed low, and came back with the bound alpha, displaces the move that has that score.
In the second example such a program would play the move to B, which is worth 1.

The notes say that the result is never above beta, but their listing returns alpha, which is the last
move's score whatever beta is: `return beta` is the difference.",
        code: "
for each move:
    score = -search(child, -beta, -alpha)
    if score > alpha: alpha = score, this is the best move
    if alpha >= beta: return beta
return alpha",
        source: LECTURE,
        place: "src/lab/interior.rs, fail_hard",
        examples: &[
            FORTY,
            Example { caption: "Equal to the bound is not equal in value: B is worth 1, not 10.", tree: "max (10 (10 ??1))", ..FORTY },
            FIFTY,
        ],
        ..EMPTY
    },
    Topic {
        names: &["own-bounds"],
        title: "alpha-beta in which each side carries its own lower bound",
        text: "\
The window is (alpha, -beta): beta is what the opponent has already, as the opponent sees it. A move
swaps the two, and no sign is turned but the score's. The tree is that of fail-hard alpha-beta.

The source says of its listing that it may be buggy. It is not, if it is begun right: with both
bounds at -infinity. Begun with (-infinity, +infinity), as every other listing is, it cuts after
the first move and returns -infinity. (And it calls itself by another name.)",
        code: "
search(alpha, beta):
    for each move:
        value = -search(child, beta, alpha)
        if value > alpha:
            alpha = value
            if alpha >= -beta: return -beta
    return alpha",
        source: TREES,
        place: "src/lab/interior.rs, own_bounds",
        examples: &[on(FORTY, Interior::OwnBounds), on(FIFTY, Interior::OwnBounds)],
        ..EMPTY
    },
    Topic {
        names: &["fail-soft"],
        title: "alpha-beta that returns the best score found",
        text: "\
The best score has a variable of its own. A result at or below alpha is then an upper bound that may
be much lower than alpha, one at or above beta a lower bound that may be higher: more for the table
to remember, and what MTD(f) steers by.",
        code: "
best = -infinity
for each move:
    score = -search(child, -beta, -alpha)
    best = max(best, score), alpha = max(alpha, score)
    if alpha >= beta: stop
return best",
        source: LECTURE,
        place: "src/lab/interior.rs, fail_soft",
        examples: &[
            on(FORTY, Interior::FailSoft),
            driven(Root::AspFull, 50, "A failure says by how much: the window is (48, 52).", "max ((3 5) (6 9) (2 ??))"),
        ],
        ..EMPTY
    },
    Topic {
        names: &["bounds"],
        title: "alpha-beta that returns a lower and an upper bound",
        text: "\
Every node returns an interval that its value is in. The maximum of intervals is the interval of
the maxima; a node that was left early has no upper bound, as any move not looked at might be worth
more. Both ends go into the table.",
        code: "
(low, up) = (-infinity, -infinity)
for each move while alpha < beta:
    (l, u) = the child's interval, turned round
    low = max(low, l), up = max(up, u), alpha = max(alpha, low)
if a move was left out: up = infinity
return (low, up)",
        source: TWO_BOUNDS,
        place: "src/lab/interior.rs, bounds",
        examples: &[
            Example {
                caption: "The tree of Wikipedia's article on alpha-beta, of which the notes have a variant: \
                    worth 6, and five of its 14 leaves are left out.",
                tree: "max ((((5 6) (7 4 ??5)) ((3))) (((6) (6 ??9)) ((7))) (((5)) ((??9 ??8) (??6))))",
                ..on(FORTY, Interior::Bounds)
            },
            on(FORTY, Interior::Bounds),
            on(driven(Root::AspFull, 3, "The window is (1, 5): B is known on both sides, the root only from below.", SECOND_BEST), Interior::Bounds),
        ],
        ..EMPTY
    },
    Topic {
        names: &["scout"],
        title: "a null-window test of every later move, in maximin form",
        text: "\
Is the next move better than the best so far? A search with a null window answers that more cheaply
than a search for the move's value, and mostly the answer is no. Only after a yes is the value looked
for, above what the test has proved. MAX and MIN nodes mirror each other and all values are MAX's.

As in the source the first move is left to alpha-beta with the whole window, so tests are made at the
root and along re-searched lines only. PVS makes them at every node of the principal variation.",
        code: "
at a MAX node (MIN: mirrored):
    b = beta
    for each move while alpha < beta:
        score = alpha-beta(child, alpha, b)
        if b <= score < beta: score = scout(child, b, beta)
        alpha = max(alpha, best = max(best, score)), b = alpha + 1
    return best",
        source: SCOUT,
        place: "src/lab/interior.rs, scout_max and scout_min",
        examples: &[
            Example { caption: "C beats B, which the test finds out and the re-search values; D does not.", ..on(driven(Root::Full, 0, "", SECOND_BEST), Interior::Scout) },
            Example {
                caption: "Deep enough for the re-search to test: C beats B, so Scout looks for its value: \
                    D's first, then with null windows whether E and F are worth less.",
                ..on(driven(Root::Full, 0, "", "max ((3 5) ((9 4) (8 7) (6 2)))"), Interior::Scout)
            },
            Example { caption: "MAX has 40.", ..on(FORTY, Interior::Scout) },
        ],
        ..EMPTY
    },
    Topic {
        names: &["pvs", "negascout", "pvs-always", "pvs-zw"],
        title: "principal variation search (NegaScout)",
        text: "\
Scout in negamax form: the first move with the whole window, every other with a null window at the
best score, and again with the whole window if it turns out to be better. With good move ordering
that is rare, and almost the whole tree is searched with null windows.

The notes' listing forgets to raise alpha by the first move's score; then every later test asks about
the node's alpha instead of the first move, and nearly every move is searched twice.

A test that comes back at beta or more cuts at once: that is what `score < beta` is for. `pvs-always`
searches such a move again all the same, as programs do whose tests are shallower than the search.
`pvs-zw` is PVS whose null windows are searched by a function of depth and alpha alone, since beta is
always alpha + 1: the same tree, in less code. MTD(f) needs no other search.",
        code: "
best = -search(first child, -beta, -alpha)
for each later move:
    alpha = max(alpha, best); stop if alpha >= beta
    score = -search(child, -(alpha + 1), -alpha)
    if alpha < score < beta: score = -search(child, -beta, -alpha)
    best = max(best, score)
return best",
        source: LECTURE,
        place: "src/lab/interior.rs, pvs",
        examples: &[
            on(driven(Root::Full, 0, "C beats B and is searched twice; D does not.", SECOND_BEST), Interior::Pvs),
            on(FORTY, Interior::Pvs),
        ],
        ..EMPTY
    },
    Topic {
        names: &["full"],
        title: "root driver: one search with the full window",
        text: "Every score is thought possible, and one search finds it.",
        code: "score = search(root, -infinity, infinity)",
        source: LECTURE,
        place: "src/lab/root.rs, Root::Full",
        examples: &[driven(Root::Full, 0, "One pass.", SECOND_BEST)],
        ..EMPTY
    },
    Topic {
        names: &["asp-gradual", "asp-full", "asp-full-off", "asp-gradual-off", "asp-middle", "aspiration"],
        title: "root driver: aspiration, a window around the last score",
        text: "\
A narrow window prunes more. If the score is outside, the side it is on moves out and the root is
searched again: to infinity at once (asp-full), or from the returned score by twice the window's
width (asp-gradual). The -off forms put the first window half its width higher; asp-middle also
pulls beta down to the middle after a fail low. The notes suggest half a pawn for the width.

In the notes' listing a failed side goes to WIN, \"the maximum score that can be returned\". A won
position returns just that, which is not below beta, and so the loop never ends. Infinity must lie
beyond every score.",
        code: "
alpha = guess - width, beta = guess + width
repeat:
    score = search(root, alpha, beta)
    if score <= alpha: move alpha down
    else if score >= beta: move beta up
    else: return score",
        source: LECTURE,
        place: "src/lab/root.rs, aspiration",
        examples: &[
            driven(Root::AspGradual, 5, "Guess 5, width 2: a hit.", SECOND_BEST),
            driven(Root::AspGradual, 0, "Guess 0: a fail high first.", SECOND_BEST),
            driven(Root::AspFull, 20, "Guess 20: a fail low first, and everything below opens.", SECOND_BEST),
        ],
        ..EMPTY
    },
    Topic {
        names: &["window"],
        title: "how wide the first aspiration window is",
        text: "\
A narrow window prunes more when the score is inside and is searched again more often when it is not.
What is best depends on how far scores move from one depth to the next, and so on the evaluation: the
notes suggest half a pawn, and `lancet-lab --window 8,17,50,200` tries.",
        code: "alpha = guess - window, beta = guess + window",
        source: LECTURE,
        place: "src/lab/cell.rs, window; src/lab/root.rs, aspiration",
        examples: &[
            driven(Root::AspGradual, 4, "The window is (2, 6), and 6 comes back as a bound.", SECOND_BEST),
            driven(Root::AspGradual, 5, "The window is (3, 7), and 6 is the score.", SECOND_BEST),
        ],
        ..EMPTY
    },
    Topic {
        names: &["bisection"],
        title: "root driver: binary search with null windows",
        text: "\
Each null-window search halves the scores that are left, so it takes their logarithm many: 15 or 16
for the whole range, whatever the tree.

The notes' loop ends at `beta > alpha + 1`, while two scores are left, and its division would round
-3/2 towards zero and never end one step later. Here it ends with one score and rounds down.",
        code: "
while alpha < beta:
    test = the middle, rounded down
    if search(root, test, test + 1) <= test: beta = test
    else: alpha = test + 1
return alpha",
        source: LECTURE,
        place: "src/lab/root.rs, bisection",
        examples: &[driven(Root::Bisection, 0, "A small tree, asked many questions.", "max (3 7)")],
        ..EMPTY
    },
    Topic {
        names: &["mtdf", "mtd(f)"],
        title: "root driver: null windows at the last score, between two bounds",
        text: "\
Each search moves one of two bounds to the score it returned, and the next one asks right there. It
needs fail-soft (with fail-hard the bound moves by one centipawn a pass) and a table (or each pass
repeats the last).

The bounds close or cross, so it always ends; but with a table that takes deeper entries two passes
may contradict each other, and then the bounds cross. The lab counts that, and more than --max-passes
searches, as \"stuck\".",
        code: "
lower = -infinity, upper = infinity, g = first guess
while lower < upper:
    bound = max(g, lower + 1)
    g = search(root, bound - 1, bound)
    if g < bound: upper = g
    else: lower = g
return g",
        source: TWO_BOUNDS,
        place: "src/lab/root.rs, mtdf",
        examples: &[driven(Root::Mtdf, 0, "From guess 0.", SECOND_BEST)],
        ..EMPTY
    },
    Topic {
        names: &["mtdf-loop"],
        title: "root driver: MTD(f) without bounds, as the lecture prints it",
        text: "\
Test the last score until it comes back. Not a sound driver: the default run has it only to show
two faults. A search that fails low returns an upper bound; if that equals
the test, the loop takes it for the score (the example). And with a table that takes deeper entries
it can run in circles: `cargo test -p lancet-lab lab::mtdf` has random graphs.",
        code: "
test = first guess
repeat:
    score = search(root, test, test + 1)
    if score = test: return score
    test = score",
        source: LECTURE,
        place: "src/lab/root.rs, mtdf_loop",
        examples: &[
            driven(Root::MtdfLoop, 0, "From guess 0 the loop ends with 0; the tree is worth -5.", "max ((0 -5))"),
            driven(Root::Mtdf, 0, "With two bounds (mtdf) it is not fooled.", "max ((0 -5))"),
        ],
        ..EMPTY
    },
    Topic {
        names: &["table", "off", "exact", "deeper"],
        title: "the transposition table and which of its entries may answer",
        text: "\
An entry holds the whole key, depth, lower and upper bound, and the move that attains the lower one.
It may answer if the bounds are equal, or the lower one is at least beta, or the upper one at most
alpha. With `exact` only entries of the same depth answer, and the search returns the same values as
without a table. With `deeper` entries of greater depth answer as well (what playing programs do):
better informed, but no longer the value of the tree asked about.

Repetitions are not in the lab's chess: values would depend on the path, and no table be exact.",
        code: "
entry = table[position]
if its depth is good enough:
    if low = up or low >= beta or up <= alpha: return (low, up)
... search ...
table[position] = result, put together with what was known at that depth",
        source: TWO_BOUNDS,
        place: "src/lab/table.rs, Table; src/lab/node.rs, Search::node",
        counted: Some(count_tables),
        ..EMPTY
    },
    Topic {
        names: &["entries", "two-bounds", "one-bound"],
        title: "what a table entry holds: a lower and an upper bound, or one score and a flag",
        text: "\
The Scout notes have both tables: a value or bound with a flag that says which it is, and a pair of
bounds. A search with an open window mostly finds scores, and for it they are the same. A null window
finds nothing but bounds, and a position asked about at two scores has two: `alpha < score` from one
search, `score <= alpha + 5` from another. With one bound the second answer takes the place of the
first; with two they meet, and may even make a score. That is worth most to bisection, which asks from
both sides, something to PVS, and next to nothing to MTD(f), which walks to the score from one side.",
        code: "
two-bounds: (low, up) = (max(low, new low), min(up, new up))
one-bound:  (score, flag) = (new score, exact | at least | at most)",
        source: TWO_BOUNDS,
        place: "src/lab/table.rs, Entries and Table::store",
        counted: Some(count_entries),
        ..EMPTY
    },
    Topic {
        names: &["replacement", "deepest", "largest", "newest", "two-level"],
        title: "who stays when two positions want one place in the table",
        text: "\
The deeper search, the larger subtree, the newer result, or two levels: one entry kept for depth
and, beside it, one that is always replaced; a deeper newcomer moves the first to second place. All
have the same number of entries.",
        code: "
deepest:    replace if the newcomer is as deep
largest:    replace if its subtree has as many nodes
newest:     replace
two-level:  if the newcomer is as deep as the first: second = first, first = newcomer
            else second = newcomer",
        source: REPLACEMENT,
        place: "src/lab/table.rs, Table::store",
        counted: Some(count_replacements),
        ..EMPTY
    },
    Topic {
        names: &["size"],
        title: "how many positions the table can hold",
        text: "\
Too few entries and what was found is forgotten before it is needed again; more than the tree has
positions, and nothing more is gained.",
        code: "place = key * number of places / 2^64      (a place is an entry; for two-level, a pair)",
        source: REPLACEMENT,
        place: "src/lab/table.rs, Table::new",
        counted: Some(count_sizes),
        ..EMPTY
    },
    Topic {
        names: &["deepening", "iterative-deepening"],
        title: "depth 1, then 2, then 3 ... instead of the last one at once",
        text: "\
Every depth leaves a first guess for the root driver and, in the table, a move to begin with for every
node. In chess that saves more than the shallow searches cost; in a tree as small as tic-tac-toe's
it does not.",
        code: "
for d in 1, 2, ... depth:
    score = drive(search to depth d, first guess = the last score)",
        source: DEEPENING,
        place: "src/lab/run.rs, run",
        counted: Some(count_deepening),
        ..EMPTY
    },
    Topic {
        names: &["ordering", "captures"],
        title: "which move of a node is searched first",
        text: "\
Alpha-beta saves most if the best or refuting move comes first. `none` takes the moves as they are
generated; `captures` puts captures and promotions first, the most valuable victim by the least
valuable attacker; `table` before these the move that the table has for the position, from
whatever depth. Minimax does not care.",
        code: "
sort the moves by gain, highest first, quiet moves in their own order
if the table has a move for the position: to the front with it",
        source: KNUTH_MOORE,
        place: "src/lab/node.rs, order; src/lab/chess.rs, gain",
        examples: &[
            Example { caption: "Worst first: nothing is saved.", tree: "max ((6 2) (7 5))", ..FORTY },
            Example { caption: "Best first, and the best answer first.", tree: "max ((5 7) (2 ??6))", ..FORTY },
        ],
        ..EMPTY
    },
    Topic {
        names: &["leaf", "static", "quiescence", "network"],
        title: "what a node at depth zero is worth",
        text: "\
`static`: material and piece-square tables. `quiescence`: the better of that and of what captures and
queen promotions lead to, so that no exchange is judged half-way; it prunes by the node's window,
and what it looks at is counted by itself. `network`: the static evaluation by a network.

The last two are expensive enough to store in the table.",
        code: "
quiescence(alpha, beta):
    best = the static evaluation; return it if it is beta or more
    for each capture: best = max(best, -quiescence(-beta, -max(alpha, best))); stop at beta
    return best",
        source: QUIESCENCE,
        place: "src/lab/chess.rs, Leaf and quiescence",
        examples: &[
            Example { caption: "Searched one ply deep, a capture looks like +9: it is MIN's turn to take back.", tree: "max ((@9 -1 3) 2)", depth: 1, ..FORTY },
            Example { caption: "Searched to the end it is worth -1, and the quiet move 2 is better.", tree: "max ((@9 -1 3) 2)", ..FORTY },
        ],
        ..EMPTY
    },
    Topic {
        names: &["select", "null-move", "reductions", "whole-lines"],
        title: "what playing programs leave out, added one piece at a time",
        text: "\
The lab compares searches of the whole tree, which must agree. A playing program's search does not
look at the whole tree: where passing fails high it leaves the node (null move), and it tests late
quiet moves less deeply first (reductions). Then values depend on windows and on the table, and what
is best at the root may change. It also wants whole lines of moves, so it takes no cut-offs from the
table at open windows, and after null windows it searches once more around the score (whole lines).
`--select` adds these pieces; scores are not compared then.",
        code: "
null-move:    in a null window, evaluation >= beta: pass; if -search(depth - 3) >= beta, return it
reductions:   quiet moves from the fourth on: test at depth - 2; if above alpha, at depth - 1
whole-lines:  open window: no cut-off by the table; after null windows only: search(score - 1, score + 1)",
        source: "C. Donninger, \"Null Move and Deep Search\", ICCA Journal 16 (3), 1993, \
            https://www.chessprogramming.org/Null_Move_Pruning; \
            https://www.chessprogramming.org/Late_Move_Reductions",
        place: "src/lab/node.rs, Selectivity and null_move; src/lab/interior.rs, pvs",
        counted: Some(count_reductions),
        ..EMPTY
    },
    Topic {
        names: &["mates", "delay", "none"],
        title: "score delay: mates age by one point a move",
        text: "\
A node that returns a lost score returns it one point better, so that a later mate is the lesser
evil, and a mate found sooner the better one. A score that was only a bound must not become exact by
that, so the window is shifted the opposite way first. The table stores scores as the node returns
them: no distance to the root goes in or out.",
        code: "
in:   alpha - 1 if alpha < pivot,  beta - 1 if beta <= pivot
out:  score + 1 if score < pivot          (pivot: the edge of the mate scores)",
        source: POST,
        place: "src/chess/score.rs, Delay; src/lab/delay.rs, ScoreDelay::Mates",
        examples: &[delayed(
            ScoreDelay::Mates,
            "MAX is lost either way and chooses the later mate (B: now, C: two moves more).",
            "max ((LOSS) (((LOSS))))",
        )],
        ..EMPTY
    },
    Topic {
        names: &["loss", "cureval"],
        title: "score delay: any loss against the static evaluation is better later",
        text: "\
The pivot is the node's own static evaluation, CurEval: a score below it is a loss, and gains a point
per move. Now the boundary lies where scores are, and every `<` counts: alpha is shifted if it is
below CurEval, beta also if it is equal.",
        code: "
in:   alpha - 1 if alpha < cureval,  beta - 1 if beta <= cureval
out:  score + 1 if score < cureval",
        source: POST,
        place: "src/lab/delay.rs, ScoreDelay::Loss",
        examples: &[delayed(
            ScoreDelay::Loss,
            "The same loss now or later: 3 in either line, but B has to live with it sooner.",
            "max (@5 (@5 3) (@5 (@5 (@5 3))))",
        )],
        ..EMPTY
    },
    Topic {
        names: &["decay"],
        title: "score delay: negative scores shrink to 31/32",
        text: "\
Any monotone function f may be applied on the way out if the window goes in through its inverse. With
integers the inverse is not exact and has to be rounded outwards: alpha down, beta up. Adding 1/32
where 1/31 is meant narrows the window, and bounds come back as exact scores.",
        code: "
in:   alpha * 32/31 rounded down, beta * 32/31 rounded up   (if negative)
out:  score * 31/32                                         (if negative)",
        source: POST,
        place: "src/lab/delay.rs, Shift::Decay and inverse",
        examples: &[delayed(
            ScoreDelay::Decay,
            "-640 sooner or later.",
            "max ((-640) (((-640))))",
        )],
        ..EMPTY
    },
    Topic {
        names: &["ply", "ply-raw"],
        title: "the classical way: mates count from the root",
        text: "\
A mated node is worth its distance from the root more than -MATE, and no window is shifted. But such
a score belongs to a root: the same position is worth something else one iteration later, where it
is a ply deeper. So the table takes the distance out before it stores and puts it in when it
answers. `ply-raw` forgets that, and mates come out at wrong distances, or as wrong bounds.

Scores that belong to their node (`mates`) need neither.",
        code: "
mated:        -MATE + ply
into table:   a won score + ply, a lost one - ply
out of it:    a won score - ply, a lost one + ply        (ply of the node that asks)",
        source: CLASSICAL,
        place: "src/lab/delay.rs, terminal and to_table and from_table",
        examples: &[delayed(
            ScoreDelay::Ply,
            "MAX is lost either way: B is 2 plies from the root, C 4.",
            "max ((LOSS) (((LOSS))))",
        )],
        ..EMPTY
    },
    Topic {
        names: &["mates-post", "loss-post", "loss-swapped", "decay-narrow"],
        title: "score delays gone wrong",
        text: "\
`mates-post` and `loss-post` age the score but leave the window alone. A move that failed low with
alpha itself then comes back as alpha + 1, inside the window: a bound that the parent takes for a
score (the post saw a mate in one pruned by it). `decay-narrow` adds 1/32 where 1/31 is meant: the
same fault. The lab counts such bounds (\"turned\"), and does not trust these.

`loss-swapped` has `<` and `<=` the wrong way round when it shifts the window. The post calls that
non-fatal, and it is: at the pivot a null window becomes two wide, which costs nodes.",
        code: "
mates-post, loss-post:  in:  nothing                        out: score + 1 if score < pivot
loss-swapped:           in:  alpha - 1 if alpha <= pivot, beta - 1 if beta < pivot
decay-narrow:           in:  alpha * 33/32, beta * 33/32    out: score * 31/32",
        source: POST,
        place: "src/lab/delay.rs, Shift::PostOnly and Shift::Swapped and Shift::DecayNarrow; src/lab/node.rs, outside",
        examples: &[
            Example { interior: Interior::Pvs, ..delayed(
                ScoreDelay::LossPost,
                "The test of B: C says -3 to MIN, which fails low, and aged is -2, a fail high. So MAX refuses B, which is worth 3 (try it with `explain loss --tree`).",
                "max (@1 2 (@2 (@1 3 4) (@4 1 4)))",
            ) },
        ],
        ..EMPTY
    },
    Topic {
        names: &["forty"],
        title: "the 40/30 tree: MAX need not know what MIN has besides 30",
        text: "\
MAX has a move worth 40. On the other side MIN has an answer worth 30, so that side is worth at most
30, and nothing that ?? might be can change MAX's mind.",
        code: "if an answer of MIN's is worth no more than what MAX has elsewhere: leave the node",
        source: TREES,
        place: "src/lab/tree.rs",
        examples: &[FORTY],
        ..EMPTY
    },
    Topic {
        names: &["fifty"],
        title: "the 40/50 tree: the same for MIN",
        text: "MIN has a move worth 40; on the other side MAX has an answer worth 50.",
        code: "if an answer of MAX's is worth no less than what MIN has elsewhere: leave the node",
        source: TREES,
        place: "src/lab/tree.rs",
        examples: &[FIFTY],
        ..EMPTY
    },
    Topic {
        names: &["tie", "tic-tac-toe"],
        title: "treat a tie as a win: alpha-beta with three values",
        text: "\
Even with nothing but win, tie and loss there is more to prune than a win allows: once X has a tie,
O may treat a tie as a win, and stop looking.",
        code: "alpha = TIE:  an answer of O's worth TIE is as good as a win: leave the node",
        source: TREES,
        place: "src/lab/tree.rs; src/lab/tictactoe.rs",
        examples: &[TIE],
        counted: Some(count_ties),
    },
    Topic {
        names: &["replay", "replayed"],
        title: "yardstick: the same search with every best move known beforehand",
        text: "\
A first search notes the best or refuting move of every node and depth. A second one, from nothing,
searches that move first. What the first cost more is the price of not knowing, for this very
algorithm and table.",
        code: "
first pass:   known[node, depth] = the best or refuting move
second pass:  search(node) with known[node, depth] first",
        source: KNUTH_MOORE,
        place: "src/lab/run.rs, replay",
        counted: Some(count_replay),
        ..EMPTY
    },
    Topic {
        names: &["knuth-moore"],
        title: "yardstick: the least tree that alpha-beta can do with",
        text: "\
With the best move first everywhere, alpha-beta still has to see b^ceil(d/2) + b^floor(d/2) - 1 leaves
of a tree with b moves at every node. The lab takes the measured mean number of moves at each distance
from the root and sums over the levels. A table can beat it: two paths to one position are one.",
        code: "leaves = b^ceil(d/2) + b^floor(d/2) - 1",
        source: KNUTH_MOORE,
        place: "src/lab/yardstick.rs, knuth_moore",
        examples: &[Example {
            caption: "b = 3, d = 2, best moves first: 3 + 3 - 1 = 5 leaves.",
            tree: "max ((5 6 7) (4 ??8 ??9) (3 ??2 ??1))",
            ..FORTY
        }],
        ..EMPTY
    },
];
