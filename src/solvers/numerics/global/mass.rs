//! The inverse of M, piece by piece: what M does not couple is factorised apart.
//!
//! M of a set of bodies is block diagonal whatever order its velocities have. The connected components of its pattern are
//! the bodies: scalars are inverted, small ones have a dense LU, large ones (finite elements) a sparse one.

use crate::algebra::{dense, multifrontal::BlockGeneral};
use crate::numerics::{ProblemError, disjoint::DisjointSets};
use sprs::CsMat;

/// Order up to which a component is factorised densely.
pub(super) const SMALL: usize = 128;

/// Factors of M; symmetric or not.
///
/// ```
/// use drystone::numerics::global::MassFactors;
/// let mass = sprs::CsMat::eye(2).map(|x: &f64| 4.0 * x);
/// let mut x = [2.0, 8.0];
/// MassFactors::new(&mass)?.solve(&mut x);
/// assert_eq!(x, [0.5, 2.0]);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Debug)]
pub struct MassFactors {
    /// component of each velocity
    label: Vec<u32>,
    /// place of each velocity in its component
    place: Vec<u32>,
    components: Vec<Component>,
    buffer: Vec<f64>,
}

#[derive(Debug)]
struct Component {
    dofs: Vec<u32>,
    factors: Factors,
}

#[derive(Debug)]
enum Factors {
    /// 1/m
    Scalar(f64),
    Dense {
        lu: Vec<f64>,
        rows: Vec<u32>,
    },
    Sparse(Box<BlockGeneral>),
}

impl MassFactors {
    /// Factorises M; an error names the velocity whose pivot vanishes.
    pub fn new(mass: &CsMat<f64>) -> Result<Self, ProblemError> {
        let n = mass.rows();
        let (label, count) = components(mass);
        let mut place = vec![0; n];
        let mut dofs: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (k, &c) in label.iter().enumerate() {
            let members = &mut dofs[c as usize];
            place[k] = members.len() as u32;
            members.push(k as u32);
        }
        let mut entries: Vec<Vec<(u32, u32, f64)>> = vec![Vec::new(); count];
        let mut scalars = vec![0.0; count];
        for (&x, (i, j)) in mass.iter() {
            let c = label[i] as usize;
            match dofs[c].len() {
                1 => scalars[c] += x,
                // entries between components are zeros that the pattern holds
                _ if label[j] as usize == c => entries[c].push((place[i], place[j], x)),
                _ => {}
            }
        }
        let mut components = Vec::with_capacity(count);
        for (c, dofs) in dofs.into_iter().enumerate() {
            let factors = match dofs.len() {
                1 if scalars[c] != 0.0 && scalars[c].is_finite() => Factors::Scalar(1.0 / scalars[c]),
                1 => return Err(singular(dofs[0], scalars[c])),
                _ => factorise(&dofs, &entries[c])?,
            };
            components.push(Component { dofs, factors });
        }
        Ok(Self { label, place, components, buffer: vec![0.0; n] })
    }

    /// Number of velocities.
    pub fn order(&self) -> usize {
        self.label.len()
    }

    /// Solves `M x = b` in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        for c in &mut self.components {
            if let Factors::Scalar(inverse) = c.factors {
                b[c.dofs[0] as usize] *= inverse;
                continue;
            }
            let x = &mut self.buffer[..c.dofs.len()];
            x.iter_mut().zip(&c.dofs).for_each(|(x, &k)| *x = b[k as usize]);
            c.factors.solve(x);
            x.iter().zip(&c.dofs).for_each(|(x, &k)| b[k as usize] = *x);
        }
    }

    /// Calls `put(velocity, value)` for the entries of `M⁻¹ b`, b sparse with the entries `(velocity, value)`, component by component.
    pub(super) fn solve_sparse(&mut self, b: &[(usize, f64)], touched: &mut Vec<u32>, mut put: impl FnMut(usize, f64)) {
        touched.clear();
        touched.extend(b.iter().map(|&(k, _)| self.label[k]));
        touched.sort_unstable();
        touched.dedup();
        for &label in touched.iter() {
            let c = &mut self.components[label as usize];
            let x = &mut self.buffer[..c.dofs.len()];
            x.fill(0.0);
            for &(k, value) in b.iter().filter(|&&(k, _)| self.label[k] == label) {
                x[self.place[k] as usize] += value;
            }
            c.factors.solve(x);
            x.iter().zip(&c.dofs).for_each(|(x, &k)| put(k as usize, *x));
        }
    }

    /// The velocities of each component, in the order of the first of each.
    pub(super) fn components(&self) -> impl Iterator<Item = &[u32]> {
        self.components.iter().map(|c| c.dofs.as_slice())
    }
}

impl Factors {
    fn solve(&mut self, x: &mut [f64]) {
        match self {
            Self::Scalar(inverse) => x[0] *= *inverse,
            Self::Dense { lu, rows } => dense::lu_solve(lu, rows, x),
            Self::Sparse(factors) => factors.solve(x),
        }
    }
}

fn singular(dof: u32, found: f64) -> ProblemError {
    ProblemError::OutOfRange { what: format!("the pivot of M at velocity {dof}"), found, needed: "M must be invertible" }
}

fn factorise(dofs: &[u32], entries: &[(u32, u32, f64)]) -> Result<Factors, ProblemError> {
    let n = dofs.len();
    if n <= SMALL {
        let (mut lu, mut rows) = (vec![0.0; n * n], vec![0; n]);
        entries.iter().for_each(|&(i, j, x)| lu[i as usize * n + j as usize] += x);
        return match dense::lu(&mut lu, &mut rows) {
            Some(k) => Err(singular(dofs[k], lu[k * n + k])),
            None => Ok(Factors::Dense { lu, rows }),
        };
    }
    let mut pairs: Vec<(u32, u32)> = entries.iter().filter(|(i, j, _)| i != j).map(|&(i, j, _)| (i.max(j), i.min(j))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut sparse = BlockGeneral::default();
    sparse.set_pattern(&vec![1; n], &pairs);
    entries.iter().for_each(|&(i, j, x)| sparse.add(i as usize, j as usize, &[x]));
    if sparse.factorise() { Ok(Factors::Sparse(Box::new(sparse))) } else { Err(singular(dofs[0], 0.0)) }
}

/// Connected component of each velocity, numbered by their first, and the number of components.
fn components(mass: &CsMat<f64>) -> (Vec<u32>, usize) {
    let n = mass.rows();
    let mut sets = DisjointSets::new(n);
    let coupled = mass.iter().filter(|(x, (i, j))| **x != 0.0 && i != j);
    coupled.for_each(|(_, (i, j))| sets.join(i as u32, j as u32));
    let mut count = 0;
    let mut label = vec![0; n];
    for i in 0..n as u32 {
        let first = sets.root(i);
        // the root of a component is its smallest member
        label[i as usize] = if first == i {
            count += 1;
            count - 1
        } else {
            label[first as usize]
        };
    }
    (label, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprs::TriMat;

    #[test]
    fn interleaved_components_of_every_kind_are_solved() {
        // velocities 0, 2, 4, … of one chain longer than SMALL; 1, 3 coupled and nonsymmetric; the rest alone
        let n = 2 * (SMALL + 8);
        let mut mass = TriMat::new((n, n));
        for i in 0..n {
            mass.add_triplet(i, i, 4.0 + i as f64 * 0.01);
            if i % 2 == 0 && i + 2 < n {
                mass.add_triplet(i, i + 2, -1.0);
                mass.add_triplet(i + 2, i, -1.1);
            }
        }
        mass.add_triplet(1, 3, 9.0);
        mass.add_triplet(3, 1, 8.0);
        let mass: CsMat<f64> = mass.to_csc();
        let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut x = b.clone();
        let mut factors = MassFactors::new(&mass).expect("invertible");
        assert_eq!(factors.components().count(), 2 + n / 2 - 2);
        factors.solve(&mut x);
        let mut product = vec![0.0; n];
        mass.iter().for_each(|(m, (i, j))| product[i] += m * x[j]);
        assert!(product.iter().zip(&b).all(|(p, b)| (p - b).abs() < 1e-13));
        let mut sparse = vec![0.0; n];
        factors.solve_sparse(&[(0, b[0]), (3, b[3]), (5, b[5])], &mut Vec::new(), |k, x| sparse[k] = x);
        let mut full = vec![0.0; n];
        [0, 3, 5].into_iter().for_each(|k| full[k] = b[k]);
        factors.solve(&mut full);
        assert_eq!(sparse, full);
    }

    #[test]
    fn a_singular_mass_is_named() {
        let mass = CsMat::new((2, 2), vec![0, 1, 1], vec![0], vec![1.0]);
        let error = MassFactors::new(&mass).expect_err("singular").to_string();
        assert!(error.contains("velocity 1"), "{error}");
    }
}
