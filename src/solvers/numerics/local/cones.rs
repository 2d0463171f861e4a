//! Symmetric cones block by block: Nesterov–Todd scaling, Jordan products, steps to the border.
//!
//! ```text
//! T = β V,  V = [[w₀, w̄ᵀ], [w̄, I + w̄ w̄ᵀ/(1 + w₀)]],  w = (ŷ + J x̂) / 2γ,  γ = ((1 + x̂·ŷ)/2)^½,  β = (yᵀJy / xᵀJx)^¼
//! T x = T⁻¹ y = λ,   T⁻¹ = J V J / β,   J = diag(1, −1, …)
//! ```
//!
//! x̂, ŷ are x, y over the roots of xᵀJx, yᵀJy. (Nesterov & Todd 1997; the formulas of the second-order cone are
//! Vandenberghe's.)

use crate::algebra::dense::dot;

/// The cone of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::numerics) enum Cone {
    /// No cone: equations.
    Free,
    /// Rows ≥ 0; rows with weight 0 are held at 0.
    Orthant,
    /// `|x̄| ≤ x₀`; with De Saxcé's shift of y where true.
    Lorentz(bool),
}

/// Most rows of a cone that is treated on the stack.
pub(in crate::numerics) const SMALL: usize = 8;

/// `xᵀ J x`, by factors that keep its digits.
fn hyperbolic(x: &[f64]) -> f64 {
    let t = x[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
    (x[0] - t) * (x[0] + t)
}

/// Scaling point w of a Lorentz block with β = w's factor, or the roots `(y/x)^½` of an orthant's rows.
pub(in crate::numerics) fn scale(cone: Cone, x: &[f64], y: &[f64], w: &mut [f64]) -> f64 {
    match cone {
        Cone::Free => 0.0,
        Cone::Orthant => {
            (0..x.len()).for_each(|i| w[i] = if x[i] > 0.0 { (y[i] / x[i]).sqrt() } else { 1.0 });
            1.0
        }
        Cone::Lorentz(_) => {
            let (a, b) = (hyperbolic(x).max(f64::MIN_POSITIVE).sqrt(), hyperbolic(y).max(f64::MIN_POSITIVE).sqrt());
            let gamma = (0.5 * (1.0 + dot(x, y) / (a * b))).sqrt();
            for i in 0..x.len() {
                let sign = if i == 0 { 1.0 } else { -1.0 };
                w[i] = (y[i] / b + sign * x[i] / a) / (2.0 * gamma);
            }
            // on the hyperboloid to rounding
            w[0] = (1.0 + dot(&w[1..], &w[1..])).sqrt();
            (b / a).sqrt()
        }
    }
}

/// `out = T v`, or `T⁻¹ v`.
pub(in crate::numerics) fn apply(cone: Cone, w: &[f64], beta: f64, inverse: bool, v: &[f64], out: &mut [f64]) {
    match cone {
        Cone::Free => out.copy_from_slice(v),
        Cone::Orthant => (0..v.len()).for_each(|i| out[i] = if inverse { v[i] / w[i] } else { v[i] * w[i] }),
        Cone::Lorentz(_) => {
            let (sign, factor) = if inverse { (-1.0, 1.0 / beta) } else { (1.0, beta) };
            let along = sign * dot(&w[1..], &v[1..]);
            out[0] = factor * (w[0] * v[0] + along);
            let share = v[0] + along / (1.0 + w[0]);
            (1..v.len()).for_each(|i| out[i] = factor * (v[i] + sign * share * w[i]));
        }
    }
}

/// Row-major `T⁻¹`.
pub(in crate::numerics) fn inverse(cone: Cone, w: &[f64], beta: f64, out: &mut [f64]) {
    let n = w.len();
    for i in 0..n {
        for j in 0..n {
            let unit = f64::from(u8::from(i == j));
            out[i * n + j] = match (cone, i, j) {
                (Cone::Free, ..) => unit,
                (Cone::Orthant, ..) => unit / w[i],
                (Cone::Lorentz(_), 0, 0) => w[0] / beta,
                (Cone::Lorentz(_), 0, _) | (Cone::Lorentz(_), _, 0) => -w[i + j] / beta,
                (Cone::Lorentz(_), ..) => (unit + w[i] * w[j] / (1.0 + w[0])) / beta,
            };
        }
    }
}

/// Sets the row-major `T⁻²` of an orthant or a Lorentz cone, `(2 (J w)(J w)ᵀ − J) / β²`; `out` is zero.
pub(in crate::numerics) fn inverse_square(cone: Cone, w: &[f64], beta: f64, out: &mut [f64]) {
    let n = w.len();
    let Cone::Lorentz(_) = cone else { return (0..n).for_each(|i| out[i * (n + 1)] = 1.0 / (w[i] * w[i])) };
    let (scale, sign) = (1.0 / (beta * beta), |i: usize| if i == 0 { 1.0 } else { -1.0 });
    for i in 0..n {
        (0..n).for_each(|j| out[i * n + j] = 2.0 * sign(i) * w[i] * sign(j) * w[j] * scale);
        out[i * (n + 1)] -= sign(i) * scale;
    }
}

/// `out = a ∘ b`
pub(in crate::numerics) fn product(cone: Cone, a: &[f64], b: &[f64], out: &mut [f64]) {
    match cone {
        Cone::Free => out.fill(0.0),
        Cone::Orthant => (0..a.len()).for_each(|i| out[i] = a[i] * b[i]),
        Cone::Lorentz(_) => {
            out[0] = dot(a, b);
            (1..a.len()).for_each(|i| out[i] = a[0] * b[i] + b[0] * a[i]);
        }
    }
}

/// `d ← λ \ d`: the v with `λ ∘ v = d`.
pub(in crate::numerics) fn divide(cone: Cone, lambda: &[f64], d: &mut [f64]) {
    match cone {
        Cone::Free => d.fill(0.0),
        Cone::Orthant => d.iter_mut().zip(lambda).for_each(|(d, l)| *d = if *l > 0.0 { *d / l } else { 0.0 }),
        Cone::Lorentz(_) => {
            let det = hyperbolic(lambda).max(f64::MIN_POSITIVE);
            let first = (lambda[0] * d[0] - dot(&lambda[1..], &d[1..])) / det;
            (1..d.len()).for_each(|i| d[i] = (d[i] - first * lambda[i]) / lambda[0]);
            d[0] = first;
        }
    }
}

/// The longest step with `x + α d` in the cone.
pub(in crate::numerics) fn longest(cone: Cone, x: &[f64], d: &[f64]) -> f64 {
    match cone {
        Cone::Free => f64::INFINITY,
        Cone::Orthant => x.iter().zip(d).filter(|(_, d)| **d < 0.0).map(|(x, d)| -x / d).fold(f64::INFINITY, f64::min),
        Cone::Lorentz(_) => {
            // a α² + 2 b α + c = 0 with c > 0
            let (a, c) = (d[0] * d[0] - dot(&d[1..], &d[1..]), hyperbolic(x).max(0.0));
            let b = x[0] * d[0] - dot(&x[1..], &d[1..]);
            let disc = b * b - a * c;
            let root = if a < 0.0 {
                c / (disc.max(0.0).sqrt() - b)
            } else if b < 0.0 && disc >= 0.0 {
                c / (disc.sqrt() - b)
            } else {
                f64::INFINITY
            };
            let apex = if d[0] < 0.0 { -x[0] / d[0] } else { f64::INFINITY };
            root.min(apex)
        }
    }
}

/// Puts a point that rounding has laid on the border of its Lorentz cone back inside.
pub(in crate::numerics) fn lift(cone: Cone, x: &mut [f64]) {
    if let Cone::Lorentz(_) = cone {
        let t = dot(&x[1..], &x[1..]).sqrt();
        x[0] = x[0].max(t * (1.0 + 4.0 * f64::EPSILON) + f64::MIN_POSITIVE);
    }
}

/// Whether x lies inside its Lorentz cone.
pub(in crate::numerics) fn is_inside(cone: Cone, x: &[f64]) -> bool {
    !matches!(cone, Cone::Lorentz(_)) || x[0] > 0.0 && hyperbolic(x).is_normal() && hyperbolic(x) > 0.0
}

/// Adds `t` times the cone's unit.
pub(in crate::numerics) fn add_unit(cone: Cone, t: f64, weight: &[f64], x: &mut [f64]) {
    match cone {
        Cone::Free => {}
        Cone::Orthant => x.iter_mut().zip(weight).for_each(|(x, w)| *x += if *w > 0.0 { t } else { 0.0 }),
        Cone::Lorentz(_) => x[0] += t,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::contact::tests::Random;

    #[test]
    fn the_scaling_point_maps_x_and_y_to_the_same_point_and_division_undoes_the_product() {
        let mut random = Random(5);
        for case in 0..2000 {
            let n = 2 + case % 2;
            let cone = if case % 3 == 0 { Cone::Orthant } else { Cone::Lorentz(false) };
            let mut inside = || {
                let mut x: Vec<f64> = (0..n).map(|_| random.next()).collect();
                if cone == Cone::Orthant {
                    x.iter_mut().for_each(|x| *x = x.abs() + 1e-3);
                } else {
                    x[0] = dot(&x[1..], &x[1..]).sqrt() + 1e-3 + x[0].abs();
                }
                x
            };
            let (x, y) = (inside(), inside());
            let (mut w, mut a, mut b, mut c) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            let beta = scale(cone, &x, &y, &mut w);
            apply(cone, &w, beta, false, &x, &mut a);
            apply(cone, &w, beta, true, &y, &mut b);
            assert!((0..n).all(|i| (a[i] - b[i]).abs() < 1e-9 * (1.0 + a[0].abs())), "{a:?} {b:?}");
            let mut inverse_t = vec![0.0; n * n];
            inverse(cone, &w, beta, &mut inverse_t);
            // T⁻¹ λ = x
            assert!((0..n).all(|i| ((0..n).map(|j| inverse_t[i * n + j] * a[j]).sum::<f64>() - x[i]).abs() < 1e-9 * (1.0 + x[0])));
            product(cone, &a, &y, &mut c);
            divide(cone, &a, &mut c);
            assert!((0..n).all(|i| (c[i] - y[i]).abs() < 1e-8), "{c:?} {y:?}");
            let d: Vec<f64> = (0..n).map(|i| y[i] - 3.0 * x[i]).collect();
            let t = longest(cone, &x, &d).min(1.0);
            let at: Vec<f64> = (0..n).map(|i| x[i] + t * d[i]).collect();
            let gap = if cone == Cone::Orthant {
                at.iter().fold(f64::INFINITY, |m, x| m.min(*x))
            } else {
                at[0] - dot(&at[1..], &at[1..]).sqrt()
            };
            assert!(gap > -1e-9 && (t >= 1.0 || gap < 1e-7), "step {t}, gap {gap:e}");
        }
    }
}
