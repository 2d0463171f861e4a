//! Every problem that a file can state, its answer, and the errors of that answer from scratch.
//!
//! ```text
//! local     u = W r + q                          the natural map of `numerics::local`
//! global    M v = H r + f,  u = Hᵀ v + w         |M v − H r − f| / max(|f|, |M v|, |H r|) + |F| / max(|r|, |u|)
//! lcp, mlcp, relay   w = M z + q,  F = z − P_K(z − w)     rel = |F| / max(|q|, |z|, |w|),  rel_q = |F| / |q|
//! e_s       every block scaled by D, the mean of the diagonal of its own W (or M); rel for mlcp, whose rows share no diagonal
//! ```

use crate::algebra::blocks::BlockRows;
use crate::algebra::matrix::Matrix;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::complementarity::{Complementarity, Form, Infeasibility, LARGEST_DENSE, infeasibility_watched, judge};
use crate::numerics::global::GlobalProblem;
use crate::numerics::lcp::Lcp;
use crate::numerics::local::LocalProblem;
use crate::numerics::mlcp::Mlcp;
use crate::numerics::relay::Relay;
use crate::numerics::residual::Residual;
use crate::numerics::{ProblemError, Watch};

/// What a problem is called in files and on the command line.
///
/// ```
/// use drystone::numerics::solvers::Kind;
/// assert_eq!(Kind::from_name("grfc"), Some(Kind::GlobalRolling));
/// assert_eq!(Kind::GlobalRolling.name(), "grfc");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `fc`: Coulomb friction on a given W.
    Friction,
    /// `gfc`: Coulomb friction with M and H.
    GlobalFriction,
    /// `rfc`: friction and rolling resistance on a given W.
    Rolling,
    /// `grfc`: friction and rolling resistance with M and H.
    GlobalRolling,
    /// `lcp`: linear complementarity.
    Lcp,
    /// `mlcp`: equations and complementarities.
    Mlcp,
    /// `relay`: a variational inequality on a box.
    Relay,
    /// `gmp`: blocks of different sets on a given W (generic mechanical problem).
    Mixed,
    /// `ggmp`: blocks of different sets with M and H.
    GlobalMixed,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Friction,
        Self::GlobalFriction,
        Self::Rolling,
        Self::GlobalRolling,
        Self::Lcp,
        Self::Mlcp,
        Self::Relay,
        Self::Mixed,
        Self::GlobalMixed,
    ];

    /// Its short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Friction => "fc",
            Self::GlobalFriction => "gfc",
            Self::Rolling => "rfc",
            Self::GlobalRolling => "grfc",
            Self::Lcp => "lcp",
            Self::Mlcp => "mlcp",
            Self::Relay => "relay",
            Self::Mixed => "gmp",
            Self::GlobalMixed => "ggmp",
        }
    }

    /// The kind of that short name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The same words with every set of `sets` of one kind, or mixed.
    fn of_sets(sets: &[AdmissibleSet], global: bool) -> Self {
        let all = |test: fn(&AdmissibleSet) -> bool| sets.iter().all(test);
        match (all(|s| matches!(s, AdmissibleSet::Coulomb { .. })), all(|s| matches!(s, AdmissibleSet::Rolling { .. })), global) {
            (true, _, false) => Self::Friction,
            (true, _, true) => Self::GlobalFriction,
            (_, true, false) => Self::Rolling,
            (_, true, true) => Self::GlobalRolling,
            (_, _, false) => Self::Mixed,
            (_, _, true) => Self::GlobalMixed,
        }
    }
}

/// Types of problems that solvers are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// [`LocalProblem`]: fc, rfc, gmp.
    Local,
    /// [`GlobalProblem`]: gfc, grfc, ggmp.
    Global,
    /// [`Lcp`]
    Lcp,
    /// [`Mlcp`]
    Mlcp,
    /// [`Relay`]
    Relay,
}

impl Family {
    /// Its name in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
            Self::Lcp => "lcp",
            Self::Mlcp => "mlcp",
            Self::Relay => "relay",
        }
    }
}

/// Any problem that a file can state.
///
/// ```
/// use drystone::algebra::matrix::Matrix;
/// use drystone::numerics::{lcp::Lcp, solvers::{Kind, Problem, Solution}};
/// let p = Problem::Lcp(Lcp { m: Matrix::dense(1, 1, vec![2.0]), q: vec![-1.0] });
/// assert_eq!(p.kind(), Kind::Lcp);
/// let mut answer = Solution { r: vec![0.5], ..p.zero() };
/// assert_eq!(p.residual(&mut answer)?.rel, 0.0);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Problem {
    /// `u = W r + q`
    Local(LocalProblem),
    /// `M v = H r + f`, `u = Hᵀ v + w`
    Global(GlobalProblem),
    /// `0 ≤ z ⟂ M z + q ≥ 0`
    Lcp(Lcp),
    /// Equations and complementarities.
    Mlcp(Mlcp),
    /// `−(M z + q) ∈ N_[lower, upper](z)`
    Relay(Relay),
}

/// An answer: r (or z), u (or w), and the velocities of a global problem.
///
/// ```
/// assert!(drystone::numerics::solvers::Solution::default().r.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Reactions r, or the unknown z.
    pub r: Vec<f64>,
    /// Relative velocities u, or `w = M z + q`.
    pub u: Vec<f64>,
    /// Velocities v of a global problem, else empty.
    pub v: Vec<f64>,
    /// With [`Status::Inconsistent`](crate::numerics::Status::Inconsistent): multipliers y, one per row, with `yᵀ(W r + q) < 0` for
    /// every r that the law allows although the law asks for `≥ 0`; empty without a proof or where trying everything was the proof.
    pub certificate: Vec<f64>,
}

impl Problem {
    /// What files call it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Local(p) => Kind::of_sets(&p.sets, false),
            Self::Global(p) => Kind::of_sets(&p.sets, true),
            Self::Lcp(_) => Kind::Lcp,
            Self::Mlcp(_) => Kind::Mlcp,
            Self::Relay(_) => Kind::Relay,
        }
    }

    /// The type of solver that it needs.
    pub fn family(&self) -> Family {
        match self {
            Self::Local(_) => Family::Local,
            Self::Global(_) => Family::Global,
            Self::Lcp(_) => Family::Lcp,
            Self::Mlcp(_) => Family::Mlcp,
            Self::Relay(_) => Family::Relay,
        }
    }

    /// Sets of the blocks of rows and where each starts; empty for problems without blocks.
    pub fn blocks(&self) -> (&[AdmissibleSet], &[usize]) {
        match self {
            Self::Local(p) => (&p.sets, p.w.offsets()),
            Self::Global(p) => (&p.sets, &p.offsets),
            _ => (&[], &[]),
        }
    }

    /// Number of contacts with friction.
    pub fn contacts(&self) -> usize {
        let frictional = |s: &&AdmissibleSet| {
            matches!(s, AdmissibleSet::Coulomb { .. } | AdmissibleSet::SecondOrder { .. } | AdmissibleSet::Rolling { .. })
        };
        self.blocks().0.iter().filter(frictional).count()
    }

    /// Sizes of r (z), u (w) and v.
    pub fn sizes(&self) -> [usize; 3] {
        match self {
            Self::Local(p) => [p.q.len(), p.q.len(), 0],
            Self::Global(p) => [p.w.len(), p.w.len(), p.f.len()],
            Self::Lcp(p) => [p.m.columns(), p.m.rows(), 0],
            Self::Mlcp(p) => [p.m.columns(), p.m.rows(), 0],
            Self::Relay(p) => [p.m.columns(), p.m.rows(), 0],
        }
    }

    /// The answer of zeros.
    pub fn zero(&self) -> Solution {
        let [r, u, v] = self.sizes();
        Solution { r: vec![0.0; r], u: vec![0.0; u], v: vec![0.0; v], ..Solution::default() }
    }

    /// Checks sizes, coefficients and that every number is finite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        match self {
            Self::Local(p) => p.validate(),
            Self::Global(p) => p.validate(),
            Self::Lcp(p) => p.validate(),
            Self::Mlcp(p) => p.validate(),
            Self::Relay(p) => p.validate(),
        }
    }

    /// The problem as its solvers see it, where it has neither contacts nor cones.
    pub fn complementarity(&self) -> Option<&dyn Complementarity> {
        match self {
            Self::Local(_) | Self::Global(_) => None,
            Self::Lcp(p) => Some(p),
            Self::Mlcp(p) => Some(p),
            Self::Relay(p) => Some(p),
        }
    }

    /// The errors of `s.r`; `s.u` and `s.v` are recomputed from it. An error where a global problem has a singular M.
    pub fn residual(&self, s: &mut Solution) -> Result<Residual, ProblemError> {
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
    fn judged(&self, p: &dyn Complementarity, z: &[f64], w: &mut [f64]) -> Residual {
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
            judge(&form, z, w, CERTAIN, &mut found);
        }
        found
    }

    /// The multipliers of a proof that there is no solution, where a linear programme of moderate size finds one.
    pub fn infeasibility(&self) -> Option<Infeasibility> {
        self.infeasibility_watched(&mut |_| true)
    }

    /// The same under a watch, which may end the search.
    pub(super) fn infeasibility_watched(&self, watch: &mut Watch) -> Option<Infeasibility> {
        match self {
            Self::Local(p) => p.infeasibility_watched(watch),
            Self::Global(p) if p.w.len() <= LARGEST_PROVED => p.reduce().ok()?.infeasibility_watched(watch),
            Self::Global(_) => None,
            Self::Lcp(_) | Self::Mlcp(_) | Self::Relay(_) => {
                let p = self.complementarity().filter(|p| p.unknowns() == p.rows() && p.unknowns() <= LARGEST_PROGRAMME)?;
                let mut form = Form::default();
                p.load(&mut form);
                infeasibility_watched(&form, watch)
            }
        }
    }

    /// A complementarity problem as blocks of one row, W sparse: for sizes that no dense M can have.
    pub(super) fn as_blocks(&self) -> Option<LocalProblem> {
        let (m, q): (_, &[f64]) = match self {
            Self::Lcp(p) => (&p.m, &p.q),
            Self::Relay(p) => (&p.m, &p.q),
            Self::Mlcp(p) if p.equality == p.free => (&p.m, &p.q),
            _ => return None,
        };
        let set = |i: usize| match self {
            Self::Relay(p) if p.lower[i] == f64::NEG_INFINITY && p.upper[i] == f64::INFINITY => AdmissibleSet::Free,
            Self::Relay(p) => AdmissibleSet::Interval { lower: p.lower[i], upper: p.upper[i] },
            Self::Mlcp(p) if p.free[i] => AdmissibleSet::Free,
            _ => AdmissibleSet::NonNegative,
        };
        let offsets: Vec<usize> = (0..=q.len()).collect();
        let w = match m {
            Matrix::Dense { .. } => return None,
            Matrix::Sparse(m) => BlockRows::from_sparse(&offsets, m),
            Matrix::Blocks(m) => {
                let entries = (0..m.block_count()).flat_map(|i| {
                    m.row(i).flat_map(move |(j, block)| {
                        let (rows, columns) = (m.range(i), m.range(j));
                        let width = columns.len().max(1);
                        block.iter().enumerate().map(move |(k, x)| (rows.start + k / width, columns.start + k % width, *x))
                    })
                });
                BlockRows::from_triplets(&offsets, entries.filter(|(.., x)| *x != 0.0))
            }
        };
        Some(LocalProblem { w, q: q.to_vec(), sets: (0..q.len()).map(set).collect() })
    }
}

/// Rows of a global problem up to which W is formed for a proof.
const LARGEST_PROVED: usize = 20_000;
/// Unknowns of a complementarity problem up to which a proof is sought.
const LARGEST_PROGRAMME: usize = 400;
/// Unknowns up to which the rows of a sparse M are judged in a dense one.
const LARGEST_JUDGED: usize = 3000;
/// Share of its own q below which a row counts as solved without a look at its neighbours.
const CERTAIN: f64 = 1e-10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_vanish_at_solutions_and_only_there() {
        let m = Matrix::dense(2, 2, vec![2.0, 1.0, 1.0, 2.0]);
        let cases = [
            (Problem::Lcp(Lcp { m: m.clone(), q: vec![-5.0, -6.0] }), vec![4.0 / 3.0, 7.0 / 3.0]),
            (
                Problem::Relay(Relay { m: m.clone(), q: vec![-5.0, 0.5], lower: vec![-1.0; 2], upper: vec![1.0, f64::INFINITY] }),
                vec![1.0, -0.75],
            ),
            (Problem::Mlcp(Mlcp { m, q: vec![3.0, -6.0], equality: vec![true, false], free: vec![true, false] }), vec![-4.0, 5.0]),
        ];
        for (p, z) in cases {
            p.validate().expect("a legal problem");
            let mut s = Solution { r: z.clone(), ..p.zero() };
            assert!(p.residual(&mut s).expect("residuals").rel < 1e-15, "{:?}", p.kind());
            for i in 0..2 {
                let mut s = Solution { r: z.clone(), ..p.zero() };
                s.r[i] += 1e-3;
                let off = p.residual(&mut s).expect("residuals");
                assert!(off.rel > 1e-5 && off.rel_q > 1e-5 && off.e_s > 1e-5, "{:?}", p.kind());
            }
        }
    }

    #[test]
    fn rows_beyond_the_unknowns_count_as_equations() {
        let m = Matrix::dense(3, 2, vec![1.0, -1.0, -1.0, -1.0, 1.0, 1.0]);
        let p = Mlcp { m, q: vec![0.0, 1.0, 1.0], equality: vec![true, false, true], free: vec![true, false] };
        let p = Problem::Mlcp(p);
        p.validate().expect("a legal problem");
        let mut s = Solution { r: vec![0.0, 0.0], ..p.zero() };
        // w = (0, 1, 1): only the third row fails
        assert!((p.residual(&mut s).expect("residuals").rel - 1.0 / 2.0f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_resting_particle_has_no_error() {
        use sprs::CsMat;
        let p = GlobalProblem {
            mass: CsMat::eye(3).map(|x: &f64| 2.0 * x),
            h: CsMat::eye(3),
            f: vec![-4.0, 0.0, 0.0],
            w: vec![0.0; 3],
            offsets: vec![0, 3],
            sets: vec![AdmissibleSet::Coulomb { mu: 0.5 }],
        };
        let p = Problem::Global(p);
        let mut s = Solution { r: vec![4.0, 0.0, 0.0], ..p.zero() };
        assert!(p.residual(&mut s).expect("residuals").rel < 1e-15);
        assert_eq!((p.kind(), p.contacts()), (Kind::GlobalFriction, 1));
        let mut s = p.zero();
        assert!(p.residual(&mut s).expect("residuals").rel >= 1.0);
    }
}
