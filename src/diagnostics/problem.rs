//! What makes a one-step problem easy or hard: size, filling, rank and condition, symmetry, friction, contact graph.

use crate::algebra::blocks::BlockRows;
use crate::algebra::matrix::Matrix;
use crate::algebra::spectrum::Spectrum;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::solvers::Problem;

/// Largest order whose spectrum is computed; the time grows with its cube.
pub const SPECTRUM: usize = 2500;
/// Largest number of blocks of a global problem that is reduced for its graph.
const GRAPH: usize = 20_000;

/// Facts about a problem; of a global one, W is that of its reduction.
///
/// ```
/// use drystone::algebra::matrix::Matrix;
/// use drystone::diagnostics::problem::Facts;
/// use drystone::numerics::{lcp::Lcp, solvers::Problem};
/// let p = Problem::Lcp(Lcp { m: Matrix::dense(2, 2, vec![2.0, 0.0, 1.0, 2.0]), q: vec![-3.0, 4.0] });
/// let facts = Facts::of(&p);
/// assert_eq!((facts.rows, facts.nonzeros, facts.rank, facts.q_norm), (2, 3, Some(2), 5.0));
/// assert_eq!(facts.asymmetry, Some(0.5));
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Facts {
    /// Short name of the kind.
    pub kind: &'static str,
    /// Contacts with friction.
    pub contacts: usize,
    /// Blocks of rows, each with its set.
    pub blocks: usize,
    /// Rows of W or M.
    pub rows: usize,
    /// Columns of W or M.
    pub columns: usize,
    /// Velocities of a global problem, else 0.
    pub velocities: usize,
    /// Numbers other than zero in W or M; in a global problem in M and H.
    pub nonzeros: usize,
    /// Their share of all places.
    pub density: f64,
    /// Rank of W or M; `None` beyond [`SPECTRUM`] rows.
    pub rank: Option<usize>,
    /// Largest over smallest nonzero singular value of W or M; `None` beyond [`SPECTRUM`] rows.
    pub condition: Option<f64>,
    /// `max |A − Aᵀ| / max |A|` of W or a square M.
    pub asymmetry: Option<f64>,
    /// Least and largest friction coefficient.
    pub mu: Option<[f64; 2]>,
    /// Least and largest rolling friction (a length).
    pub mu_r: Option<[f64; 2]>,
    /// Norm of q; of a global problem, of `w + Hᵀ M⁻¹ f`.
    pub q_norm: f64,
    /// Connected parts of the graph of blocks, coupled by nonzero blocks of W; `None` for problems without blocks.
    pub components: Option<usize>,
    /// Most neighbours of a block in that graph.
    pub largest_degree: Option<usize>,
    /// Why something is missing.
    pub remarks: Vec<String>,
}

impl Facts {
    /// The facts of a valid problem.
    pub fn of(problem: &Problem) -> Self {
        let (sets, _) = problem.blocks();
        let [columns, rows, velocities] = problem.sizes();
        let range = |values: Vec<f64>| {
            let extreme = |f: fn(f64, f64) -> f64| values.iter().copied().reduce(f);
            Some([extreme(f64::min)?, extreme(f64::max)?])
        };
        let mut facts = Self {
            kind: problem.kind().name(),
            contacts: problem.contacts(),
            blocks: sets.len(),
            rows,
            columns,
            velocities,
            nonzeros: 0,
            density: 0.0,
            rank: None,
            condition: None,
            asymmetry: None,
            mu: range(sets.iter().filter_map(|&set| coefficients(set).0).collect()),
            mu_r: range(sets.iter().filter_map(|&set| coefficients(set).1).collect()),
            q_norm: 0.0,
            components: None,
            largest_degree: None,
            remarks: Vec::new(),
        };
        match problem {
            Problem::Local(p) => {
                facts.fill(nonzeros(p.w.values()), rows * columns);
                facts.q_norm = norm(&p.q);
                facts.graph(&p.w);
                facts.spectrum(rows, columns, || p.w.to_dense());
                facts.asymmetry = Some(p.w.asymmetry());
            }
            Problem::Global(p) => {
                facts.fill(nonzeros(p.mass.data()) + nonzeros(p.h.data()), velocities * (velocities + rows));
                if sets.len() > GRAPH {
                    facts.remarks.push(format!("more than {GRAPH} blocks: not reduced, so no graph, no spectrum and no |q|"));
                    return facts;
                }
                match p.reduce() {
                    Ok(reduced) => {
                        facts.q_norm = norm(&reduced.q);
                        facts.graph(&reduced.w);
                        facts.spectrum(rows, columns, || reduced.w.to_dense());
                        facts.asymmetry = Some(reduced.w.asymmetry());
                    }
                    Err(error) => facts.remarks.push(format!("cannot be reduced: {error}")),
                }
            }
            Problem::Lcp(p) => facts.affine(&p.m, &p.q),
            Problem::Mlcp(p) => facts.affine(&p.m, &p.q),
            Problem::Relay(p) => facts.affine(&p.m, &p.q),
        }
        facts
    }

    fn fill(&mut self, nonzeros: usize, places: usize) {
        self.nonzeros = nonzeros;
        self.density = if places == 0 { 0.0 } else { nonzeros as f64 / places as f64 };
    }

    fn affine(&mut self, m: &Matrix, q: &[f64]) {
        self.fill(nonzeros(m.values()), m.rows() * m.columns());
        self.q_norm = norm(q);
        if m.rows().max(m.columns()) <= SPECTRUM {
            let dense = m.to_dense();
            self.asymmetry = (m.rows() == m.columns()).then(|| asymmetry(&dense, m.rows()));
            self.spectrum(m.rows(), m.columns(), || dense);
        } else {
            self.spectrum(m.rows(), m.columns(), Vec::new);
        }
    }

    fn spectrum(&mut self, rows: usize, columns: usize, dense: impl FnOnce() -> Vec<f64>) {
        if rows.max(columns) > SPECTRUM {
            self.remarks.push(format!("more than {SPECTRUM} rows: no rank and no condition number"));
            return;
        }
        match Spectrum::of(rows, columns, &dense()) {
            Some(spectrum) => (self.rank, self.condition) = (Some(spectrum.rank()), Some(spectrum.condition())),
            None => self.remarks.push("the singular values do not converge: no rank and no condition number".to_owned()),
        }
    }

    /// Blocks that share a body have a nonzero block in W.
    fn graph(&mut self, w: &BlockRows) {
        let n = w.block_count();
        let mut root: Vec<usize> = (0..n).collect();
        fn find(root: &mut [usize], mut i: usize) -> usize {
            while root[i] != i {
                root[i] = root[root[i]];
                i = root[i];
            }
            i
        }
        let mut largest = 0;
        for i in 0..n {
            let mut degree = 0;
            for (j, _) in w.row(i).filter(|(j, block)| *j != i && block.iter().any(|x| *x != 0.0)) {
                degree += 1;
                let (a, b) = (find(&mut root, i), find(&mut root, j));
                root[a.max(b)] = a.min(b);
            }
            largest = largest.max(degree);
        }
        self.components = Some((0..n).filter(|&i| root[i] == i).count());
        self.largest_degree = Some(largest);
    }
}

fn coefficients(set: AdmissibleSet) -> (Option<f64>, Option<f64>) {
    match set {
        AdmissibleSet::Coulomb { mu } | AdmissibleSet::Crushing { mu, .. } | AdmissibleSet::SecondOrder { mu } => (Some(mu), None),
        AdmissibleSet::Rolling { mu, mu_r } | AdmissibleSet::Twisting { mu, mu_r, .. } => (Some(mu), Some(mu_r)),
        AdmissibleSet::Free | AdmissibleSet::NonNegative | AdmissibleSet::Interval { .. } => (None, None),
    }
}

fn nonzeros(values: &[f64]) -> usize {
    values.iter().filter(|x| **x != 0.0).count()
}

fn norm(x: &[f64]) -> f64 {
    // no square leaves the range of numbers, and that of nothing is +0
    let largest = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 { 0.0 } else { largest * x.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt() }
}

fn asymmetry(a: &[f64], n: usize) -> f64 {
    let largest = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let worst = (0..n * n).map(|k| (a[k] - a[k % n * n + k / n]).abs()).fold(0.0f64, f64::max);
    if largest > 0.0 { worst / largest } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::local::LocalProblem;

    #[test]
    fn two_piles_are_two_components() {
        // contacts 0 and 1 coupled, 2 alone; the second row of contact 2 is the first again
        let entries = [(0, 0, 2.0), (1, 1, 2.0), (2, 2, 2.0), (3, 3, 2.0), (0, 2, 1.0), (2, 0, 1.0)];
        let alone = [(4, 4, 1.0), (4, 5, 1.0), (5, 4, 1.0), (5, 5, 1.0)];
        let w = BlockRows::from_triplets(&[0, 2, 4, 6], entries.into_iter().chain(alone));
        let p = LocalProblem::friction(w, vec![3.0, 0.0, 4.0, 0.0, 0.0, 0.0], &[0.1, 0.5, 0.3]).expect("legal");
        let facts = Facts::of(&Problem::Local(p));
        assert_eq!((facts.components, facts.largest_degree, facts.rank), (Some(2), Some(1), Some(5)));
        assert_eq!((facts.mu, facts.mu_r, facts.q_norm), (Some([0.1, 0.5]), None, 5.0));
        assert!((facts.condition.expect("small") - 3.0).abs() < 1e-12);
        assert_eq!((facts.nonzeros, facts.asymmetry), (10, Some(0.0)));
    }

    #[test]
    fn the_size_of_q_is_a_number_however_large_or_small_q_is() {
        for (q, expected) in [(vec![], 0.0), (vec![3e200, 4e200], 5e200), (vec![3e-200, -4e-200], 5e-200)] {
            assert_eq!(format!("{:.3e}", norm(&q)), format!("{expected:.3e}"));
        }
    }
}
