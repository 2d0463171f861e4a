//! LU inside an envelope, for chains and other narrow patterns: every row from its first entry to the diagonal.
//!
//! ```text
//! A = L U        l_ij = (a_ij − Σ_k l_ik u_kj) / u_jj        u_ji = a_ji − Σ_k l_jk u_ki        j from the first entry of row i
//! ```
//!
//! No row is exchanged: for matrices whose principal minors do not vanish (definite ones, M- and P-matrices); others are refused
//! where a pivot is rounding, and what is solved deserves a look at its residual. Rows in the reverse order of Cuthill and McKee
//! (1969; George 1971); the pattern of the envelope is symmetric, the values need not be.

/// A square matrix with its envelope, and its factors.
///
/// ```
/// use drystone::algebra::envelope::Envelope;
/// let mut a = Envelope::default();
/// a.set_pattern(3, &[(1, 0), (2, 1)]);
/// for (i, j, x) in [(0, 0, 2.0), (1, 1, 2.0), (2, 2, 2.0), (1, 0, -1.0), (0, 1, -1.0), (1, 2, -1.0), (2, 1, -1.0)] {
///     let k = a.place(i, j).expect("in the pattern");
///     a.values_mut()[k] = x;
/// }
/// let mut x = [1.0, 0.0, 1.0];
/// assert!(a.factorise());
/// a.solve(&mut x);
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-15));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    n: usize,
    /// new position of each row
    position: Vec<usize>,
    /// first column of each row of L, in the new order
    first: Vec<usize>,
    /// where row i of L starts in its part of `values`; column i of U starts there in its own
    starts: Vec<usize>,
    /// diagonal, L by rows, U by columns
    values: Vec<f64>,
    permuted: Vec<f64>,
}

impl Envelope {
    /// Order of the matrix.
    pub fn order(&self) -> usize {
        self.n
    }

    /// Numbers inside the envelope.
    pub fn len(&self) -> usize {
        self.n + 2 * self.starts.last().copied().unwrap_or(0)
    }

    /// Multiplications of a factorisation, about.
    pub fn operations(&self) -> f64 {
        self.first.iter().enumerate().map(|(i, first)| ((i - first) as f64).powi(2)).sum::<f64>() + self.len() as f64
    }

    /// True for a matrix without rows.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Declares the order and the coupled pairs `(i, j)`; either triangle will do, the diagonal is always there. Returns the
    /// numbers that the envelope needs; they are stored by the first [`values_mut`](Self::values_mut).
    pub fn set_pattern(&mut self, n: usize, pairs: &[(u32, u32)]) -> usize {
        self.n = n;
        let order = reverse_cuthill_mckee(n, pairs);
        self.position.clear();
        self.position.resize(n, 0);
        order.iter().enumerate().for_each(|(new, &old)| self.position[old as usize] = new);
        self.first.clear();
        self.first.extend(0..n);
        for &(i, j) in pairs {
            let (i, j) = (self.position[i as usize], self.position[j as usize]);
            let (low, high) = (i.min(j), i.max(j));
            self.first[high] = self.first[high].min(low);
        }
        self.starts.clear();
        self.starts.push(0);
        let mut at = 0;
        for i in 0..n {
            at += i - self.first[i];
            self.starts.push(at);
        }
        self.values.clear();
        self.len()
    }

    /// Where entry `(i, j)` stands in [`values_mut`](Self::values_mut); `None` outside the envelope.
    pub fn place(&self, i: usize, j: usize) -> Option<usize> {
        let (i, j) = (self.position[i], self.position[j]);
        let (low, high) = (i.min(j), i.max(j));
        if i == j {
            return Some(i);
        }
        let lower = self.starts.last().copied().unwrap_or(0);
        let at = self.n + self.starts[high] + low.checked_sub(self.first[high])?;
        Some(if i > j { at } else { at + lower })
    }

    /// All numbers: those of A, to be set before each factorisation, which leaves the factors in their place.
    pub fn values_mut(&mut self) -> &mut [f64] {
        let len = self.len();
        self.values.resize(len, 0.0);
        &mut self.values
    }

    /// Replaces A by its factors; false when a pivot is rounding of what it is made of.
    pub fn factorise(&mut self) -> bool {
        let (n, half) = (self.n, self.starts.last().copied().unwrap_or(0));
        self.values_mut();
        let (diagonal, rest) = self.values.split_at_mut(n);
        let (lower, upper) = rest.split_at_mut(half);
        for i in 0..n {
            let first = self.first[i];
            let (lower_done, lower_rest) = lower.split_at_mut(self.starts[i]);
            let (upper_done, upper_rest) = upper.split_at_mut(self.starts[i]);
            let (l, u) = (&mut lower_rest[..i - first], &mut upper_rest[..i - first]);
            for (at, &pivot) in diagonal[first..i].iter().enumerate() {
                let j = first + at;
                let from = first.max(self.first[j]);
                let known = self.starts[j] + (from - self.first[j])..self.starts[j + 1];
                let before = from - first..at;
                l[at] = (l[at] - dot(&l[before.clone()], &upper_done[known.clone()])) / pivot;
                u[at] -= dot(&lower_done[known], &u[before]);
            }
            let (mut pivot, mut size) = (diagonal[i], diagonal[i].abs());
            for (l, u) in l.iter().zip(u.iter()) {
                pivot -= l * u;
                size += (l * u).abs();
            }
            if pivot.is_nan() || pivot.abs() <= 1e-14 * size || pivot.is_infinite() {
                return false;
            }
            diagonal[i] = pivot;
        }
        true
    }

    /// `b ← A⁻¹ b`, after a factorisation that succeeded.
    pub fn solve(&mut self, b: &mut [f64]) {
        let (n, half) = (self.n, self.starts.last().copied().unwrap_or(0));
        let (diagonal, rest) = self.values.split_at(n);
        let (lower, upper) = rest.split_at(half);
        let x = &mut self.permuted;
        x.resize(n, 0.0);
        self.position.iter().zip(b.iter()).for_each(|(&new, b)| x[new] = *b);
        for i in 0..n {
            let (row, first) = (self.starts[i]..self.starts[i + 1], self.first[i]);
            x[i] -= dot(&lower[row], &x[first..i]);
        }
        for i in (0..n).rev() {
            let (column, first) = (self.starts[i]..self.starts[i + 1], self.first[i]);
            let value = x[i] / diagonal[i];
            x[i] = value;
            x[first..i].iter_mut().zip(&upper[column]).for_each(|(x, u)| *x -= u * value);
        }
        self.position.iter().zip(b.iter_mut()).for_each(|(&new, b)| *b = x[new]);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The rows in reverse Cuthill–McKee order, each part of the graph from one of its ends.
fn reverse_cuthill_mckee(n: usize, pairs: &[(u32, u32)]) -> Vec<u32> {
    let mut both: Vec<(u32, u32)> = pairs.iter().filter(|(i, j)| i != j).flat_map(|&(i, j)| [(i, j), (j, i)]).collect();
    both.sort_unstable();
    both.dedup();
    let starts: Vec<usize> = (0..=n).map(|i| both.partition_point(|p| (p.0 as usize) < i)).collect();
    let neighbours = |i: u32| both[starts[i as usize]..starts[i as usize + 1]].iter().map(|p| p.1);
    let degree = |i: u32| starts[i as usize + 1] - starts[i as usize];
    let mut mark = vec![0u32; n];
    let mut stamp = 0;
    // breadth first from a root, neighbours by degree
    let mut levels = |root: u32, mark: &mut [u32], found: &mut Vec<u32>| {
        stamp += 1;
        found.clear();
        found.push(root);
        mark[root as usize] = stamp;
        let mut at = 0;
        while at < found.len() {
            let from = found.len();
            for j in neighbours(found[at]) {
                if mark[j as usize] != stamp {
                    mark[j as usize] = stamp;
                    found.push(j);
                }
            }
            found[from..].sort_by_key(|&j| degree(j));
            at += 1;
        }
    };
    let (mut order, mut part, mut done) = (Vec::with_capacity(n), Vec::new(), vec![false; n]);
    for seed in 0..n as u32 {
        if done[seed as usize] {
            continue;
        }
        // the last row that is reached lies far out: twice is enough in practice
        let mut root = seed;
        for _ in 0..2 {
            levels(root, &mut mark, &mut part);
            root = part.last().copied().unwrap_or(root);
        }
        levels(root, &mut mark, &mut part);
        part.iter().for_each(|&i| done[i as usize] = true);
        order.extend_from_slice(&part);
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_numbering_of_a_chain_has_a_narrow_envelope_and_is_solved_to_rounding() {
        let n = 57;
        // rows numbered by a stride that is coprime to n
        let name = |k: usize| (k * 20) % n;
        let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 3.0 + (i as f64).sin())).collect();
        for k in 1..n {
            entries.push((name(k), name(k - 1), -1.0 + 0.1 * (k as f64).cos()));
            entries.push((name(k - 1), name(k), -0.7));
        }
        let pairs: Vec<(u32, u32)> = entries.iter().map(|&(i, j, _)| (i as u32, j as u32)).collect();
        let mut a = Envelope::default();
        assert_eq!(a.set_pattern(n, &pairs), n + 2 * (n - 1));
        for &(i, j, x) in &entries {
            let k = a.place(i, j).expect("in the pattern");
            a.values_mut()[k] = x;
        }
        let truth: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).cos()).collect();
        let mut x = vec![0.0; n];
        entries.iter().for_each(|&(i, j, a)| x[i] += a * truth[j]);
        assert!(a.factorise());
        a.solve(&mut x);
        x.iter().zip(&truth).for_each(|(x, t)| assert!((x - t).abs() < 1e-13));
    }

    #[test]
    fn a_full_nonsymmetric_matrix_is_solved_and_a_singular_one_refused() {
        let n = 6;
        let pairs: Vec<(u32, u32)> = (0..n as u32).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        let mut a = Envelope::default();
        a.set_pattern(n, &pairs);
        let entry = |i: usize, j: usize| if i == j { 8.0 } else { ((i * 7 + j * 3) as f64).sin() };
        let fill = |a: &mut Envelope, entry: &dyn Fn(usize, usize) -> f64| {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let k = a.place(i, j).expect("full");
                a.values_mut()[k] = entry(i, j);
            }
        };
        fill(&mut a, &entry);
        let mut x: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * (j as f64 - 2.0)).sum()).collect();
        assert!(a.factorise());
        a.solve(&mut x);
        (0..n).for_each(|i| assert!((x[i] - (i as f64 - 2.0)).abs() < 1e-13));
        fill(&mut a, &|i, j| 1.0 + (i + j) as f64);
        assert!(!a.factorise());
    }
}
