//! Disjoint branches of an elimination tree, which threads take at the same time: the arithmetic of a front does not depend on who does it.

use std::ops::Range;

/// Multiplications from which threads share a factorisation.
const WORTH: f64 = 3e6;
/// Least number of branches into which work is cut, where the tree lets it, and the part of all work below which a branch is not worth a task.
const PARTS: f64 = 8.0;
const SMALL: f64 = 1.0 / 256.0;

/// Ranges of fronts, in their order, each a front and all below it; the fronts of `children` stand in a postorder. Empty where it does not pay.
pub(super) fn branches<'a>(costs: &[f64], children: impl Fn(usize) -> &'a [u32]) -> Vec<Range<usize>> {
    let (mut whole, mut start, mut is_root) = (costs.to_vec(), Vec::with_capacity(costs.len()), vec![true; costs.len()]);
    for k in 0..costs.len() {
        start.push(children(k).first().map_or(k, |&first| start[first as usize]));
        for &child in children(k) {
            whole[k] += whole[child as usize];
            is_root[child as usize] = false;
        }
    }
    let all: f64 = costs.iter().sum();
    if all < WORTH {
        return Vec::new();
    }
    let mut found: Vec<usize> = (0..costs.len()).filter(|&k| is_root[k]).collect();
    while let Some(at) = (0..found.len()).reduce(|a, b| if whole[found[b]] > whole[found[a]] { b } else { a })
        && whole[found[at]] > all / PARTS
        && !children(found[at]).is_empty()
    {
        let root = found.swap_remove(at);
        found.extend(children(root).iter().map(|&child| child as usize));
    }
    found.retain(|&k| whole[k] >= SMALL * all);
    found.sort_unstable();
    found.into_iter().map(|k| start[k]..k + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A complete binary tree in postorder.
    fn binary(depth: usize, children: &mut Vec<Vec<u32>>) -> u32 {
        let below = if depth == 0 { Vec::new() } else { vec![binary(depth - 1, children), binary(depth - 1, children)] };
        children.push(below);
        children.len() as u32 - 1
    }

    #[test]
    fn branches_are_disjoint_and_closed_and_hold_most_of_the_work() {
        let mut children = Vec::new();
        binary(7, &mut children);
        let costs = vec![1e5; children.len()];
        let found = branches(&costs, |k| &children[k]);
        assert!(found.len() >= 8 && found.windows(2).all(|two| two[0].end <= two[1].start), "{found:?}");
        for range in &found {
            let inside = |k: u32| range.contains(&(k as usize));
            assert!(range.clone().all(|k| children[k].iter().all(|&child| inside(child))));
            let is_child = |k: usize| range.clone().any(|parent| children[parent].contains(&(k as u32)));
            assert_eq!(range.clone().filter(|&k| !is_child(k)).collect::<Vec<_>>(), [range.end - 1], "one root");
        }
        assert!(found.iter().map(Range::len).sum::<usize>() * 10 > 9 * children.len());
    }

    #[test]
    fn little_work_and_chains_are_not_cut() {
        let chain: Vec<Vec<u32>> = (0..40u32).map(|k| (k > 0).then(|| k - 1).into_iter().collect()).collect();
        assert!(branches(&[1e3; 40], |k| &chain[k]).is_empty());
        assert_eq!(branches(&[1e6; 40], |k| &chain[k]).len(), 1);
    }
}
