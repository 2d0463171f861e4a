//! The logic of every problem, on borrowed data: what [`Problem`](super::Problem) and the types within it share.

use super::{Family, Kind, Solution};
use crate::algebra::blocks::BlockRows;
use crate::algebra::matrix::Matrix;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::complementarity::{Complementarity, Form, Infeasibility, LARGEST_DENSE, feasibility, judge};
use crate::numerics::global::GlobalProblem;
use crate::numerics::lcp::Lcp;
use crate::numerics::local::LocalProblem;
use crate::numerics::mlcp::Mlcp;
use crate::numerics::relay::Relay;
use crate::numerics::residual::Residual;
use crate::numerics::{ProblemError, Watch};

/// A problem of any family, borrowed.
#[derive(Clone, Copy, Debug)]
pub(in crate::numerics) enum Stated<'a> {
    Local(&'a LocalProblem),
    Global(&'a GlobalProblem),
    Lcp(&'a Lcp),
    Mlcp(&'a Mlcp),
    Relay(&'a Relay),
}

impl<'a> Stated<'a> {
    /// What files call it.
    pub(in crate::numerics) fn kind(self) -> Kind {
        match self {
            Self::Local(p) => Kind::of_sets(&p.sets, false),
            Self::Global(p) => Kind::of_sets(&p.sets, true),
            Self::Lcp(_) => Kind::Lcp,
            Self::Mlcp(_) => Kind::Mlcp,
            Self::Relay(_) => Kind::Relay,
        }
    }

    /// The type of solver that it needs.
    pub(in crate::numerics) fn family(self) -> Family {
        match self {
            Self::Local(_) => Family::Local,
            Self::Global(_) => Family::Global,
            Self::Lcp(_) => Family::Lcp,
            Self::Mlcp(_) => Family::Mlcp,
            Self::Relay(_) => Family::Relay,
        }
    }

    /// Sets of the blocks of rows and where each starts; empty for problems without blocks.
    pub(in crate::numerics) fn blocks(self) -> (&'a [AdmissibleSet], &'a [usize]) {
        match self {
            Self::Local(p) => (&p.sets, p.w.offsets()),
            Self::Global(p) => (&p.sets, &p.offsets),
            _ => (&[], &[]),
        }
    }

    /// Number of contacts with friction.
    pub(in crate::numerics) fn contacts(self) -> usize {
        let frictional = |s: &&AdmissibleSet| s.shifted() || matches!(s, AdmissibleSet::SecondOrder { .. });
        self.blocks().0.iter().filter(frictional).count()
    }

    /// Sizes of r (z), u (w) and v.
    pub(in crate::numerics) fn sizes(self) -> [usize; 3] {
        match self {
            Self::Local(p) => [p.q.len(), p.q.len(), 0],
            Self::Global(p) => [p.w.len(), p.w.len(), p.f.len()],
            Self::Lcp(p) => [p.m.columns(), p.m.rows(), 0],
            Self::Mlcp(p) => [p.m.columns(), p.m.rows(), 0],
            Self::Relay(p) => [p.m.columns(), p.m.rows(), 0],
        }
    }

    /// The answer of zeros.
    pub(in crate::numerics) fn zero(self) -> Solution {
        let [r, u, v] = self.sizes();
        Solution { r: vec![0.0; r], u: vec![0.0; u], v: vec![0.0; v] }
    }

    /// Checks sizes, coefficients and that every number is finite.
    pub(in crate::numerics) fn validate(self) -> Result<(), ProblemError> {
        match self {
            Self::Local(p) => p.validate(),
            Self::Global(p) => p.validate(),
            Self::Lcp(p) => p.validate(),
            Self::Mlcp(p) => p.validate(),
            Self::Relay(p) => p.validate(),
        }
    }

    /// The problem as its solvers see it, where it has neither contacts nor cones.
    pub(in crate::numerics) fn complementarity(self) -> Option<&'a dyn Complementarity> {
        match self {
            Self::Local(_) | Self::Global(_) => None,
            Self::Lcp(p) => Some(p),
            Self::Mlcp(p) => Some(p),
            Self::Relay(p) => Some(p),
        }
    }

    /// The errors of `s.r`; `s.u` and `s.v` are recomputed from it. An error where a global problem has a singular M.
    pub(in crate::numerics) fn residual(self, s: &mut Solution) -> Result<Residual, ProblemError> {
        Ok(match self {
            Self::Local(p) => p.residual(&s.r, &mut s.u),
            Self::Global(p) => p.residual(&s.r, &mut s.v, &mut s.u)?,
            Self::Lcp(p) => self.judged(p, &s.r, &mut s.u),
            Self::Mlcp(p) => self.judged(p, &s.r, &mut s.u),
            Self::Relay(p) => self.judged(p, &s.r, &mut s.u),
        })
    }

    /// The errors, with those of the worst row where the problem is square: in balanced units while a dense M does no harm, in blocks of
    /// one row where M is sparse and large.
    fn judged(self, p: &dyn Complementarity, z: &[f64], w: &mut [f64]) -> Residual {
        let mut found = p.residual(z, w);
        if p.unknowns() != p.rows() {
            return found;
        }
        if let Some(blocks) = if p.unknowns() > LARGEST_JUDGED { self.as_blocks() } else { None } {
            let rows = blocks.residual(z, w);
            (found.violation, found.misfit) = (rows.violation, rows.misfit);
        } else if p.unknowns() <= LARGEST_DENSE {
            let mut form = Form::default();
            p.load(&mut form);
            if p.rearranged() {
                let mut placed = vec![0.0; p.rows()];
                form.output(z, &mut placed);
                judge(&form, z, &placed, CERTAIN, &mut found);
            } else {
                judge(&form, z, w, CERTAIN, &mut found);
            }
        }
        found
    }

    /// The proof that there is no solution, where a linear programme of moderate size finds one; the watch may end the search.
    pub(super) fn infeasibility_watched(self, watch: &mut Watch) -> Option<Infeasibility> {
        match self {
            Self::Local(p) => p.infeasibility_watched(watch),
            Self::Global(p) if p.w.len() <= LARGEST_PROVED => p.reduce().ok()?.infeasibility_watched(watch),
            Self::Global(_) => None,
            Self::Lcp(_) | Self::Mlcp(_) | Self::Relay(_) => {
                let p = self.complementarity().filter(|p| p.unknowns() == p.rows() && p.unknowns() <= LARGEST_PROGRAMME)?;
                let mut form = Form::default();
                p.load(&mut form);
                feasibility(&form, watch).proof().map(|proof| self.stated_in_rows(proof))
            }
        }
    }

    /// A proof on the square form of a complementarity problem, where each row stands at its unknown, with the multipliers at the rows as stated.
    pub(super) fn stated_in_rows(self, proof: Infeasibility) -> Infeasibility {
        let multipliers = self.places().into_iter().map(|j| proof.multipliers[j]).collect();
        Infeasibility { multipliers, ..proof }
    }

    /// The unknown of each row of a square complementarity problem: the k-th free one of the k-th equation, the k-th bounded one of the k-th
    /// other row.
    fn places(self) -> Vec<usize> {
        let mut place: Vec<usize> = (0..self.sizes()[0]).collect();
        if let Self::Mlcp(p) = self {
            for kind in [true, false] {
                let unknowns = (0..place.len()).filter(|&j| p.free[j] == kind);
                (0..p.equality.len()).filter(|&i| p.equality[i] == kind).zip(unknowns).for_each(|(i, j)| place[i] = j);
            }
        }
        place
    }

    /// A square complementarity problem of any kind as blocks of one row, each unknown with the row that it complements.
    pub(super) fn rows(self) -> Option<LocalProblem> {
        let p = self.complementarity().filter(|p| p.unknowns() == p.rows())?;
        let n = p.unknowns();
        let place = self.places();
        let (m, q) = match self {
            Self::Lcp(p) => (&p.m, &p.q),
            Self::Relay(p) => (&p.m, &p.q),
            Self::Mlcp(p) => (&p.m, &p.q),
            _ => return None,
        };
        let entries = match m {
            Matrix::Dense { values, .. } => values.iter().enumerate().map(|(k, x)| (k / n, k % n, *x)).collect(),
            Matrix::Sparse(m) => m.iter().map(|(x, (i, j))| (i, j, *x)).collect(),
            Matrix::Blocks(m) => entries(m).collect::<Vec<_>>(),
        };
        let entries = entries.into_iter().filter(|(.., x)| *x != 0.0).map(|(i, j, x)| (place[i], j, x));
        let w = BlockRows::from_triplets(&(0..=n).collect::<Vec<_>>(), entries);
        let mut turned = vec![0.0; n];
        (0..n).for_each(|i| turned[place[i]] = q[i]);
        Some(LocalProblem { w, q: turned, sets: (0..n).map(|i| self.bounds(i)).collect() })
    }

    /// Where unknown i of a complementarity problem lives.
    fn bounds(self, i: usize) -> AdmissibleSet {
        match self {
            Self::Relay(p) if p.lower[i] == f64::NEG_INFINITY && p.upper[i] == f64::INFINITY => AdmissibleSet::Free,
            Self::Relay(p) => AdmissibleSet::Interval { lower: p.lower[i], upper: p.upper[i] },
            Self::Mlcp(p) if p.free[i] => AdmissibleSet::Free,
            _ => AdmissibleSet::NonNegative,
        }
    }

    /// A complementarity problem as blocks of one row, W sparse: for sizes that no dense M can have.
    pub(super) fn as_blocks(self) -> Option<LocalProblem> {
        let (m, q): (_, &[f64]) = match self {
            Self::Lcp(p) => (&p.m, &p.q),
            Self::Relay(p) => (&p.m, &p.q),
            Self::Mlcp(p) if p.equality == p.free => (&p.m, &p.q),
            _ => return None,
        };
        let offsets: Vec<usize> = (0..=q.len()).collect();
        let w = match m {
            Matrix::Dense { .. } => return None,
            Matrix::Sparse(m) => BlockRows::from_sparse(&offsets, m),
            Matrix::Blocks(m) => BlockRows::from_triplets(&offsets, entries(m).filter(|(.., x)| *x != 0.0)),
        };
        Some(LocalProblem { w, q: q.to_vec(), sets: (0..q.len()).map(|i| self.bounds(i)).collect() })
    }
}

/// Row, column and value of every number of the blocks.
pub(super) fn entries(m: &BlockRows) -> impl Iterator<Item = (usize, usize, f64)> {
    (0..m.block_count()).flat_map(move |i| {
        m.row(i).flat_map(move |(j, block)| {
            let (rows, columns) = (m.range(i), m.range(j));
            let width = columns.len().max(1);
            block.iter().enumerate().map(move |(k, x)| (rows.start + k / width, columns.start + k % width, *x))
        })
    })
}

/// Rows of a global problem up to which W is formed for a proof.
const LARGEST_PROVED: usize = 20_000;
/// Unknowns of a complementarity problem up to which a proof is sought.
const LARGEST_PROGRAMME: usize = 400;
/// Unknowns up to which the rows of a sparse M are judged in a dense one.
const LARGEST_JUDGED: usize = 3000;
/// Share of its own q below which a row counts as solved without a look at its neighbours.
const CERTAIN: f64 = 1e-10;
