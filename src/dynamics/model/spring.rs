//! Springs and dampers within a step.

/// At which moment of a step a [spring](super::law::Law::Spring) and its damper act; y is its output, ẏ the rate of y at the start.
///
/// ```text
/// λ = −k (y + h (α u⁺ + β ẏ)) − c (γ u⁺ + (1−γ) ẏ)
/// ```
///
/// ```
/// use drystone::model::spring::SpringRule;
/// // a kilogram on 100 N/m, in steps of 10 ms and of 1 s: what swings keeps its energy, what no step can follow comes to rest
/// assert_eq!(SpringRule::ahead(100.0, 0.0, 1.0, 0.01), SpringRule { after: 0.25, before: -0.25, damper: 0.5 });
/// assert_eq!(SpringRule::ahead(100.0, 0.0, 1.0, 1.0).after, SpringRule::of_theta(1.0).after);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringRule {
    /// α: part of the way h u⁺ of the step.
    pub after: f64,
    /// β: part of the way h ẏ that the rate of the start would go.
    pub before: f64,
    /// γ: part of u⁺ in the rate that the damper sees.
    pub damper: f64,
}

/// ω h up to which a spring of a gap-aware scene keeps its energy.
pub const FOLLOWED: f64 = 2.0;
/// (ω h)² up to which it does, and from which it is implicit.
const SWINGS: [f64; 2] = [FOLLOWED * FOLLOWED, 16.0];
/// Rate of a damper times h, up to which it sees the mean rate of the step, and from which it is implicit: it never turns a velocity round.
const SLOWS: [f64; 2] = [1.0, 4.0];

impl SpringRule {
    /// The θ-rule, `λ = −k (y + h θ u_θ) − c u_θ` with `u_θ = θ u⁺ + (1−θ) ẏ`: with θ = ½ the spring keeps its energy, however stiff.
    pub fn of_theta(theta: f64) -> Self {
        Self { after: theta * theta, before: theta * (1.0 - theta), damper: theta }
    }

    /// Where a step moves by h u⁺, as in gap-aware scenes; `mobility` is that of the row (1/kg, or 1/(kg m²)).
    ///
    /// ```text
    /// y⁺ = y + h u⁺:    y + h (u⁺ − ẏ)/4 = (y⁻ + 2 y + y⁺)/4    with the output y⁻ = y − h ẏ of a step before
    /// ```
    ///
    /// is Newmark's rule of the mean acceleration (J. Eng. Mech. Div. ASCE 85, 1959, 67), u the rate in the middle between two outputs:
    /// `½ m u² + ½ k ((y + y⁻)/2)²` stays as it is, whatever ω h. A spring too stiff for steps to follow would flip at each of them for ever: it goes over
    /// to the implicit rule (1, 0, 1), which brings it to rest. So does a damper that would turn its velocity round.
    pub fn ahead(stiffness: f64, damping: f64, mobility: f64, h: f64) -> Self {
        let beyond = |x: f64, [from, to]: [f64; 2]| ((x - from) / (to - from)).clamp(0.0, 1.0);
        let stiff = beyond(stiffness * mobility * h * h, SWINGS);
        let slow = beyond(damping * mobility * h, SLOWS);
        Self { after: 0.25 + 0.75 * stiff, before: -0.25 * (1.0 - stiff), damper: 0.5 + 0.5 * slow }
    }

    /// D and c of the row `0 = u⁺ + D r + c`, for a force λ that is held through the step: r = h λ.
    ///
    /// ```text
    /// D = 1/(h s),   s = h α k + γ c        c = (k y + (h β k + (1−γ) c) ẏ)/s
    /// ```
    ///
    /// ```
    /// use drystone::model::spring::SpringRule;
    /// // a spring of 100 N/m, stretched by 0.2 m: at rest nothing but 20 N holds it
    /// let [d, c] = SpringRule::of_theta(0.5).row(100.0, 0.0, (0.2, 0.0), 1e-3);
    /// assert!((-c / d / 1e-3 + 20.0).abs() < 1e-9);
    /// ```
    pub fn row(self, stiffness: f64, damping: f64, (y, rate): (f64, f64), h: f64) -> [f64; 2] {
        let Self { after, before, damper } = self;
        let stiff = h * after * stiffness + damper * damping;
        [1.0 / (h * stiff), (stiffness * y + (h * before * stiffness + (1.0 - damper) * damping) * rate) / stiff]
    }

    /// What the spring loses to a step that moves by h u⁺, and what its damper takes, in the unit of k y².
    ///
    /// ```text
    /// lost = −r_k (u⁺ + ẏ)/2 − ½ k (z⁺² − z²) = ½ k h² ((α − ¼) u⁺ + (β + ¼) ẏ) (u⁺ + ẏ),    z = y − ½ h ẏ    taken = ½ h c (γ u⁺ + (1−γ) ẏ) (u⁺ + ẏ)
    /// ```
    ///
    /// ```
    /// use drystone::model::spring::SpringRule;
    /// assert_eq!(SpringRule::ahead(100.0, 0.0, 1.0, 0.01).lost(100.0, 0.0, [3.0, 2.0], 0.01), [0.0, 0.0]);
    /// ```
    pub fn lost(self, stiffness: f64, damping: f64, [after, before]: [f64; 2], h: f64) -> [f64; 2] {
        let twice = after + before;
        let lost = 0.5 * stiffness * h * h * ((self.after - 0.25) * after + (self.before + 0.25) * before) * twice;
        [lost, 0.5 * h * damping * (self.damper * after + (1.0 - self.damper) * before) * twice]
    }
}

#[cfg(test)]
mod tests {
    use super::SpringRule;

    /// Rates and outputs of a unit mass that is let go at y = 1, step by step.
    fn swing(stiffness: f64, damping: f64, h: f64, steps: usize) -> Vec<[f64; 2]> {
        let rule = SpringRule::ahead(stiffness, damping, 1.0, h);
        let (mut y, mut u) = (1.0, 0.0);
        let mut all = Vec::new();
        for _ in 0..steps {
            let [d, c] = rule.row(stiffness, damping, (y, u), h);
            // u⁺ = u + r,   0 = u⁺ + D r + c
            u -= (u + c) / (1.0 + d);
            y += h * u;
            all.push([u, y]);
        }
        all
    }

    #[test]
    fn what_swings_keeps_its_energy_whatever_the_step() {
        for x in [0.01, 0.1, 1.0, 1.9] {
            let (omega, h) = (7.0, x / 7.0);
            let energies =
                swing(omega * omega, 0.0, h, 10_000).into_iter().map(|[u, y]| 0.5 * u * u + 0.5 * (omega * (y - 0.5 * h * u)).powi(2));
            let (low, high) = energies.fold((f64::INFINITY, 0.0_f64), |(low, high), e| (low.min(e), high.max(e)));
            assert!(high - low < 1e-9 * high, "ω h = {x}: {low} to {high}");
        }
    }

    #[test]
    fn outputs_are_of_second_order_where_rates_stand_in_the_middle_of_steps() {
        let (k, c) = (49.0_f64, 1.4_f64);
        let (slow, fast) = (0.5 * c, (k - 0.25 * c * c).sqrt());
        // let go at time 0
        let exact = |t: f64| libm::exp(-slow * t) * (libm::cos(fast * t) + slow / fast * libm::sin(fast * t));
        let error = |steps: u32| {
            let h = 1.0 / f64::from(steps);
            let y = swing(k, c, h, steps as usize)[steps as usize - 1][1];
            (y - exact(1.0 + 0.5 * h) / exact(0.5 * h)).abs()
        };
        let errors = [100, 200, 400].map(error);
        assert!(errors.windows(2).all(|e| e[0] > 3.5 * e[1]), "{errors:?}");
    }

    #[test]
    fn what_steps_cannot_follow_comes_to_rest() {
        for (stiffness, damping) in [(16.0, 0.0), (1e6, 0.0), (100.0, 2.0), (0.0, 1.0), (0.0, 3.0), (0.0, 1e9), (1e4, 1e4)] {
            let all = swing(stiffness, damping, 1.0, 200);
            assert!(all[199][0].abs() < 1e-3, "{stiffness}, {damping}: {:?}", all[199]);
            // a damper alone turns no velocity round
            let rule = SpringRule::ahead(0.0, damping, 1.0, 1.0);
            let [d, c] = rule.row(0.0, damping.max(1e-9), (0.0, 1.0), 1.0);
            assert!(1.0 - (1.0 + c) / (1.0 + d) >= 0.0, "{damping}");
        }
    }
}
