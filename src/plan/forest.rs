//! Digits as trees: for every index, the chain of divisions that leads from it to strides.
//!
//! A tree over an index `e` is a leaf, `stride * e`, or a split at a size `t`: `Q(e div t) + R(e mod t)`. The place of
//! an element is the sum over the trees of its indices.

use smallvec::{SmallVec, smallvec};

use super::digits::{Digits, Op};

/// A tree, as a number into its [`Forest`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeId(u32);

/// One node of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Node {
    /// `stride * e`; memory has `slots` places for it.
    Leaf { slots: i64, stride: i64 },
    /// `Q(e div size) + R(e mod size)`.
    Split { size: i64, quotient: NodeId, remainder: NodeId },
}

/// One index of a side: a logical dimension, several that a `*` merged (most major first), or none (the size-1
/// dimension in front of a tile longer than the rank).
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) dimensions: SmallVec<[usize; 2]>,
    pub(crate) root: NodeId,
}

impl Group {
    /// The group of a register that no step writes.
    fn new(digits: &Digits, register: usize, root: NodeId) -> Group {
        let mut dimensions = SmallVec::new();
        if register < digits.rank {
            dimensions.push(register);
        }
        Group { dimensions, root }
    }
}

/// The indices of a side.
pub(crate) type Groups = SmallVec<[Group; 8]>;

/// Layouts of more steps than this go by tables: walking a tree recurses once a step, and stacks are finite.
const MAX_STEPS: usize = 256;

/// All trees of a relayout, of both sides.
#[derive(Default, Debug)]
pub(crate) struct Forest {
    nodes: SmallVec<[Node; 96]>,
}

/// The trees that together are one register: the value is their mixed-radix number, most major first.
type Parts = SmallVec<[NodeId; 4]>;

impl Forest {
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn set(&mut self, id: NodeId, node: Node) {
        self.nodes[id.0 as usize] = node;
    }

    /// The value of a tree.
    pub(crate) fn eval(&self, mut id: NodeId, mut e: i64) -> i64 {
        let mut place = 0;
        loop {
            match self.node(id) {
                Node::Leaf { stride, .. } => return place + stride * e,
                Node::Split { size, quotient, remainder } => {
                    place += self.eval(quotient, e / size);
                    (id, e) = (remainder, e % size);
                }
            }
        }
    }

    /// Grows one side's trees from its digits. `None` where a `*` merges parts of dimensions in a way that no tree over
    /// whole dimensions expresses, and beyond
    /// [`MAX_STEPS`].
    pub(crate) fn plant(&mut self, digits: &Digits, groups: &mut Groups) -> Option<()> {
        if digits.ops.len() > MAX_STEPS {
            return None;
        }
        if digits.ops.iter().any(|op| matches!(op, Op::Combine { .. })) {
            self.plant_merged(digits, groups)
        } else {
            self.plant_divided(digits, groups);
            Some(())
        }
    }

    /// [`Forest::plant`] where nothing is merged: every register is a node of its own.
    fn plant_divided(&mut self, digits: &Digits, groups: &mut Groups) {
        let first = self.nodes.len() as u32;
        let node = |register: usize| NodeId(first + register as u32);
        for &slots in &digits.slots {
            self.nodes.push(Node::Leaf { slots, stride: 0 });
        }
        for op in &digits.ops {
            if let Op::Divide { input, by, quotient, remainder } = *op {
                let (quotient, remainder) = (node(quotient), node(remainder));
                self.set(node(input), Node::Split { size: by, quotient, remainder });
            }
        }
        for term in &digits.terms {
            let slots = digits.slots[term.register];
            self.set(node(term.register), Node::Leaf { slots, stride: term.stride });
        }
        for &register in &digits.roots {
            groups.push(Group::new(digits, register, node(register)));
        }
    }

    /// [`Forest::plant`] where a `*` merges parts of dimensions.
    fn plant_merged(&mut self, digits: &Digits, groups: &mut Groups) -> Option<()> {
        let mut parts: SmallVec<[Parts; 16]> = smallvec![Parts::new(); digits.slots.len()];
        for &register in &digits.roots {
            let root = self.add(Node::Leaf { slots: digits.slots[register], stride: 0 });
            groups.push(Group::new(digits, register, root));
            parts[register].push(root);
        }
        for op in &digits.ops {
            match *op {
                Op::Combine { major, minor, out } => {
                    let mut whole = std::mem::take(&mut parts[major]);
                    whole.extend_from_slice(&parts[minor]);
                    parts[out] = whole;
                }
                Op::Divide { input, by, quotient, remainder } => {
                    let whole = std::mem::take(&mut parts[input]);
                    let divided = match self.divide(&whole, by) {
                        Some(divided) => divided,
                        None => {
                            let merged = self.merge_roots(&whole, groups)?;
                            self.divide(&[merged], by)?
                        }
                    };
                    (parts[quotient], parts[remainder]) = divided;
                }
            }
        }
        for term in &digits.terms {
            let mut stride = term.stride;
            for &part in parts[term.register].iter().rev() {
                let slots = self.slots(part);
                self.set(part, Node::Leaf { slots, stride });
                stride *= slots;
            }
        }
        Some(())
    }

    /// Slots of a leaf that has no stride yet.
    fn slots(&self, id: NodeId) -> i64 {
        match self.node(id) {
            Node::Leaf { slots, .. } => slots,
            Node::Split { .. } => 1, // only undivided parts are asked
        }
    }

    /// Divides a mixed-radix number by `by`: parts below go to the remainder, parts above to the quotient, and the one
    /// between is split. `None` where `by` fits between no two parts.
    fn divide(&mut self, whole: &[NodeId], mut by: i64) -> Option<(Parts, Parts)> {
        let fits = |by: i64, slots: i64| by % slots == 0 || slots % by == 0;
        let mut rest = by;
        for &part in whole.iter().skip(1).rev() {
            let slots = self.slots(part);
            if !fits(rest, slots) {
                return None;
            }
            rest = (rest / slots).max(1);
        }
        let (mut quotient, mut remainder) = (Parts::new(), Parts::new());
        for (position, &part) in whole.iter().enumerate().rev() {
            let slots = self.slots(part);
            if by == 1 && !remainder.is_empty() {
                quotient.insert(0, part);
            } else if position > 0 && by % slots == 0 {
                remainder.insert(0, part);
                by /= slots;
            } else {
                let q = self.add(Node::Leaf { slots: slots / by + i64::from(slots % by != 0), stride: 0 });
                let r = self.add(Node::Leaf { slots: by, stride: 0 });
                self.set(part, Node::Split { size: by, quotient: q, remainder: r });
                quotient.insert(0, q);
                remainder.insert(0, r);
                by = 1;
            }
        }
        Some((quotient, remainder))
    }

    /// Makes one index of parts that are whole, undivided dimensions.
    fn merge_roots(&mut self, whole: &[NodeId], groups: &mut Groups) -> Option<NodeId> {
        let mut dimensions = SmallVec::new();
        let mut slots = 1;
        for &part in whole {
            let group = groups.iter().position(|group| group.root == part)?;
            dimensions.extend(groups.remove(group).dimensions);
            slots *= self.slots(part);
        }
        let root = self.add(Node::Leaf { slots, stride: 0 });
        groups.push(Group { dimensions, root });
        Some(root)
    }

    /// The same function over `0..values`, without splits that change nothing there.
    pub(crate) fn simplify(&mut self, id: NodeId, values: i64) -> NodeId {
        let Node::Split { size, quotient, remainder } = self.node(id) else {
            return id;
        };
        if size == 1 {
            return self.simplify(quotient, values);
        }
        if values <= size {
            return self.simplify(remainder, values);
        }
        let q = self.simplify(quotient, values / size + i64::from(values % size != 0));
        let r = self.simplify(remainder, size);
        match self.joined(size, q, r) {
            node if node == self.node(id) => id,
            node => self.add(node),
        }
    }

    /// A split, or the leaf that it comes to.
    fn joined(&self, size: i64, quotient: NodeId, remainder: NodeId) -> Node {
        match (self.node(quotient), self.node(remainder)) {
            (Node::Leaf { stride: major, slots }, Node::Leaf { stride, .. })
                if stride.checked_mul(size) == Some(major) =>
            {
                Node::Leaf { slots: slots.saturating_mul(size), stride }
            }
            _ => Node::Split { size, quotient, remainder },
        }
    }

    /// The two trees of `e div m` and `e mod m`, where the tree can be cut there.
    pub(crate) fn split(&mut self, id: NodeId, m: i64) -> Option<(NodeId, NodeId)> {
        match self.node(id) {
            Node::Leaf { slots, stride } => {
                let above = slots / m + i64::from(slots % m != 0);
                let quotient = self.add(Node::Leaf { slots: above, stride: stride.checked_mul(m)? });
                Some((quotient, self.add(Node::Leaf { slots: m, stride })))
            }
            Node::Split { size, quotient, remainder } if size == m => Some((quotient, remainder)),
            Node::Split { size, quotient, remainder } if m % size == 0 => {
                let (above, below) = self.split(quotient, m / size)?;
                Some((above, self.add(self.joined(size, below, remainder))))
            }
            Node::Split { size, quotient, remainder } if size % m == 0 => {
                let (above, below) = self.split(remainder, m)?;
                Some((self.add(self.joined(size / m, quotient, above)), below))
            }
            Node::Split { .. } => None,
        }
    }
}
