//! The order in which the nodes of a sparse matrix are eliminated, and the tree that it makes.
//!
//! Approximate minimum degree on the graph of the nodes (Amestoy, Davis, Duff 1996), postorder of the elimination tree, supernodes
//! with some zeros where that makes them wider. Integers alone decide.

/// A child joins its parent's front where that stores at most this many more zeros, or this share of the merged front.
const MERGE_ZEROS: usize = 600;
const MERGE_SHARE: f64 = 0.15;
/// Zeros of all mergers of a front together, and their share of it, at which it grows no further: a chain would become one dense front. With a
/// half instead of a tenth the LU of 1000 balls has 1.8 times the multiplications and takes 1.7 times as long; without any merger 1.1 times.
const FRONT_ZEROS: usize = 6000;
const FRONT_SHARE: f64 = 0.1;

/// Order of elimination of the nodes.
pub(super) fn minimum_degree(nodes: usize, pairs: &[(u32, u32)]) -> Vec<u32> {
    // signed, as the algorithm marks what it has eliminated by negative numbers
    let mut starts = vec![0isize; nodes + 1];
    pairs.iter().for_each(|&(i, _)| starts[i as usize + 1] += 1);
    // Upper part by columns: pairs are sorted by their larger index. The diagonal, which the algorithm skips, ends each: with fewer entries
    // than nodes one of its own assertions subtracts below zero.
    let mut rows = Vec::with_capacity(pairs.len() + nodes);
    let mut rest = pairs;
    for i in 0..nodes {
        let (column, others) = rest.split_at(starts[i + 1] as usize);
        rows.extend(column.iter().map(|&(_, j)| j as isize));
        rows.push(i as isize);
        starts[i + 1] = rows.len() as isize;
        rest = others;
    }
    match amd::order(nodes as isize, &starts, &rows, &amd::Control::default()) {
        Ok((order, _, _)) => order.into_iter().map(|x| x as u32).collect(),
        Err(_) => (0..nodes as u32).collect(),
    }
}

/// Supernodes in an order in which children come before parents.
#[derive(Default)]
pub(super) struct Tree {
    /// node at each place
    pub(super) order: Vec<u32>,
    pub(super) supernodes: Vec<Supernode>,
}

pub(super) struct Supernode {
    /// places of its pivots
    pub(super) begin: usize,
    pub(super) end: usize,
    /// sorted places that it couples to beyond its pivots
    pub(super) rows: Vec<u32>,
}

impl Supernode {
    /// Number of a place among the pivots, then the others, of the front: one of them.
    pub(super) fn among(&self, place: u32) -> u32 {
        let own = (place as usize).wrapping_sub(self.begin);
        if own < self.end - self.begin {
            return own as u32;
        }
        (self.end - self.begin + self.rows.partition_point(|&row| row < place)) as u32
    }
}

impl Tree {
    pub(super) fn new(nodes: usize, pairs: &[(u32, u32)], order: Vec<u32>, sizes: &[u32]) -> Self {
        let (parent, _) = structure(nodes, pairs, &order);
        let order: Vec<u32> = postorder(&parent).into_iter().map(|place| order[place as usize]).collect();
        let (parent, rows) = structure(nodes, pairs, &order);
        let scalars = |places: &[u32]| places.iter().map(|&p| sizes[order[p as usize] as usize] as usize).sum::<usize>();
        let mut supernodes: Vec<Supernode> = Vec::new();
        let mut zeros_of: Vec<usize> = Vec::new();
        for (place, rows) in rows.into_iter().enumerate() {
            let mut new = Supernode { begin: place, end: place + 1, rows };
            let mut held = 0;
            // the last child of a postorder stands right before its parent
            while let Some(child) = supernodes.last()
                && child.end == new.begin
                && parent[child.end - 1] == Some(new.begin as u32)
            {
                let own = (child.begin..new.end).map(|p| sizes[order[p] as usize] as usize).sum::<usize>();
                let child_pivots = (child.begin..child.end).map(|p| sizes[order[p] as usize] as usize).sum::<usize>();
                let updates = scalars(&new.rows);
                let gap = own - child_pivots + updates - scalars(&child.rows);
                let zeros = 2 * child_pivots * gap;
                let size = (own * (own + 2 * updates)) as f64;
                let all = held + zeros + zeros_of.last().copied().unwrap_or(0);
                let too_many = zeros > MERGE_ZEROS && zeros as f64 > MERGE_SHARE * size;
                if too_many || all > FRONT_ZEROS && all as f64 > FRONT_SHARE * size {
                    break;
                }
                new.begin = child.begin;
                held = all;
                supernodes.pop();
                zeros_of.pop();
            }
            supernodes.push(new);
            zeros_of.push(held);
        }
        Self { order, supernodes }
    }
}

/// Parent of each place in the elimination tree, and the places below it in its column of L.
fn structure(nodes: usize, pairs: &[(u32, u32)], order: &[u32]) -> (Vec<Option<u32>>, Vec<Vec<u32>>) {
    let mut place = vec![0u32; nodes];
    order.iter().enumerate().for_each(|(k, &node)| place[node as usize] = k as u32);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for &(i, j) in pairs {
        let (a, b) = (place[i as usize], place[j as usize]);
        rows[a.min(b) as usize].push(a.max(b));
    }
    let mut parent = vec![None; nodes];
    for k in 0..nodes {
        let mut own = std::mem::take(&mut rows[k]);
        own.sort_unstable();
        own.dedup();
        if let Some(&next) = own.first() {
            parent[k] = Some(next);
            rows[next as usize].extend_from_slice(&own[1..]);
        }
        rows[k] = own;
    }
    (parent, rows)
}

/// Places so that the descendants of each stand right before it.
fn postorder(parent: &[Option<u32>]) -> Vec<u32> {
    let n = parent.len();
    let (mut head, mut next) = (vec![u32::MAX; n], vec![u32::MAX; n]);
    let mut roots = Vec::new();
    for k in (0..n).rev() {
        match parent[k] {
            Some(p) => {
                next[k] = head[p as usize];
                head[p as usize] = k as u32;
            }
            None => roots.push(k as u32),
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut stack = roots;
    while let Some(&top) = stack.last() {
        let child = head[top as usize];
        if child == u32::MAX {
            order.push(top);
            stack.pop();
        } else {
            head[top as usize] = next[child as usize];
            stack.push(child);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::minimum_degree;

    #[test]
    fn nodes_with_few_neighbours_or_none_have_an_order() {
        assert!(minimum_degree(0, &[]).is_empty());
        assert_eq!(minimum_degree(3, &[]), [0, 1, 2]);
        // a chain and a node beside it: fewer pairs than nodes
        let mut order = minimum_degree(4, &[(1, 0), (2, 1)]);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3]);
    }
}
