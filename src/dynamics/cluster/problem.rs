//! The one-step problem of a cluster: rows of all links, then the faces of normal cones.

use super::link::Link;
use super::{ClusterError, contradiction};
use crate::algebra::blocks::BlockRows;
use crate::model::law::Law;
use crate::numerics::Report;
use crate::numerics::admissible::AdmissibleSet;
use crate::numerics::route::{RoutedProblem, Router};

/// Beyond this W is kept by blocks.
const DENSE: usize = 64;

/// W, q, sets, the reactions and what solves them.
#[derive(Debug, Default)]
pub(super) struct Problem {
    pub(super) routed: RoutedProblem,
    pub(super) router: Router,
    /// λ of all rows, in the units of the problem; the guess of the next step
    pub(super) r: Vec<f64>,
    /// `u = W r + q`
    pub(super) u: Vec<f64>,
    dense: Vec<f64>,
    entries: Vec<(usize, usize, f64)>,
    /// entries that come from normal cones
    cones: Vec<(usize, usize, f64)>,
}

impl Problem {
    /// Numbers rows and blocks of the links, whose `rows` are set, and writes their `faces` and `blocks`.
    pub(super) fn new(links: &mut [Link], intervals_scaled_by: f64) -> Self {
        let mut p = Self::default();
        let (sets, mut offsets) = (&mut p.routed.problem.sets, vec![0]);
        let mut row = 0;
        for link in links.iter_mut() {
            let first = sets.len();
            for (set, rows) in link.sets() {
                // a relay on a rate bounds a force; the multiplier is its impulse
                sets.push(match set {
                    AdmissibleSet::Interval { lower, upper }
                        if link.relation.is_second_order() && link.level == super::link::Level::Rate =>
                    {
                        AdmissibleSet::Interval { lower: lower * intervals_scaled_by, upper: upper * intervals_scaled_by }
                    }
                    other => other,
                });
                row += rows;
                offsets.push(row);
            }
            link.blocks = first..sets.len();
        }
        for link in links.iter_mut() {
            let Law::NormalCone { h, k } = &link.law else {
                link.faces = row..row;
                continue;
            };
            let m = link.len();
            link.faces = row..row + k.len();
            for (face, normal) in h.chunks_exact(m).enumerate() {
                for (i, x) in normal.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    // y − Hᵀ μ = 0 and 0 ≤ H λ − k ⟂ μ ≥ 0
                    p.cones.push((link.rows.start + i, row + face, -x));
                    p.cones.push((row + face, link.rows.start + i, *x));
                }
                sets.push(AdmissibleSet::NonNegative);
                offsets.push(row + face + 1);
            }
            row += k.len();
        }
        p.routed.active = vec![true; sets.len()];
        p.routed.problem.q = vec![0.0; row];
        (p.r, p.u) = (vec![0.0; row], vec![0.0; row]);
        p.routed.problem.w = if row > DENSE {
            BlockRows::from_triplets(&offsets, [])
        } else {
            p.dense = vec![0.0; row * row];
            BlockRows::full(offsets, p.dense.clone())
        };
        for link in links.iter() {
            if let Law::NormalCone { k, .. } = &link.law {
                // as for relays: P holds forces
                let scale =
                    if link.relation.is_second_order() && link.level == super::link::Level::Rate { intervals_scaled_by } else { 1.0 };
                link.faces.clone().zip(k).for_each(|(i, k)| p.routed.problem.q[i] = -k * scale);
            }
        }
        p
    }

    /// Number of rows.
    pub(super) fn order(&self) -> usize {
        self.r.len()
    }

    /// Starts a new W.
    pub(super) fn begin_w(&mut self) {
        self.dense.fill(0.0);
        self.entries.clear();
        for k in 0..self.cones.len() {
            let (i, j, x) = self.cones[k];
            self.add_w(i, j, x);
        }
    }

    /// Adds to W.
    pub(super) fn add_w(&mut self, i: usize, j: usize, x: f64) {
        let n = self.order();
        if n <= DENSE {
            self.dense[i * n + j] += x;
        } else if x != 0.0 {
            self.entries.push((i, j, x));
        }
    }

    /// Ends W; the solver hears of it only where it has changed.
    pub(super) fn end_w(&mut self) {
        let (w, revision) = (&mut self.routed.problem.w, &mut self.routed.revision);
        let changed = if self.r.len() <= DENSE {
            w.assign_dense(&self.dense)
        } else {
            let new = BlockRows::from_triplets(w.offsets(), self.entries.iter().copied());
            *w != new && {
                *w = new;
                true
            }
        };
        *revision += u64::from(changed || *revision == 0);
    }

    /// Switches the blocks of a link on or off.
    pub(super) fn set_active(&mut self, link: &Link, active: bool) {
        self.routed.active[link.blocks.clone()].fill(active);
    }

    /// Solves for `r`, from the last one.
    pub(super) fn solve(&mut self) -> Report {
        self.router.solve(&self.routed, &mut self.r, &mut self.u)
    }

    /// After a solve that has not converged: equations that contradict each other are an error that names their interactions.
    #[cold]
    pub(super) fn judge(&self, links: &[Link], t: f64) -> Result<(), ClusterError> {
        self.contradiction().map_or(Ok(()), |rows| Err(contradiction::named(links, &rows, t)))
    }

    /// Active equations `Σ W r + q = 0` of which a combination `yᵀ W = 0` leaves `yᵀ q ≠ 0`: those with y ≠ 0. By elimination.
    fn contradiction(&self) -> Option<Vec<usize>> {
        let p = &self.routed.problem;
        let mut equations = Vec::new();
        let mut first = 0;
        for ((set, active), end) in p.sets.iter().zip(&self.routed.active).zip(&p.w.offsets()[1..]) {
            if *active && *set == AdmissibleSet::Free {
                equations.extend(first..*end);
            }
            first = *end;
        }
        let n = self.order();
        let found = contradiction::find(equations.len(), n, |k, row| {
            let i = equations[k];
            if n <= DENSE {
                row[..n].copy_from_slice(&self.dense[i * n..(i + 1) * n]);
            } else {
                self.entries.iter().filter(|e| e.0 == i).for_each(|&(_, j, x)| row[j] += x);
            }
            row[n] = p.q[i];
            p.q[i].abs()
        });
        found.map(|rows| rows.into_iter().map(|k| equations[k]).collect())
    }
}
