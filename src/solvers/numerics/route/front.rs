//! Fronts of closing contacts: where only few rows are wrong, what is around them is solved alone.
//!
//! A set of [`chain`](super::chain) moves a front by one row, at the cost of a factorisation of all rows. Here only the basic rows near
//! the wrong ones move, the others stand, until no row near is wrong; then all follow.

use super::chain::Chain;
use super::plan::Plan;
use crate::algebra::envelope::Envelope;
use crate::numerics::complementarity::State;

/// Basic rows around a wrong one that move.
const WINDOW: usize = 100;
/// Share of all rows that may move in a step, and that all steps together may move.
const SHARES: (usize, usize) = (16, 1);

/// What is solved alone.
#[derive(Debug, Default)]
pub(super) struct Front {
    envelope: Envelope,
    /// its rows, and which place each row has among them
    rows: Vec<u32>,
    place: Vec<u32>,
    /// rows whose u has changed
    near: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    step: Vec<f64>,
}

const NONE: u32 = u32::MAX;

impl Chain {
    /// Moves the fronts that these rows, whose states have changed, are part of, as long as few rows are wrong; u is that of r where it
    /// ends.
    pub(super) fn move_fronts(&mut self, plan: &Plan, q: &[f64], tolerance: f64, wrong: &mut Vec<u32>, r: &mut [f64], u: &mut [f64]) {
        let n = r.len();
        let mut front = std::mem::take(&mut self.front);
        front.place.clear();
        front.place.resize(n, NONE);
        let mut largest = r.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut work = n / SHARES.1;
        while !wrong.is_empty() && self.gather(&mut front, wrong, n / SHARES.0) {
            match work.checked_sub(front.rows.len()) {
                Some(left) => work = left,
                None => break,
            }
            for &i in wrong.iter() {
                let i = i as usize;
                match self.states[i] {
                    State::Lower => r[i] = plan.lower[i],
                    State::Upper => r[i] = plan.upper[i],
                    State::Basic => {}
                }
            }
            if !self.solve_alone(&mut front, q, r) {
                break;
            }
            largest = front.rows.iter().fold(largest, |m, &i| m.max(r[i as usize].abs()));
            front.near.iter().for_each(|&i| u[i as usize] = self.row_velocity(i as usize, q, r));
            wrong.clear();
            for &i in &front.near {
                let k = i as usize;
                if self.active[k]
                    && let Some(next) = self.next_state(plan, k, tolerance, largest, q[k], r[k], u[k])
                {
                    self.states[k] = next;
                    wrong.push(i);
                }
            }
            front.rows.iter().for_each(|&i| front.place[i as usize] = NONE);
        }
        front.rows.clear();
        self.front = front;
    }

    /// The basic rows around the wrong ones, and the rows next to them; false where they are too many.
    fn gather(&self, front: &mut Front, wrong: &[u32], most: usize) -> bool {
        let Front { rows, place, near, .. } = front;
        rows.clear();
        near.clear();
        let basic = |i: u32| self.states[i as usize] == State::Basic;
        let neighbours = |i: u32| &self.columns[self.starts[i as usize]..self.starts[i as usize + 1]];
        let add = |i: u32, rows: &mut Vec<u32>, place: &mut Vec<u32>| {
            if basic(i) && place[i as usize] == NONE {
                place[i as usize] = rows.len() as u32;
                rows.push(i);
            }
        };
        for &i in wrong {
            let (mut at, end) = (rows.len(), rows.len() + WINDOW);
            add(i, rows, place);
            neighbours(i).iter().for_each(|&j| add(j, rows, place));
            while at < rows.len() && rows.len() < end {
                let k = rows[at];
                neighbours(k).iter().for_each(|&j| add(j, rows, place));
                at += 1;
            }
            if rows.len() > most {
                return false;
            }
        }
        near.extend(rows.iter().chain(wrong));
        near.extend(rows.iter().chain(wrong).flat_map(|&i| neighbours(i)));
        near.sort_unstable();
        near.dedup();
        true
    }

    /// `W_CC r_C = −q_C − W_CN r_N` on the rows of the front; false where the envelope has no pivot.
    fn solve_alone(&self, front: &mut Front, q: &[f64], r: &mut [f64]) -> bool {
        let Front { envelope, rows, place, pairs, step, .. } = front;
        let entries = |k: u32| {
            let i = rows[k as usize] as usize;
            (self.starts[i]..self.starts[i + 1]).map(|e| (place[self.columns[e] as usize], self.values[e])).filter(|(j, _)| *j != NONE)
        };
        pairs.clear();
        (0..rows.len() as u32).for_each(|k| pairs.extend(entries(k).map(|(j, _)| (k, j))));
        envelope.set_pattern(rows.len(), pairs);
        envelope.values_mut().fill(0.0);
        for k in 0..rows.len() as u32 {
            for (j, x) in entries(k) {
                if let Some(at) = envelope.place(k as usize, j as usize) {
                    envelope.values_mut()[at] = x;
                }
            }
        }
        if !envelope.factorise() {
            return false;
        }
        // the second is a step of refinement
        for _ in 0..2 {
            step.clear();
            step.extend(rows.iter().map(|&i| -self.row_velocity(i as usize, q, r)));
            envelope.solve(step);
            rows.iter().zip(step.iter()).for_each(|(&i, dr)| r[i as usize] += dr);
        }
        true
    }
}
