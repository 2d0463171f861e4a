//! Published cases for general systems, by their numbers in the field: V03, V05, V10, V11, V15. Each prints its deviations.
#![cfg(feature = "simulation")]

use drystone::algebra::matrix::Matrix;
use drystone::cluster::{Signal, SystemsReport};
use drystone::model::dynamical_system::{FirstOrder, Lagrangian};
use drystone::model::integrator::{Integrator, Projection};
use drystone::model::interaction::Interaction;
use drystone::model::law::{CoulombImpact, Law};
use drystone::model::operator::Operator;
use drystone::model::relation::{FirstOrderLinear, LagrangianLinear, LagrangianNonlinear};
use drystone::numerics::Status;
use drystone::numerics::lcp::Lcp;
use drystone::numerics::solvers::{Settings, Solution};
use drystone::simulation::Simulation;
use std::f64::consts::PI;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;

const G: f64 = 9.81;

fn moreau_jean(theta: f64) -> Integrator {
    Integrator::MoreauJean { theta, gamma: 0.5, projection: Projection::None }
}

fn rows(sim: &Simulation) -> Vec<Vec<f64>> {
    sim.trace(0).map(|t| t.rows().map(<[f64]>::to_vec).collect()).unwrap_or_default()
}

/// Prints a deviation and holds it against its tolerance.
fn close(what: &str, found: f64, wanted: f64, tolerance: f64) {
    println!("  {what}: {found:.9} against {wanted:.9}, deviation {:.1e}, allowed {tolerance:.0e}", found - wanted);
    assert!((found - wanted).abs() <= tolerance, "{what} is {found}, but {wanted} ± {tolerance} is the law");
}

/// A mass on a spring and a rough plane; the friction is a relay on the speed, or a contact with a floor below.
fn friction_oscillator(theta: f64, floor: bool) -> Fallible<Vec<Vec<f64>>> {
    let (k, mu) = (100.0, 0.1);
    let mut sim = Simulation::with_time_step(1e-4)?;
    if floor {
        let mass = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0])).at([0.1, -1e-9]);
        let mass = sim.spawn_system(mass.with_stiffness([k, 0.0, 0.0, 0.0]).with_force([0.0, -G]), moreau_jean(theta))?;
        let contact = LagrangianLinear::new([0.0, 1.0, 1.0, 0.0], [0.0, 0.0]);
        sim.spawn_interaction(Interaction::new([mass], contact, Law::CoulombImpact(CoulombImpact { mu, ..CoulombImpact::default() })))?;
        sim.record(1, [Signal::Time, Signal::State(mass, 0), Signal::Velocity(mass, 0)]);
    } else {
        let mass = sim.spawn_system(Lagrangian::new([1.0]).at([0.1]).with_stiffness([k]), moreau_jean(theta))?;
        sim.spawn_interaction(Interaction::new([mass], LagrangianLinear::new([1.0], [0.0]), Law::Relay { lower: -mu * G, upper: mu * G }))?;
        sim.record(1, [Signal::Time, Signal::State(mass, 0), Signal::Velocity(mass, 0)]);
    }
    assert_eq!(sim.advance(20_000)?.systems.unconverged, 0);
    Ok(rows(&sim))
}

#[test]
fn v03_a_friction_oscillator_stops_after_five_half_cycles() -> Fallible {
    for (floor, name) in [(false, "relay"), (true, "contact")] {
        println!("V03 friction oscillator, {name}");
        let course = friction_oscillator(0.5, floor)?;
        // turning points: the speed changes sign, or comes to rest
        let turns: Vec<&Vec<f64>> =
            course.windows(2).skip(1).filter(|w| w[0][2].abs() > 1e-9 && w[0][2] * w[1][2] <= 1e-12).map(|w| &w[1]).collect();
        assert_eq!(turns.len(), 5, "half-cycles");
        for (n, turn) in (1..).zip(&turns) {
            close("turning point (m)", turn[1], (0.1 - 0.01962 * f64::from(n)) * if n % 2 == 0 { 1.0 } else { -1.0 }, 1e-5);
            close("its time (s)", turn[0], f64::from(n) * PI / 10.0, 2e-4);
        }
        let last = course.last().ok_or("rows")?;
        close("final position (m)", last[1], -0.0019, 1e-5);
        let creep = course.iter().filter(|r| r[0] > 1.58).map(|r| (r[1] - last[1]).abs()).fold(0.0, f64::max);
        close("creep at rest (m)", creep, 0.0, 1e-12);
        let damped = friction_oscillator(1.0, floor)?;
        close("with θ = 1 the scheme damps: final position (m)", damped.last().ok_or("rows")?[1], -0.0015, 5e-5);
    }
    Ok(())
}

#[test]
fn v05_a_newton_cradle_obeys_its_law() -> Fallible {
    for (n, e) in [(3, 1.0), (5, 1.0), (3, 0.0), (5, 0.0)] {
        println!("V05 cradle of {n}, e = {e}");
        let mut sim = Simulation::with_time_step(1e-3)?;
        let mut beads = Vec::new();
        for i in 0..n {
            let v = if i == 0 { 1.0 } else { 0.0 };
            beads.push(sim.spawn_system(Lagrangian::new([1.0]).at([0.1 * f64::from(i)]).moving([v]), Integrator::MOREAU_JEAN)?);
        }
        for pair in beads.windows(2) {
            // 1e-9 inside: gaps of exactly zero are decided by rounding
            let touch = LagrangianLinear::new([-1.0, 1.0], [-0.1 - 1e-9]);
            sim.spawn_interaction(Interaction::new([pair[0], pair[1]], touch, Law::NewtonImpact { e }))?;
        }
        assert_eq!(sim.advance(1)?.systems.unconverged, 0);
        let v: Vec<f64> = beads.iter().filter_map(|&b| Some(sim.world().get::<Lagrangian>(b)?.v[0])).collect();
        let count = f64::from(n);
        for (i, v) in v.iter().enumerate() {
            let wanted = match (e == 1.0, i) {
                (true, 0) => (2.0 - count) / count,
                (true, _) => 2.0 / count,
                _ => 1.0 / count,
            };
            close(&format!("v{i} (m/s)"), *v, wanted, 1e-12);
        }
        close("momentum", v.iter().sum(), 1.0, 1e-12);
        if e == 1.0 {
            close("energy", v.iter().map(|v| v * v).sum(), 1.0, 1e-12);
        }
    }
    Ok(())
}

/// One step of a rod (m = l = 1) at 60° whose tip slides on a rough plane with `slip`; turning with `spin`.
/// Returns tip impulses (n, t), tip speeds (n, t), energy and the report.
fn rod(mu: f64, slip: f64, spin: f64, h: f64) -> Fallible<([f64; 2], [f64; 2], f64, SystemsReport)> {
    let half = 0.5;
    let angle = PI / 3.0;
    let inertia = 1.0 / 12.0;
    let (s, c) = angle.sin_cos();
    let mut sim = Simulation::with_time_step(h)?;
    let start = [0.0, half * s - 1e-12, angle];
    // the tip slides with `slip` and does not approach
    let speed = [slip - half * s * spin, half * c * spin, spin];
    let body = Lagrangian::new(Operator::Diagonal(vec![1.0, 1.0, inertia])).at(start).moving(speed).with_force([0.0, -G, 0.0]);
    let body = sim.spawn_system(body, Integrator::MOREAU_JEAN)?;
    let tip = LagrangianNonlinear::new(
        2,
        Operator::function(move |at, y| {
            let (s, c) = at.q[2].sin_cos();
            (y[0], y[1]) = (at.q[1] - half * s, at.q[0] - half * c);
        }),
    )
    .with_jacobian(Operator::function(move |at, g| {
        let (s, c) = at.q[2].sin_cos();
        g.copy_from_slice(&[0.0, 1.0, -half * c, 1.0, 0.0, half * s]);
    }));
    let tip = sim.spawn_interaction(Interaction::new([body], tip, Law::CoulombImpact(CoulombImpact { mu, ..CoulombImpact::default() })))?;
    let report = sim.advance(1)?.systems;
    let link = sim.world().get::<Interaction>(tip).ok_or("there")?;
    let v = &sim.world().get::<Lagrangian>(body).ok_or("there")?.v;
    assert!(v.iter().chain(&link.lambda).chain(&link.y_dot).all(|x| x.is_finite()));
    let energy = 0.5 * (v[0] * v[0] + v[1] * v[1] + inertia * v[2] * v[2]);
    Ok(([link.lambda[0], link.lambda[1]], [link.y_dot[0], link.y_dot[1]], energy, report))
}

#[test]
fn v10_a_painleve_rod_jams_without_collision() -> Fallible {
    println!("V10 Painlevé rod: impact without collision");
    let h = 1e-6;
    let (p, u, energy, report) = rod(1.8, -1.0, 0.0, h)?;
    assert_eq!(report.unconverged, 0, "{report:?}");
    close("P_n / mv", p[0], 0.324760, 2e-5);
    close("P_t / mv", p[1].abs(), 0.437500, 2e-5);
    close("tip speed, normal", u[0], 0.0, h);
    close("tip speed, tangential", u[1], 0.0, h);
    close("energy / mv²", energy, 0.28125, 2e-5);

    for (name, mu, slip) in [("opposite sense", 1.8, 1.0), ("μ = 1.3", 1.3, -1.0)] {
        let mut changes = Vec::new();
        for h in [1e-4, 1e-5, 1e-6] {
            let (_, u, _, report) = rod(mu, slip, 0.0, h)?;
            assert_eq!(report.unconverged, 0, "{name} {report:?}");
            changes.push((u[1] - slip).abs());
        }
        println!("  {name}: change of slip {changes:?} m/s at h = 1e-4, 1e-5, 1e-6 s");
        assert!(changes.windows(2).all(|w| (w[0] / w[1] - 10.0).abs() < 1.0), "{name}: the change of slip is O(h)");
    }

    // p < 0 and a tip that would lift by itself: to fly, to slide into the plane and to jam are all solutions
    let (p, u, energy, report) = rod(1.8, -1.0, 10.0, h)?;
    assert_eq!(report.unconverged, 0, "{report:?}");
    let free = 0.5 * ((-1.0 - 0.25 * 3f64.sqrt() * 10.0).powi(2) + 2.5f64.powi(2) + 100.0 / 12.0);
    let chosen = if p[0] == 0.0 { "to fly" } else { "to jam" };
    println!("  several solutions: the step chooses {chosen}, P_n = {:.6}, tip speeds {u:.6?}, energy {free:.6} → {energy:.6}", p[0]);
    assert!(energy <= free + 1e-3, "no choice makes energy");
    assert_eq!(p[0], 0.0, "the step starts from no reaction and stays with it");

    // forces instead of impulses: 0 ≤ λ ⟂ p λ + b ≥ 0, b the normal acceleration of the free tip
    let (s, c) = (PI / 3.0).sin_cos();
    let p = 1.0 + 3.0 * c * (c - 1.8 * s);
    for (b, first, wanted) in [(-G, 1.0, Status::Inconsistent), (10.0, 0.0, Status::Converged), (10.0, 100.0, Status::Converged)] {
        let accelerations = Lcp { m: Matrix::dense(1, 1, vec![p]), q: vec![b] };
        let guess = Some(Solution { r: vec![first], ..Solution::default() });
        let answer = accelerations.solve(&Settings { guess, ..Settings::with_solver("enumeration")? })?;
        let (report, force) = (answer.report, answer.solution.r);
        println!("  accelerations, p = {p:.4}, b = {b}: {:?}, force {:.4} from {first}", report.status, force[0]);
        assert_eq!(report.status, wanted);
        assert!(b < 0.0 || (force[0] - if first > 0.0 { -b / p } else { 0.0 }).abs() < 1e-12, "two solutions, each from its guess");
    }
    Ok(())
}

#[test]
fn v11_a_woodpecker_pecks_its_way_down() -> Fallible {
    let (r_o, r_m, h_m, l_m, l_g, h_s, l_s) = (0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201);
    let (m_m, m_s, j_m, j_s, c) = (0.0003, 0.0045, 5e-9, 7e-7, 0.0056);
    let (a, b) = (m_s * l_m, m_s * l_g);
    let mut sim = Simulation::with_time_step(2e-5)?;
    let mass = [m_s + m_m, a, b, a, j_m + a * l_m, a * l_g, b, a * l_g, j_s + b * l_g];
    let toy = Lagrangian::new(mass)
        .at([0.0, -0.1036, -0.2788])
        .moving([-0.3411, 0.0, -7.4583])
        .with_stiffness([0.0, 0.0, 0.0, 0.0, c, -c, 0.0, -c, c])
        .with_force([-G * (m_s + m_m), -G * a, -G * b]);
    let toy = sim.spawn_system(toy, Integrator::MOREAU_JEAN)?;
    let contact = |normal: [f64; 3], gap: f64, tangent: [f64; 3], e_n: f64| {
        let rows = LagrangianLinear::new([normal, tangent].concat(), [gap, 0.0]);
        Interaction::new([toy], rows, Law::CoulombImpact(CoulombImpact { mu: 0.3, e_n, ..CoulombImpact::default() }))
    };
    let beak = sim.spawn_interaction(contact([0.0, 0.0, -h_s], l_m + l_g - l_s - r_o, [1.0, l_m, l_g - l_s], 0.5))?;
    sim.spawn_interaction(contact([0.0, h_m, 0.0], r_m - r_o, [1.0, r_m, 0.0], 0.0))?;
    sim.spawn_interaction(contact([0.0, -h_m, 0.0], r_m - r_o, [1.0, r_m, 0.0], 0.0))?;
    sim.record(1, [Signal::Time, Signal::State(toy, 0), Signal::Velocity(toy, 2), Signal::Multiplier(beak, 0)]);
    assert_eq!(sim.advance(150_000)?.systems.unconverged, 0);
    let course = rows(&sim);
    // (time, height, speed before, speed after) of each peck
    let mut pecks: Vec<[f64; 4]> = Vec::new();
    for w in course.windows(2) {
        if w[1][3] > 0.0 && pecks.last().is_none_or(|p| w[1][0] > p[0] + 0.05) {
            pecks.push([w[1][0], w[1][1], w[0][2], w[1][2]]);
        }
    }
    println!("V11 woodpecker: {} pecks in 3 s", pecks.len());
    assert_eq!(pecks.iter().filter(|p| p[0] < 1.0).count(), 7, "pecks in the first second");
    let late: Vec<&[f64; 4]> = pecks.iter().filter(|p| p[0] > 1.0).collect();
    assert!(late.len() > 10, "{} pecks after 1 s", late.len());
    let cycles = (late.len() - 1) as f64;
    let (first, last) = (late[0], late[late.len() - 1]);
    close("period (s)", (last[0] - first[0]) / cycles, 0.1460, 3e-4);
    close("speed before a peck (rad/s)", late.iter().map(|p| p[2]).sum::<f64>() / late.len() as f64, 16.92, 0.03);
    close("speed after a peck (rad/s)", late.iter().map(|p| p[3]).sum::<f64>() / late.len() as f64, -8.46, 0.03);
    close("descent of a cycle (m)", (first[1] - last[1]) / cycles, 0.01945, 1.5e-4);
    for pair in late.windows(2) {
        assert!((pair[0][1] - pair[1][1] - 0.01945).abs() < 3e-4, "a single descent of {} m", pair[0][1] - pair[1][1]);
    }
    Ok(())
}

#[test]
fn v15_a_diode_circuit_loses_the_same_share_every_cycle() -> Fallible {
    let (l, c, r) = (1e-2, 1e-6, 1e3);
    let mut sim = Simulation::with_time_step(1e-6)?;
    let x = sim.spawn_system(FirstOrder::linear([0.0, -1.0 / c, 1.0 / l, 0.0], [-10.0, 0.0]), Integrator::EULER_MOREAU)?;
    let diode = FirstOrderLinear::new(1, [-1.0, 0.0], [-1.0 / c, 0.0]).with_d([r]);
    let diode = sim.spawn_interaction(Interaction::new([x], diode, Law::Complementarity))?;
    sim.record(1, [Signal::Time, Signal::State(x, 1), Signal::Output(diode, 0), Signal::Multiplier(diode, 0)]);
    assert_eq!(sim.advance(5000)?.systems.unconverged, 0);
    let course = rows(&sim);
    println!("V15 (a) diode circuit");
    close("largest v_D · i_D (W)", course.iter().map(|r| (r[2] * r[3]).abs()).fold(0.0, f64::max), 0.0, 1e-12);
    assert!(course.iter().all(|r| r[2] >= -1e-12 && r[3] >= -1e-12));
    // (time, current) of the extremes, by a parabola through three points
    let h = 1e-6;
    let peaks: Vec<[f64; 2]> = course
        .windows(3)
        .filter(|w| (w[1][1] - w[0][1]) * (w[2][1] - w[1][1]) < 0.0)
        .map(|w| {
            let (slope, bend) = (0.5 * (w[2][1] - w[0][1]), w[2][1] - 2.0 * w[1][1] + w[0][1]);
            [w[1][0] - h * slope / bend, w[1][1] - 0.5 * slope * slope / bend]
        })
        .collect();
    close("first peak (s)", peaks[0][0], 0.157080e-3, 1e-3 * 0.157080e-3);
    close("first peak (A)", peaks[0][1], -0.1, 1e-4);
    close("second peak (s)", peaks[1][0], 0.471632e-3, 1e-3 * 0.471632e-3);
    close("second peak (A)", peaks[1][1], 0.085447, 1e-3 * 0.085447);
    let cycle = peaks.len() - 1 - (peaks.len() - 1) % 2;
    let cycles = (cycle / 2) as f64;
    close("period (s)", (peaks[cycle][0] - peaks[0][0]) / cycles, 0.628713e-3, 1e-3 * 0.628713e-3);
    close("ratio of peaks", (peaks[cycle][1] / peaks[0][1]).powf(1.0 / cycles), 0.854468, 1e-3);
    Ok(())
}

#[test]
fn v15_an_implicit_sign_comes_to_rest_and_an_explicit_one_chatters() -> Fallible {
    println!("V15 (b) ẋ = −sgn x");
    for h in [0.3, 0.1, 0.07, 1e-2, 1e-3] {
        let steps = (3.0 / h) as u64;
        let mut sim = Simulation::with_time_step(h)?;
        let x = sim.spawn_system(FirstOrder::linear([0.0], [1.0]), Integrator::EulerMoreau { theta: 1.0, gamma: 1.0 })?;
        sim.spawn_interaction(Interaction::new([x], FirstOrderLinear::new(1, [1.0], [1.0]), Law::Relay { lower: -1.0, upper: 1.0 }))?;
        sim.record(1, [Signal::Time, Signal::State(x, 0)]);
        assert_eq!(sim.advance(steps)?.systems.unconverged, 0);
        let course = rows(&sim);
        let rest = course.iter().filter(|r| r[0] > 1.0 + h).map(|r| r[1].abs()).fold(0.0, f64::max);
        close(&format!("h = {h}: largest |x| after t = 1 + h"), rest, 0.0, 1e-12);
        let before = course.iter().filter(|r| r[0] <= 1.0).map(|r| (r[1] - 1.0 + r[0]).abs()).fold(0.0, f64::max);
        close("error before t = 1", before, 0.0, 1e-12);

        let mut sim = Simulation::with_time_step(h)?;
        let sign = FirstOrder::nonlinear(Operator::function(|at, f| f[0] = -at.x[0].signum()), [1.0]).with_jacobian([0.0]);
        let x = sim.spawn_system(sign, Integrator::EulerMoreau { theta: 0.0, gamma: 1.0 })?;
        sim.record(1, [Signal::Time, Signal::State(x, 0)]);
        sim.advance(steps)?;
        let late: Vec<f64> = rows(&sim).iter().filter(|r| r[0] > 1.0 + h).map(|r| r[1]).collect();
        let amplitude = late.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        println!("  explicit: chatters with amplitude {amplitude:.1e} at h = {h}");
        assert!(amplitude <= h * (1.0 + 1e-9) && late.windows(2).any(|w| w[0] * w[1] < 0.0 || w[0] == 0.0));
        assert!(amplitude > 0.3 * h, "an explicit sign does not come to rest");
    }
    Ok(())
}
