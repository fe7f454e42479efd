//! What of a tree is shown: as many positions as are asked for, the nearest first. Near
//! is what growth takes for near, so these are the game, pinned lines and good moves.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet},
};

use shakmaty::Move;

use super::{
    file::Study,
    tree::{Edge, Id, Tree},
};

/// A position to show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// Its node.
    pub(super) id: Id,
    /// The index of the position that the nearest way comes from, and the move from there;
    /// `None` for the start position.
    pub(super) from: Option<(usize, Edge)>,
}

/// The positions to show.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The start position is the first.
    pub(super) shown: Vec<Shown>,
    /// Indices of the nodes.
    indices: HashMap<Id, usize>,
}

impl View {
    /// Where a node is shown, if it is.
    pub(super) fn find(&self, id: Id) -> Option<usize> {
        self.indices.get(&id).copied()
    }

    /// The position that a move leads to, if it is shown below this one.
    pub(super) fn child(&self, at: usize, edge: &Edge) -> Option<usize> {
        let is_below = |(parent, by): (usize, Edge)| parent == at && by.m == edge.m;
        self.find(edge.to).filter(|&child| self.shown[child].from.is_some_and(is_below))
    }
}

/// The nearest positions; at most `most` and at least one. The game that is studied is always
/// there, on its own way, and so is the line `studied`.
pub(super) fn nearest(study: &Study, most: usize, studied: &[Move]) -> View {
    let tree = study.tree();
    let game: HashSet<(Id, Move)> =
        study.game_nodes().into_iter().zip(study.played().moves.iter().copied()).collect();
    let studied: HashSet<(Id, Move)> =
        tree.walk(studied).into_iter().zip(studied.iter().copied()).collect();
    let mut view = View::default();
    // The game's way comes first, so that no pinned line takes its positions; of equally near
    // ones the older node. Costs are not negative: they are ordered as their bits are.
    let mut open = BinaryHeap::from([Reverse((false, 0_f64.to_bits(), Tree::START, None))]);
    while let Some(Reverse((other, cost, to, from))) = open.pop() {
        let (here, cost) = (view.shown.len(), f64::from_bits(cost));
        // What costs nothing is pinned.
        if here >= most && cost > 0.0 && other {
            break;
        }
        if view.find(to).is_some() {
            continue;
        }
        let from = from.map(|(parent, number): (usize, usize)| {
            (parent, tree.node(view.shown[parent].id).edges[number])
        });
        view.indices.insert(to, here);
        view.shown.push(Shown { id: to, from });
        for (number, edge) in tree.node(to).edges.iter().enumerate() {
            let other = !game.contains(&(to, edge.m));
            if !other || !edge.repeats {
                let is_near = studied.contains(&(to, edge.m));
                let cost = if is_near { cost } else { cost + tree.cost(to, edge) };
                open.push(Reverse((other, cost.to_bits(), edge.to, Some((here, number)))));
            }
        }
    }
    view
}
