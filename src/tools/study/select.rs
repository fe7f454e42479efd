//! What of a tree is shown: as many positions as are asked for, the nearest first. Near
//! is what growth takes for near, so these are the game, pinned lines and good moves.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, HashMap, HashSet},
};

use shakmaty::Move;

use super::{
    file::Study,
    tree::{Id, Tree},
};

/// A position to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Its node.
    pub id: Id,
    /// The move that leads to it on the nearest way, and the index of where that starts;
    /// `None` for the start position.
    pub from: Option<(usize, Move)>,
    /// Indices of positions shown that this one leads to, in the order of their moves.
    pub children: Vec<usize>,
}

/// The nearest positions, the start first; at most `most` and at least one. The game
/// that is studied is always there, on its own way.
pub fn nearest(study: &Study, most: usize) -> Vec<Shown> {
    let tree = study.tree();
    let game: HashSet<(Id, Move)> =
        study.game_nodes().into_iter().zip(study.played().moves.iter().copied()).collect();
    let mut shown: Vec<Shown> = Vec::new();
    let mut index: HashMap<Id, usize> = HashMap::new();
    let mut open =
        BinaryHeap::from([Reverse(Way { played: true, cost: 0.0, to: Tree::START, from: None })]);
    while let Some(Reverse(Way { played, cost, to, from })) = open.pop() {
        // What costs nothing is pinned.
        if shown.len() >= most && cost > 0.0 && !played {
            break;
        }
        if index.contains_key(&to) {
            continue;
        }
        let here = shown.len();
        index.insert(to, here);
        shown.push(Shown { id: to, from, children: Vec::new() });
        if let Some((parent, _)) = from {
            shown[parent].children.push(here);
        }
        for edge in &tree.node(to).edges {
            let played = game.contains(&(to, edge.m));
            if played || !edge.repeats {
                let cost = cost + tree.cost(to, edge);
                open.push(Reverse(Way { played, cost, to: edge.to, from: Some((here, edge.m)) }));
            }
        }
    }
    // Best moves first.
    for here in 0..shown.len() {
        let node = tree.node(shown[here].id);
        let mut children = std::mem::take(&mut shown[here].children);
        children.sort_by_key(|&child| {
            let edge = shown[child].from.and_then(|(_, m)| node.edge(m));
            Reverse(edge.and_then(|edge| tree.score(edge)))
        });
        shown[here].children = children;
    }
    shown
}

/// A way to a node. The game's comes first, so that no pinned line takes its positions;
/// of equally near ones the older node.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Way {
    /// It is the game's.
    played: bool,
    cost: f64,
    to: Id,
    from: Option<(usize, Move)>,
}

impl Eq for Way {}

impl Ord for Way {
    fn cmp(&self, other: &Way) -> Ordering {
        let played = other.played.cmp(&self.played);
        played.then(self.cost.total_cmp(&other.cost)).then(self.to.cmp(&other.to))
    }
}

impl PartialOrd for Way {
    fn partial_cmp(&self, other: &Way) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
