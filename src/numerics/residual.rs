//! How far an answer is from the law, recomputed from the reactions alone.
//!
//! ```text
//! F_a  = r_a − P_K(r_a − û_a)               û = u + g(u),   u = H (v_free + Ŵ⁻¹ Hᵀ r) + b
//! rel  = |F| / max(|q|, |r|, |u|)           rel_q = |F| / |q|
//! e_s  = |D^½ (r − P_K(r − D⁻¹ û))| / max(|D^½ r|, |D^{-½} q|)      D = mean of the diagonal of W_aa
//! ```
//!
//! `rel` and `rel_q` mix impulses with velocities and change with the unit of mass; e_s does not, so solvers stop on it.

use super::mixed::{Answer, MAX_ROWS, MixedProblem, Velocities};
use glam::DVec3;
use rayon::prelude::*;

/// The three errors of an answer.
///
/// ```
/// use drystone::numerics::residual::Residual;
/// assert_eq!(Residual::default().e_s, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// Natural map over `max(|q|, |r|, |u|)`.
    pub rel: f64,
    /// Natural map over `|q|`.
    pub rel_q: f64,
    /// Unit-free.
    pub e_s: f64,
    /// Largest velocity by which a block misses its law, see [`acceptance`](super::acceptance); 0 where it is not taken.
    pub violation: f64,
    /// Largest such velocity over the scale of its own block; 0 where it is not taken.
    pub misfit: f64,
}

/// Sums of squares over a piece of the rows.
#[derive(Clone, Copy, Default)]
struct Sums {
    scaled: f64,
    plain: f64,
    r_scaled: f64,
    r: f64,
    u: f64,
}

impl Sums {
    fn add(self, o: Self) -> Self {
        Self {
            scaled: self.scaled + o.scaled,
            plain: self.plain + o.plain,
            r_scaled: self.r_scaled + o.r_scaled,
            r: self.r + o.r,
            u: self.u + o.u,
        }
    }
}

/// Contacts per piece of a sum: fixed, so that any number of threads adds in the same order.
const PIECE: usize = 1024;

/// Recomputes `v` from the reactions and returns the errors.
pub fn certify(p: &MixedProblem, answer: &mut Answer) -> Residual {
    p.velocities(&answer.reactions, &mut answer.velocities);
    residual(p, answer, &answer.velocities)
}

/// The errors of `answer.reactions` when the velocities are `v`.
pub fn residual(p: &MixedProblem, answer: &Answer, v: &Velocities) -> Residual {
    let piece = |(contacts, reactions): (&[super::mixed::Contact], &[DVec3])| {
        let mut s = Sums::default();
        for (c, &r) in contacts.iter().zip(reactions) {
            let u = p.contact_velocity(c, &v.rigid);
            let shifted = DVec3::new(u.x + c.mu * (u.y * u.y + u.z * u.z).sqrt(), u.y, u.z);
            let d = c.local.mean_diagonal();
            let mut x = r - shifted / d;
            super::admissible::project_coulomb(c.mu, &mut x);
            s.scaled += d * (r - x).length_squared();
            s.r_scaled += d * r.length_squared();
            let mut x = r - shifted;
            super::admissible::project_coulomb(c.mu, &mut x);
            s.plain += (r - x).length_squared();
            s.r += r.length_squared();
            s.u += u.length_squared();
        }
        s
    };
    let pieces = p.contacts.chunks(PIECE).zip(answer.reactions.contacts.chunks(PIECE));
    let total = if p.contacts.len() > 4 * PIECE && rayon::current_num_threads() > 1 {
        let parts: Vec<Sums> = p.contacts.par_chunks(PIECE).zip(answer.reactions.contacts.par_chunks(PIECE)).map(piece).collect();
        parts.into_iter().fold(Sums::default(), Sums::add)
    } else {
        pieces.map(piece).fold(Sums::default(), Sums::add)
    };
    let total = p.blocks.iter().map(|block| block_sums(p, block, answer, v)).fold(total, Sums::add);
    let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a / b.max(f64::MIN_POSITIVE) };
    let plain = total.plain.sqrt();
    Residual {
        rel: ratio(plain, p.q_norm.max(total.r.sqrt()).max(total.u.sqrt())),
        rel_q: ratio(plain, p.q_norm),
        e_s: ratio(total.scaled.sqrt(), total.r_scaled.sqrt().max(p.q_scaled)),
        ..Residual::default()
    }
}

fn block_sums(p: &MixedProblem, block: &super::mixed::Block, answer: &Answer, v: &Velocities) -> Sums {
    let n = block.rows;
    let d = p.block_weight(block);
    let r = &answer.reactions.blocks[block.first..][..n];
    let (mut u, mut x) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS]);
    let (u, x) = (&mut u[..n], &mut x[..n]);
    p.block_velocity(block, v, u);
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let mut s = Sums { r: square(r), r_scaled: d * square(r), u: square(u), ..Sums::default() };
    u[0] += block.set.shift(u);
    for (scale, sum) in [(1.0 / d, &mut s.scaled), (1.0, &mut s.plain)] {
        (0..n).for_each(|i| x[i] = r[i] - scale * u[i]);
        block.set.project(x);
        *sum = (0..n).map(|i| (r[i] - x[i]).powi(2)).sum();
    }
    s.scaled *= d;
    s
}
