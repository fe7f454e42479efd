//! The tree: positions, the results of their searches, and the choice of where to grow. It has no
//! engine and no files.
//!
//! Some moves of a position have nodes of their own. The others are its *rest*, which one search
//! covers together. The value of a position is the best score among the moves with nodes and the
//! rest. The tree grows by giving the best move of the rest a node. Then the new node and the
//! smaller rest are searched.
//!
//! Growth takes the cheapest path from the start. Every ply costs one, plus one for each percentage
//! point of the winning chances that the move loses. So good lines become deep and bad ones stay
//! short, but every line grows at some point.
//!
//! This is drop-out expansion: T. R. Lincke, *Strategies for the Automatic Construction of Opening
//! Books*, Computers and Games, 2000.
//!
//! Positions that several lines reach are one node. A move back to a position above it, in any
//! line, scores as a draw and is not followed, so the graph has no cycles.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use shakmaty::Move;

use crate::chess::{
    position::{Ending, Game, Position},
    score::{DECISIVE, DRAW, Delay, MATE, Score, is_decisive, winning_chances},
};

/// Additional cost in plies of a move that loses all winning chances. Each percentage point costs
/// one ply.
const LOSS: f64 = 100.0;

/// Number of a node.
pub type Id = usize;

/// The result of a search of a position's rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestSearch {
    /// Score for the side to move.
    pub score: Score,
    /// Depth in plies.
    pub depth: u32,
    /// Number of nodes searched.
    pub nodes: u64,
    /// The PV. Its first move is the best of the searched moves.
    pub line: Vec<Move>,
    /// Whether tablebases give the result, so that no further search is needed.
    pub exact: bool,
}

/// A move that has a node of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The move.
    pub m: Move,
    /// The node after the move.
    pub to: Id,
    /// Whether the move costs nothing, so that growth follows it whatever its score.
    pub pinned: bool,
    /// Whether the move leads back to a position above it, in any line.
    pub repeats: bool,
}

/// A position.
#[derive(Clone, Debug)]
pub struct TreeNode {
    /// The position, with the move counters of the line that reached it first.
    pub position: Position,
    /// Moves with nodes, in the order in which they were added.
    pub edges: Vec<Edge>,
    /// The last search of the other moves.
    pub rest: Option<RestSearch>,
    /// The score if the game is over here or tablebases know it.
    pub over: Option<Score>,
    parents: Vec<Id>,
    /// Number of legal moves.
    moves: usize,
    /// Whether a search of this node is running.
    busy: bool,
    /// The score for the side to move, if it is known.
    pub value: Option<Score>,
    /// Cost of the cheapest growth at this node or below, counted from this node.
    cost: f64,
}

impl TreeNode {
    fn new(position: Position) -> TreeNode {
        let moves = position.legal_moves().len();
        let over = Game::from(position.clone()).ending().map(|ending| match ending {
            Ending::Checkmate => -MATE,
            Ending::Draw => DRAW,
        });
        TreeNode {
            position,
            edges: Vec::new(),
            rest: None,
            over,
            parents: Vec::new(),
            moves,
            busy: false,
            value: over,
            cost: f64::INFINITY,
        }
    }

    /// Returns whether the game is over here.
    pub(super) fn is_end(&self) -> bool {
        self.over.is_some() && self.rest.is_none()
    }

    /// Returns the edge of a move, if it has a node.
    pub fn edge(&self, m: Move) -> Option<&Edge> {
        self.edges.iter().find(|edge| edge.m == m)
    }

    /// Returns the best move without a node and its score, if they are known.
    fn best_of_rest(&self) -> Option<(Move, Score)> {
        let rest = self.rest.as_ref()?;
        let &m = rest.line.first()?;
        self.edge(m).is_none().then_some((m, rest.score))
    }

    /// Returns whether the moves without nodes have to be searched.
    fn is_due(&self) -> bool {
        self.over.is_none() && self.edges.len() < self.moves && self.best_of_rest().is_none()
    }
}

/// A move that has a node, or the best move of the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    /// The move.
    pub m: Move,
    /// Score for the side that makes the move, if it is known.
    pub score: Option<Score>,
    /// The edge to its node, if it has one.
    pub edge: Option<&'a Edge>,
}

/// Returns the cost in plies of a move with this score if the best move has the score `best`.
fn price(best: Option<Score>, score: Score) -> f64 {
    let lost = winning_chances(best.unwrap_or(score)) - winning_chances(score);
    1.0 + LOSS * lost.max(0.0)
}

/// The next step of growth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The moves from the start of growth to the node.
    pub path: Vec<Move>,
    /// The node.
    pub at: Id,
    /// The move that gets a node. If `None`, the moves without nodes are searched instead.
    pub open: Option<Move>,
}

/// The whole tree.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<TreeNode>,
    ids: HashMap<u64, Id>,
}

impl Tree {
    /// The node of the start position.
    pub const START: Id = 0;

    /// Creates a tree with one node.
    pub(super) fn new(start: Position) -> Tree {
        let ids = HashMap::from([(start.key(), Tree::START)]);
        let mut tree = Tree { nodes: vec![TreeNode::new(start)], ids };
        tree.update(Tree::START);
        tree
    }

    /// Returns a node.
    pub fn node(&self, id: Id) -> &TreeNode {
        &self.nodes[id]
    }

    /// Returns the number of positions.
    pub fn positions(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node of a position by its key.
    pub(super) fn find(&self, key: u64) -> Option<Id> {
        self.ids.get(&key).copied()
    }

    /// Returns the start and the nodes along a line of moves, as far as they exist.
    pub(super) fn walk(&self, moves: &[Move]) -> Vec<Id> {
        let mut nodes = vec![Tree::START];
        let mut at = Tree::START;
        for &m in moves {
            let Some(edge) = self.nodes[at].edge(m) else { break };
            at = edge.to;
            nodes.push(at);
        }
        nodes
    }

    /// Returns the nodes along a line, like [`walk`](Self::walk), without the final position of a
    /// finished game. That position has no moves to show.
    pub(super) fn walk_to_last_move(&self, moves: &[Move]) -> Vec<Id> {
        let mut nodes = self.walk(moves);
        if nodes.len() > 1 && nodes.last().is_some_and(|&at| self.nodes[at].is_end()) {
            nodes.pop();
        }
        nodes
    }

    /// Adds a node for a legal move, unless it has one. Returns the node.
    pub(super) fn add(&mut self, from: Id, m: Move) -> Id {
        if let Some(edge) = self.nodes[from].edge(m) {
            return edge.to;
        }
        let position = self.nodes[from].position.play(m);
        let key = position.key();
        let known = self.find(key);
        let to = known.unwrap_or(self.nodes.len());
        if known.is_none() {
            self.nodes.push(TreeNode::new(position));
            self.ids.insert(key, to);
        }
        // Only a node that already existed can be above `from`.
        let above = || self.reach(from, |node| node.parents.iter().copied());
        let repeats = known.is_some() && above().contains(&to);
        if !repeats {
            self.nodes[to].parents.push(from);
        }
        self.nodes[from].edges.push(Edge { m, to, pinned: false, repeats });
        self.update(to);
        self.update(from);
        to
    }

    /// Returns all nodes that can be reached from a node through `next`, including itself.
    fn reach<'a, I: Iterator<Item = Id>>(
        &'a self,
        id: Id,
        next: impl Fn(&'a TreeNode) -> I,
    ) -> HashSet<Id> {
        let (mut seen, mut open) = (HashSet::from([id]), vec![id]);
        while let Some(id) = open.pop() {
            open.extend(next(&self.nodes[id]).filter(|&next| seen.insert(next)));
        }
        seen
    }

    /// Pins or unpins a move that has a node.
    pub(super) fn pin(&mut self, from: Id, m: Move, pinned: bool) {
        let edge = self.nodes[from].edges.iter_mut().find(|edge| edge.m == m);
        edge.into_iter().for_each(|edge| edge.pinned = pinned);
        self.update(from);
    }

    /// Adds the result of a search of the moves without nodes.
    pub(super) fn found(&mut self, id: Id, found: RestSearch) {
        let node = &mut self.nodes[id];
        if found.exact {
            node.over = Some(found.score);
        }
        node.rest = Some(found);
        self.update(id);
    }

    /// Marks whether a search of this node is running, so that growth avoids it.
    pub(super) fn set_busy(&mut self, id: Id, busy: bool) {
        self.nodes[id].busy = busy;
        self.update(id);
    }

    /// Returns the score of a move for the side that makes it, if it is known.
    pub(super) fn score(&self, edge: &Edge) -> Option<Score> {
        if edge.repeats {
            return Some(DRAW);
        }
        self.nodes[edge.to].value.map(|value| -Delay::MATES.score(value))
    }

    /// Returns the cost of a move. It is zero if the move is pinned or its score is unknown.
    pub(super) fn cost(&self, id: Id, edge: &Edge) -> f64 {
        if edge.pinned {
            return 0.0;
        }
        self.score(edge).map_or(0.0, |score| price(self.nodes[id].value, score))
    }

    /// Returns the moves with nodes and the best move of the rest, the best first. Among equals,
    /// those with nodes come first, in their order.
    pub(super) fn candidates(&self, id: Id) -> Vec<Candidate<'_>> {
        let node = &self.nodes[id];
        let edges = node.edges.iter().map(|edge| {
            let score = self.score(edge);
            Candidate { m: edge.m, score, edge: Some(edge) }
        });
        let rest = node.best_of_rest();
        let rest = rest.map(|(m, score)| Candidate { m, score: Some(score), edge: None });
        let mut all: Vec<Candidate> = edges.chain(rest).collect();
        all.sort_by_key(|candidate| Reverse(candidate.score));
        all
    }

    /// Returns the edge of the move with the highest known score, if it has a node.
    fn best_edge(&self, id: Id) -> Option<&Edge> {
        let best = *self.candidates(id).first()?;
        best.edge.filter(|_| best.score.is_some())
    }

    /// Returns the best line from a node: through the tree, then along the PV of the last search.
    pub(super) fn best_line(&self, id: Id) -> Vec<Move> {
        let (mut line, mut at) = (Vec::new(), id);
        while let Some(edge) = self.best_edge(at) {
            line.push(edge.m);
            if edge.repeats {
                return line;
            }
            at = edge.to;
        }
        line.extend(self.nodes[at].rest.iter().flat_map(|rest| &rest.line));
        line
    }

    /// Returns the number of positions at and below a node.
    pub fn size(&self, id: Id) -> usize {
        self.reach(id, |node| node.edges.iter().filter(|edge| !edge.repeats).map(|edge| edge.to))
            .len()
    }

    /// Returns the nodes for the next search of a position: twice those of the last search, so that
    /// important positions are searched ever more deeply. The first search gets half the nodes of
    /// the parent.
    pub(super) fn effort(&self, id: Id) -> u64 {
        let searched = |id: Id| self.nodes[id].rest.as_ref().map(|rest| rest.nodes);
        let parents = self.nodes[id].parents.iter().filter_map(|&parent| searched(parent));
        searched(id).map_or_else(|| parents.max().unwrap_or(0) / 2, |nodes| 2 * nodes)
    }

    /// Returns the cheapest step of growth below a node, or `None` if everything is decided or
    /// being searched.
    pub(super) fn next(&self, from: Id) -> Option<Step> {
        let (mut path, mut at) = (Vec::new(), from);
        loop {
            let node = &self.nodes[at];
            if node.cost.is_infinite() {
                return None;
            }
            if self.own_cost(node) <= node.cost {
                let open = node.best_of_rest().map(|(m, _)| m);
                return Some(Step { path, at, open });
            }
            let (edge, _) = self.ways(at).find(|&(_, cost)| cost <= node.cost)?;
            path.push(edge.m);
            at = edge.to;
        }
    }

    /// Returns the score of a node from those below it, or `None` if moves that may be better have
    /// not been searched.
    fn backed_up(&self, node: &TreeNode) -> Option<Score> {
        if node.over.is_some() {
            return node.over;
        }
        let best = node.edges.iter().filter_map(|edge| self.score(edge)).max();
        let Some(rest) = &node.rest else {
            return best.filter(|&best| best > DECISIVE || node.edges.len() == node.moves);
        };
        // The best move of the rest may have got a node since the search. Until that node is
        // searched, the score of the rest counts for it. If all moves with nodes lose, the
        // remaining moves may still save the game, so the score of the rest counts until they are
        // searched.
        let taken = rest.line.first().and_then(|&m| node.edge(m));
        let lost = best.is_none_or(|best| best < -DECISIVE);
        let counts = taken.is_none_or(|edge| self.score(edge).is_none() || lost && node.is_due());
        best.max(counts.then_some(rest.score))
    }

    /// Returns the cost of growth at this node itself.
    fn own_cost(&self, node: &TreeNode) -> f64 {
        if node.busy || node.over.is_some() || node.value.is_some_and(is_decisive) {
            return f64::INFINITY;
        }
        if node.is_due() {
            return 0.0;
        }
        node.best_of_rest().map_or(f64::INFINITY, |(_, score)| price(node.value, score))
    }

    /// Returns the moves below which growth may continue, with the cost of the cheapest growth
    /// there. In decided positions these are only pinned moves.
    fn ways(&self, id: Id) -> impl Iterator<Item = (&Edge, f64)> {
        let node = &self.nodes[id];
        let decided = node.over.is_some() || node.value.is_some_and(is_decisive);
        let edges = node.edges.iter();
        let open = edges.filter(move |edge| !edge.repeats && (edge.pinned || !decided));
        open.map(move |edge| (edge, self.cost(id, edge) + self.nodes[edge.to].cost))
    }

    /// Returns the cost of the cheapest growth at this node or below.
    fn cheapest(&self, id: Id) -> f64 {
        self.ways(id).map(|(_, cost)| cost).fold(self.own_cost(&self.nodes[id]), f64::min)
    }

    /// Updates a node, and all nodes above it that this changes.
    fn update(&mut self, id: Id) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let value = self.backed_up(&self.nodes[id]);
            let changed = std::mem::replace(&mut self.nodes[id].value, value) != value;
            // The cost depends on the value.
            let cost = self.cheapest(id);
            let node = &mut self.nodes[id];
            if std::mem::replace(&mut node.cost, cost).to_bits() != cost.to_bits() || changed {
                open.extend(&node.parents);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::notation::read_any_move;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).unwrap()
    }

    /// Adds nodes for all moves of a line. Returns the last node.
    fn walk(tree: &mut Tree, line: &str) -> Id {
        line.split_whitespace().fold(Tree::START, |at, text| {
            let m = read_any_move(&tree.node(at).position, text).unwrap();
            tree.add(at, m)
        })
    }

    fn found(tree: &Tree, id: Id, score: Score, best: &str) -> RestSearch {
        let m = read_any_move(&tree.node(id).position, best).unwrap();
        RestSearch { score, depth: 1, nodes: 1, line: vec![m], exact: false }
    }

    #[test]
    fn scores_come_up_from_the_leaves() {
        let mut tree = Tree::new(Position::default());
        tree.found(Tree::START, found(&tree, Tree::START, 30, "e4"));
        assert_eq!(tree.node(Tree::START).value, Some(30));
        let step = tree.next(Tree::START).unwrap();
        let e4 = step.open.unwrap();
        assert_eq!((step.path.len(), step.at), (0, Tree::START));
        let child = tree.add(Tree::START, e4);
        // Until the new node is searched, the score of the rest counts.
        assert_eq!(tree.node(Tree::START).value, Some(30));
        // Both the new node and the rest need a search. The nearer one comes first.
        assert_eq!(tree.next(Tree::START).unwrap().at, Tree::START);
        tree.found(Tree::START, found(&tree, Tree::START, 20, "d4"));
        let step = tree.next(Tree::START).unwrap();
        assert_eq!((step.path, step.at, step.open), (vec![e4], child, None));
        tree.found(child, found(&tree, child, -10, "e5"));
        assert_eq!(tree.node(Tree::START).value, Some(20), "d4 is better than 10 for e4");
        assert_eq!(tree.best_line(Tree::START).len(), 1);
        assert!(tree.best_edge(Tree::START).is_none());
        // The better move costs one ply, the other one a little more.
        assert!(tree.next(Tree::START).unwrap().open.is_some_and(|m| m != e4));
        tree.found(child, found(&tree, child, -40, "e5"));
        assert_eq!(tree.node(Tree::START).value, Some(40));
        assert_eq!(tree.best_line(Tree::START).len(), 2);
    }

    #[test]
    fn mates_age_and_need_no_growth() {
        let mut tree = Tree::new(position("7k/5Q2/5K2/8/8/8/8/8 w - - 0 1"));
        tree.found(Tree::START, found(&tree, Tree::START, 900, "Qg7"));
        let mate = walk(&mut tree, "Qg7");
        assert_eq!(tree.node(mate).value, Some(-MATE));
        assert_eq!(tree.node(Tree::START).value, Some(MATE - 1));
        assert_eq!(tree.next(Tree::START), None);
        let stalemate = walk(&mut tree, "Kg6");
        assert_eq!(tree.node(stalemate).over, Some(DRAW));
        assert_eq!(tree.node(Tree::START).value, Some(MATE - 1));
        let later = walk(&mut tree, "Qe7 Kg8 Kg6 Kh8 Qf8");
        assert_eq!(tree.node(later).value, Some(-MATE));
        let before = walk(&mut tree, "Qe7 Kg8 Kg6");
        assert_eq!(tree.node(before).value, Some(-MATE + 1));
    }

    #[test]
    fn transpositions_are_one_node_and_repetitions_are_draws() {
        let mut tree = Tree::new(Position::default());
        let one = walk(&mut tree, "Nf3 Nf6 Nc3 Nc6");
        let other = walk(&mut tree, "Nc3 Nc6 Nf3 Nf6");
        assert_eq!(one, other);
        tree.found(one, found(&tree, one, 70, "e4"));
        let before = [walk(&mut tree, "Nf3 Nf6 Nc3"), walk(&mut tree, "Nc3 Nc6 Nf3")];
        assert_eq!(before.map(|id| tree.node(id).value), [None; 2], "there are other moves");
        before.iter().for_each(|&id| tree.found(id, found(&tree, id, -200, "a6")));
        assert_eq!(before.map(|id| tree.node(id).value), [Some(-70); 2]);
        let nodes = tree.positions();
        assert_eq!(walk(&mut tree, "Nf3 Nf6 Ng1 Ng8"), Tree::START);
        assert_eq!(tree.positions(), nodes + 1);
        let last = walk(&mut tree, "Nf3 Nf6 Ng1");
        assert!(tree.node(last).edges[0].repeats);
        tree.found(last, found(&tree, last, -30, "a6"));
        assert_eq!(tree.node(last).value, Some(DRAW));
        assert_eq!(tree.size(Tree::START), tree.positions());
    }

    #[test]
    fn pinned_lines_grow_in_decided_positions() {
        let mut tree = Tree::new(Position::default());
        tree.found(Tree::START, found(&tree, Tree::START, MATE - 5, "e4"));
        assert_eq!(tree.next(Tree::START), None);
        let far = walk(&mut tree, "d4 d5");
        assert_eq!(tree.next(Tree::START), None);
        let mut at = Tree::START;
        for text in ["d4", "d5"] {
            let m = read_any_move(&tree.node(at).position, text).unwrap();
            tree.pin(at, m, true);
            at = tree.add(at, m);
        }
        let middle = walk(&mut tree, "d4");
        assert_eq!(tree.next(Tree::START).unwrap().at, middle);
        tree.found(middle, found(&tree, middle, 0, "Nf6"));
        assert_eq!(tree.next(Tree::START).unwrap().at, far);
        tree.set_busy(far, true);
        assert_ne!(tree.next(Tree::START).unwrap().at, far);
    }

    /// A mate at the end of a line does not decide earlier positions with other moves.
    #[test]
    fn a_losing_move_does_not_decide_if_there_are_others() {
        let mut tree = Tree::new(Position::default());
        let mate = walk(&mut tree, "f3 e5 g4 Qh4");
        assert_eq!(tree.node(mate).value, Some(-MATE));
        let before = walk(&mut tree, "f3 e5 g4");
        assert_eq!(tree.node(before).value, Some(MATE - 1), "a mate is a mate");
        let early = walk(&mut tree, "f3 e5");
        assert_eq!(tree.node(early).value, None);
        assert!(tree.next(Tree::START).is_some_and(|step| step.at != before));
        // The same holds if the losing move was the best of the last search.
        tree.found(early, found(&tree, early, -50, "g4"));
        assert_eq!(tree.node(early).value, Some(-50));
        assert!(tree.next(early).is_some_and(|step| step.at == early && step.open.is_none()));
        tree.found(early, found(&tree, early, -60, "Kf2"));
        assert_eq!(tree.node(early).value, Some(-60));
    }

    /// Compares scores and costs with values computed from their definition.
    fn check(tree: &Tree) {
        fn value(tree: &Tree, id: Id) -> Option<Score> {
            let node = tree.node(id);
            let edge = |edge: &Edge| match edge.repeats {
                true => Some(DRAW),
                false => value(tree, edge.to).map(|value| -Delay::MATES.score(value)),
            };
            let rest = node
                .rest
                .as_ref()
                .filter(|rest| node.edge(rest.line[0]).is_none_or(|taken| edge(taken).is_none()));
            let best = node.edges.iter().filter_map(edge).max();
            node.over.or(best.max(rest.map(|rest| rest.score)))
        }
        for id in 0..tree.positions() {
            assert_eq!(tree.node(id).value, value(tree, id), "{id}");
            assert_eq!(tree.node(id).cost.to_bits(), tree.cheapest(id).to_bits(), "{id}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Uses few pieces, for many transpositions, repetitions, mates and stalemates.
        #[test]
        fn updated_values_match_their_definition(
            scores in prop::collection::vec(-500..500, 120),
            fen in prop::sample::select(vec![
                "7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "8/8/8/1k6/8/8/1P6/1K6 w - - 96 1",
            ]),
        ) {
            let mut tree = Tree::new(position(fen));
            for score in scores {
                let Some(step) = tree.next(Tree::START) else { break };
                let at = step.path.iter().fold(Tree::START, |at, &m| tree.add(at, m));
                prop_assert_eq!(at, step.at);
                match step.open {
                    Some(m) => drop(tree.add(at, m)),
                    None => {
                        let node = tree.node(at);
                        let moves = node.position.legal_moves();
                        let mut rest = moves.iter().filter(|&&m| node.edge(m).is_none());
                        let line = vec![*rest.next().unwrap()];
                        let exact = false;
                        tree.found(at, RestSearch { score, depth: 1, nodes: 1, line, exact });
                    }
                }
                check(&tree);
            }
        }
    }
}
