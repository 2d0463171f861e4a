//! Random assemblies of rigid bodies, drawn so that what they have to end with is known.

use drystone::algebra::blocks::BlockRows;
use drystone::numerics::local::LocalProblem;

/// splitmix64
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [−1, 1).
    pub(crate) fn sign(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    fn direction(&mut self) -> [f64; 3] {
        loop {
            let x = [self.sign(), self.sign(), self.sign()];
            let square = dot(x, x);
            if square > 0.01 && square < 1.0 {
                return x.map(|x| x / square.sqrt());
            }
        }
    }
}

/// An assembly: H (rows × dof), the mobility of each velocity, μ of each contact.
pub(crate) struct Assembly {
    pub(crate) h: Vec<f64>,
    pub(crate) dofs: usize,
    pub(crate) mobility: Vec<f64>,
    pub(crate) mu: Vec<f64>,
}

impl Assembly {
    /// `contacts` contacts between neighbours among bodies at random places, or with the ground; about `redundancy` times as many
    /// rows as half of the velocities.
    pub(crate) fn random(random: &mut Random, contacts: usize, redundancy: f64, mut mu: impl FnMut(&mut Random) -> f64) -> Self {
        let bodies = ((3.0 * contacts as f64 / (6.0 * redundancy)).round() as usize).max(1);
        let places: Vec<[f64; 3]> = (0..bodies).map(|_| [0; 3].map(|_| 2.0 * random.sign())).collect();
        let dofs = 6 * bodies;
        let heavy = random.unit() < 0.2;
        let mass: Vec<f64> = (0..bodies).map(|_| if heavy { 10f64.powf(2.0 * random.sign()) } else { 1.0 + random.unit() }).collect();
        let mobility = (0..dofs).map(|k| if k % 6 < 3 { 1.0 } else { 2.5 + random.unit() } / mass[k / 6]).collect();
        let mut h = vec![0.0; 3 * contacts * dofs];
        for a in 0..contacts {
            let first = if a < bodies { a } else { random.below(bodies) };
            let distance = |b: usize| (0..3).map(|k| (places[b][k] - places[first][k]).powi(2)).sum::<f64>();
            let mut others: Vec<usize> = (0..bodies).filter(|b| *b != first).collect();
            others.sort_by(|a, b| distance(*a).total_cmp(&distance(*b)));
            let neighbour = random.below(others.len().min(4) + 1).checked_sub(1).map(|k| others[k]);
            let normal = random.direction();
            let other = random.direction();
            let t1 = unit(cross(normal, other));
            let frame = [normal, t1, cross(normal, t1)];
            for (sign, body) in [(1.0, Some(first)), (-1.0, neighbour)] {
                let Some(body) = body else { continue };
                let arm = [0; 3].map(|_| 0.7 * random.sign());
                for (row, axis) in frame.into_iter().enumerate() {
                    let turn = cross(arm, axis);
                    for k in 0..3 {
                        h[(3 * a + row) * dofs + 6 * body + k] = sign * axis[k];
                        h[(3 * a + row) * dofs + 6 * body + 3 + k] = sign * turn[k];
                    }
                }
            }
        }
        Self { h, dofs, mobility, mu: (0..contacts).map(|_| mu(random)).collect() }
    }

    /// `W = H M⁻¹ Hᵀ`
    pub(crate) fn delassus(&self) -> Vec<f64> {
        let n = 3 * self.mu.len();
        let row = |i: usize| &self.h[i * self.dofs..(i + 1) * self.dofs];
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let x = row(i).iter().zip(row(j)).zip(&self.mobility).map(|((a, b), m)| a * m * b).sum();
                (w[i * n + j], w[j * n + i]) = (x, x);
            }
        }
        w
    }

    /// The problem that has these reactions as a solution: `q = u − W r` with u and r complementary.
    pub(crate) fn planted(&self, random: &mut Random) -> (LocalProblem, Vec<f64>) {
        let n = 3 * self.mu.len();
        let (w, mut r, mut u) = (self.delassus(), vec![0.0; n], vec![0.0; n]);
        for (a, mu) in self.mu.iter().enumerate() {
            let normal = 0.1 + 2.0 * random.unit();
            let angle = std::f64::consts::TAU * random.unit();
            let (c, s) = (angle.cos(), angle.sin());
            let at = 3 * a;
            match random.below(3) {
                // open, ...
                0 => (0..3).for_each(|k| u[at + k] = if k == 0 { random.unit() } else { random.sign() }),
                // ... stuck, ...
                1 => {
                    let t = mu * normal * random.unit();
                    r[at..at + 3].copy_from_slice(&[normal, t * c, t * s]);
                }
                // ... slipping
                _ => {
                    let slip = random.unit();
                    r[at..at + 3].copy_from_slice(&[normal, mu * normal * c, mu * normal * s]);
                    u[at..at + 3].copy_from_slice(&[0.0, -slip * c, -slip * s]);
                }
            }
        }
        let q = (0..n).map(|i| u[i] - w[i * n..(i + 1) * n].iter().zip(&r).map(|(w, r)| w * r).sum::<f64>()).collect();
        (self.with(&w, q), r)
    }

    /// W of this assembly with another q.
    pub(crate) fn with(&self, w: &[f64], q: Vec<f64>) -> LocalProblem {
        let offsets: Vec<usize> = (0..=self.mu.len()).map(|a| 3 * a).collect();
        LocalProblem::friction(BlockRows::from_dense(&offsets, w), q, &self.mu).expect("a legal problem")
    }

    /// A wall beside the first contact, opposite to it and with its arms: the two squeeze what they hold.
    pub(crate) fn squeeze(&mut self, random: &mut Random) {
        let a = random.below(self.mu.len());
        for row in 0..3 {
            let values: Vec<f64> = self.h[(3 * a + row) * self.dofs..][..self.dofs].iter().map(|x| -x).collect();
            self.h.extend(values);
        }
        self.mu.push(self.mu[a]);
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt();
    a.map(|x| x / length)
}
