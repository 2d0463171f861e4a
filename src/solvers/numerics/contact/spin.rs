//! One contact that resists rolling and twisting.

use super::{LocalOperator, RollingOperator};
use glam::{DMat3, DVec3};

/// Alternations between the force and the moment of a contact: what is left goes into the next sweep.
const ROUNDS: usize = 12;
/// Change, in parts of the reaction, at which they end where changes shrink.
const SETTLED: f64 = 1e-4;
/// The same for any change.
const FINE: f64 = 1e-9;
/// Part of the change before from which on it does not shrink: half of it is taken then. A force whose moment lifts the contact off, and that
/// comes back without the moment, would go to and fro for ever.
const SHRINKS: f64 = 0.5;
/// Part of its trace that is added to the operator of the moments: an axis about which neither body turns is left alone.
const REGULAR: f64 = 1e-12;

/// The operator of a contact with moments, in velocities and impulses alike (a moment is a length times `p`, its velocity that length
/// times the relative angular velocity), axes `(n, t1, t2)` for both:
///
/// ```text
/// u = W r + C p + q        s = Cᵀ r + A p + q_s        r obeys Coulomb's law with u
/// ‖(p₁, p₂)‖ ≤ μ_r r_n ⟂ rolling,   |p_n| ≤ μ_t r_n ⟂ twisting:   −s is normal to the two discs at p
/// ```
///
/// Where the moments hold, p follows r, and the contact is one with the operator `W − C A⁻¹ Cᵀ`: most contacts of a pile are, and are solved
/// at once. Else force and moments are solved in turn.
///
/// ```
/// use drystone::numerics::contact::{LocalOperator, SpinOperator};
/// use glam::{DMat3, DVec3};
/// // a ball of 1 kg and radius 1 m on the floor, rolling along t1: moments about t2 are as far away as the floor
/// let w = LocalOperator::new(1.0, [0.0, 0.0], [3.5, 0.0, 3.5]).expect("positive");
/// let cross = DMat3::from_cols(DVec3::ZERO, DVec3::Z * 2.5, DVec3::Y * -2.5);
/// let spin = SpinOperator::new(&w, cross, DMat3::from_diagonal(DVec3::splat(2.5))).expect("finite");
/// // u_t1 = v + ω_t2 = 0 before, pressed by 1 N s: it goes on rolling, more slowly
/// let (r, p) = spin.solve(&w, (DVec3::new(-1.0, 0.0, 0.0), DVec3::new(0.0, 0.0, -2.0)), [0.5, 0.1, 0.0], (DVec3::ZERO, DVec3::ZERO), None);
/// assert!((r.x - 1.0).abs() < 1e-12 && (p.z - 0.1).abs() < 1e-12 && r.y != 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpinOperator {
    /// C: velocity of the point per moment.
    pub cross: DMat3,
    /// A: turning per moment, symmetric.
    pub own: DMat3,
    inverse: DMat3,
    /// largest eigenvalue of A over the two axes of rolling
    roll: f64,
    stuck: Option<LocalOperator>,
}

impl SpinOperator {
    /// Splits the operator; `None` where a number is not finite.
    pub fn new(w: &LocalOperator, cross: DMat3, own: DMat3) -> Option<Self> {
        let trace = own.x_axis.x + own.y_axis.y + own.z_axis.z;
        let inverse = if trace > 0.0 { (own + DMat3::from_diagonal(DVec3::splat(REGULAR * trace))).inverse() } else { DMat3::ZERO };
        let bent = cross * inverse * cross.transpose();
        let nt = [w.nt[0] - 0.5 * (bent.x_axis.y + bent.y_axis.x), w.nt[1] - 0.5 * (bent.x_axis.z + bent.z_axis.x)];
        let tt = [w.tt[0] - bent.y_axis.y, w.tt[1] - 0.5 * (bent.y_axis.z + bent.z_axis.y), w.tt[2] - bent.z_axis.z];
        let stuck = LocalOperator::new(w.nn - bent.x_axis.x, nt, tt).filter(|_| trace > 0.0);
        let (mean, half, off) = (0.5 * (own.y_axis.y + own.z_axis.z), 0.5 * (own.y_axis.y - own.z_axis.z), own.y_axis.z);
        let roll = mean + (half * half + off * off).sqrt();
        (cross.is_finite() && own.is_finite() && inverse.is_finite()).then_some(Self { cross, own, inverse, roll, stuck })
    }

    /// The operators of a symmetric row-major matrix whose rows are `(n, t1, t2, m1, m2, m_n)`.
    pub(in crate::numerics) fn of_rows(w: &[f64; 36]) -> Option<(LocalOperator, Self)> {
        let at = |i: usize, j: usize| w[6 * i + j];
        let local = LocalOperator::new(at(0, 0), [at(0, 1), at(0, 2)], [at(1, 1), at(1, 2), at(2, 2)])?;
        let moments = [5, 3, 4];
        let cross = moments.map(|j| DVec3::new(at(0, j), at(1, j), at(2, j)));
        let own = moments.map(|j| DVec3::new(at(5, j), at(3, j), at(4, j)));
        let matrix = |[x, y, z]: [DVec3; 3]| DMat3::from_cols(x, y, z);
        Some((local, Self::new(&local, matrix(cross), matrix(own))?))
    }

    /// `(W r + C p, Cᵀ r + A p)`
    #[inline]
    pub fn apply(&self, w: &LocalOperator, r: DVec3, p: DVec3) -> (DVec3, DVec3) {
        (w.apply(r) + self.cross * p, self.turning(r) + self.own * p)
    }

    /// `Cᵀ r`
    #[inline]
    fn turning(&self, r: DVec3) -> DVec3 {
        DVec3::new(self.cross.x_axis.dot(r), self.cross.y_axis.dot(r), self.cross.z_axis.dot(r))
    }

    /// Reaction and moment, `(q, q_s)` being the velocities without them and `(r, p)` a guess; `bounds` are μ, μ_r and μ_t. With a known De Saxcé
    /// `shift` the force obeys the convex law.
    pub fn solve(
        &self,
        w: &LocalOperator,
        (q, turn): (DVec3, DVec3),
        bounds: [f64; 3],
        (mut r, mut p): (DVec3, DVec3),
        shift: Option<f64>,
    ) -> (DVec3, DVec3) {
        let [mu, roll, twist] = bounds;
        let force = |w: &LocalOperator, q: DVec3, near: DVec3| match shift {
            None => w.solve_near(q, mu, near),
            Some(shift) => w.solve_convex(q + shift * DVec3::X, mu),
        };
        if let Some(stuck) = &self.stuck {
            let held = force(stuck, q - self.cross * (self.inverse * turn), r);
            let moment = -(self.inverse * (turn + self.turning(held)));
            let rolled = moment.y * moment.y + moment.z * moment.z;
            if rolled <= (roll * held.x).powi(2) && moment.x.abs() <= twist * held.x {
                return (held, moment);
            }
        }
        let (mut taken, mut before) = (1.0, 0.0);
        for _ in 0..ROUNDS {
            let new = r + taken * (force(w, q + self.cross * p, r) - r);
            let moment = self.moment(turn + self.turning(new), [roll * new.x, twist * new.x], p);
            let change = (new - r).abs().max_element().max((moment - p).abs().max_element());
            (r, p) = (new, moment);
            let shrinks = change <= SHRINKS * before;
            if change <= FINE * r.x || (shrinks && change <= SETTLED * r.x) {
                break;
            }
            if before > 0.0 && !shrinks {
                taken = f64::max(0.5 * taken, 0.25);
            }
            before = change;
        }
        (r, p)
    }

    /// Reaction and moment of a contact whose friction resists drilling: `‖(r_t, p_n)‖ ≤ μ r_n` and `‖(p₁, p₂)‖ ≤ μ_r r_n`, exactly
    /// ([`RollingOperator`]).
    ///
    /// ```
    /// use drystone::numerics::contact::{LocalOperator, SpinOperator};
    /// use glam::{DMat3, DVec3};
    /// // a puck pressed by 1 N s that slides at 3 m/s and spins four times as fast at the rim of its patch
    /// let w = LocalOperator::new(1.0, [0.0, 0.0], [1e-3, 0.0, 1e-3]).expect("positive");
    /// let spin = SpinOperator::new(&w, DMat3::ZERO, DMat3::from_diagonal(DVec3::new(1e-3, 1.0, 1.0))).expect("finite");
    /// let (r, p) = spin.solve_drilling(&w, (DVec3::new(-1.0, 3.0, 0.0), DVec3::new(12.0, 0.0, 0.0)), [0.5, 0.0]);
    /// assert!((r.y + 0.5 / f64::sqrt(17.0)).abs() < 1e-9 && (r.y.hypot(p.x) - 0.5).abs() < 1e-12);
    /// ```
    pub fn solve_drilling(&self, w: &LocalOperator, (q, turn): (DVec3, DVec3), [mu, roll]: [f64; 2]) -> (DVec3, DVec3) {
        if q.x >= 0.0 {
            return (DVec3::ZERO, DVec3::ZERO);
        }
        let forces = [[w.nn, w.nt[0], w.nt[1]], [w.nt[0], w.tt[0], w.tt[1]], [w.nt[1], w.tt[1], w.tt[2]]];
        let (mut all, mut r) = ([0.0; 36], [0.0; 6]);
        for i in 0..3 {
            for j in 0..3 {
                let cross = self.cross.col(j)[i];
                all[6 * i + j] = forces[i][j];
                (all[6 * i + 3 + j], all[6 * (3 + j) + i]) = (cross, cross);
                all[6 * (3 + i) + 3 + j] = self.own.col(j)[i];
            }
        }
        if let Some(contact) = RollingOperator::new(&all, 6) {
            contact.solve(&[q.x, q.y, q.z, turn.x, turn.y, turn.z], mu, roll, &mut r);
        }
        (DVec3::new(r[0], r[1], r[2]), DVec3::new(r[3], r[4], r[5]))
    }

    /// The moment within discs of fixed size, `turn` being the turning without it: twist and roll in turn, the latter by a projected step.
    fn moment(&self, turn: DVec3, [roll, twist]: [f64; 2], mut p: DVec3) -> DVec3 {
        if roll <= 0.0 && twist <= 0.0 {
            return DVec3::ZERO;
        }
        let own = &self.own;
        for _ in 0..2 {
            let about_n = turn.x + own.y_axis.x * p.y + own.z_axis.x * p.z;
            p.x = if own.x_axis.x > 0.0 { (-about_n / own.x_axis.x).max(-twist).min(twist) } else { 0.0 };
            if self.roll <= 0.0 {
                continue;
            }
            let s = turn + *own * p;
            let (y, z) = (p.y - s.y / self.roll, p.z - s.z / self.roll);
            let size = (y * y + z * z).sqrt();
            let scale = if size > roll { roll / size } else { 1.0 };
            (p.y, p.z) = (y * scale, z * scale);
        }
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::random::Sequence;
    use crate::numerics::admissible::AdmissibleSet;

    /// Contacts of two bodies with any mass, inertia and arms: the natural map of the law vanishes where visits settle, and at once where
    /// the moments hold.
    #[test]
    fn visits_settle_on_the_law() {
        let mut random = Sequence::new(9);
        let mut noise = || random.next_between(-0.5, 0.5);
        let (mut worst, mut held) = (0.0_f64, 0);
        for case in 0..2000 {
            // H of six rows on two bodies, at least one of which moves in all of its axes
            let mut h = [[0.0; 12]; 6];
            let arms = [0, 1].map(|_| DVec3::new(noise(), noise(), noise()));
            for k in 0..2 {
                let (sign, scale) = if k == 0 { (1.0, 1.0) } else { (-1.0, libm::exp(4.0 * noise())) };
                for (row, axis) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
                    let turn = arms[k].cross(axis);
                    for i in 0..3 {
                        h[row][6 * k + i] = sign * scale * axis[i];
                        h[row][6 * k + 3 + i] = sign * scale * 2.0 * turn[i];
                    }
                }
                for (row, axis) in [(3, 1), (4, 2), (5, 0)] {
                    h[row][6 * k + 3 + axis] = sign * scale;
                }
            }
            let mut w = [0.0; 36];
            for i in 0..6 {
                for j in 0..6 {
                    w[6 * i + j] = (0..12).map(|k| h[i][k] * h[j][k]).sum();
                }
            }
            let (local, spin) = SpinOperator::of_rows(&w).expect("positive");
            let bounds = [1.0 + noise(), 0.5 + noise(), if case % 3 == 0 { 0.0 } else { 0.5 + noise() }];
            let q = (DVec3::new(-noise().abs(), noise(), noise()), DVec3::new(noise(), noise(), noise()) * 0.6);
            let mut at = (DVec3::ZERO, DVec3::ZERO);
            let once = spin.solve(&local, q, bounds, at, None);
            for _ in 0..400 {
                at = spin.solve(&local, q, bounds, at, None);
            }
            let (u, s) = spin.apply(&local, at.0, at.1);
            let (u, s) = (u + q.0, s + q.1);
            let mut r = [at.0.x, at.0.y, at.0.z, at.1.y, at.1.z, at.1.x];
            let mut x = [u.x, u.y, u.z, s.y, s.z, s.x];
            let set = AdmissibleSet::Twisting { mu: bounds[0], mu_r: bounds[1], mu_t: bounds[2] };
            x[0] += set.shift(&x);
            (0..6).for_each(|i| x[i] = r[i] - x[i]);
            set.project(&mut x);
            (0..6).for_each(|i| r[i] -= x[i]);
            worst = worst.max(r.iter().fold(0.0, |m, x| x.abs().max(m)));
            if s.length() < 1e-9 && at.0.x > 0.0 {
                held += 1;
                assert!((once.0 - at.0).length() + (once.1 - at.1).length() < 1e-9, "case {case}");
            }
        }
        assert!(worst < 1e-9 && held > 30, "{worst:e} {held}");
    }
}
