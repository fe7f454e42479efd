//! Selects the positions of a tree to show: a given number of positions, the nearest first.
//! Distances are the costs that growth uses, so the nearest positions are the game, pinned lines
//! and good moves.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet},
};

use shakmaty::Move;

use super::{
    file::Study,
    tree::{Edge, Id, Tree},
};
use crate::chess::notation;

/// A selected position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// Node of the position.
    pub(super) id: Id,
    /// Index of the position before it on the cheapest path, and the move from there. `None` for
    /// the start position.
    pub(super) from: Option<(usize, Edge)>,
}

/// The selected positions.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The positions, the start position first.
    pub(super) shown: Vec<Shown>,
    /// Indices into `shown` by node.
    indices: HashMap<Id, usize>,
}

impl View {
    /// Returns the index of a node, if it is shown.
    pub(super) fn find(&self, id: Id) -> Option<usize> {
        self.indices.get(&id).copied()
    }

    /// Returns the move to a node on its cheapest path, with its number. `None` for the start
    /// position and for nodes that are not shown.
    pub(super) fn move_to(&self, tree: &Tree, id: Id) -> Option<String> {
        let (parent, edge) = self.shown[self.find(id)?].from?;
        let before = &tree.node(self.shown[parent].id).position;
        Some(notation::line(before, &[edge.m]))
    }

    /// Returns the position after a move, if it is shown below this one.
    pub(super) fn child(&self, at: usize, edge: &Edge) -> Option<usize> {
        let is_below = |(parent, by): (usize, Edge)| parent == at && by.m == edge.m;
        self.find(edge.to).filter(|&child| self.shown[child].from.is_some_and(is_below))
    }
}

/// Selects the nearest positions: `most` of them, or more if the studied game, the line `studied`
/// and pinned lines need more.
pub(super) fn nearest(study: &Study, most: usize, studied: &[Move]) -> View {
    let tree = study.tree();
    let game: HashSet<(Id, Move)> =
        study.game_nodes().into_iter().zip(study.played().moves.iter().copied()).collect();
    let studied: HashSet<(Id, Move)> =
        tree.walk(studied).into_iter().zip(studied.iter().copied()).collect();
    let mut view = View::default();
    // The game comes first, so that no pinned line takes its positions. Among equal costs, the
    // older node comes first. Costs are not negative, so their bits have the same order.
    let mut open = BinaryHeap::from([Reverse((false, 0_f64.to_bits(), Tree::START, None))]);
    while let Some(Reverse((other, cost, to, from))) = open.pop() {
        let (here, cost) = (view.shown.len(), f64::from_bits(cost));
        // A path without a cost is pinned, studied, or not searched yet.
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
