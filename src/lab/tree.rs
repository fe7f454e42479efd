//! Explicit trees, for the worked examples.
//!
//! ```text
//! max (40 (30 ??))
//! ```
//!
//! is a MAX node with two moves. The first leads to a leaf worth 40 to MAX, the second to a MIN
//! node with two leaves. A leaf is a number from MAX's point of view, or `WIN`, `TIE` or `LOSS` for
//! MAX, or `??`, which no search should need to look at. `??-7` is such a leaf that is worth -7,
//! and `??` is worth 0. An interior node may have its own static evaluation: `(@5 3 4)`. `=B` is
//! the node B again, reached by another path of the same length, like a transposition in a game.

use serde::Serialize;

use super::game::Game;
use lancet::chess::score::{DRAW, MATE, Score};

/// The maximum number of nodes of a tree. Larger trees are refused, as are trees deeper than
/// [`MAX_DEPTH`] plies.
const MAX_NODES: usize = 10_000;
const MAX_DEPTH: usize = 64;

/// A tree, its root first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<TreeNode>,
    max_first: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeNode {
    /// The text of a leaf, or the letter of an interior node.
    name: String,
    /// The value of a leaf or the static evaluation of an interior node, from MAX's point of view.
    value: Score,
    children: Vec<usize>,
    /// Plies from the root.
    ply: usize,
}

/// A node, for drawing the tree.
#[derive(Serialize)]
pub struct Shape {
    name: String,
    max: bool,
    children: Vec<usize>,
}

/// Returns an error about a token, or about the end of the text.
fn unreadable(token: Option<&str>, expected: &str) -> anyhow::Error {
    match token {
        Some(token) => anyhow::anyhow!("unreadable tree: expected {expected}, found '{token}'"),
        None => anyhow::anyhow!("unreadable tree: expected {expected} before the end"),
    }
}

impl Tree {
    /// Reads a tree in the notation of this module.
    ///
    /// # Errors
    ///
    /// If the text is not a tree. The error names the token and says
    /// what was expected instead.
    pub fn parse(text: &str) -> anyhow::Result<Tree> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut tokens = spaced.split_whitespace();
        let max_first = match tokens.next() {
            Some("max") => true,
            Some("min") => false,
            token => {
                return Err(unreadable(token, "'max' or 'min' for the side to move at the root"));
            }
        };
        let mut tree = Tree { nodes: Vec::new(), max_first };
        let (mut open, mut letters) = (Vec::new(), (0..).map(letter));
        for token in tokens.by_ref() {
            tree.read(token, &mut open, &mut letters)
                .map_err(|expected| unreadable(Some(token), expected))?;
            if open.is_empty() {
                break;
            }
        }
        if !open.is_empty() || tree.nodes.is_empty() {
            return Err(unreadable(None, if tree.nodes.is_empty() { "'('" } else { "')'" }));
        }
        match tokens.next() {
            None => Ok(tree),
            token => Err(unreadable(token, "nothing after the tree")),
        }
    }

    /// Reads a token. `open` are the interior nodes that are not complete, the root first.
    /// `letters` are the names of the next ones.
    ///
    /// # Errors
    ///
    /// The error says what was expected instead.
    fn read(
        &mut self,
        token: &str,
        open: &mut Vec<usize>,
        letters: &mut impl Iterator<Item = String>,
    ) -> Result<(), &'static str> {
        let (node, ply) = (self.nodes.len(), open.len());
        let parent = match open.last() {
            None if token != "(" => return Err("'('"),
            parent => parent.copied(),
        };
        let is_new = |parent: &usize| self.nodes[*parent].children.is_empty();
        if token == ")" {
            if parent.is_some_and(|parent| is_new(&parent)) {
                return Err("at least one move before ')'");
            }
            open.pop();
            return Ok(());
        }
        if let Some(value) = token.strip_prefix('@') {
            let parent = parent.filter(is_new);
            let (parent, value) =
                parent.zip(score(value)).ok_or("'@' and a number right after '('")?;
            self.nodes[parent].value = value;
            return Ok(());
        }
        if node >= MAX_NODES || ply > MAX_DEPTH {
            return Err("a tree of at most 10000 nodes and 64 plies");
        }
        let mut child = node;
        if let Some(name) = token.strip_prefix('=') {
            let is_known = |n: &TreeNode| n.name == name && n.ply == ply && !n.children.is_empty();
            child = self
                .nodes
                .iter()
                .position(is_known)
                .ok_or("'=' and the letter of an interior node of the same depth")?;
        } else {
            let (name, value) = if token == "(" {
                open.push(node);
                (letters.next().unwrap_or_default(), 0)
            } else {
                let value = leaf(token);
                let value =
                    value.ok_or("a number from -32000 to 32000, WIN, TIE, LOSS, ??, '(' or ')'")?;
                (token.to_owned(), value)
            };
            self.nodes.push(TreeNode { name, value, children: Vec::new(), ply });
        }
        if let Some(parent) = parent {
            self.nodes[parent].children.push(child);
        }
        Ok(())
    }

    /// Returns the root.
    pub const fn root(&self) -> At<'_> {
        At { tree: self, node: 0, max: self.max_first }
    }

    /// Returns the nodes, the root first.
    pub fn shape(&self) -> Vec<Shape> {
        let shape = |node: &TreeNode| {
            let TreeNode { name, children, ply, .. } = node.clone();
            Shape { name, max: self.max_first == ply.is_multiple_of(2), children }
        };
        self.nodes.iter().map(shape).collect()
    }

    /// Returns the number of plies of the longest path.
    pub fn depth(&self) -> u32 {
        self.nodes.iter().map(|node| node.ply as u32).max().unwrap_or(0)
    }
}

/// Returns the name of an interior node: A, B, ... Z, A1, B1, ...
fn letter(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
}

/// Reads a leaf, and returns its value from MAX's point of view.
fn leaf(token: &str) -> Option<Score> {
    match token {
        "WIN" => Some(MATE),
        "TIE" => Some(DRAW),
        "LOSS" => Some(-MATE),
        "??" => Some(0),
        _ => score(token.strip_prefix("??").unwrap_or(token)),
    }
}

fn score(text: &str) -> Option<Score> {
    text.parse().ok().filter(|score| (-MATE..=MATE).contains(score))
}

/// A node of a tree.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    tree: &'a Tree,
    node: usize,
    max: bool,
}

impl At<'_> {
    /// Returns the text of a leaf, or the letter of an interior node.
    pub fn name(&self) -> &str {
        &self.tree.nodes[self.node].name
    }

    const fn for_mover(&self, value: Score) -> Score {
        if self.max { value } else { -value }
    }
}

impl Game for At<'_> {
    /// The node that the move leads to.
    type Move = usize;

    fn moves(&self) -> Vec<usize> {
        self.tree.nodes[self.node].children.clone()
    }

    fn make(&self, node: usize) -> Self {
        At { tree: self.tree, node, max: !self.max }
    }

    fn terminal(&self, moves: &[usize]) -> Option<Score> {
        moves.is_empty().then(|| self.evaluate())
    }

    fn evaluate(&self) -> Score {
        self.for_mover(self.tree.nodes[self.node].value)
    }

    fn key(&self) -> u64 {
        self.node as u64
    }

    fn max_to_move(&self) -> bool {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation() {
        let tree = Tree::parse("min (40 (@5 50 ??-7) (TIE WIN LOSS ??))").unwrap();
        assert_eq!(tree.depth(), 2);
        let root = tree.root();
        assert!(!root.max_to_move());
        let children: Vec<At> = root.moves().iter().map(|&m| root.make(m)).collect();
        let names: Vec<&str> = children.iter().map(At::name).collect();
        assert_eq!(names, ["40", "B", "C"]);
        assert_eq!(children[0].terminal(&[]), Some(40), "MAX would move here");
        assert_eq!(children[1].evaluate(), 5);
        let leaves: Vec<Score> =
            children[2].moves().iter().map(|&m| children[2].make(m).evaluate()).collect();
        assert_eq!(leaves, [-DRAW, -MATE, MATE, 0], "MIN to move at the leaves");
    }

    #[test]
    fn a_node_is_reached_by_two_paths() {
        let tree = Tree::parse("max ((5 (1 2)) (=C 7))").unwrap();
        assert_eq!(tree.depth(), 3);
        let root = tree.root();
        let [left, right] = [0, 1].map(|i| root.make(root.moves()[i]));
        assert_eq!(left.make(left.moves()[1]).key(), right.make(right.moves()[0]).key());
    }

    #[test]
    fn trees_have_a_maximum_depth() {
        let parse =
            |depth| Tree::parse(&format!("max {}1{}", "(".repeat(depth), ")".repeat(depth)));
        assert_eq!(parse(MAX_DEPTH).unwrap().depth(), MAX_DEPTH as u32);
        assert!(parse(MAX_DEPTH + 1).unwrap_err().to_string().contains("64 plies"));
    }

    #[test]
    fn errors_name_the_token() {
        for (text, token, expected) in [
            ("", "", "'max' or 'min'"),
            ("40", "40", "'max' or 'min'"),
            ("max", "", "'('"),
            ("max 40", "40", "'('"),
            ("max (40", "", "')'"),
            ("max ()", ")", "at least one move"),
            ("max (40) 50", "50", "nothing after"),
            ("max (40))", ")", "nothing after"),
            ("max (forty)", "forty", "a number"),
            ("max (99999)", "99999", "a number"),
            ("max (40 @5)", "@5", "right after"),
            ("max (@x 40)", "@x", "right after"),
            ("max ((3 5) (=B))", "=B", "same depth"),
            ("max ((3 5) =3)", "=3", "same depth"),
            ("max (-2147483648)", "-2147483648", "a number"),
            ("max (@-2147483648 40)", "@-2147483648", "right after"),
        ] {
            let error = Tree::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            let found = format!(", found '{token}'");
            let end = if token.is_empty() { " before the end" } else { &found };
            assert!(error.ends_with(end), "{text}: {error}");
        }
        let deep = format!("max {}1{}", "(".repeat(100), ")".repeat(100));
        assert!(Tree::parse(&deep).is_err());
    }
}
