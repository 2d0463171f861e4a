//! One contact that resists rolling, exactly.

use crate::algebra::dense::norm;
use std::array::from_fn;

/// Friction with resistance to rolling, rows `(n, t, m)` or `(n, t1, t2, m1, m2)`, or `(n, t1, t2, d, m1, m2)` where friction resists drilling
/// too, `‖(r_t, d)‖ ≤ μ r_n`; `w` is row-major of that order.
///
/// Two multipliers, `u_t = −λ r_t` and `ω = −κ m`, solve
///
/// ```text
/// (S + diag(λ, κ)) (r_t, m) = −c      0 ≤ λ ⟂ μ r_n − |r_t| ≥ 0      0 ≤ κ ⟂ μ_r r_n − |m| ≥ 0
/// ```
///
/// by Newton on both secular equations. Where that fails (in no rolling problem of the public collection, but in up to 3 of 100
/// random contacts with a condition of W up to 1e8, and in 1 of 70 that drill on small patches, whose poles lie far apart), one
/// equation is solved after the other, and r_n follows, until Newton gets there: 20 to 300 systems of five rows. Where that fails too, r_n is bracketed on
/// `u_n(r_n) = 0` between discs of fixed size, whose λ and κ Newton, or nested brackets, find: some 10⁴ of them.
///
/// ```
/// use drystone::numerics::contact::RollingOperator;
/// let w = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let contact = RollingOperator::new(&w, 3).expect("a normal that moves");
/// let mut r = [0.0; 3];
/// contact.solve(&[-1.0, 9.0, 0.01], 0.5, 0.1, &mut r);
/// assert!((r[1] + 0.5).abs() < 1e-12 && (r[2] + 0.01).abs() < 1e-12); // slips, but does not roll
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RollingOperator {
    /// rows of friction, and of all
    parts: [usize; 2],
    nn_inv: f64,
    nt: [f64; 5],
    tn: [f64; 5],
    s: [[f64; 5]; 5],
    /// largest diagonal of W in each disc
    scale: [f64; 2],
}

/// Points of Newton's method, and times that a step is halved.
const MOST: usize = 30;
const HALVINGS: usize = 5;
/// Misfit of a disc that is rounding: far below what any tolerance asks, where a step no longer makes it less.
const ROUNDING: f64 = 1e-12;
/// Rounds of one equation after the other; misfit from which Newton is tried, and part of the one it was tried at before.
const ROUNDS: usize = 40;
const NEAR: f64 = 0.1;
const GAIN: f64 = 0.3;
/// How far r_n follows in a round: less where it went too far, more where it creeps, as it does where `μ` times the coupling of rows is near 1.
const RELAXATION: (f64, f64) = (0.1, 10.0);

/// `r_n = free − nt · x` and `(A + diag(λ, κ)) x = −c`.
struct Pressed {
    a: [[f64; 5]; 5],
    nt: [f64; 5],
    free: f64,
    minus_c: [f64; 5],
}

/// `r_n`, `x = (r_t, m)` and the lengths of its parts at one pair of multipliers.
#[derive(Clone, Copy, Debug)]
struct RollingPoint {
    rn: f64,
    x: [f64; 5],
    size: [f64; 2],
    /// sum of what r_n is made of: its rounding
    rn_parts: f64,
}

impl RollingOperator {
    /// Splits the row-major `w` of 3, 5 or 6 rows; `None` unless `W_nn` is positive and everything finite.
    pub fn new(w: &[f64], rows: usize) -> Option<Self> {
        if !matches!(rows, 3 | 5 | 6) || w.len() != rows * rows {
            return None;
        }
        let (nn_inv, tangent) = (1.0 / w[0], rows - 1);
        let mut o = Self { parts: [rows / 2, tangent], nn_inv, ..Self::default() };
        for i in 0..tangent {
            o.nt[i] = w[i + 1] * nn_inv;
            o.tn[i] = w[(i + 1) * rows] * nn_inv;
        }
        for i in 0..tangent {
            for j in 0..tangent {
                o.s[i][j] = w[(i + 1) * rows + j + 1] - w[(i + 1) * rows] * o.nt[j];
            }
            let scale = &mut o.scale[usize::from(i >= o.parts[0])];
            *scale = scale.max(w[(i + 1) * rows + i + 1].abs());
        }
        let good = w[0] > 0.0 && nn_inv.is_finite() && o.s.iter().flatten().all(|x| x.is_finite());
        good.then_some(o)
    }

    fn disc(&self, k: usize) -> std::ops::Range<usize> {
        if k == 0 { 0..self.parts[0] } else { self.parts[0]..self.parts[1] }
    }

    /// Solves `(A + diag(λ, κ)) x = b`; an infinite multiplier holds its part at 0.
    fn invert(&self, mut a: [[f64; 5]; 5], multiplier: [f64; 2], mut b: [f64; 5]) -> [f64; 5] {
        let n = self.parts[1];
        for (k, &multiplier) in multiplier.iter().enumerate() {
            for i in self.disc(k) {
                if multiplier.is_infinite() {
                    a[i] = from_fn(|j| f64::from(u8::from(i == j)));
                    b[i] = 0.0;
                } else {
                    // the rounding of W itself; keeps a singular S in hand
                    a[i][i] += multiplier + 8.0 * f64::EPSILON * self.scale[k];
                }
            }
        }
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
            a.swap(k, pivot);
            b.swap(k, pivot);
            let inverse = if a[k][k] == 0.0 { 0.0 } else { 1.0 / a[k][k] };
            for i in k + 1..n {
                let f = a[i][k] * inverse;
                let row = a[k];
                (k..n).for_each(|j| a[i][j] -= f * row[j]);
                b[i] -= f * b[k];
            }
        }
        for k in (0..n).rev() {
            let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
            b[k] = if a[k][k] == 0.0 { 0.0 } else { (b[k] - sum) / a[k][k] };
        }
        b
    }

    fn point(&self, f: &Pressed, multiplier: [f64; 2]) -> RollingPoint {
        let x = self.invert(f.a, multiplier, f.minus_c);
        let pull = |i: usize| f.nt[i] * x[i];
        let tangents = 0..self.parts[1];
        RollingPoint {
            rn: f.free - tangents.clone().map(pull).sum::<f64>(),
            x,
            size: [0, 1].map(|k| norm(&x[self.disc(k)])),
            rn_parts: f.free + tangents.map(|i| pull(i).abs()).sum::<f64>(),
        }
    }

    /// The reaction that solves the contact, `q` being its velocity without it.
    pub fn solve(&self, q: &[f64], mu: f64, mu_r: f64, r: &mut [f64]) {
        r.fill(0.0);
        if q[0] >= 0.0 {
            return;
        }
        let bound = [mu, mu_r];
        let minus_c = from_fn(|i| if i < self.parts[1] { self.tn[i] * q[0] - q[i + 1] } else { 0.0 });
        let f = Pressed { a: self.s, nt: self.nt, free: -q[0] * self.nn_inv, minus_c };
        let found = self.newton(&f, bound, None).or_else(|| self.one_by_one(q, &f, bound));
        let (multiplier, at) = found.unwrap_or_else(|| self.nested(q, bound));
        r[0] = at.rn.max(0.0);
        for k in 0..2 {
            // exactly on the disc where the multiplier says so
            let limit = bound[k].max(0.0) * r[0];
            let scale = if at.size[k] > limit || (multiplier[k] > 0.0 && at.size[k] > 0.0) { limit / at.size[k] } else { 1.0 };
            self.disc(k).for_each(|i| r[i + 1] = at.x[i] * scale);
        }
    }

    /// Both laws hold to rounding.
    fn fits(&self, at: &RollingPoint, bound: [f64; 2], multiplier: [f64; 2]) -> bool {
        at.rn >= 0.0
            && (0..2).all(|k| {
                let g = at.size[k] - bound[k] * at.rn;
                let noise = 1e-14 * (at.size[k] + bound[k] * at.rn_parts);
                multiplier[k].is_infinite() || if multiplier[k] == 0.0 { g <= 0.0 } else { g.abs() <= noise }
            })
    }

    /// Newton on `1/(μ r_n) − 1/|r_t|` for the discs that bind, from `guess` or where loads alone would have them; a multiplier that turns
    /// negative lets go.
    fn newton(&self, f: &Pressed, bound: [f64; 2], guess: Option<[f64; 2]>) -> Option<([f64; 2], RollingPoint)> {
        let start = free(bound);
        let mut multiplier = match guess {
            Some(guess) => guess,
            None => {
                let at = self.point(f, start);
                if self.fits(&at, bound, start) {
                    return Some((start, at));
                }
                let c = [0, 1].map(|k| norm(&f.minus_c[self.disc(k)]));
                from_fn(|k| if start[k].is_infinite() { start[k] } else { (c[k] / (bound[k] * f.free) - self.scale[k]).max(0.0) })
            }
        };
        let (mut best, mut halvings) = (None::<(f64, [f64; 2], RollingPoint)>, 0);
        for _ in 0..MOST {
            let at = self.point(f, multiplier);
            if self.fits(&at, bound, multiplier) {
                return Some((multiplier, at));
            }
            let open: [bool; 2] = from_fn(|k| is_open(&at, bound, multiplier, k));
            let error = if at.rn > 0.0 { misfit(&at, bound, multiplier) } else { f64::INFINITY };
            if error.is_infinite() || halvings < HALVINGS && best.is_some_and(|b| error >= b.0) {
                // too far: half way back, or at the start with far more resistance
                let towards = |k: usize, x: f64| best.map_or(10.0 * x + self.scale[k], |b| 0.5 * (x + b.1[k]));
                multiplier = from_fn(|k| if start[k].is_infinite() { start[k] } else { towards(k, multiplier[k]) });
                halvings += 1;
                continue;
            }
            (best, halvings) = (Some((error, multiplier, at)), 0);
            let on: [bool; 2] = from_fn(|k| !multiplier[k].is_infinite() && !open[k] && at.size[k] > 0.0);
            let phi: [f64; 2] = from_fn(|k| if on[k] { 1.0 / (bound[k] * at.rn) - 1.0 / at.size[k] } else { 0.0 });
            let mut jac = [[1.0, 0.0], [0.0, 1.0]];
            for l in (0..2).filter(|&l| on[l]) {
                let dx = self.follow(f, multiplier, &at, l);
                let drn = -(0..self.parts[1]).map(|i| f.nt[i] * dx[i]).sum::<f64>();
                for k in (0..2).filter(|&k| on[k]) {
                    let ds = self.disc(k).map(|i| at.x[i] * dx[i]).sum::<f64>() / at.size[k];
                    jac[k][l] = ds / at.size[k].powi(2) - drn / (bound[k] * at.rn * at.rn);
                }
            }
            let det = jac[0][0] * jac[1][1] - jac[0][1] * jac[1][0];
            let step = [(jac[1][1] * phi[0] - jac[0][1] * phi[1]) / det, (jac[0][0] * phi[1] - jac[1][0] * phi[0]) / det];
            if !step.iter().all(|s| s.is_finite()) {
                break;
            }
            (0..2).filter(|&k| on[k]).for_each(|k| multiplier[k] = (multiplier[k] - step[k]).max(0.0));
        }
        best.filter(|b| b.0 <= ROUNDING).map(|(_, multiplier, at)| (multiplier, at))
    }

    /// How x follows the multiplier of part l.
    fn follow(&self, f: &Pressed, multiplier: [f64; 2], at: &RollingPoint, l: usize) -> [f64; 5] {
        self.invert(f.a, multiplier, from_fn(|i| if self.disc(l).contains(&i) { -at.x[i] } else { 0.0 }))
    }

    /// The law of discs of fixed size, `a` being that of given r_n.
    fn pressed(&self, q: &[f64], rn: f64) -> Pressed {
        let (n, nn) = (self.parts[1], 1.0 / self.nn_inv);
        let a = from_fn(|i| from_fn(|j| self.s[i][j] + nn * self.tn[i] * self.nt[j]));
        Pressed { a, nt: [0.0; 5], free: rn, minus_c: from_fn(|i| if i < n { -q[i + 1] - nn * self.tn[i] * rn } else { 0.0 }) }
    }

    /// Discs of fixed size, two steps each on κ and λ from below, where `1/|x|` is concave, then r_n; Newton on all from there.
    #[cold]
    fn one_by_one(&self, q: &[f64], f: &Pressed, bound: [f64; 2]) -> Option<([f64; 2], RollingPoint)> {
        let (mut multiplier, mut rn, mut tried) = (free(bound), f.free, f64::INFINITY);
        let (mut relaxation, mut last) = (1.0f64, 0.0);
        for _ in 0..ROUNDS {
            let fixed = self.pressed(q, rn);
            for k in [1, 0, 1, 0] {
                let at = self.point(&fixed, multiplier);
                if multiplier[k].is_infinite() || is_open(&at, bound, multiplier, k) {
                    continue;
                }
                let dx = self.follow(&fixed, multiplier, &at, k);
                let slope = -self.disc(k).map(|i| at.x[i] * dx[i]).sum::<f64>() / at.size[k].powi(3);
                multiplier[k] = (multiplier[k] + (1.0 / (bound[k] * rn) - 1.0 / at.size[k]) / slope).max(0.0);
            }
            let at = self.point(&fixed, multiplier);
            let next = f.free - (0..self.parts[1]).map(|i| f.nt[i] * at.x[i]).sum::<f64>();
            let error = misfit(&at, bound, multiplier).max((next - rn).abs() / rn);
            // `max` passes over NaN
            if !(error.is_finite() && (next - rn).is_finite() && multiplier.iter().all(|m| !m.is_nan())) {
                return None;
            }
            if error < NEAR && error < GAIN * tried {
                tried = error;
                if let found @ Some(_) = self.newton(f, bound, Some(multiplier)) {
                    return found;
                }
            }
            let step = if next > 0.0 { next - rn } else { -0.5 * rn };
            relaxation = if step * last < 0.0 { (0.5 * relaxation).max(RELAXATION.0) } else { (1.5 * relaxation).min(RELAXATION.1) };
            last = step;
            rn += (relaxation * step).clamp(-0.7 * rn, 2.0 * rn);
        }
        None
    }

    /// Bracketing on r_n; at each r_n the discs are of fixed size and Newton, or bracketing on λ and κ, finds the rest.
    #[cold]
    fn nested(&self, q: &[f64], bound: [f64; 2]) -> ([f64; 2], RollingPoint) {
        let (n, nn) = (self.parts[1], 1.0 / self.nn_inv);
        let tresca = |rn: f64| {
            let f = self.pressed(q, rn);
            self.newton(&f, bound, None).unwrap_or_else(|| self.bracket(&f, bound))
        };
        let minus_u_n = |rn: f64| {
            let x = tresca(rn).1.x;
            -q[0] - nn * (rn + (0..n).map(|i| self.nt[i] * x[i]).sum::<f64>())
        };
        tresca(bracketed_root(-q[0] * self.nn_inv, minus_u_n))
    }

    /// Discs of fixed size: `|m|` falls with κ at every λ, and `|r_t|` with λ.
    fn bracket(&self, f: &Pressed, bound: [f64; 2]) -> ([f64; 2], RollingPoint) {
        let root = |k: usize, size: &mut dyn FnMut(f64) -> f64| {
            let limit = bound[k] * f.free;
            let excess = |x: f64| 1.0 / limit - 1.0 / size(x).max(f64::MIN_POSITIVE);
            if limit > 0.0 { bracketed_root(self.scale[k], excess) } else { f64::INFINITY }
        };
        let kappa = |lambda: f64| root(1, &mut |kappa| self.point(f, [lambda, kappa]).size[1]);
        let lambda = root(0, &mut |lambda| self.point(f, [lambda, kappa(lambda)]).size[0]);
        let multiplier = [lambda, kappa(lambda)];
        (multiplier, self.point(f, multiplier))
    }
}

/// No multipliers, but where a disc has no size.
fn free(bound: [f64; 2]) -> [f64; 2] {
    bound.map(|b| if b > 0.0 { 0.0 } else { f64::INFINITY })
}

/// Whether part k lies within its disc without a multiplier.
fn is_open(at: &RollingPoint, bound: [f64; 2], multiplier: [f64; 2], k: usize) -> bool {
    multiplier[k] == 0.0 && at.size[k] <= bound[k] * at.rn
}

/// The larger of the misfits of both discs.
fn misfit(at: &RollingPoint, bound: [f64; 2], multiplier: [f64; 2]) -> f64 {
    let one = |k: usize| {
        let used = bound[k] * at.rn;
        if multiplier[k].is_infinite() || is_open(at, bound, multiplier, k) {
            0.0
        } else {
            ((at.size[k] - used) / (at.size[k] + used)).abs()
        }
    };
    one(0).max(one(1))
}

/// A root of g, whose sign goes from + at 0 to −; 0 itself where `g(0) ≤ 0`. Regula falsi (Illinois), every third step halves.
fn bracketed_root(scale: f64, mut g: impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut g_low) = (0.0, g(0.0));
    if g_low <= 0.0 {
        return 0.0;
    }
    let mut high = scale.max(f64::MIN_POSITIVE);
    let mut g_high = g(high);
    for _ in 0..60 {
        if g_high <= 0.0 {
            break;
        }
        (low, g_low) = (high, g_high);
        high *= 10.0;
        g_high = g(high);
    }
    for k in 0..200 {
        let secant = low + (high - low) * (g_low / (g_low - g_high));
        let inside = secant > low && secant < high && k % 3 < 2;
        let middle = if inside {
            secant
        } else if high > 1e3 * low {
            (high * low.max(1e-6 * high)).sqrt()
        } else {
            0.5 * (low + high)
        };
        if high - low <= 4.0 * f64::EPSILON * high || high <= f64::MIN_POSITIVE || g_high == 0.0 {
            break;
        }
        let found = g(middle);
        if found > 0.0 {
            (low, g_low, g_high) = (middle, found, 0.5 * g_high);
        } else {
            (high, g_high, g_low) = (middle, found, 0.5 * g_low);
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::contact::tests::{Random, random_operator, random_velocity};

    #[test]
    fn blocks_that_drill_on_small_patches_need_no_nested_brackets() {
        let (mut random, mut missed, mut all) = (Random(4), 0, 0);
        for k in 0..40_000 {
            // drilling turns a body on a patch of a hundredth of its size
            let mut w = random_operator(6, 4 * k, &mut random);
            (0..6).for_each(|i| w[6 * i + 3] *= 1e-2);
            (0..6).for_each(|i| w[18 + i] *= 1e-2);
            let q: [f64; 6] = random_velocity(&w, 6, 0, 0.0, &mut random).try_into().expect("six");
            let contact = RollingOperator::new(&w, 6).expect("positive");
            let bound = [0.3 + 0.2 * random.next(), 0.02];
            if q[0] >= 0.0 {
                continue;
            }
            let minus_c = from_fn(|i| contact.tn[i] * q[0] - q[i + 1]);
            let f = Pressed { a: contact.s, nt: contact.nt, free: -q[0] * contact.nn_inv, minus_c };
            all += 1;
            if contact.newton(&f, bound, None).is_none() {
                missed += 1;
                let (multiplier, at) = contact.one_by_one(&q, &f, bound).expect("some rounds");
                assert!(at.rn > 0.0 && misfit(&at, bound, multiplier) <= ROUNDING, "{at:?}");
            }
        }
        assert!(missed > 100, "{missed} of {all}: nothing is tested");
    }
}
