//! Tunable constants of the search. [`tune`](crate::system::tune) explains the format of a line.
//!
//! Most margins, reductions and bonuses were tuned by SPSA. `HISTORY.md` in this directory
//! describes the runs and their gains.

crate::system::tune::params! {
    // Switches and depth limits. Tuners do not change these.

    /// 1 probes the transposition table. 0 does not, to measure its worth. Results are stored in
    /// both cases.
    table_use: 1, 0..=1, 0;
    /// 2 merges the lower and upper bounds from searches of the same depth. 1 keeps only the newer
    /// bound, to measure the gain of merging.
    table_bounds: 2, 1..=2, 0;
    /// Iteration from which the root uses aspiration windows, bisection or MTD(f). Earlier
    /// iterations use the full window.
    aspiration_depth: 4, 1..=255, 0;
    /// The evaluation is clamped to the bounds of the TT entry if the entry is at most this many
    /// plies shallower than the node.
    estimate_depth: 4, 0..=255, 0;
    /// Maximum depth for reverse futility pruning.
    rfp_depth: 9, 0..=20, 0;
    /// Minimum depth for null move pruning.
    null_depth: 3, 1..=255, 0;
    /// Minimum depth for the verification of a null move.
    null_verify: 14, 8..=255, 0;
    /// Minimum depth for ProbCut.
    probcut_depth: 5, 4..=255, 0;
    /// Minimum depth for internal iterative reduction.
    iir_depth: 4, 2..=255, 0;
    /// Maximum (reduced) depth for futility pruning of quiet moves.
    futility_depth: 9, 0..=20, 0;
    /// Maximum depth for late move pruning.
    lmp_depth: 9, 0..=20, 0;
    /// Maximum (reduced) depth for history pruning.
    history_depth: 5, 0..=20, 0;
    /// Maximum depth for pruning by static exchange evaluation.
    see_depth: 10, 0..=20, 0;
    /// Minimum depth for singular extensions.
    singular_depth: 6, 4..=255, 0;
    /// Minimum depth for late move reductions.
    lmr_depth: 2, 1..=255, 0;

    // Margins, reductions, bonuses, weights.

    /// Plies by which a TT entry loses value for each search since it was stored.
    replace_age: 4, 1..=16, 1;
    /// Half the width of the first aspiration window, in centipawns.
    aspiration_width: 20, 5..=60, 3;
    /// Aspiration windows: growth of the step after each failure, in per cent of the step.
    aspiration_growth: 54, 10..=200, 10;
    /// Aspiration windows: additional growth of the step after each failure, in centipawns.
    aspiration_step: 5, 0..=30, 2;
    /// Hindsight reduces by a ply if the parent's move lost more than this, in centipawns. The loss
    /// is the sum of both evaluations, each for its own side to move.
    hindsight_loss: 87, 0..=400, 20;
    /// Margin of reverse futility pruning per ply of depth, in centipawns.
    rfp_margin: 63, 30..=150, 6;
    /// Reverse futility pruning: reduction of the margin if the position is improving, in
    /// centipawns.
    rfp_improving: 62, 0..=150, 6;
    /// Reverse futility pruning: reduction of the margin, in centipawns, if the opponent's last
    /// move raised our evaluation by more than 2 centipawns.
    rfp_worsening: 28, 0..=100, 6;
    /// Minimum margin of reverse futility pruning, in centipawns.
    rfp_least: 24, 0..=80, 4;
    /// Null move pruning: decrease of `null_margin` for each ply of depth, in centipawns.
    null_slope: 10, 0..=60, 3;
    /// Null move pruning: margin above beta that the evaluation needs at depth 0, in centipawns.
    null_margin: 84, 0..=300, 14;
    /// Base reduction of the null move, in plies.
    null_base: 5, 2..=9, 1;
    /// Null move pruning: plies of depth for each further ply of reduction.
    null_divisor: 3, 2..=8, 1;
    /// Null move pruning: centipawns of the estimate above beta for each further ply of reduction,
    /// up to four plies.
    null_evaluation: 164, 80..=400, 16;
    /// Margin above beta that ProbCut must reach, in centipawns.
    probcut_margin: 209, 80..=400, 16;
    /// ProbCut: reduction of the margin if the position is improving, in centipawns.
    probcut_improving: 43, 0..=150, 8;
    /// ProbCut: centipawns by which the quiescence score must exceed the bound for each ply that
    /// the search is shallower.
    probcut_step: 300, 100..=600, 25;
    /// ProbCut: increase of the bound for each ply that the search is shallower, in centipawns.
    probcut_more: 200, 50..=500, 25;
    /// Base futility margin, in centipawns.
    futility_base: 125, 20..=300, 14;
    /// Futility margin per ply of reduced depth, in centipawns.
    futility_margin: 77, 30..=200, 8;
    /// Units of history for each further centipawn of the futility margin.
    futility_history: 169, 32..=512, 24;
    /// Futility margin for bad captures per ply of reduced depth, in centipawns.
    losing_margin: 99, 30..=300, 14;
    /// Late move pruning: number of moves to try, in addition to the depth squared. The sum is
    /// halved if the position is not improving.
    lmp_base: 5, 0..=12, 1;
    /// History pruning: a quiet move is pruned if its history is below minus this value times the
    /// depth before the reduction.
    history_margin: 2600, 500..=8000, 250;
    /// Centipawns that a quiet move may lose in an exchange, per ply of reduced depth.
    see_quiet: 83, 10..=150, 6;
    /// Centipawns that a capture may lose in an exchange, times the square of the depth before the
    /// reduction.
    see_capture: 25, 5..=80, 4;
    /// Units of capture history that allow a capture to lose one more centipawn.
    see_history: 32, 12..=256, 8;
    /// Ordering of captures and queen promotions: weight of a centipawn of the captured or promoted
    /// piece, in units of history.
    order_victim: 30, 8..=128, 6;
    /// Ordering of quiet moves: bonus for the escape from a less valuable attacker, per pawn of the
    /// piece's value, in units of a quiet move's history.
    order_safety: 1462, 0..=4000, 200;
    /// Ordering of quiet moves: bonus for an attack, from a safe square, on a piece that can be
    /// won, in units of a quiet move's history.
    order_offence: 3524, 0..=8000, 300;
    /// A capture is good if its exchange loses at most its ordering score divided by this, in
    /// centipawns. With a negative ordering score, the exchange must win that much.
    good_capture: 116, 32..=512, 24;
    /// Weight of the continuation history four plies back, in quarters of that of one ply back.
    order_four: 2, 0..=4, 1;
    /// Singular margin per ply of depth, in 1/16 centipawns.
    singular_margin: 18, 4..=64, 3;
    /// Centipawns below the singular bound for a second ply of extension.
    double_margin: 11, 0..=100, 5;
    /// Base reduction of quiet moves, in 1/1024 ply.
    lmr_base: 1060, 0..=2048, 80;
    /// Divisor of the product of the logarithms of depth and move number, for quiet moves, in
    /// 1/1024.
    lmr_divisor: 2520, 1500..=4000, 120;
    /// Base reduction of captures and queen promotions, in 1/1024 ply.
    lmr_capture_base: 431, 0..=2048, 80;
    /// Divisor of the product of the logarithms of depth and move number, for captures and queen
    /// promotions, in 1/1024.
    lmr_capture_divisor: 4348, 2500..=8000, 250;
    /// History of a capture that decreases its reduction by a ply.
    lmr_capture_history: 15781, 5000..=40000, 1600;
    /// History of a quiet move that decreases its reduction by a ply.
    lmr_history: 9619, 3000..=20000, 800;
    /// More reduction at expected cut nodes, in 1/1024 ply.
    lmr_cut: 1564, 0..=3000, 120;
    /// More reduction at non-PV nodes, in 1/1024 ply.
    lmr_non_pv: 712, 0..=2000, 100;
    /// More reduction if the position is not improving, in 1/1024 ply.
    lmr_not_improving: 677, 0..=2000, 100;
    /// Less reduction if the node is or was on a principal variation, in 1/1024 ply.
    lmr_was_pv: 1300, 0..=2500, 100;
    /// Less reduction at PV nodes, in addition to `lmr_was_pv`, in 1/1024 ply.
    lmr_pv: 600, 0..=2000, 100;
    /// Less reduction if the node is or was on a principal variation and the TT entry's lower bound
    /// is above alpha, in 1/1024 ply.
    lmr_tt_above: 391, 0..=2000, 100;
    /// Less reduction if the node is or was on a principal variation and the TT entry is at least
    /// as deep as this search, in 1/1024 ply.
    lmr_tt_deep: 281, 0..=2000, 100;
    /// Less reduction if the node is also an expected cut node, in addition to `lmr_tt_deep`, in
    /// 1/1024 ply.
    lmr_tt_deep_cut: 800, 0..=2000, 100;
    /// More reduction if the upper bound of the TT entry is at most alpha, in 1/1024 ply.
    lmr_tt_below: 400, 0..=2000, 100;
    /// Centipawns above the best score for a re-search that is a ply deeper.
    lmr_deeper: 85, 10..=200, 10;
    /// The re-search is a ply shallower if the score is less than this above the best score, in
    /// centipawns.
    lmr_shallower: 11, 0..=40, 3;
    /// Less reduction for a check, in 1/1024 ply.
    lmr_check: 1177, 0..=2500, 100;
    /// More reduction if the TT move is a capture or a queen promotion, in 1/1024 ply.
    lmr_tt_capture: 712, 0..=2000, 90;
    /// More reduction if nodes at the next ply often fail high, in 1/1024 ply.
    lmr_cutoffs: 684, 0..=2000, 90;
    /// More reduction at expected All-nodes in this case, in addition to `lmr_cutoffs`, in 1/1024
    /// ply.
    lmr_cutoffs_all: 800, 0..=2000, 90;
    /// Centipawns below alpha at which an evaluation is hopeless.
    hopeless_margin: 352, 100..=1000, 30;
    /// More reduction if the evaluation is hopeless, in 1/1024 ply.
    lmr_hopeless: 1038, 0..=2000, 90;
    /// Less reduction in check, in 1/1024 ply.
    lmr_in_check: 659, 0..=2000, 90;
    /// History bonus per ply of depth.
    bonus_slope: 275, 50..=600, 20;
    /// History bonus or malus per centipawn by which the last move changed the evaluation.
    evaluation_slope: 12, 2..=40, 2;
    /// Maximum bonus for a change of the evaluation.
    evaluation_bonus: 648, 50..=2000, 80;
    /// Maximum malus for a change of the evaluation.
    evaluation_malus: 288, 50..=2000, 80;
    /// A fail low is a surprise if its score is at least this many centipawns below an evaluation.
    surprise_margin: 80, 20..=300, 10;
    /// Increase of the bonus of the last move, in per cent, for each surprise: a score far below an
    /// evaluation, or a move beyond the eighth.
    surprise_bonus: 50, 0..=150, 10;
    /// Maximum history bonus, before the increase for surprises.
    bonus_max: 2366, 500..=4000, 150;
    /// Usual size of a correction, in centipawns. Each centipawn above it decreases reductions and
    /// changes margins, and each centipawn below it does the opposite.
    correction_usual: 12, 0..=60, 3;
    /// Decrease of the reduction for each centipawn above `correction_usual`, in 1/1024 ply.
    correction_lmr: 4, 0..=16, 1;
    /// Increase of the margin of reverse futility pruning for each centipawn above
    /// `correction_usual`, in 1/16 centipawns.
    correction_rfp: 8, 0..=32, 2;
    /// Increase of the margin of futility pruning for each centipawn above `correction_usual`, in
    /// 1/16 centipawns.
    correction_futility: 9, 0..=32, 2;
    /// Increase of the margin of futility pruning in quiescence for each centipawn above
    /// `correction_usual`, in 1/16 centipawns.
    correction_quiescence: 16, 0..=48, 2;
    /// Decrease of the margin for a second ply of singular extension for each centipawn above
    /// `correction_usual`, in 1/16 centipawns.
    correction_double: 4, 0..=24, 2;
    /// Update rate of correction histories, in 1/1024 of the error per ply of depth.
    correction_rate: 25, 4..=64, 4;
    /// Maximum change of a correction in one update, in centipawns.
    correction_step: 20, 4..=48, 3;
    /// Weight of the correction by pawn structure, in 1/16.
    correction_pawns: 11, 0..=32, 2;
    /// Weight of the correction by minor pieces, in 1/16.
    correction_minors: 9, 0..=32, 2;
    /// Weight of the corrections by each side's pieces, in 1/16.
    correction_pieces: 12, 0..=32, 2;
    /// Weight of the corrections by pairs of earlier moves, in 1/16.
    correction_moves: 11, 0..=32, 2;
    /// Maximum optimism before scaling, in centipawns. It is scaled by the weight of the material
    /// less `optimism_less`, in 1/1024.
    optimism_most: 113, 20..=300, 14;
    /// Subtracted from the weight of the material for the optimism, in 1/1024.
    optimism_less: 540, 300..=680, 20;
    /// Score at which half the maximum optimism is reached, in centipawns.
    optimism_half: 201, 50..=500, 25;
    /// Halfmove clock at which evaluations of up to `DAMPED` centipawns would be damped to 0.
    damping: 200, 120..=400, 14;
    /// Margin of futility pruning in quiescence, in centipawns.
    quiescence_margin: 195, 30..=400, 16;
}
