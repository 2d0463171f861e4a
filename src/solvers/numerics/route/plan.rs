//! What of a problem stands as long as its revision: bounds per row, scales, and which kinds of blocks there are.

use super::{Route, RoutedProblem};
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::local::{LocalProblem, finite, validate_sets};
use crate::numerics::{Report, Status};

/// Kinds of blocks, as bits: what a set of blocks holds is the union over its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    const FREE: u8 = 1;
    const NON_NEGATIVE: u8 = 2;
    const INTERVAL: u8 = 4;
    const FRICTION2: u8 = 8;
    const FRICTION3: u8 = 16;
    const ROLLING: u8 = 32;
    const SECOND_ORDER: u8 = 64;

    fn of(set: AdmissibleSet, rows: usize) -> Self {
        Self(match (set, rows) {
            (_, 0) => 0,
            (AdmissibleSet::Free, _) => Self::FREE,
            (AdmissibleSet::NonNegative, _) => Self::NON_NEGATIVE,
            (AdmissibleSet::Interval { .. }, _) | (AdmissibleSet::Crushing { .. }, 1) => Self::INTERVAL,
            // a normal without tangents
            (_, 1) => Self::NON_NEGATIVE,
            (AdmissibleSet::Coulomb { .. }, 2) => Self::FRICTION2,
            (AdmissibleSet::Coulomb { .. }, _) => Self::FRICTION3,
            (AdmissibleSet::Crushing { .. } | AdmissibleSet::Rolling { .. } | AdmissibleSet::Twisting { .. }, _) => Self::ROLLING,
            (AdmissibleSet::SecondOrder { .. }, _) => Self::SECOND_ORDER,
        })
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has_cones(self) -> bool {
        self.0 >= Self::FRICTION2
    }

    /// Bounds and plane friction: what can be written as complementarity.
    pub(super) fn is_plane(self) -> bool {
        self.0 < Self::FRICTION3
    }

    pub(super) fn route(self) -> Route {
        const MLCP: u8 = Traits::FREE | Traits::NON_NEGATIVE;
        match self.0 {
            0 => Route::Nothing,
            Self::FREE => Route::Equality,
            Self::NON_NEGATIVE => Route::Lcp,
            MLCP => Route::Mlcp,
            bits if bits < Self::FRICTION2 => Route::Relay,
            Self::FRICTION2 => Route::Friction2,
            Self::FRICTION3 => Route::Friction3,
            Self::ROLLING => Route::Rolling,
            Self::SECOND_ORDER => Route::SecondOrder,
            _ => Route::Mixed,
        }
    }
}

/// Velocity by which the law is missed, over the data, that no solution has, however small it is beside r.
pub(super) const RUNAWAY: f64 = 1e-4;

/// One revision of a problem.
#[derive(Debug, Default)]
pub(super) struct Plan {
    known: bool,
    revision: u64,
    /// sizes fit, coefficients make sense, W is finite
    pub(super) valid: bool,
    pub(super) offsets: Vec<usize>,
    pub(super) sets: Vec<AdmissibleSet>,
    traits: Vec<Traits>,
    weights: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// scale D of e_s, per row: the mean of the diagonal of the row's block, or the mean of those where that is not positive
    pub(super) d: Vec<f64>,
    pub(super) d_inv: Vec<f64>,
    /// largest |W_ij| of each row
    pub(super) w_max: Vec<f64>,
    /// square of what reactions on finite bounds push with: data like q
    pushes: f64,
}

impl Plan {
    #[inline]
    pub(super) fn order(&self) -> usize {
        self.lower.len()
    }

    #[inline]
    pub(super) fn blocks(&self) -> usize {
        self.sets.len()
    }

    #[inline]
    pub(super) fn is_of(&self, p: &RoutedProblem) -> bool {
        self.known && self.revision == p.revision && self.sets.len() == p.problem.sets.len() && self.order() == p.order()
    }

    #[cold]
    pub(super) fn set(&mut self, p: &RoutedProblem) {
        let (n, LocalProblem { w, sets, .. }) = (p.order(), &p.problem);
        self.known = true;
        self.revision = p.revision;
        self.valid = sets.len() == w.block_count() && finite("W", w.values()).is_ok() && validate_sets(sets, w.offsets()).is_ok();
        self.offsets.clear();
        self.offsets.extend_from_slice(w.offsets());
        self.sets.clone_from(sets);
        for values in [&mut self.lower, &mut self.upper, &mut self.d, &mut self.d_inv, &mut self.w_max] {
            values.clear();
            values.resize(n, 0.0);
        }
        self.traits.clear();
        if !self.valid {
            return;
        }
        self.traits.extend(sets.iter().enumerate().map(|(i, set)| Traits::of(*set, w.rows(i))));
        p.problem.weigh(&mut self.weights);
        for (i, (set, &d)) in sets.iter().zip(&self.weights).enumerate() {
            let (lower, upper) = set.bounds();
            for (values, x) in [(&mut self.lower, lower), (&mut self.upper, upper), (&mut self.d, d), (&mut self.d_inv, 1.0 / d)] {
                values[w.range(i)].fill(x);
            }
            for (j, block) in w.row(i) {
                for (m, row) in self.w_max[w.range(i)].iter_mut().zip(block.chunks_exact(w.rows(j).max(1))) {
                    *m = row.iter().fold(*m, |m, x| m.max(x.abs()));
                }
            }
        }
        self.pushes = 0.0;
        for (w, bounds) in self.w_max.iter().zip(self.lower.iter().zip(&self.upper)) {
            let bound = [*bounds.0, *bounds.1].into_iter().filter(|b| b.is_finite()).fold(0.0f64, |m, b| m.max(b.abs()));
            self.pushes += (w * bound).powi(2);
        }
    }

    /// What the active blocks are.
    #[inline]
    pub(super) fn active_traits(&self, p: &RoutedProblem) -> Traits {
        Traits(self.traits.iter().zip(&p.active).fold(0, |all, (t, active)| all | (t.0 & u8::from(*active).wrapping_neg())))
    }

    /// Nearest point of the interval of row i.
    #[inline(always)]
    pub(super) fn project(&self, i: usize, x: f64) -> f64 {
        x.max(self.lower[i]).min(self.upper[i])
    }

    /// `r` made a legal guess: finite, in its set, 0 on inactive blocks.
    pub(super) fn admit(&self, p: &RoutedProblem, r: &mut [f64]) {
        for (i, set) in self.sets.iter().enumerate() {
            let r = &mut r[self.offsets[i]..self.offsets[i + 1]];
            if !p.active[i] || r.iter().any(|x| !x.is_finite()) {
                r.fill(0.0);
            }
            if p.active[i] && !r.is_empty() {
                set.project(r);
            }
        }
    }
}

/// Sums of squares over rows: what the three errors are made of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) plain: f64,
    pub(super) scaled: f64,
    /// squares of the velocities by which blocks miss their laws
    pub(super) violated: f64,
    pub(super) q: f64,
    pub(super) r: f64,
    pub(super) u: f64,
    pub(super) r_scaled: f64,
    pub(super) q_scaled: f64,
}

impl Sums {
    /// Adds row i, which has bounds.
    #[inline(always)]
    pub(super) fn add_row(&mut self, plan: &Plan, i: usize, q: f64, r: f64, u: f64) {
        let (d, d_inv) = (plan.d[i], plan.d_inv[i]);
        let (lower, upper) = (plan.lower[i], plan.upper[i]);
        // r − P(r − u), which inside the bounds is u
        let map = |u: f64| {
            let x = r - u;
            if x < lower {
                r - lower
            } else if x > upper {
                r - upper
            } else {
                u
            }
        };
        let (plain, scaled) = (map(u), map(d_inv * u));
        self.plain += plain * plain;
        self.scaled += d * scaled * scaled;
        self.violated += (d * scaled) * (d * scaled);
        self.add_sizes(d, d_inv, q, r, u);
    }

    #[inline(always)]
    fn add_sizes(&mut self, d: f64, d_inv: f64, q: f64, r: f64, u: f64) {
        self.q += q * q;
        self.r += r * r;
        self.u += u * u;
        self.r_scaled += d * r * r;
        self.q_scaled += d_inv * q * q;
    }

    /// Adds a block of any set; `x` is as long as the block.
    pub(super) fn add_block(&mut self, plan: &Plan, i: usize, q: &[f64], r: &[f64], u: &[f64], x: &mut [f64]) {
        let first = plan.offsets[i];
        let set = plan.sets[i];
        let shift = set.shift(u);
        let before = self.scaled;
        for (step, weight, sum) in [(1.0, 1.0, &mut self.plain), (plan.d_inv[first], plan.d[first], &mut self.scaled)] {
            (0..r.len()).for_each(|k| x[k] = r[k] - step * u[k]);
            x[0] -= step * shift;
            set.project(x);
            *sum += weight * r.iter().zip(x.iter()).map(|(r, x)| (r - x) * (r - x)).sum::<f64>();
        }
        self.violated += plan.d[first] * (self.scaled - before);
        for k in 0..r.len() {
            self.add_sizes(plan.d[first], plan.d_inv[first], q[k], r[k], u[k]);
        }
    }

    /// `Stalled` where the error is small only because r has grown beyond what data of this size could ask for.
    #[inline(always)]
    pub(super) fn report(&self, plan: &Plan, tolerance: f64) -> Report {
        let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { (a / b.max(f64::MIN_POSITIVE)).sqrt() };
        let rel = ratio(self.plain, self.q.max(self.r).max(self.u));
        let (violation, misfit) = (self.violated.sqrt(), ratio(self.violated, self.q + plan.pushes));
        let status = if rel <= tolerance && misfit <= RUNAWAY { Status::Converged } else { Status::Stalled };
        let (rel_q, e_s) = (ratio(self.plain, self.q), ratio(self.scaled, self.r_scaled.max(self.q_scaled)));
        Report { status, rel, rel_q, e_s, violation, misfit, ..Report::default() }
    }
}
