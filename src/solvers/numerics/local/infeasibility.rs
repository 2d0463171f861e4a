//! Proof that no reactions satisfy the law: some nonnegative combination of normals cannot open (Farkas).
//!
//! ```text
//! u = W r + q,   u_n ≥ 0 on unilateral rows, u = 0 on equations,   r_n ≥ 0
//! impossible  ⇐  y ≥ 0 on the normals, any on equations, 0 elsewhere, with  Wᵀ y = 0 (≤ 0 on columns of r_n)  and  qᵀ y < 0
//! ```
//!
//! y are reactions that are in equilibrium with themselves, like those in a body squeezed between walls, and q works against them.
//! The cones are widened to `r_n ≥ 0`, so a proof holds for any friction; the converse does not: a law that is not monotone may
//! have no solution and no such proof.

use super::LocalProblem;
use crate::algebra::matrix::Matrix;
use crate::numerics::Watch;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::complementarity::{ComplementaritySolver, Feasibility, Inequalities, Infeasibility, Lemke, Sign, Workspace};
use crate::numerics::disjoint::DisjointSets;
use crate::numerics::relay::Relay;

/// Rows and columns of the linear programme of a component, at most: it is dense.
const LARGEST: usize = 900;

impl LocalProblem {
    /// The proof that one of its connected components has no solution, where there is one and the component is not too large; the
    /// multipliers stand for all rows and vanish outside of that component.
    ///
    /// ```
    /// use drystone::algebra::blocks::BlockRows;
    /// use drystone::numerics::local::LocalProblem;
    /// // a wedge: what opens one contact closes the other
    /// let w = BlockRows::from_dense(&[0, 1, 2], &[1.0, -1.0, -1.0, 1.0]);
    /// let p = LocalProblem::friction(w, vec![-1.0, -1.0], &[0.0, 0.0])?;
    /// let proof = p.infeasibility().expect("a proof");
    /// assert_eq!((proof.multipliers, proof.value), (vec![1.0, 1.0], -2.0));
    /// # Ok::<(), drystone::numerics::ProblemError>(())
    /// ```
    pub fn infeasibility(&self) -> Option<Infeasibility> {
        self.infeasibility_watched(&mut |_| true)
    }

    /// The same under a watch, which may end the search.
    pub(in crate::numerics) fn infeasibility_watched(&self, watch: &mut Watch) -> Option<Infeasibility> {
        let blocks = self.sets.len();
        let mut components = DisjointSets::new(blocks);
        for i in 0..blocks {
            self.w.row(i).filter(|(_, block)| block.iter().any(|x| *x != 0.0)).for_each(|(j, _)| components.join(i as u32, j as u32));
        }
        let roots: Vec<usize> = (0..blocks).map(|i| components.root(i as u32) as usize).collect();
        let mut members = vec![Vec::new(); blocks];
        roots.iter().enumerate().for_each(|(i, root)| members[*root].push(i));
        members.iter().filter(|members| !members.is_empty()).find_map(|members| self.proof_of(members, watch))
    }

    /// The proof for the blocks of one component.
    fn proof_of(&self, members: &[usize], watch: &mut Watch) -> Option<Infeasibility> {
        let rows = || members.iter().flat_map(|&i| self.w.range(i));
        let (mut signs, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
        for &i in members {
            for k in 0..self.w.rows(i) {
                let (sign, bounds) = row(self.sets[i], k);
                signs.push(sign);
                lower.push(bounds.0);
                upper.push(bounds.1);
            }
        }
        let asked = signs.iter().filter(|sign| **sign != Sign::Any).count();
        // zero reactions would do
        let contradicted = signs.iter().zip(rows()).any(|(sign, row)| match sign {
            Sign::Any => false,
            Sign::Positive => self.q[row] < 0.0,
            Sign::Negative => self.q[row] > 0.0,
            Sign::Zero => self.q[row] != 0.0,
        });
        let origin_is_legal = lower.iter().zip(&upper).all(|(l, u)| *l <= 0.0 && *u >= 0.0);
        if asked == 0 || asked + signs.len() > LARGEST || self.q.iter().all(|q| *q == 0.0) || !contradicted && origin_is_legal {
            return None;
        }
        let (part, rows) = self.part(|i| members.binary_search(&i).is_ok());
        let (m, q) = (part.w.to_dense(), part.q);
        let system = Inequalities { m: &m, q: &q, lower: &lower, upper: &upper, signs: &signs };
        let proof = match system.check(least_squares(&system, watch)) {
            Some(proof) => proof,
            None => match system.decide(watch) {
                Feasibility::Impossible(proof) => proof,
                _ => return None,
            },
        };
        let mut multipliers = vec![0.0; self.order()];
        rows.iter().zip(&proof.multipliers).for_each(|(&row, y)| multipliers[row] = *y);
        Some(Infeasibility { multipliers, value: proof.value })
    }
}

/// The y of the signs asked for that makes `½ yᵀ W y + ½ (qᵀ y + 1)²` least: 0 there where W is positive semidefinite and a proof exists.
fn least_squares(system: &Inequalities, watch: &mut Watch) -> Vec<f64> {
    let n = system.q.len();
    let rows: Vec<usize> = (0..n).filter(|&i| system.signs[i] != Sign::Any).collect();
    let k = rows.len();
    let largest = rows.iter().fold(0.0f64, |m, &i| m.max(system.q[i].abs()));
    let mean = rows.iter().map(|&i| system.m[i * n + i].abs()).sum::<f64>() / k as f64;
    // q in the size of W
    let q: Vec<f64> = rows.iter().map(|&i| system.q[i] / largest * mean.sqrt()).collect();
    let m = (0..k * k).map(|at| system.m[rows[at / k] * n + rows[at % k]] + q[at / k] * q[at % k]).collect();
    let bounds = |sign: Sign| match sign {
        Sign::Positive => (0.0, f64::INFINITY),
        Sign::Negative => (f64::NEG_INFINITY, 0.0),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    let (lower, upper) = rows.iter().map(|&i| bounds(system.signs[i])).unzip();
    let linear = q.iter().map(|q| q * mean.sqrt()).collect();
    let (mut z, mut w) = (vec![0.0; k], vec![0.0; k]);
    let statement = Relay { m: Matrix::dense(k, k, m), q: linear, lower, upper };
    Lemke { tolerance: 1e-13, ..Lemke::default() }.solve_with(&statement, &mut z, &mut w, &mut Workspace::default(), watch);
    let mut y = vec![0.0; n];
    rows.iter().zip(&z).for_each(|(&i, z)| y[i] = *z);
    y
}

/// What row k of a set asks of u, and between which bounds its reaction lies; cones are widened.
fn row(set: AdmissibleSet, k: usize) -> (Sign, (f64, f64)) {
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    let tangent = |slope: f64| (Sign::Any, if slope == 0.0 { (0.0, 0.0) } else { all });
    match set {
        AdmissibleSet::Free => (Sign::Zero, all),
        AdmissibleSet::NonNegative => (Sign::Positive, (0.0, f64::INFINITY)),
        AdmissibleSet::Interval { lower, upper } => (Sign::of_bounds(lower, upper), (lower, upper)),
        AdmissibleSet::Crushing { most, .. } if k == 0 => (Sign::of_bounds(0.0, most), (0.0, most)),
        AdmissibleSet::Crushing { mu, most } => (Sign::Any, (-mu * most, mu * most)),
        _ if k == 0 => (Sign::Positive, (0.0, f64::INFINITY)),
        AdmissibleSet::Coulomb { mu } | AdmissibleSet::SecondOrder { mu } => tangent(mu),
        AdmissibleSet::Rolling { mu, mu_r } => tangent(mu.max(mu_r)),
        AdmissibleSet::Twisting { mu, mu_r, mu_t } => tangent(mu.max(mu_r).max(mu_t)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::assemblies::{Law, assembly};
    use super::super::{LocalSolver as _, auto::Auto};
    use super::*;
    use crate::algebra::blocks::BlockRows;

    #[test]
    fn problems_with_a_solution_have_no_proof() {
        for seed in 0..20 {
            let p = assembly([Law::Plane, Law::Space, Law::Rolling][seed % 3], 4, 10, seed as u64);
            assert_eq!(p.infeasibility(), None, "seed {seed}");
        }
    }

    #[test]
    fn a_squeezed_component_is_found_among_others_and_its_proof_stands_on_its_own() {
        // blocks 0 and 2: opposite normals on one body; 1 and 3 free of them
        let entries = [(0, 0, 2.0), (4, 4, 2.0), (0, 4, -2.0), (4, 0, -2.0), (2, 2, 1.0), (6, 6, 1.0), (2, 6, 0.5), (6, 2, 0.5)];
        let tangents = [1, 3, 5, 7].map(|k| (k, k, 1.0));
        let w = BlockRows::from_triplets(&[0, 2, 4, 6, 8], entries.into_iter().chain(tangents));
        let q = vec![-1e-3, 5.0, -7.0, 0.0, 0.9e-3, 2.0, -100.0, 1.0];
        let p = LocalProblem::friction(w, q.clone(), &[0.4; 4]).expect("legal");
        let proof = p.infeasibility().expect("a proof");
        let expected = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        assert!(proof.multipliers.iter().zip(expected).all(|(y, e)| (y - e).abs() < 1e-12), "{proof:?}");
        assert!((proof.value + 1e-4).abs() < 1e-12);
        // one that gives way under what squeezes it: there is none, but a solution
        let mut soft = p.clone();
        soft.sets[2] = AdmissibleSet::Crushing { mu: 0.4, most: 3.0 };
        assert_eq!(soft.infeasibility(), None);
        let (mut r, mut u) = (vec![0.0; 8], vec![0.0; 8]);
        let report = Auto::default().solve(&soft, &mut r, &mut u);
        assert!(report.converged() && r[4] == 3.0 && u[4] < 0.0, "{report:?} {r:?} {u:?}");
        // a little more room, and there is none
        let open = LocalProblem { q: q.iter().map(|q| if *q == 0.9e-3 { 1e-3 } else { *q }).collect(), ..p };
        assert_eq!(open.infeasibility(), None);
    }
}
