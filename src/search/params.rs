//! The search's tunable constants; what their lines say is in
//! [`tune`](crate::system::tune).
//!
//! The margins, reductions and bonuses were tuned in games: `HISTORY.md` beside this
//! file says how, and what that was worth.

crate::system::tune::params! {
    // Switches and depth limits, which no tuner moves.

    /// Ask the transposition table; 0 to measure what it is worth.
    table_use: 1, 0..=1, 0;
    /// Bounds that the table keeps of searches of one depth; 1, the newer, to measure what
    /// the other is worth.
    table_bounds: 2, 1..=2, 0;
    /// Iteration from which the root aspires to a window.
    aspiration_depth: 4, 1..=255, 0;
    /// How many plies shallower than the node an entry may be whose bounds correct the
    /// evaluation.
    estimate_depth: 4, 0..=255, 0;
    /// Deepest node for reverse futility pruning.
    rfp_depth: 9, 0..=20, 0;
    /// Depth from which a null move is tried.
    null_depth: 3, 1..=255, 0;
    /// Depth from which the null move is verified.
    null_verify: 14, 8..=255, 0;
    /// Depth from which captures are probed for a cutoff.
    probcut_depth: 5, 3..=255, 0;
    /// Depth from which a node without table move is searched less deeply.
    iir_depth: 4, 2..=255, 0;
    /// Deepest (reduced) depth for futility pruning of quiets.
    futility_depth: 9, 0..=20, 0;
    /// Deepest node for late move pruning.
    lmp_depth: 9, 0..=20, 0;
    /// Deepest (reduced) depth for pruning by history.
    history_depth: 5, 0..=20, 0;
    /// Deepest node for pruning by exchange value.
    see_depth: 10, 0..=20, 0;
    /// Depth from which the table move is tested for being the only good one.
    singular_depth: 6, 4..=255, 0;
    /// Depth from which moves are reduced.
    lmr_depth: 2, 1..=255, 0;

    /// What the histories learn: 1 of a failure has constants of its own, fades with the
    /// move's place in the order and spares moves that were best for a while, and continuation
    /// histories learn more slowly; 2 exact scores teach, too.
    teach: 0, 0..=2, 0;
    /// The size of the correction counts: the more the evaluation was wrong in such positions,
    /// the less is pruned and reduced.
    correction_size: 0, 0..=1, 0;
    /// Singular extensions: a smaller margin, up to three plies, more than one also in open
    /// windows, three plies less for a move that is not singular where the node is expected to
    /// fail high, and multicut scores nearer to beta.
    singular: 0, 0..=1, 0;
    /// Half the singular margin where the table has the exact score.
    singular_exact: 0, 0..=1, 0;
    /// Order of quiet moves: checks come early that lose less than a pawn.
    order_checks: 0, 0..=1, 0;
    /// Aspiration windows are around the mean score of the last iterations, narrower where
    /// those agreed, and after a fail high end not far below the old one.
    aspiration_form: 0, 0..=1, 0;
    /// Quiescence: futility spares recaptures and checks, a capture's history decides what its
    /// exchange must win, and captures that fail high are rewarded.
    quiescence_form: 0, 0..=1, 0;
    /// In check quiet moves are pruned neither by number nor by their exchange.
    evasions: 0, 0..=1, 0;
    /// An evaluation that reaches beta counts as improving, after reverse futility and null move.
    improving_beta: 0, 0..=1, 0;
    /// The change of evaluation teaches the last quiet move, where the table knows nothing or
    /// little depth is left.
    teach_evaluation: 0, 0..=1, 0;
    /// Quiet checks in the first ply of quiescence: 0 none; 1 all that lose nothing; 2 those, if
    /// no move near the leaf was reduced, or in an open window; 3 those that mate.
    quiet_checks: 1, 0..=3, 0;
    /// The search without the table's move is on the principal variation if its node is.
    excluded_pv: 0, 0..=1, 0;
    /// ProbCut at expected cut nodes only, where the table's move is not quiet and its bound or
    /// the evaluation agrees, and at a depth that falls with the score of quiescence.
    probcut_form: 0, 0..=1, 0;
    /// Moves of open windows are reduced less, the more of the root's window is open.
    lmr_window: 0, 0..=1, 0;
    /// Off the principal variation the first move is reduced by a ply, too, if the table does
    /// not give it and a late one would lose three.
    lmr_first: 0, 0..=1, 0;
    /// The history of captures distinguishes squares that the enemy attacks.
    capture_threats: 0, 0..=1, 0;
    /// Continuation histories distinguish earlier moves by whether they took a piece or promoted,
    /// and whether they left check.
    continuation_kinds: 0, 0..=1, 0;
    /// Half of the butterfly history's word is that of the piece and where it goes.
    piece_history: 0, 0..=1, 0;
    /// Reverse futility pruning at any depth, by a margin that grows with its square, and
    /// more of it at expected cut nodes and where nothing of ours is attacked.
    rfp_form: 0, 0..=1, 0;
    /// A cut by the table from depth 7 on must not be denied by its entry one move on.
    verify_cutoff: 0, 0..=1, 0;
    /// Nodes of the last iteration's principal variation are neither reduced for want of a table
    /// move, nor are their quiet moves pruned.
    follow_pv: 0, 0..=1, 0;
    /// Larger tables: of corrections fourfold, of histories by pawn structure eightfold.
    big_tables: 0, 0..=1, 0;
    /// Deeper entries of the table cut open windows off.
    pv_cut: 1, 0..=1, 0;
    /// A new position replaces the entry of the two that is worth less by its depth and age.
    replace: 0, 0..=1, 0;
    /// Futility judges each quiet move by its reduced depth and history, and never all at once.
    move_futility: 0, 0..=1, 0;
    /// Draws in the tree are worth -1 or 1, by turns.
    draw_jitter: 0, 0..=1, 0;
    /// The side that is better at the root is optimistic in the tree.
    optimism: 0, 0..=1, 0;
    /// Evaluations fade while neither pawns move nor pieces are taken.
    fifty_damping: 0, 0..=1, 0;

    // Margins, reductions, bonuses, weights.

    /// With `replace`: the plies by which an entry is worth less for each search since.
    replace_age: 4, 0..=16, 1;
    /// Half the first aspiration window, in centipawns.
    aspiration_width: 20, 5..=60, 3;
    /// With `aspiration_form`: how much less it may be, a centipawn for each iteration in which
    /// neither move nor score have changed.
    aspiration_steady: 6, 0..=15, 1;
    /// How much wider the window gets each time that it fails, in per cent ...
    aspiration_growth: 54, 10..=200, 10;
    /// ... and in centipawns.
    aspiration_step: 5, 0..=30, 2;
    /// Centipawns for the side to move, both evaluations together, that take a ply more off.
    hindsight_agreement: 87, 0..=400, 20;
    /// Margin per ply of depth, in centipawns.
    rfp_margin: 63, 30..=150, 6;
    /// With `rfp_form`: margin per ply, in centipawns, ...
    rfp_slope: 30, 0..=120, 6;
    /// ... and per ply squared, ...
    rfp_square: 8, 0..=30, 2;
    /// ... less this at expected cut nodes, ...
    rfp_cut: 24, 0..=100, 6;
    /// ... and this if nothing of ours is attacked.
    rfp_safe: 54, 0..=150, 8;
    /// Less margin when the position is improving, in centipawns.
    rfp_improving: 62, 0..=150, 6;
    /// Less margin when the opponent's last move was a mistake, in centipawns.
    rfp_worsening: 28, 0..=100, 6;
    /// The least margin of all, in centipawns.
    rfp_least: 24, 0..=80, 4;
    /// How far below beta the evaluation may be per ply of depth, in centipawns, ...
    null_slope: 10, 0..=60, 3;
    /// ... less this.
    null_margin: 84, 0..=300, 14;
    /// Base reduction of the null move, in plies.
    null_base: 5, 2..=9, 1;
    /// Depth per further ply of reduction.
    null_divisor: 3, 2..=8, 1;
    /// Centipawns above beta per further ply of reduction.
    null_evaluation: 164, 80..=400, 16;
    /// How far above beta the probe must be, in centipawns.
    probcut_margin: 209, 80..=400, 16;
    /// Less of it when the position is improving, in centipawns.
    probcut_improving: 43, 0..=150, 8;
    /// With `probcut_form`: centipawns of quiescence above it for a ply less, ...
    probcut_step: 300, 100..=600, 25;
    /// ... and how many more the shallower search must show.
    probcut_more: 200, 50..=500, 25;
    /// Futility margin, in centipawns.
    futility_base: 125, 20..=300, 14;
    /// Futility margin per ply, in centipawns.
    futility_margin: 77, 30..=200, 8;
    /// History that is worth a centipawn of it.
    futility_history: 169, 32..=512, 24;
    /// Margin per ply for captures that lose material, in centipawns.
    losing_margin: 99, 30..=300, 14;
    /// Quiet moves that are tried at any depth, besides depth squared.
    lmp_base: 5, 0..=12, 1;
    /// History per ply below which a quiet move is pruned.
    history_margin: 5086, 1000..=12000, 500;
    /// Centipawns per ply a quiet move may lose.
    see_quiet: 83, 10..=150, 6;
    /// Centipawns per ply squared a capture may lose.
    see_capture: 25, 5..=80, 4;
    /// History that weighs as much as a centipawn of the victim in the order of captures.
    order_victim: 30, 8..=128, 6;
    /// What escape from a lesser attacker is worth, per pawn of the piece's value, in
    /// the units of a quiet move's history.
    order_safety: 1462, 0..=4000, 200;
    /// What it is worth to attack, from a safe square, what can be won, in the same units.
    order_offence: 3524, 0..=8000, 300;
    /// With `order_checks`: what a check is worth, in the same units.
    order_check: 10000, 0..=20000, 800;
    /// How much of that order forgives a capture the loss of a centipawn.
    good_capture: 116, 32..=512, 24;
    /// Weight of the history four plies back, in quarters of that of one ply back.
    order_four: 2, 0..=4, 1;
    /// Margin per ply of depth, in 1/16 centipawns.
    singular_margin: 18, 4..=64, 3;
    /// The same with `singular`.
    singular_narrow: 12, 4..=64, 3;
    /// Centipawns below the singular bound for a second ply of extension.
    double_margin: 11, 0..=100, 5;
    /// With `singular`: centipawns below it for a third ply, ...
    triple_margin: 90, 0..=400, 20;
    /// ... and how many more are needed for either in open windows.
    singular_pv: 200, 0..=500, 25;
    /// Base reduction, in 1/1024 ply.
    lmr_base: 1060, 0..=2048, 80;
    /// Divisor of the product of logarithms, in 1/1024.
    lmr_divisor: 2520, 1500..=4000, 120;
    /// The same two for captures and promotions.
    lmr_capture_base: 431, 0..=2048, 80;
    /// Divisor of the product of logarithms, in 1/1024.
    lmr_capture_divisor: 4348, 2500..=8000, 250;
    /// A capture's history per ply less of reduction.
    lmr_capture_history: 15781, 5000..=40000, 1600;
    /// History per ply less of reduction.
    lmr_history: 9619, 3000..=20000, 800;
    /// More reduction at an expected cut node, in 1/1024 ply.
    lmr_cut: 1564, 0..=3000, 120;
    /// More reduction off the principal variation, in 1/1024 ply.
    lmr_non_pv: 712, 0..=2000, 100;
    /// With `lmr_window`: less reduction in a window as wide as the root's, in 1/1024 ply.
    lmr_wide: 440, 0..=2000, 100;
    /// More reduction when not improving, in 1/1024 ply.
    lmr_not_improving: 677, 0..=2000, 100;
    /// Less reduction where the principal variation has been, in 1/1024 ply.
    lmr_was_pv: 868, 0..=2500, 100;
    /// Less still if the table's lower bound is above alpha, ...
    lmr_table_above: 391, 0..=2000, 100;
    /// ... and if its entry is as deep as this search.
    lmr_table_deep: 281, 0..=2000, 100;
    /// Centipawns above the best score for a ply more at the second look, ...
    lmr_deeper: 85, 10..=200, 10;
    /// ... and below which there is a ply less.
    lmr_shallower: 11, 0..=40, 3;
    /// Less reduction for a check, in 1/1024 ply.
    lmr_check: 1177, 0..=2500, 100;
    /// More reduction when the table's move is a capture, in 1/1024 ply.
    lmr_table_capture: 712, 0..=2000, 90;
    /// More reduction when nodes below often fail high, in 1/1024 ply.
    lmr_cutoffs: 684, 0..=2000, 90;
    /// An evaluation so many centipawns below alpha means ...
    hopeless_margin: 352, 100..=1000, 30;
    /// ... so much more reduction, in 1/1024 ply.
    lmr_hopeless: 1038, 0..=2000, 90;
    /// Less reduction in check, in 1/1024 ply.
    lmr_in_check: 659, 0..=2000, 90;
    /// History bonus per ply.
    bonus_slope: 275, 50..=600, 20;
    /// With `teach_evaluation`: bonus or malus per centipawn, ...
    evaluation_slope: 12, 2..=40, 2;
    /// ... at most this bonus ...
    evaluation_bonus: 648, 50..=2000, 80;
    /// ... and this malus.
    evaluation_malus: 288, 50..=2000, 80;
    /// The largest history bonus.
    bonus_max: 2366, 500..=4000, 150;
    /// With `teach`: history malus per ply, ...
    malus_slope: 200, 50..=600, 20;
    /// ... besides this ...
    malus_offset: 100, 0..=600, 30;
    /// ... and at most so much.
    malus_max: 1400, 300..=4000, 150;
    /// With `teach`: how much less each further quiet move is punished, in 1/1024.
    malus_fade: 45, 0..=200, 8;
    /// With `teach`: how fast continuation histories learn, in 1/16 of the others.
    continuation_rate: 8, 2..=24, 1;
    /// The usual size of a correction, in centipawns. With `correction_size`, for each
    /// centipawn more: ...
    correction_usual: 12, 0..=60, 3;
    /// ... less reduction, in 1/1024 ply, ...
    correction_lmr: 4, 0..=16, 1;
    /// ... more margin of reverse futility pruning, in 1/16 centipawns, ...
    correction_rfp: 8, 0..=32, 2;
    /// ... of futility pruning, ...
    correction_futility: 9, 0..=32, 2;
    /// ... of futility pruning in quiescence, ...
    correction_quiescence: 16, 0..=48, 2;
    /// ... and less for a second ply of singular extension.
    correction_double: 4, 0..=24, 2;
    /// How fast corrections of the evaluation learn, in 1/1024 of the error per ply of depth.
    correction_rate: 25, 4..=64, 4;
    /// The most that a correction learns at once, in centipawns.
    correction_step: 20, 4..=48, 3;
    /// Weight of the correction by pawn structure, in 1/16.
    correction_pawns: 11, 0..=32, 2;
    /// Weight of that by minor pieces, in 1/16.
    correction_minors: 9, 0..=32, 2;
    /// Weight of those by each side's pieces, in 1/16.
    correction_pieces: 12, 0..=32, 2;
    /// Weight of that by the last two moves, in 1/16.
    correction_moves: 11, 0..=32, 2;
    /// With `optimism`: the most of it, in centipawns, before the weight of material ...
    optimism_most: 113, 20..=300, 14;
    /// ... less this, in 1/1024, ...
    optimism_less: 540, 300..=680, 20;
    /// ... and the score at which half is reached.
    optimism_half: 201, 50..=500, 25;
    /// Margin of futility pruning in quiescence, in centipawns.
    quiescence_margin: 195, 30..=400, 16;
    /// With `quiescence_form`: a capture's history that forgives the loss of a centipawn, ...
    quiescence_history: 62, 24..=256, 12;
    /// ... and the bonus of one that fails high.
    quiescence_bonus: 128, 0..=400, 20;
}
