//! What a solve gives: the vectors, the report, and what each block of rows does.
//!
//! ```text
//! open      u_n > w r_n                              of each complementary pair the larger one in velocities decides,
//! slip      |u_t| > w (μ r_n − |r_t|)                w: mean of the diagonal of W of the block
//! roll      |u_ω| > w (μ_r r_n − |r_ω|)
//! ```

use super::settings::LogLine;
use super::statement::Stated;
use crate::numerics::acceptance::Scales;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::global::Prepared;
use crate::numerics::local::size;
use crate::numerics::{ProblemError, Report, Status};

/// Vectors that solve a problem, or the first guess of them: r (or z, x), u (or w), and the velocities of a global problem.
///
/// ```
/// assert!(drystone::numerics::solvers::Solution::default().r.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Reactions r, or the unknown z or x.
    pub r: Vec<f64>,
    /// Relative velocities u, or `w = M z + q`, or F(x).
    pub u: Vec<f64>,
    /// Velocities v of a global problem, multipliers of a quadratic programme, else empty.
    pub v: Vec<f64>,
}

/// The answer to every problem.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::{Status, local::LocalProblem, solvers::Settings};
/// // a wedge: what opens one contact closes the other
/// let w = BlockRows::from_dense(&[0, 1, 2], &[1.0, -1.0, -1.0, 1.0]);
/// let p = LocalProblem::friction(w, vec![-1.0, -1.0], &[0.0, 0.0])?;
/// let answer = p.solve(&Settings::default())?;
/// // both together would have to open, and nothing can: 1·(W r + q)₁ + 1·(W r + q)₂ = −2 whatever r is
/// assert_eq!((answer.status(), &answer.certificate[..]), (Status::Inconsistent, &[1.0, 1.0][..]));
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// r, u and v.
    pub solution: Solution,
    /// Status, effort and residuals.
    pub report: Report,
    /// With [`Status::Inconsistent`]: multipliers y, one per row, with `yᵀ(W r + q) < 0` for every r that the law allows although the
    /// law asks for `≥ 0`; empty without a proof or where trying everything was the proof.
    pub certificate: Vec<f64>,
    /// Name of the solver.
    pub solver: &'static str,
    /// A line an iteration, where the settings ask for it.
    pub log: Vec<LogLine>,
}

impl Answer {
    /// How the solve ended.
    pub fn status(&self) -> Status {
        self.report.status
    }

    /// True when the tolerance is met.
    pub fn converged(&self) -> bool {
        self.report.converged()
    }
}

/// What a contact, or another block of rows, does.
///
/// ```
/// use drystone::numerics::solvers::State;
/// assert_eq!((State::Slip.name(), State::AtLower.name()), ("slip", "lower"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum State {
    /// Apart, or about to part: no reaction.
    Open,
    /// Pressed, without friction to speak of.
    Closed,
    /// Pressed without sliding (and without rolling).
    Stick,
    /// Pressed and sliding.
    Slip,
    /// Pressed and rolling against its resistance, without sliding.
    Roll,
    /// Pressed, sliding and rolling.
    SlipRoll,
    /// Pressed with the largest normal reaction, under which it gives way.
    Crush,
    /// An equation.
    Held,
    /// A bounded unknown at its lower bound.
    #[cfg_attr(feature = "serde", serde(rename = "lower"))]
    AtLower,
    /// A bounded unknown between its bounds.
    Inside,
    /// A bounded unknown at its upper bound.
    #[cfg_attr(feature = "serde", serde(rename = "upper"))]
    AtUpper,
}

impl State {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Stick => "stick",
            Self::Slip => "slip",
            Self::Roll => "roll",
            Self::SlipRoll => "slip_roll",
            Self::Crush => "crush",
            Self::Held => "held",
            Self::AtLower => "lower",
            Self::Inside => "inside",
            Self::AtUpper => "upper",
        }
    }
}

/// What one block of rows does in an answer, and how well it keeps its law.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::numerics::{local::LocalProblem, solvers::{Problem, Settings, State}};
/// let w = BlockRows::from_dense(&[0, 3], &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
/// let p = Problem::from(LocalProblem::friction(w, vec![-1.0, 3.0, 4.0], &[0.5])?);
/// let answer = p.solve(&Settings::default())?;
/// let contact = p.blocks_at(&answer.solution)?[0];
/// assert!(contact.state == State::Slip && contact.misfit < 1e-6);
/// assert!((contact.normal - 1.0).abs() < 1e-7 && (contact.tangent - 0.5).abs() < 1e-7 && (contact.slip - 4.0).abs() < 1e-6);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BlockState {
    /// First row of the block.
    pub row: usize,
    /// What it does.
    pub state: State,
    /// Normal reaction, or the unknown (of several the one of largest size).
    pub normal: f64,
    /// Size of the tangential reaction.
    pub tangent: f64,
    /// Normal velocity, or w of that unknown.
    pub opening: f64,
    /// Size of the tangential velocity.
    pub slip: f64,
    /// Velocity by which it misses its law, see [`acceptance`](crate::numerics::acceptance).
    pub violation: f64,
    /// The same over the scale of the block.
    pub misfit: f64,
}

fn length(x: &[f64]) -> f64 {
    // not `sum`, which is −0 of nothing
    x.iter().fold(0.0, |sum, x| sum + x * x).sqrt()
}

/// The block with these reactions, velocities, and scale w.
fn state(set: AdmissibleSet, r: &[f64], u: &[f64], w: f64) -> State {
    let (Some(normal), Some(opening)) = (r.first(), u.first()) else { return State::Held };
    let cone = |mu: f64, tangents: std::ops::Range<usize>| length(&u[tangents.clone()]) > w * (mu * normal - length(&r[tangents]));
    // what is not positive is not larger than nothing
    let open = *opening > w * normal.max(0.0);
    match set {
        AdmissibleSet::Free => State::Held,
        AdmissibleSet::NonNegative if r.iter().zip(u).all(|(r, u)| *u > w * r.max(0.0)) => State::Open,
        AdmissibleSet::NonNegative => State::Closed,
        AdmissibleSet::Interval { lower, upper } => {
            let (mut low, mut high) = (true, true);
            for (r, u) in r.iter().zip(u) {
                low &= *u > w * (r - lower).max(0.0);
                high &= -*u > w * (upper - r).max(0.0);
            }
            match (low, high) {
                (true, _) => State::AtLower,
                (_, true) => State::AtUpper,
                _ => State::Inside,
            }
        }
        _ if open => State::Open,
        AdmissibleSet::Crushing { most, .. } if -*opening > w * (most - normal).max(0.0) => State::Crush,
        _ if r.len() == 1 => State::Closed,
        AdmissibleSet::Coulomb { mu: 0.0 } | AdmissibleSet::SecondOrder { mu: 0.0 } | AdmissibleSet::Crushing { mu: 0.0, .. } => {
            State::Closed
        }
        AdmissibleSet::Coulomb { mu } | AdmissibleSet::SecondOrder { mu } | AdmissibleSet::Crushing { mu, .. } => {
            if cone(mu, 1..r.len()) {
                State::Slip
            } else {
                State::Stick
            }
        }
        AdmissibleSet::Rolling { .. } | AdmissibleSet::Twisting { .. } => {
            let [(mu, tangents), rolls, twists] = set.discs(r.len());
            let turns = [rolls, twists].into_iter().any(|(mu, rows)| !rows.is_empty() && cone(mu, rows));
            match (cone(mu, tangents), turns) {
                (false, false) => State::Stick,
                (true, false) => State::Slip,
                (false, true) => State::Roll,
                (true, true) => State::SlipRoll,
            }
        }
    }
}

/// `ε = w |r − P_K(r − û/w)|`, no smaller than the rounding of u.
fn violation(set: AdmissibleSet, w: f64, r: &[f64], u: &[f64]) -> f64 {
    let mut x: Vec<f64> = r.iter().zip(u).map(|(r, u)| r - u / w).collect();
    x.iter_mut().take(1).for_each(|x| *x -= set.shift(u) / w);
    set.project(&mut x);
    let missed = x.iter().zip(r).map(|(x, r)| (r - x).powi(2)).sum::<f64>().sqrt();
    (w * missed).max(f64::EPSILON * w * length(r))
}

/// The state of every block of rows.
fn states(sets: &[AdmissibleSet], offsets: &[usize], scales: &Scales, r: &[f64], u: &[f64]) -> Vec<BlockState> {
    let block = |(i, &set): (usize, &AdmissibleSet)| {
        let rows = offsets[i]..offsets[i + 1];
        let (row, r, u, w) = (rows.start, &r[rows.clone()], &u[rows], scales.weights[i]);
        let tangents = match set {
            AdmissibleSet::Coulomb { .. } | AdmissibleSet::Crushing { .. } | AdmissibleSet::SecondOrder { .. } => 1..r.len(),
            AdmissibleSet::Rolling { .. } => 1..r.len() / 2 + 1,
            AdmissibleSet::Twisting { .. } => 1..3,
            _ => 0..0,
        };
        let first =
            if tangents.start == 0 { (0..r.len()).reduce(|a, b| if r[b].abs() > r[a].abs() { b } else { a }).unwrap_or(0) } else { 0 };
        let violation = violation(set, w, r, u);
        BlockState {
            row,
            state: state(set, r, u, w),
            normal: r.get(first).copied().unwrap_or(0.0),
            tangent: length(r.get(tangents.clone()).unwrap_or(&[])),
            opening: u.get(first).copied().unwrap_or(0.0),
            slip: length(u.get(tangents).unwrap_or(&[])),
            violation,
            misfit: scales.misfit(i, violation),
        }
    };
    sets.iter().enumerate().map(block).collect()
}

impl Stated<'_> {
    /// What every block does at `s.r`; u is recomputed.
    pub(super) fn blocks_at(self, s: &Solution) -> Result<Vec<BlockState>, ProblemError> {
        self.fits(s)?;
        let mut s = Solution { r: s.r.clone(), ..self.zero() };
        match self {
            Self::Local(p) => {
                p.residual(&s.r, &mut s.u);
                Ok(states(&p.sets, p.w.offsets(), &p.scales(), &s.r, &s.u))
            }
            Self::Global(p) => {
                let mut prepared = Prepared::new(p)?;
                prepared.velocity(&s.r, &mut s.v, &mut s.u);
                Ok(states(&p.sets, &p.offsets, prepared.scales(), &s.r, &s.u))
            }
            _ => {
                let Some(p) = self.rows() else {
                    let what = "the number of equations".into();
                    return Err(ProblemError::Size { what, found: s.u.len(), needed: s.r.len(), why: "one per unknown".into() });
                };
                p.residual(&s.r, &mut s.u);
                Ok(states(&p.sets, p.w.offsets(), &p.scales(), &s.r, &s.u))
            }
        }
    }

    /// Gives u and v of an answer the sizes of this problem; an error where its reactions are those of another.
    pub(super) fn make_room(self, s: &mut Solution) -> Result<(), ProblemError> {
        let [r, u, v] = self.sizes();
        let what = if self.complementarity().is_some() { "z" } else { "r" };
        size(what, s.r.len(), r, "one per unknown reaction")?;
        s.u.resize(u, 0.0);
        s.v.resize(v, 0.0);
        Ok(())
    }

    /// Whether the vectors of a guess or an answer are those of this problem; u may be missing, and v too.
    pub(super) fn fits(self, s: &Solution) -> Result<(), ProblemError> {
        let [r, u, v] = self.sizes();
        let vector = |what: &str, x: &[f64], needed: usize, why: &str, optional: bool| {
            if x.len() != needed && !(optional && x.is_empty()) {
                return Err(ProblemError::Size { what: what.into(), found: x.len(), needed, why: why.into() });
            }
            match x.iter().position(|x| !x.is_finite()) {
                Some(k) => Err(ProblemError::NotFinite { what: format!("value {k} of {what}") }),
                None => Ok(()),
            }
        };
        let (first, second) = if self.complementarity().is_some() { ("z", "w") } else { ("r", "u") };
        vector(&format!("{first} of the guess"), &s.r, r, "one per unknown reaction", false)?;
        vector(&format!("{second} of the guess"), &s.u, u, "one per row", true)?;
        vector("v of the guess", &s.v, v, "one per velocity", true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_block_is_read_from_its_complementary_pairs() {
        let coulomb = AdmissibleSet::Coulomb { mu: 0.5 };
        let cases = [
            (coulomb, vec![0.0, 0.0, 0.0], vec![1.0, 2.0, 0.0], State::Open),
            // what an iteration leaves of a reaction that should be none
            (coulomb, vec![1e-9, 0.0, 0.0], vec![1.0, 2.0, 0.0], State::Open),
            (coulomb, vec![2.0, 0.9, 0.0], vec![1e-9, 1e-9, 0.0], State::Stick),
            (coulomb, vec![2.0, -1.0, 0.0], vec![0.0, 0.3, 0.0], State::Slip),
            (AdmissibleSet::Coulomb { mu: 0.0 }, vec![2.0, 0.0], vec![0.0, 0.3], State::Closed),
            (AdmissibleSet::NonNegative, vec![2.0], vec![1e-9], State::Closed),
            (AdmissibleSet::NonNegative, vec![0.0], vec![1.0], State::Open),
            (AdmissibleSet::Crushing { mu: 0.5, most: 2.0 }, vec![2.0, -1.0, 0.0], vec![-1e-3, 0.3, 0.0], State::Crush),
            (AdmissibleSet::Crushing { mu: 0.5, most: 3.0 }, vec![2.0, -1.0, 0.0], vec![0.0, 0.3, 0.0], State::Slip),
            (AdmissibleSet::Crushing { mu: 0.5, most: 2.0 }, vec![0.0; 3], vec![0.1, 0.3, 0.0], State::Open),
            (AdmissibleSet::Free, vec![2.0], vec![0.0], State::Held),
            (AdmissibleSet::Interval { lower: -1.0, upper: 1.0 }, vec![-1.0], vec![2.0], State::AtLower),
            (AdmissibleSet::Interval { lower: -1.0, upper: 1.0 }, vec![1.0], vec![-2.0], State::AtUpper),
            (AdmissibleSet::Interval { lower: -1.0, upper: 1.0 }, vec![0.3], vec![0.0], State::Inside),
            (AdmissibleSet::Interval { lower: -1.0, upper: f64::INFINITY }, vec![7.0], vec![0.0], State::Inside),
        ];
        for (set, r, u, expected) in cases {
            assert_eq!(state(set, &r, &u, 1.0), expected, "{set:?} {r:?} {u:?}");
        }
        let rolling = AdmissibleSet::Rolling { mu: 0.5, mu_r: 0.1 };
        let at = |u: [f64; 5]| state(rolling, &[2.0, -1.0, 0.0, -0.2, 0.0], &u, 1.0);
        assert_eq!(at([0.0, 0.3, 0.0, 0.0, 0.0]), State::Slip);
        assert_eq!(at([0.0, 0.0, 0.0, 0.3, 0.0]), State::Roll);
        assert_eq!(at([0.0, 0.3, 0.0, 0.3, 0.0]), State::SlipRoll);
    }
}
