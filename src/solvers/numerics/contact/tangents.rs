//! Stick and slip of a contact without its normal row, of one contact or of one in each lane: the same bits.

use super::MAX_SECULAR;
use crate::algebra::lanes::{LANES, Mask, Plain, Simd, Wide, Wide3};

/// Largest λ that is tried: its square is still a number. A guess that is next to nothing promises more.
const LARGEST: f64 = 1e150;

/// A contact without its normal row, in turned tangents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tangents<X> {
    pub(super) nn_inv: X,
    /// `W_nt / W_nn`
    nt: [X; 2],
    /// cosine and sine of the turn
    turn: [X; 2],
    /// eigenvalues of the symmetric part of S
    s: [X; 2],
    /// antisymmetric part of S
    a: X,
    /// `1 / det S`, 0 where sticking is not defined
    s_det_inv: X,
    /// below this, `S + λ I` need not be invertible (0 for a positive semidefinite S)
    lambda_min: X,
}

impl Tangents<f64> {
    /// `s` is the row-major S, `size` that of the terms which it is the difference of.
    #[inline]
    pub(super) fn new(nn_inv: f64, nt: [f64; 2], s: [f64; 4], size: f64) -> Self {
        let wide = |x| Wide::splat(Plain, x);
        Tangents::of_lanes(Plain, wide(nn_inv), nt.map(wide), s.map(wide), wide(size)).map(|x| x.row()[0])
    }

    /// The reaction of a contact that closes at `push = −q_n`, in the given tangents; `near` is a guess of `r_t`.
    #[inline(always)]
    pub(super) fn solve(&self, push: f64, c: [f64; 2], mu: f64, near: [f64; 2]) -> [f64; 3] {
        let wide = |x| Wide::splat(Plain, x);
        let all = wide(0.0).equals(wide(0.0));
        let Wide3(n, x, y) = self.map(wide).solve_lanes(Plain, wide(push), c.map(wide), wide(mu), near.map(wide), all);
        [n.row()[0], x.row()[0], y.row()[0]]
    }
}

impl<X: Copy> Tangents<X> {
    #[inline(always)]
    fn map<Y>(&self, mut of: impl FnMut(X) -> Y) -> Tangents<Y> {
        Tangents {
            nn_inv: of(self.nn_inv),
            nt: self.nt.map(&mut of),
            turn: self.turn.map(&mut of),
            s: self.s.map(&mut of),
            a: of(self.a),
            s_det_inv: of(self.s_det_inv),
            lambda_min: of(self.lambda_min),
        }
    }
}

impl<S: Simd> Tangents<Wide<S>> {
    /// [`Tangents::new`] in each lane.
    #[inline(always)]
    pub(super) fn of_lanes(simd: S, nn_inv: Wide<S>, nt: [Wide<S>; 2], s: [Wide<S>; 4], size: Wide<S>) -> Self {
        let number = |x| Wide::splat(simd, x);
        let (zero, one, part) = (number(0.0), number(1.0), number(0.5));
        let (mean, half, off) = (part * (s[0] + s[3]), part * (s[0] - s[3]), part * (s[1] + s[2]));
        let square = half * half + off * off;
        let mut radius = square.sqrt();
        let normal = number(f64::MIN_POSITIVE).at_most(square).and(square.at_most(number(f64::MAX)));
        if normal.not().any() {
            let (half, off) = (half.row(), off.row());
            radius = normal.pick(radius, Wide::gather(simd, |l| libm::hypot(half[l], off[l])));
        }
        // half the angle of (half, off)
        let (c2, s2) = (half.over(radius), off.over(radius));
        let (cos, sin) = ((part * (one + c2)).or_least(zero).sqrt(), (part * (one - c2)).or_least(zero).sqrt());
        let turns = zero.below(radius);
        let (cos, sin) = (turns.pick(cos, one), turns.pick(s2.below(zero).pick(-sin, sin), zero));
        // what rounding leaves of a singular S
        let noise = number(16.0 * f64::EPSILON) * size;
        let clean = |x: Wide<S>| x.abs().at_most(noise).pick(zero, x);
        let (s1, s2, a) = (clean(mean + radius), clean(mean - radius), clean(part * (s[1] - s[2])));
        let det = s1 * s2 + a * a;
        // largest real root of (s₁ + λ)(s₂ + λ) + a²
        let disc = number(0.25) * ((s1 - s2) * (s1 - s2)) - a * a;
        Self {
            nn_inv,
            nt: [cos * nt[0] + sin * nt[1], cos * nt[1] - sin * nt[0]],
            turn: [cos, sin],
            s: [s1, s2],
            a,
            s_det_inv: (noise * noise).below(det.abs()).pick(one.over(det), zero),
            lambda_min: (disc.sqrt() - part * (s1 + s2)).or_least(zero),
        }
    }

    /// [`Tangents::solve`] in the lanes that are wanted.
    #[inline(always)]
    pub(super) fn solve_lanes(
        &self,
        simd: S,
        push: Wide<S>,
        c: [Wide<S>; 2],
        mu: Wide<S>,
        near: [Wide<S>; 2],
        wanted: Mask<S>,
    ) -> Wide3<S> {
        let [cos, sin] = self.turn;
        let turned = |x: [Wide<S>; 2]| [cos * x[0] + sin * x[1], cos * x[1] - sin * x[0]];
        let (free, c) = (push * self.nn_inv, turned(c));
        let (mut r, holds) = self.stick(simd, free, c, mu);
        let slips = wanted.and(holds.not());
        if slips.any() {
            r = holds.pick3(r, self.slip(simd, free, c, mu, turned(near), slips));
        }
        Wide3(r.0, cos * r.1 - sin * r.2, sin * r.1 + cos * r.2)
    }

    /// The reaction that holds the contact, and where the cone has it.
    #[inline(always)]
    fn stick(&self, simd: S, free: Wide<S>, c: [Wide<S>; 2], mu: Wide<S>) -> (Wide3<S>, Mask<S>) {
        let ([s1, s2], a, zero) = (self.s, self.a, Wide::splat(simd, 0.0));
        let (mut x, mut y) = ((a * c[1] - s2 * c[0]) * self.s_det_inv, -(s1 * c[1] + a * c[0]) * self.s_det_inv);
        let singular = self.s_det_inv.equals(zero);
        if singular.any() {
            let (s, c, free, nn_inv) = (self.s.map(Wide::row), c.map(Wide::row), free.row(), self.nn_inv.row());
            let mut line = [[f64::NAN; LANES]; 2];
            for l in 0..S::F64_LANES {
                let least = stick_in_a_line([s[0][l], s[1][l]], [c[0][l], c[1][l]], free[l] / nn_inv[l]);
                [line[0][l], line[1][l]] = least.unwrap_or([f64::NAN; 2]);
            }
            (x, y) = (singular.pick(Wide::of(simd, &line[0]), x), singular.pick(Wide::of(simd, &line[1]), y));
        }
        let n = free - (self.nt[0] * x + self.nt[1] * y);
        (Wide3(n, x, y), zero.at_most(n).and((x * x + y * y).at_most(mu * mu * n * n)))
    }

    /// Solves `|r_t(λ)| = μ r_n(λ)` for λ > 0 in the lanes that are wanted.
    #[inline(always)]
    fn slip(&self, simd: S, free: Wide<S>, c: [Wide<S>; 2], mu: Wide<S>, near: [Wide<S>; 2], wanted: Mask<S>) -> Wide3<S> {
        let ([s1, s2], a, nt) = (self.s, self.a, self.nt);
        let number = |x| Wide::splat(simd, x);
        let (zero, one, half, infinity) = (number(0.0), number(1.0), number(0.5), number(f64::INFINITY));
        let c_norm = (c[0] * c[0] + c[1] * c[1]).sqrt();
        let (mut low, mut high) = (self.lambda_min, infinity);
        let floor = low + number(f64::EPSILON) * (s1.abs() + s2.abs());
        // u_t = −λ r_t at the guess, or the root for S = ½ tr(S) I
        let square = near[0] * near[0] + near[1] * near[1];
        let along = s1 * near[0] * near[0] + s2 * near[1] * near[1] + c[0] * near[0] + c[1] * near[1];
        let guessed = zero.below(square).and(along.below(zero));
        let mut start = (-along).over(square);
        if wanted.and(guessed.not()).any() {
            let coupled = c_norm - mu * (nt[0] * c[0] + nt[1] * c[1]);
            start = guessed.pick(start, coupled.over(mu * free) - half * (s1 + s2));
        }
        // where W leaves the range of numbers the floor is above all of them
        let mut lambda = start.or_least(floor).or_most(number(LARGEST));
        let (mut x, mut y, mut rn) = (zero, zero, free);
        let mut open = wanted.and(c_norm.equals(zero).not());
        for _ in 0..MAX_SECULAR {
            if !open.any() {
                break;
            }
            let (p, q) = (s1 + lambda, s2 + lambda);
            let det_inv = one.over(p * q + a * a);
            x = open.pick((a * c[1] - q * c[0]) * det_inv, x);
            y = open.pick(-(p * c[1] + a * c[0]) * det_inv, y);
            let pull = nt[0] * x + nt[1] * y;
            rn = open.pick(free - pull, rn);
            let t = (x * x + y * y).sqrt();
            let g = t - mu * rn;
            let met = g.abs().at_most(number(16.0 * f64::EPSILON) * (t + mu * (free + pull.abs()))).and(zero.below(rn));
            open = open.and(met.not());
            if !open.any() {
                break;
            }
            let above = zero.below(g);
            (low, high) = (above.pick(lambda, low), above.pick(high, lambda));
            // r_t' = −(S + λ)⁻¹ r_t
            let (dx, dy) = ((a * y - q * x) * det_inv, -(p * y + a * x) * det_inv);
            let drn = -(nt[0] * dx + nt[1] * dy);
            // Newton on 1/(μ r_n) − 1/|r_t|, over a common denominator
            let m = mu * rn;
            let newton = lambda - (g * m * t * t).over((x * dx + y * dy) * m * m - mu * drn * t * t * t);
            let between = |x: Wide<S>| low.below(x).and(x.below(high));
            let good = zero.below(rn).and(between(newton));
            let mut next = newton;
            if open.and(good.not()).any() {
                let plain = lambda - (g * t).over((x * dx + y * dy) - mu * drn * t);
                // the geometric mean: the root may lie decades below
                let far = (high * low.or_least(number(1e-6) * high).or_least(number(f64::MIN_POSITIVE))).sqrt();
                let mean = zero.below(low).and(high.below(number(1e3) * low)).pick(half * (low + high), far);
                let bracketed = high.equals(infinity).pick(number(10.0) * lambda + s1.abs() + s2.abs(), mean);
                next = good.pick(newton, between(plain).pick(plain, bracketed));
            }
            lambda = next.or_most(number(LARGEST));
            let narrow = (high - low).at_most(number(4.0 * f64::EPSILON) * high).or(high.at_most(floor));
            open = open.and(high.equals(infinity).or(narrow.not()));
        }
        let t = (x * x + y * y).sqrt();
        let rn = rn.or_least(zero);
        let scale = zero.below(t).pick((mu * rn).over(t), zero);
        Wide3(rn, x * scale, y * scale)
    }
}

/// Sticking where only one tangential direction can move, or none: the least r_t, S of rank one or zero. `push` is `−q_n`.
#[cold]
fn stick_in_a_line(s: [f64; 2], c: [f64; 2], push: f64) -> Option<[f64; 2]> {
    let (long, short) = if s[0].abs() >= s[1].abs() { (0, 1) } else { (1, 0) };
    let mut t = [0.0; 2];
    if s[long] != 0.0 {
        t[long] = -c[long] / s[long];
    }
    let left = c[short].abs() + if s[long] == 0.0 { c[long].abs() } else { 0.0 };
    (left <= 1e-13 * (c[0].abs() + c[1].abs() + push)).then_some(t)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Random, random_operator};
    use super::*;
    use crate::algebra::lanes::{Lanes, WithSimd};

    /// What [`Tangents::new`] and [`Tangents::solve`] take: `1/W_nn`, `W_nt/W_nn`, S and its size, push, c, μ and the guess.
    type Case = [f64; 14];

    fn alone(x: &Case) -> [f64; 3] {
        Tangents::new(x[0], [x[1], x[2]], [x[3], x[4], x[5], x[6]], x[7]).solve(x[8], [x[9], x[10]], x[11], [x[12], x[13]])
    }

    /// Solves as many cases as a register holds at once.
    struct Abreast<'a>(&'a [Case], Vec<[f64; 3]>);

    impl WithSimd for Abreast<'_> {
        type Output = Vec<[f64; 3]>;

        #[inline(always)]
        fn with_simd<S: Simd>(mut self, simd: S) -> Self::Output {
            for cases in self.0.chunks_exact(S::F64_LANES) {
                let x = |i: usize| Wide::gather(simd, |l| cases[l][i]);
                let tangents = Tangents::of_lanes(simd, x(0), [x(1), x(2)], [x(3), x(4), x(5), x(6)], x(7));
                let all = x(0).equals(x(0));
                let Wide3(n, t1, t2) = tangents.solve_lanes(simd, x(8), [x(9), x(10)], x(11), [x(12), x(13)], all);
                let (n, t1, t2) = (n.row(), t1.row(), t2.row());
                self.1.extend((0..S::F64_LANES).map(|l| [n[l], t1[l], t2[l]]));
            }
            self.1
        }
    }

    #[test]
    fn contacts_side_by_side_slip_as_each_does_alone() {
        let mut random = Random(7);
        let mut cases = Vec::new();
        for k in 0..4000 {
            // regular, badly scaled, of rank one, flat, of numbers whose squares are none, nothing that moves, and nothing that pulls
            let w = random_operator(3, k, &mut random);
            let (tn, size) = ([w[3] / w[0], w[6] / w[0]], w[4] + w[8]);
            let mut s = [w[4] - w[3] * w[1] / w[0], w[5] - w[3] * w[2] / w[0], w[7] - w[6] * w[1] / w[0], w[8] - w[6] * w[2] / w[0]];
            match k % 7 {
                0 => s = [1.0, 0.5, 0.5, 0.25],
                1 => s = [2.0, 0.0, 0.0, 2.0],
                2 => s = [1e-170, 2e-171, 2e-171, 1e-171],
                3 => s = [0.0; 4],
                _ => {}
            }
            let size = if k % 7 < 4 { s[0] + s[3] } else { size };
            let c = if k % 11 == 0 { [0.0; 2] } else { [random.next(), random.next()] };
            let mu = 10f64.powf(random.next());
            let guess = if k % 3 == 0 { [0.0; 2] } else { [random.next(), random.next()] };
            cases.push([1.0 / w[0], tn[0], tn[1], s[0], s[1], s[2], s[3], size, random.next().abs(), c[0], c[1], mu, guess[0], guess[1]]);
        }
        let exact: Vec<_> = cases.iter().map(alone).collect();
        let border = exact.iter().zip(&cases).filter(|(r, x)| (r[1].hypot(r[2]) / (x[11] * r[0]) - 1.0).abs() < 1e-9).count();
        assert!(border > 1000 && border < 3900, "{border} of 4000 slip");
        for lanes in Lanes::ALL {
            let found = lanes.run_wide(Abreast(&cases, Vec::new()));
            for ((found, exact), case) in found.iter().zip(&exact).zip(&cases) {
                assert_eq!(found.map(f64::to_bits), exact.map(f64::to_bits), "{}: {found:?} for {exact:?}, {case:?}", lanes.name());
            }
            assert_eq!(found.len(), cases.len());
        }
    }
}
