//! Every problem that a file can state, its answer, and the errors of that answer from scratch.
//!
//! ```text
//! local     u = W r + q                          the natural map of `numerics::local`
//! global    M v = H r + f,  u = Hᵀ v + w         |M v − H r − f| / max(|f|, |M v|, |H r|) + |F| / max(|r|, |u|)
//! lcp, mlcp, relay   w = M z + q,  F = z − P_K(z − w)     rel = |F| / max(|q|, |z|, |w|),  rel_q = |F| / |q|
//! e_s       every block scaled by D, the mean of the diagonal of its own W (or M); rel for mlcp, whose rows share no diagonal
//! ```

use super::statement::Stated;
use super::{BlockState, Infeasibility, Solution};
use crate::numerics::ProblemError;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::global::GlobalProblem;
use crate::numerics::lcp::Lcp;
use crate::numerics::local::LocalProblem;
use crate::numerics::mlcp::Mlcp;
use crate::numerics::relay::Relay;
use crate::numerics::residual::Residual;

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
    pub(super) fn of_sets(sets: &[AdmissibleSet], global: bool) -> Self {
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
///
/// ```
/// use drystone::numerics::solvers::{Family, find};
/// assert!(find("lemke").is_some_and(|entry| entry.families.contains(&Family::Mlcp)));
/// ```
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
    /// [`Vi`](crate::numerics::vi::Vi): given as a program, in no file.
    Vi,
    /// [`ConvexQp`](crate::numerics::qp::ConvexQp): in no file.
    Qp,
    /// [`OperatorProblem`](crate::numerics::operator::OperatorProblem): W given as a program, in no file.
    Operator,
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
            Self::Vi => "vi",
            Self::Qp => "qp",
            Self::Operator => "operator",
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

impl Problem {
    /// The same problem, borrowed.
    pub(in crate::numerics) fn stated(&self) -> Stated<'_> {
        match self {
            Self::Local(p) => Stated::Local(p),
            Self::Global(p) => Stated::Global(p),
            Self::Lcp(p) => Stated::Lcp(p),
            Self::Mlcp(p) => Stated::Mlcp(p),
            Self::Relay(p) => Stated::Relay(p),
        }
    }

    /// What files call it.
    pub fn kind(&self) -> Kind {
        self.stated().kind()
    }

    /// The type of solver that it needs.
    pub fn family(&self) -> Family {
        self.stated().family()
    }

    /// True where it has bounds alone, and so z and w instead of r and u.
    pub fn complementarity(&self) -> bool {
        self.stated().complementarity().is_some()
    }

    /// Sets of the blocks of rows and where each starts; empty for problems without blocks.
    pub fn blocks(&self) -> (&[AdmissibleSet], &[usize]) {
        self.stated().blocks()
    }

    /// Number of contacts with friction.
    pub fn contacts(&self) -> usize {
        self.stated().contacts()
    }

    /// Sizes of r (z), u (w) and v.
    pub fn sizes(&self) -> [usize; 3] {
        self.stated().sizes()
    }

    /// The answer of zeros.
    pub fn zero(&self) -> Solution {
        self.stated().zero()
    }

    /// Checks sizes, coefficients and that every number is finite.
    pub fn validate(&self) -> Result<(), ProblemError> {
        self.stated().validate()
    }

    /// The errors of `s.r`; `s.u` and `s.v` are recomputed from it. An error where `s.r` has another size than the problem, or a global problem
    /// a singular M.
    pub fn residual(&self, s: &mut Solution) -> Result<Residual, ProblemError> {
        self.stated().make_room(s)?;
        self.stated().residual(s)
    }

    /// The same with lagged friction: De Saxcé's shift `μ‖u_t‖` is that of the reactions of `at`, a known part of q (or w), and the law
    /// `K_μ ∋ r ⟂ u + s n ∈ K_μ*` a convex problem. What its answer misses of Coulomb's law, [`residual`](Self::residual) of this problem
    /// tells. An error where there is no Coulomb friction, or resistance to rolling, which has two shifts.
    ///
    /// ```
    /// use drystone::algebra::blocks::BlockRows;
    /// use drystone::numerics::{local::LocalProblem, solvers::{Problem, Settings}};
    /// let w = BlockRows::from_dense(&[0, 3], &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
    /// let p = Problem::from(LocalProblem::friction(w, vec![-1.0, 3.0, 4.0], &[0.5])?);
    /// // the slip without reactions is 5, that of Coulomb's law 4
    /// let mut answer = p.lagged(&p.zero())?.solve(&Settings::default())?.solution;
    /// assert!(p.residual(&mut answer)?.e_s > 0.05);
    /// // each answer is the next guess
    /// for _ in 0..30 {
    ///     answer = p.lagged(&answer)?.solve(&Settings::default())?.solution;
    /// }
    /// assert!(p.residual(&mut answer)?.e_s < 1e-6);
    /// # Ok::<(), drystone::numerics::ProblemError>(())
    /// ```
    pub fn lagged(&self, at: &Solution) -> Result<Self, ProblemError> {
        let refused =
            |what: &str| ProblemError::Setting { what: "lagged friction".into(), cause: format!("needs Coulomb friction; {what}") };
        let (sets, offsets) = self.blocks();
        if sets.iter().any(|set| matches!(set, AdmissibleSet::Rolling { .. } | AdmissibleSet::Twisting { .. })) {
            return Err(refused("resistance to rolling has two shifts"));
        }
        if !sets.iter().any(|set| matches!(set, AdmissibleSet::Coulomb { .. })) {
            return Err(refused("there is none here"));
        }
        self.stated().fits(at)?;
        let mut s = Solution { r: at.r.clone(), ..self.zero() };
        self.residual(&mut s)?;
        let mut lagged = self.clone();
        let (sets_of, q) = match &mut lagged {
            Self::Local(p) => (&mut p.sets, &mut p.q),
            Self::Global(p) => (&mut p.sets, &mut p.w),
            _ => return Err(refused("there is none here")),
        };
        for (i, set) in sets.iter().enumerate() {
            if let (AdmissibleSet::Coulomb { mu }, true) = (*set, offsets[i] < offsets[i + 1]) {
                q[offsets[i]] += set.shift(&s.u[offsets[i]..offsets[i + 1]]);
                sets_of[i] = AdmissibleSet::SecondOrder { mu };
            }
        }
        Ok(lagged)
    }

    /// What every contact, or other block of rows, does at the reactions of `s`, and how well it keeps its law; of a complementarity
    /// problem every unknown. An error where the vectors are not those of the problem, or there are more equations than unknowns.
    pub fn blocks_at(&self, s: &Solution) -> Result<Vec<BlockState>, ProblemError> {
        self.stated().blocks_at(s)
    }

    /// Multipliers y with `yᵀ(W r + q) < 0` for every r that the law allows although the law asks for `≥ 0`: the proof that there is
    /// no solution, where a linear programme of moderate size finds one.
    pub fn infeasibility(&self) -> Option<Infeasibility> {
        self.stated().infeasibility_watched(&mut |_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::matrix::Matrix;

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
