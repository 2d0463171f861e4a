//! Columns of blocks under pulses against the equations of motion of stacked rigid blocks, integrated here from mode to mode.
//!
//! ```text
//! block k turns by φ_k; its lower joint is whole, or stands on its left or its right edge     (two blocks: Psycharis 1990, Spanos et al. 2001)
//! M(φ) φ̈ = Σ_k m_k J_kᵀ (R d φ̇² − (a, g)) + constraint moments     J_k: of the centre of block k;  φ_k = φ_{k−1} in a whole joint
//! whole    −2 b N ≤ M_right ≤ 0: the resultant lies in the face     it opens where it does not
//! landing  M (φ̇⁺ − φ̇⁻) likewise with impulses: corners that strike stay (e = 0, no sliding) unless they would have to pull
//! onset    a = g b/z of the section for which that is least          z: height of the centre of what stands on it
//! ```

use drystone::diagnostics::collapse::trial;
use drystone::diagnostics::equilibrium::{Structure, admissible};
use drystone::io::scene::Scene;
use drystone::io::scene::loads::BaseMotion;
use drystone::model::newton_euler::BodyPose;
use drystone::scenes::build;
use glam::{DVec2, DVec3};
use std::f64::consts::PI;

const G: f64 = 9.81;
const DENSITY: f64 = 2400.0;
const DEPTH: f64 = 0.6;
/// A block that leans by more has fallen.
const FALLEN: f64 = 1.2;

/// Rectangular blocks, one upon the other about one axis: half width and height of each, from below.
#[derive(Clone, Copy, Debug)]
struct Stack<const N: usize>([[f64; 2]; N]);

/// What the lower joint of a block does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Joint {
    Whole,
    Left,
    Right,
}

impl Joint {
    /// The edge that holds; of a whole joint, moments are about the right one.
    fn side(self) -> f64 {
        if self == Self::Left { -1.0 } else { 1.0 }
    }
}

/// A half sine (or whole sines) of the ground, in parts of g.
#[derive(Clone, Copy, Debug)]
struct Pulse {
    whole: bool,
    omega: f64,
    peak: f64,
}

impl Pulse {
    fn duration(self) -> f64 {
        if self.whole { 2.0 * PI / self.omega } else { PI / self.omega }
    }
}

#[derive(Clone, Copy, Debug)]
struct State<const N: usize> {
    joints: [Joint; N],
    angle: [f64; N],
    rate: [f64; N],
}

/// What comes out of a set of joints: rates (accelerations or velocities), normal force (impulse) and moment of each joint.
struct Response<const N: usize> {
    rate: [f64; N],
    normal: [f64; N],
    moment: [f64; N],
}

impl<const N: usize> Stack<N> {
    /// `blocks` equal ones, 0.5 m wide and 2 m high in all.
    fn equal() -> Self {
        Self([[0.25, 2.0 / N as f64]; N])
    }

    fn mass(&self, k: usize) -> f64 {
        DENSITY * DEPTH * 2.0 * self.0[k][0] * self.0[k][1]
    }

    fn inertia(&self, k: usize) -> f64 {
        let [b, h] = self.0[k];
        self.mass(k) / 12.0 * (4.0 * b * b + h * h)
    }

    /// Half width of the lower joint.
    fn half(&self, k: usize) -> f64 {
        if k == 0 { self.0[0][0] } else { self.0[k][0].min(self.0[k - 1][0]) }
    }

    /// Least acceleration (in g) that opens a joint, and which.
    fn onset(&self) -> (f64, usize) {
        let of = |k: usize| {
            let (mut weight, mut first, mut foot) = (0.0, 0.0, 0.0);
            for j in k..N {
                weight += self.mass(j);
                first += self.mass(j) * (foot + 0.5 * self.0[j][1]);
                foot += self.0[j][1];
            }
            self.half(k) * weight / first
        };
        (0..N).map(|k| (of(k), k)).reduce(|a, b| if b.0 < a.0 { b } else { a }).unwrap()
    }

    /// The centre of block k, from the edge about which the lowest block turns, is the sum of these: R(φ_j) d_kj.
    fn arms(&self, s: &State<N>, k: usize) -> [DVec2; N] {
        std::array::from_fn(|j| {
            if j > k {
                return DVec2::ZERO;
            }
            let from = DVec2::new(s.joints[j].side() * self.half(j), 0.0);
            let to = if j == k { DVec2::ZERO } else { DVec2::new(s.joints[j + 1].side() * self.half(j + 1), 0.5 * self.0[j][1]) };
            DVec2::from_angle(s.angle[j]).rotate(to - from + DVec2::new(0.0, 0.5 * self.0[j][1]))
        })
    }

    /// Rates x with `M x = Σ m Jᵀ drive + I spin` but for the moments of whole joints.
    fn respond(&self, s: &State<N>, drive: &[DVec2; N], spin: &[f64; N]) -> Response<N> {
        let (mut mass, mut load) = ([[0.0; N]; N], [0.0; N]);
        for k in 0..N {
            let arms = self.arms(s, k);
            for i in 0..=k {
                load[i] += self.mass(k) * arms[i].perp().dot(drive[k]);
                for j in 0..=k {
                    mass[i][j] += self.mass(k) * arms[i].dot(arms[j]);
                }
            }
            mass[k][k] += self.inertia(k);
            load[k] += self.inertia(k) * spin[k];
        }
        // a block of a whole joint turns with the one below; 0 is the ground
        let mut group = [0; N];
        for k in 0..N {
            let below = if k == 0 { 0 } else { group[k - 1] };
            group[k] = if s.joints[k] == Joint::Whole { below } else { k + 1 };
        }
        let (mut a, mut b) = ([[0.0; N]; N], [0.0; N]);
        for i in (0..N).filter(|&i| group[i] > 0) {
            b[group[i] - 1] += load[i];
            (0..N).filter(|&j| group[j] > 0).for_each(|j| a[group[i] - 1][group[j] - 1] += mass[i][j]);
        }
        (0..N).filter(|&g| !group.contains(&(g + 1))).for_each(|g| a[g][g] = 1.0);
        let of_group = solve(a, b);
        let rate = group.map(|g| if g == 0 { 0.0 } else { of_group[g - 1] });
        let (mut normal, mut moment) = ([0.0; N], [0.0; N]);
        for k in 0..N {
            let below = if k == 0 { DVec2::Y } else { DVec2::from_angle(s.angle[k - 1]).rotate(DVec2::Y) };
            for j in k..N {
                let arms = self.arms(s, j);
                let change: DVec2 = (0..=j).map(|i| rate[i] * arms[i].perp()).sum::<DVec2>() - drive[j];
                normal[k] += self.mass(j) * change.dot(below);
                moment[k] += (0..N).map(|i| mass[j][i] * rate[i]).sum::<f64>() - load[j];
            }
        }
        Response { rate, normal, moment }
    }

    /// Joints that may choose take the first set of modes in which nothing pulls and nothing goes into each other.
    fn choose(&self, s: &mut State<N>, free: [bool; N], drive: impl Fn(&State<N>) -> [DVec2; N], spin: [f64; N]) -> Response<N> {
        for code in 0..3usize.pow(N as u32) {
            let mut trial = *s;
            for k in 0..N {
                let mode = [Joint::Whole, Joint::Left, Joint::Right][code / 3usize.pow(k as u32) % 3];
                trial.joints[k] = if free[k] { mode } else { s.joints[k] };
            }
            let found = self.respond(&trial, &drive(&trial), &spin);
            let fits = |k: usize| {
                let turns = found.rate[k] - if k == 0 { 0.0 } else { found.rate[k - 1] };
                let slack = 1e-9 * (found.moment[k].abs() + found.normal[k].abs());
                match trial.joints[k] {
                    Joint::Whole => found.moment[k] <= slack && found.moment[k] >= -2.0 * self.half(k) * found.normal[k] - slack,
                    joint => found.normal[k] >= 0.0 && -joint.side() * turns >= 0.0,
                }
            };
            if (0..N).all(|k| !free[k] || fits(k)) {
                *s = trial;
                return found;
            }
        }
        panic!("no mode fits {s:?}");
    }

    /// `(R d φ̇²) − (a, g)` of each block.
    fn loads(&self, s: &State<N>, ground: f64) -> [DVec2; N] {
        std::array::from_fn(|k| {
            let arms = self.arms(s, k);
            (0..=k).map(|j| s.rate[j] * s.rate[j] * arms[j]).sum::<DVec2>() - DVec2::new(ground, G)
        })
    }

    /// Joints that are whole go on as they can.
    fn open(&self, s: &mut State<N>, ground: f64) {
        let whole = s.joints.map(|j| j == Joint::Whole);
        let at = s.to_owned();
        self.choose(s, whole, |trial| self.loads(&State { rate: at.rate, ..*trial }, ground), [0.0; N]);
    }

    fn rk4(&self, s: &State<N>, ground: impl Fn(f64) -> f64, t: f64, dt: f64) -> State<N> {
        let slope = |s: &State<N>, t: f64| (s.rate, self.respond(s, &self.loads(s, ground(t)), &[0.0; N]).rate);
        let moved = |(v, a): &([f64; N], [f64; N]), dt: f64| {
            let mut next = *s;
            (0..N).for_each(|k| (next.angle[k], next.rate[k]) = (s.angle[k] + dt * v[k], s.rate[k] + dt * a[k]));
            next
        };
        let k1 = slope(s, t);
        let k2 = slope(&moved(&k1, 0.5 * dt), t + 0.5 * dt);
        let k3 = slope(&moved(&k2, 0.5 * dt), t + 0.5 * dt);
        let k4 = slope(&moved(&k3, dt), t + dt);
        let mean =
            |a: [f64; N], b: [f64; N], c: [f64; N], d: [f64; N]| std::array::from_fn(|k| (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]) / 6.0);
        moved(&(mean(k1.0, k2.0, k3.0, k4.0), mean(k1.1, k2.1, k3.1, k4.1)), dt)
    }

    /// A joint lands: corners that strike share an impulse.
    fn land(&self, s: &mut State<N>, struck: usize) {
        let relative = |x: &[f64; N], k: usize| x[k] - if k == 0 { 0.0 } else { x[k - 1] };
        let velocity: [DVec2; N] = std::array::from_fn(|k| {
            let arms = self.arms(s, k);
            (0..=k).map(|j| s.rate[j] * arms[j].perp()).sum()
        });
        let soft = relative(&s.rate, struck).abs() < 1e-5;
        s.angle[struck] -= relative(&s.angle, struck);
        let mut free = s.joints.map(|j| j == Joint::Whole);
        free[struck] = true;
        // the angles of blocks above a whole joint follow
        (1..N).filter(|&k| s.joints[k] == Joint::Whole).for_each(|k| s.angle[k] = s.angle[k - 1]);
        let spin = s.rate;
        if soft {
            s.joints[struck] = Joint::Whole;
            s.rate = self.respond(s, &velocity, &spin).rate;
            return;
        }
        let found = self.choose(s, free, |_| velocity, spin);
        s.rate = found.rate;
    }

    /// Kinetic and potential energy above that at rest.
    fn energy(&self, s: &State<N>) -> f64 {
        let (mut sum, mut foot) = (0.0, 0.0);
        for k in 0..N {
            let arms = self.arms(s, k);
            let speed: DVec2 = (0..=k).map(|j| s.rate[j] * arms[j].perp()).sum();
            let centre = DVec2::new(s.joints[0].side() * self.half(0), 0.0) + arms[..=k].iter().sum::<DVec2>();
            sum += 0.5 * self.mass(k) * speed.length_squared() + 0.5 * self.inertia(k) * s.rate[k] * s.rate[k];
            sum += self.mass(k) * G * (centre.y - foot - 0.5 * self.0[k][1]);
            foot += self.0[k][1];
        }
        sum
    }

    /// Least energy at which it may fall, less a margin.
    fn barrier(&self) -> f64 {
        let of = |k: usize| {
            let (weight, height): (f64, f64) = ((k..N).map(|j| self.mass(j)).sum(), (k..N).map(|j| self.0[j][1]).sum());
            weight * G * (self.half(k).hypot(0.5 * height) - 0.5 * height)
        };
        0.25 * (0..N).map(of).fold(f64::INFINITY, f64::min)
    }

    /// Whether the equations say that it falls, and how many times joints opened and landed until then.
    fn falls_by_equation(&self, pulse: Pulse, dt: f64) -> (bool, [u32; 2]) {
        let mut s = State { joints: [Joint::Whole; N], angle: [0.0; N], rate: [0.0; N] };
        let (mut t, end, mut counts) = (0.0, pulse.duration(), [0; 2]);
        while t < end + 8.0 {
            let before = s.joints;
            // within the step the course of the ground is smooth
            let step = if t < end - 1e-12 { dt.min(end - t) } else { dt };
            let ground = |at: f64| if t < end - 1e-12 { G * pulse.peak * (pulse.omega * at).sin() } else { 0.0 };
            self.open(&mut s, ground(t));
            counts[0] += (0..N).filter(|&k| before[k] == Joint::Whole && s.joints[k] != Joint::Whole).count() as u32;
            let gap = |x: &[f64; N], k: usize| -s.joints[k].side() * (x[k] - if k == 0 { 0.0 } else { x[k - 1] });
            let next = self.rk4(&s, ground, t, step);
            // of the parabola through both ends with the rate at the start
            let when = |k: usize| {
                let (gap0, rate, gap1) = (gap(&s.angle, k).max(0.0), gap(&s.rate, k) * step, gap(&next.angle, k));
                let a = 2.0 * (gap1 - gap0 - rate);
                let root = (rate * rate - 2.0 * a * gap0).sqrt();
                if rate > 0.0 { -(rate + root) / a } else { 2.0 * gap0 / (root - rate) }
            };
            let landing = (0..N)
                .filter(|&k| s.joints[k] != Joint::Whole && gap(&next.angle, k) < 0.0)
                .map(|k| (when(k), k))
                .reduce(|a, b| if b.0 < a.0 { b } else { a });
            if let Some((part, k)) = landing {
                s = self.rk4(&s, ground, t, part * step);
                self.land(&mut s, k);
                (t, counts[1]) = (t + part * step, counts[1] + 1);
            } else {
                (s, t) = (next, t + step);
            }
            if s.angle.iter().any(|a| a.abs() > FALLEN) {
                return (true, counts);
            }
            if t > end && self.energy(&s) < self.barrier() {
                return (false, counts);
            }
        }
        (false, counts)
    }

    fn scene(&self, h: f64, ground: &str) -> Scene {
        let mut text = format!(
            "[time]\nstep = {h}\nend = 0.01\n[solver]\ntolerance = 1e-9\n[[materials]]\nname = \"stone\"\ndensity = {DENSITY}\n[contact]\nmu = 5\n\
             [[bodies]]\nname = \"ground\"\nmotion = \"static\"\nshape = {{ kind = \"half_space\" }}\n{ground}"
        );
        let mut foot = 0.0;
        for (k, [b, height]) in self.0.iter().enumerate() {
            let z = foot + 0.5 * height;
            text += &format!("[[bodies]]\nname = \"b{k}\"\nposition = [0, 0, {z}]\n");
            text += &format!("shape = {{ kind = \"cuboid\", size = [{}, {DEPTH}, {height}] }}\n", 2.0 * b);
            foot += height;
        }
        Scene::from_toml(&text, "column").unwrap_or_else(|e| panic!("{text}{e}"))
    }

    fn under(&self, pulse: Pulse, h: f64) -> Scene {
        let (kind, peak, duration) = (if pulse.whole { "sine" } else { "half_sine" }, G * pulse.peak, pulse.duration());
        let ground = format!("[base]\npulses = [{{ kind = \"{kind}\", acceleration = [{peak}, 0, 0], duration = {duration} }}]\n");
        self.scene(h, &ground)
    }

    /// Whether the scene falls.
    fn falls(&self, pulse: Pulse, h: f64) -> bool {
        let mut built = build(&self.under(pulse, h)).unwrap();
        let rest: f64 = (0..N).map(|k| self.mass(k) * G * (self.0[..k].iter().map(|b| b[1]).sum::<f64>() + 0.5 * self.0[k][1])).sum();
        let end = pulse.duration();
        while built.simulation.time() < end + 8.0 {
            let report = built.simulation.step().unwrap();
            // now and then a step stays above the 1e-9 that are asked
            assert!(report.report.e_s < 1e-6, "t = {}: {}", report.time, report.report.e_s);
            let lean = |k: usize| {
                let pose = built.simulation.world().get::<BodyPose>(built.entities[k + 1]).unwrap().0;
                (pose.rotation * DVec3::Z).z.clamp(-1.0, 1.0).acos()
            };
            if (0..N).any(|k| lean(k) > FALLEN) {
                return true;
            }
            let energy = report.balance.energy;
            if built.simulation.time() > end && energy.kinetic + energy.potential - rest < self.barrier() {
                return false;
            }
        }
        false
    }
}

/// Gauss with pivots.
fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    for i in 0..N {
        let best = (i..N).reduce(|p, q| if a[q][i].abs() > a[p][i].abs() { q } else { p }).unwrap();
        a.swap(i, best);
        b.swap(i, best);
        for j in i + 1..N {
            let f = a[j][i] / a[i][i];
            let row = a[i];
            (i..N).for_each(|k| a[j][k] -= f * row[k]);
            b[j] -= f * b[i];
        }
    }
    for i in (0..N).rev() {
        let rest: f64 = (i + 1..N).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - rest) / a[i][i];
    }
    b
}

/// Limit between standing and falling by bisection, to `width` in parts of it.
fn limit(mut low: f64, mut high: f64, width: f64, falls: impl Fn(f64) -> bool) -> f64 {
    assert!(!falls(low) && falls(high), "no limit between {low} and {high}");
    while high - low > width * high {
        let middle = 0.5 * (low + high);
        if falls(middle) { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// ω of half sines of the column of 0.5 × 2 m, in parts of its p as one block (1/s).
fn omega(ratio: f64) -> f64 {
    ratio * (0.75 * G / 0.25f64.hypot(1.0)).sqrt()
}

/// Two blocks of different width: at the onset the whole rocks, soon each block on its own.
const STEPPED: Stack<2> = Stack([[0.3, 1.0], [0.2, 1.0]]);

impl<const N: usize> Stack<N> {
    /// Its scale is the peak over the onset.
    fn pulse(&self, whole: bool, omega: f64, scale: f64) -> Pulse {
        Pulse { whole, omega, peak: scale * self.onset().0 }
    }

    /// The limit by the equations, and how often joints opened and landed just below and just above it.
    fn by_equation(&self, whole: bool, omega: f64, [low, high]: [f64; 2], dt: f64) -> (f64, [[u32; 2]; 2]) {
        let falls = |scale: f64| self.falls_by_equation(self.pulse(whole, omega, scale), dt);
        let found = limit(low, high, 1e-7, |scale| falls(scale).0);
        (found, [1.0 - 1e-6, 1.0 + 1e-6].map(|part| falls(part * found).1))
    }

    /// That of drystone, looked for within a share of the expected one.
    fn simulated(&self, whole: bool, omega: f64, expected: f64, share: f64, h: f64) -> f64 {
        let ends = [1.0 - share, 1.0 + share].map(|part| part * expected);
        limit(ends[0], ends[1], 1e-5, |scale| self.falls(self.pulse(whole, omega, scale), h))
    }

    /// A line of a table: the limit by the equations, and those of drystone at these steps.
    fn row(&self, omega: f64, ends: [f64; 2], steps: &[f64]) -> String {
        let (exact, counts) = self.by_equation(false, omega, ends, 5e-4);
        let error = |h: &f64| {
            let found = self.simulated(false, omega, exact, 0.1, *h);
            format!("{found:.4} ({:+.2} %)", 100.0 * (found / exact - 1.0))
        };
        let found: Vec<String> = steps.iter().map(error).collect();
        format!("| {N} | {omega:.3} | {exact:.4} | {} | {} |", counts[1][1], found.join(" | "))
    }
}

#[test]
fn a_column_begins_to_rock_at_the_section_for_which_b_over_h_is_least() {
    fn begins<const N: usize>(column: &Stack<N>, joint: usize) {
        let (onset, weakest) = column.onset();
        assert_eq!(weakest, joint);
        let pushed = |scale: f64| {
            let mut scene = column.scene(2e-3, "");
            scene.time.end = 3.0;
            scene.base = Some(BaseMotion::of_accelerations(vec![0.0], vec![-scale * onset * G * DVec3::X]));
            scene
        };
        for (scale, stands) in [(0.9999, true), (1.0001, false)] {
            let structure = Structure::of(&pushed(scale), 0.0).unwrap();
            let answer = structure.solve();
            assert_eq!(admissible(&answer), Some(stands), "{column:?} at {scale}");
            if !stands {
                let first = &structure.mechanism(&answer)[0];
                assert!(first.bodies.contains(&format!("b{joint}")), "{first:?}");
            }
        }
        for (scale, stands) in [(0.999, true), (1.002, false)] {
            assert_eq!(trial(&pushed(scale), scale).unwrap().stands, stands, "{column:?} at {scale}");
        }
    }
    begins(&Stack::<4>::equal(), 0);
    begins(&STEPPED, 0);
    begins(&Stack([[0.5, 0.5], [0.2, 0.8], [0.2, 0.8]]), 1);
}

#[test]
fn half_sines_overturn_a_column_of_equal_blocks_as_if_it_were_one_block() {
    let omega = omega(3.0);
    let (one, _) = Stack::<1>::equal().by_equation(false, omega, [1.0, 20.0], 1e-3);
    let (three, counts) = Stack::<3>::equal().by_equation(false, omega, [1.0, 20.0], 1e-3);
    assert!((three / one - 1.0).abs() < 1e-5 && counts[1][1] == 0, "{one} and {three}, {counts:?}");
    let two = Stack::<2>::equal().simulated(false, omega, one, 0.05, 4e-3);
    let three = Stack::<3>::equal().simulated(false, omega, one, 0.05, 4e-3);
    assert!([two, three].iter().all(|found| (found / one - 1.0).abs() < 2e-4), "{two} and {three} for {one}");
}

#[test]
fn where_joints_land_the_limit_of_two_blocks_is_met_to_first_order_in_the_step() {
    // both joints open and land; a whole sine throws the column over after it has landed on the other side
    for (column, whole, ends, within) in [(STEPPED, false, [1.2, 5.0], 6e-3), (Stack::equal(), true, [1.1, 2.5], 0.02)] {
        let (exact, counts) = column.by_equation(whole, 8.0, ends, 1e-3);
        assert!(counts[1][1] > 0, "it lands before it falls: {counts:?}");
        let [coarse, fine] = [4e-3, 1e-3].map(|h| column.simulated(whole, 8.0, exact, 0.15, h) / exact - 1.0);
        assert!(coarse.abs() < within && fine.abs() < 0.5 * coarse.abs(), "first order: {coarse} and {fine}");
    }
}

#[test]
#[ignore = "minutes: cargo test --release --test studies columns -- --ignored --nocapture"]
fn columns_under_half_sines() {
    println!("| blocks | ω | equations | landings before the fall | drystone h = 4 ms | 2 ms | 1 ms |");
    for omega in [3.0, 5.0, 8.0, 12.0, 20.0] {
        println!("stepped {}", STEPPED.row(omega, [1.1, 10.0], &[4e-3, 2e-3, 1e-3]));
    }
    for ratio in [1.0, 2.0, 3.0, 4.0, 6.0, 8.0] {
        println!("{}", Stack::<2>::equal().row(omega(ratio), [1.0, 10.0], &[4e-3, 2e-3]));
        println!("{}", Stack::<4>::equal().row(omega(ratio), [1.0, 10.0], &[4e-3]));
    }
}

#[test]
#[ignore = "minutes: cargo test --release --test studies columns -- --ignored --nocapture"]
fn columns_under_whole_sines() {
    fn spectrum<const N: usize>(column: &Stack<N>, h: f64) {
        let (mut same, mut all) = (0, 0);
        for k in 0..7 {
            let omega = 3.0 + 2.5 * f64::from(k);
            let mut row = String::new();
            for k in 0..24 {
                let pulse = column.pulse(true, omega, 1.1 + 0.3 * f64::from(k));
                let [equation, run] = [column.falls_by_equation(pulse, 5e-4).0, column.falls(pulse, h)];
                all += 1;
                same += usize::from(equation == run);
                row.push(super::mark(equation, run));
            }
            println!("{omega:>4}  {row}");
        }
        assert!(same * 100 >= 97 * all, "{same} of {all}");
        println!("{column:?}, h = {h}: {same} of {all} the same; # falls, . stands, e falls by the equations alone, d by drystone alone");
    }
    spectrum(&Stack::<2>::equal(), 2e-3);
    spectrum(&STEPPED, 2e-3);
}
