//! Piles at rest: which islands are, and what makes them quieter than the tolerance asks.

use super::super::mixed::{Answer, IMMOBILE, MixedProblem, RigidMass, Twist};

/// Part of the velocity that reactions take away which bodies at rest may keep.
pub(super) const REST: f64 = 1e-3;

/// Multiple of the velocity that reactions take away from which bodies fall rather than rest: sweeps that have not got far carry but a part
/// of a tall structure.
const FALLS: f64 = 10.0;

/// Mass and mean inertia of a body.
pub(super) fn weights(m: &RigidMass) -> [f64; 2] {
    let weight = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
    let inertia = m.inverse_inertia[..3].iter().copied().fold(0.0, f64::max);
    [weight(m.inverse_mass.max_element()), weight(inertia)]
}

/// `(|v|², |v − v_free|²)` in the norm of the mean inertia of each rigid body that has rows.
pub(super) fn left_and_taken(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>, counts: impl Fn(usize) -> bool) -> (f64, f64) {
    rows.clear();
    rows.resize(p.rigid.len(), false);
    let ends = p.heads().flat_map(|c| [c.body1, c.body2]).filter(|&b| b != IMMOBILE);
    ends.for_each(|b| rows[b as usize] = true);
    let (mut left, mut taken) = (0.0, 0.0);
    for (i, m) in p.rigid.iter().enumerate().filter(|(i, _)| rows[*i] && counts(*i)) {
        let [mass, inertia] = weights(m);
        let norm = |t: Twist| mass * t.linear.length_squared() + inertia * t.angular.length_squared();
        let (v, free) = (answer.velocities.rigid[i], p.free.rigid[i]);
        left += norm(v);
        taken += norm(Twist { linear: v.linear - free.linear, angular: v.angular - free.angular });
    }
    (left, taken)
}

/// True where bodies that were at rest move now, though reactions take part of their weight.
pub(super) fn begins_to_move(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>) -> bool {
    let (left, taken) = left_and_taken(p, answer, rows, |i| p.resting.get(i).copied().unwrap_or(false));
    left > REST * REST * taken && left <= FALLS * FALLS * taken
}

/// True where reactions take away all velocities but for a small part.
pub(super) fn rests(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>) -> bool {
    let (left, taken) = left_and_taken(p, answer, rows, |_| true);
    left <= REST * REST * taken
}

/// Part of the velocity that reactions take away which the errors of a solver leave in a pile at rest.
pub(super) const AT_REST: f64 = 0.2;

/// True where reactions take away what there is but for the errors of a solver: a pile under its loads, not a flow.
pub(super) fn at_rest(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>) -> bool {
    let (left, taken) = left_and_taken(p, answer, rows, |_| true);
    left <= AT_REST * AT_REST * taken
}

/// True where reactions take away more than is left, for all that falls or slides in it: a pile under its loads, not a flow.
pub(in crate::numerics) fn is_pile(p: &MixedProblem, answer: &Answer, rows: &mut Vec<bool>) -> bool {
    let (left, taken) = left_and_taken(p, answer, rows, |_| true);
    left <= taken
}
