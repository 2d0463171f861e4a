use super::*;
use crate::algebra::random::Sequence;
use crate::numerics::cells::Cells;
use crate::numerics::colours::All;
use crate::numerics::contact::SpinOperator;
use crate::numerics::mixed::{Spin, Velocities};
use crate::numerics::residual;
use crate::numerics::sweep::{GaussSeidel, Workspace};
use glam::DMat3;
use proptest::prelude::*;

impl Balls {
    /// The contacts in their lanes, colour by colour, with the conjugate step that each reaction takes before it is visited.
    fn colours(&mut self, momentum: Option<Momentum>) -> impl Iterator<Item = Piece<'_>> {
        let Self { blocks, states, moments, turns, leans, rare, shifts, .. } = self;
        let mut rest = Some(Piece { blocks, states, moments, turns, leans, rare: *rare, shifts, momentum });
        self.colours.windows(2).filter_map(move |colour| {
            let [piece, after] = rest.take()?.split((colour[1] - colour[0]) as usize);
            rest = Some(after);
            Some(piece)
        })
    }
}

/// Two pairs of balls, one of them with two contacts, and a ball on a floor, all in one colour.
fn pairs(v: [f64; 6], mu: f64) -> MixedProblem {
    let mut p = MixedProblem::default();
    for k in 0..5 {
        let (mass, shift) = (2.0 - 0.3 * f64::from(k), 0.1 * f64::from(k));
        p.rigid.push(RigidMass { inverse_mass: DVec3::splat(mass), inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 3.0 * mass) });
        p.free.rigid.push(Twist {
            linear: DVec3::new(v[0], v[1], v[2] - shift),
            angular: DVec3::new(v[3] + shift, v[4], v[5]) * f64::from(1 - 2 * (k % 2)),
        });
    }
    let contact = |normal: DVec3, body1, body2| {
        let tangent = crate::algebra::spatial::tangents(normal).0;
        let b = DVec3::new(0.1, 0.2, -0.3);
        Contact { normal, tangent, arm1: -0.5 * normal, arm2: 0.7 * normal, b, mu, body1, body2, scale: 0.7, ..Contact::default() }
    };
    p.push_group([contact(DVec3::new(0.6, 0.0, 0.8), 0, 1), contact(DVec3::new(0.0, 0.8, 0.6), 0, 1)]);
    p.push_group([contact(DVec3::Z, 2, IMMOBILE)]);
    p.push_group([contact(DVec3::new(0.0, -0.6, 0.8), 4, 3)]);
    p.close_colour();
    p.prepare().expect("legal");
    p
}

proptest! {
    #[test]
    fn the_short_form_gives_the_answer_of_the_general_contact(
        v in prop::array::uniform6(-1.0..1.0f64), r in prop::array::uniform3(-1.0..1.0f64), mu in 0.0..1.5f64,
        known in prop::option::of(prop::array::uniform4(0.0..1.0f64)),
    ) {
        let mut p = pairs(v, mu);
        p.lagged.extend(known.iter().flatten());
        let mut answer = Answer::for_problem(&p);
        let guess = DVec3::new(r[0].abs(), 0.3 * mu * r[1], 0.3 * mu * r[2]);
        answer.reactions.contacts.fill(guess);
        p.velocities(&answer.reactions.clone(), &mut answer.velocities);
        let mut balls = Balls::default();
        prop_assert!(balls.prepare(&p));
        balls.load(&p, &answer);
        let mut twists = answer.velocities.rigid.clone();
        stand_in(&p, &mut twists);
        let found = balls.residual(&twists);
        let expected = residual::residual(&p, &answer, &answer.velocities);
        let misfit = residual::with_overload(&p, found.misfit.sqrt(), found.carried.sqrt(), [found.error, found.size]);
        prop_assert!((misfit - expected.misfit).abs() < 1e-13 * misfit.max(1.0), "{misfit} {}", expected.misfit);
        let all = &All::new(&mut twists);
        let norms = balls.colours(None).map(|piece| piece.visit(all)).fold(Norms::default(), Norms::add);
        prop_assert!(twists[5] == Twist::default());
        let mut changed = 0.0;
        // the same by the general contact, in the order of the array
        for (k, c) in p.contacts.iter().enumerate() {
            let u = p.contact_velocity(c, &answer.velocities.rigid);
            let q = u - c.local.apply(guess);
            let exact = p.lagged.get(k).map_or_else(|| c.local.solve(q, mu), |&s| c.local.solve_convex(q + s * DVec3::X, mu));
            let dr = exact - guess;
            answer.reactions.contacts[k] = exact;
            p.velocities(&answer.reactions.clone(), &mut answer.velocities);
            changed += c.local.mean_diagonal() * dr.length_squared();
        }
        let mut own = Reactions { contacts: vec![DVec3::NAN; p.contacts.len()], ..Reactions::default() };
        balls.store(&p, &mut own);
        for (a, b) in own.contacts.iter().zip(&answer.reactions.contacts) {
            prop_assert!((*a - *b).length() < 1e-13, "{a} {b}");
        }
        for (a, b) in twists.iter().zip(&answer.velocities.rigid) {
            prop_assert!((a.linear - b.linear).length() + (a.angular - b.angular).length() < 1e-12);
        }
        prop_assert!((norms.change - changed).abs() < 1e-12);
    }
}

#[test]
fn smooth_balls_that_part_along_the_line_of_their_centres_need_nothing() {
    let mut p = pairs([0.0; 6], 0.0);
    p.free.rigid.fill(Twist::default());
    p.contacts.iter_mut().for_each(|c| c.b = 0.2 * DVec3::X);
    p.prepare().expect("legal");
    for known in [0.0, 0.1] {
        p.lagged = vec![known; if known > 0.0 { p.contacts.len() } else { 0 }];
        let (mut balls, mut twists) = (Balls::default(), p.free.rigid.clone());
        assert!(balls.prepare(&p));
        stand_in(&p, &mut twists);
        assert_eq!(balls.residual(&twists).error, 0.0);
        let all = &All::new(&mut twists);
        let moved = balls.colours(None).map(|piece| piece.visit(all)).fold(Norms::default(), Norms::add);
        assert_eq!((moved.change, moved.size), (0.0, 0.0));
    }
}

#[test]
fn contacts_that_are_none_of_balls_are_visited_beside_those_that_are() {
    let bend = |c: &mut Contact| c.arm1 += 0.1 * c.tangent;
    for moments in [true, false] {
        let mut p = alone(4001, false);
        p.contacts.iter_mut().step_by(7).for_each(bend);
        if !moments {
            p.spins.clear();
        }
        p.prepare().expect("legal");
        let mut balls = Balls::default();
        assert!(balls.prepare(&p) && balls.others.len() == 572, "{}", balls.others.len());
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let (mut answer, mut work) = (Answer::for_problem(&p), Workspace::default());
            let report = pool.install(|| GaussSeidel { tolerance: 1e-10, ..GaussSeidel::default() }.solve(&p, &mut answer, &mut work));
            assert!(report.converged() && residual::certify(&p, &mut answer).e_s <= 1e-10, "{report:?}");
            assert_eq!(work.parallel_sweeps() > 0, threads > 1);
            let Reactions { contacts, spins, .. } = answer.reactions;
            contacts.into_iter().chain(spins).flat_map(|x| x.to_array()).map(f64::to_bits).collect::<Vec<_>>()
        };
        assert!(solve(1) == solve(3));
    }
    // most of them are none
    let mut p = alone(9, false);
    p.contacts.iter_mut().take(5).for_each(bend);
    assert!(!Balls::default().prepare(&p));
}

/// Balls in a cube, each of which touches those beside it, in cells; some contacts are none of balls.
fn cube(n: u32, moments: bool, others: usize) -> MixedProblem {
    let at = |x: u32, y: u32, z: u32| (z * n + y) * n + x;
    let places = (0..n).flat_map(|z| (0..n).flat_map(move |y| (0..n).map(move |x| [x, y, z])));
    let (mut ends, mut random, mut p) = (Vec::new(), Sequence::new(3), MixedProblem::default());
    for [x, y, z] in places {
        let beside = [([x + 1, y, z], DVec3::X), ([x, y + 1, z], DVec3::Y), ([x, y, z + 1], DVec3::Z)];
        let inside = beside.into_iter().filter(|(other, _)| other.iter().all(|&i| i < n));
        ends.extend(inside.map(|([a, b, c], way)| ([at(x, y, z), at(a, b, c)], way)));
        ends.extend((z == 0).then_some(([at(x, y, z), IMMOBILE], -DVec3::Z)));
        p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 2.5) });
        let linear = 0.1 * DVec3::new(random.next_uniform(), random.next_uniform(), -2.0 * random.next_uniform());
        p.free.rigid.push(Twist { linear, ..Twist::default() });
    }
    let (mut cells, mut ranges) = (Cells::default(), Vec::new());
    cells.divide(ends.iter().map(|(ends, _)| (*ends, 1)), p.rigid.len(), &mut ranges);
    // neighbours along an axis, every other one: six colours of each cell
    let place = |([one, two], way): &([u32; 2], DVec3)| {
        let (x, y, z) = (one % n, one / n % n, one / (n * n));
        let colour = if way.x > 0.0 {
            x % 2
        } else if way.y > 0.0 {
            2 + y % 2
        } else {
            4 + u32::from(way.z > 0.0) * (1 + z % 2)
        };
        (cells.of([*one, *two], &ranges), colour)
    };
    ends.sort_by_key(place);
    let mut starts = vec![0];
    for group in ends.chunk_by(|a, b| place(a) == place(b)) {
        starts.resize(place(&group[0]).0 as usize + 1, p.colours.len().saturating_sub(1) as u32);
        for &([body1, body2], normal) in group {
            let tangent = crate::algebra::spatial::tangents(normal).0;
            let contact = Contact { normal: -normal, tangent, arm1: normal, arm2: -normal, mu: 0.5, body1, body2, ..Contact::default() };
            p.push_group([contact]);
        }
        p.close_colour();
    }
    starts.resize(cells.count() + 1, p.colours.len() as u32 - 1);
    p.cells = Cells { starts, ..cells };
    p.contacts.iter_mut().step_by(others).for_each(|c| c.arm1 += 0.1 * c.tangent);
    if moments {
        let spin = Spin { lever: 0.2, roll: 0.3, ..Spin::default() };
        p.spins.resize(p.contacts.len(), spin);
    }
    p.prepare().expect("legal");
    p
}

#[test]
fn any_number_of_threads_visits_cells_to_the_same_bits() {
    for (n, moments, others) in [(15, false, usize::MAX), (19, false, 7), (15, true, 7), (15, false, 1)] {
        let p = cube(n, moments, others);
        assert!(p.known_cells().is_some_and(|cells| cells.levels.len() == if n == 15 { 3 } else { 4 }), "{:?}", p.cells);
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let (mut answer, mut work) = (Answer::for_problem(&p), Workspace::default());
            pool.install(|| GaussSeidel { tolerance: 1e-9, max_sweeps: 40, ..GaussSeidel::default() }.solve(&p, &mut answer, &mut work));
            assert_eq!(work.parallel_sweeps() > 0, threads > 1);
            let (mut fresh, mut plain) = (Velocities::default(), p.clone());
            pool.install(|| p.velocities(&answer.reactions, &mut fresh));
            plain.cells.clear();
            plain.velocities(&answer.reactions, &mut answer.velocities);
            assert_eq!(fresh.rigid, answer.velocities.rigid, "velocities on {threads} threads");
            let Reactions { contacts, spins, .. } = answer.reactions;
            contacts.into_iter().chain(spins).flat_map(|x| x.to_array()).map(f64::to_bits).collect::<Vec<_>>()
        };
        let alone = solve(1);
        assert!(alone.iter().any(|bits| *bits != 0));
        assert!(alone == solve(2) && alone == solve(3), "{n} balls a side, moments: {moments}, others: {others}");
    }
}

#[test]
fn balls_far_from_the_origin_are_balls() {
    let (normal, centre) = (DVec3::new(0.6, 0.0, 0.8), DVec3::new(33.3, -7.7, 21.1));
    let arm = (centre + 0.004 * normal) - centre;
    assert!(is_of_ball(&ball(), arm, normal).is_none(), "by rounding");
    assert!(is_of_ball(&ball(), straightened(arm, normal, 33.3), normal).is_some());
    // near the origin it is meant
    assert_eq!(straightened(arm, normal, 0.03), arm);
    assert_eq!(straightened(0.004 * normal, normal, 33.3), 0.004 * normal);
}

fn ball() -> RigidMass {
    RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY) }
}

/// Contacts of which each has bodies of its own, in one colour: balls of any sizes on others or on the ground, pressed, dragged, rolled and
/// spun, with any resistance. Each third drills where `drills` says so.
fn alone(contacts: u32, drills: bool) -> MixedProblem {
    let mut random = Sequence::new(5);
    let (mut p, mut next) = (MixedProblem::default(), 0);
    for k in 0..contacts {
        let mut between = |low: f64, high: f64| random.next_between(low, high);
        let decade = |between: &mut dyn FnMut(f64, f64) -> f64, size: f64| libm::exp(between(-size, size));
        let vector = |between: &mut dyn FnMut(f64, f64) -> f64| DVec3::new(between(-1.0, 1.0), between(-1.0, 1.0), between(-1.0, 1.0));
        let normal = (vector(&mut between) + DVec3::new(1e-3, 0.0, 0.0)).normalize();
        let grounded = between(0.0, 1.0) < 0.3;
        // balls of the same size, too
        let sizes = [1.0, if between(0.0, 1.0) < 0.2 { 1.0 } else { decade(&mut between, 1.0) }];
        let mut speeds = [decade(&mut between, 2.0), decade(&mut between, 2.0)];
        if between(0.0, 1.0) < 0.1 {
            speeds[usize::from(between(0.0, 1.0) < 0.5)] = 0.0;
        }
        for size in sizes.into_iter().take(if grounded { 1 } else { 2 }) {
            let (mass, turns) = (1.0 / (size * size * size), 2.5 / (size * size * size * size * size));
            p.rigid.push(RigidMass { inverse_mass: DVec3::splat(mass), inverse_inertia: RigidMass::pack(DMat3::IDENTITY * turns) });
            let linear = vector(&mut between) * speeds[0];
            p.free.rigid.push(Twist { linear: linear - normal * linear.dot(normal), angular: vector(&mut between) * speeds[1] });
        }
        let (tangent, _) = crate::algebra::spatial::tangents(normal);
        // one in ten opens
        let b = DVec3::new(if between(0.0, 1.0) < 0.1 { 0.2 } else { -between(0.1, 1.0) }, 0.0, 0.0);
        let body2 = if grounded { IMMOBILE } else { next + 1 };
        let arms = [-sizes[0] * normal, sizes[1] * normal];
        let mut number = || if between(0.0, 1.0) < 0.1 { 0.0 } else { 0.3 * decade(&mut between, 3.0) };
        let (mu, roll, twist, drill) = (number(), number(), number(), if drills && k % 3 == 0 { 1e-3 + number() } else { 0.0 });
        let contact =
            Contact { normal, tangent, arm1: arms[0], arm2: arms[1], b, mu, body1: next, body2, scale: 1.0, ..Contact::default() };
        p.push_group([contact]);
        let turn = if grounded { vector(&mut between) } else { DVec3::ZERO };
        let twist = if drill > 0.0 { 0.0 } else { twist };
        p.spins.push(Spin { lever: 0.5 * sizes[0].min(sizes[1]), roll, twist, drill, b: 0.1 * turn, ..Spin::default() });
        next += if grounded { 1 } else { 2 };
    }
    p.close_colour();
    p.prepare().expect("legal");
    p
}

/// Contact k alone, answered with the reaction and the moment that its own operator has after many visits.
fn by_the_operator(p: &MixedProblem, k: usize) -> [DVec3; 2] {
    let (c, spin) = (&p.contacts[k], &p.spins[k]);
    let q = (p.contact_velocity(c, &p.free.rigid), spin.velocity(c, &p.free.rigid));
    if spin.drill > 0.0 {
        let (r, m) = spin.local.solve_drilling(&c.local, q, [c.mu, spin.roll]);
        return [r, m];
    }
    let local: &SpinOperator = &spin.local;
    let mut at = (DVec3::ZERO, DVec3::ZERO);
    (0..300).for_each(|_| at = local.solve(&c.local, q, spin.bounds(c), at, None));
    [at.0, at.1]
}

#[test]
fn moments_of_balls_are_solved_in_lanes_as_by_their_operator_and_meet_their_law() {
    for drills in [false, true] {
        let p = alone(4000, drills);
        let mut balls = Balls::default();
        assert!(balls.prepare(&p));
        let mut answer = Answer::for_problem(&p);
        balls.load(&p, &answer);
        let mut twists = p.free.rigid.clone();
        stand_in(&p, &mut twists);
        let (mut worst, mut worst_at_once) = (Vec::new(), Vec::new());
        for _ in 0..24 {
            let all = &All::new(&mut twists);
            let norms = balls.colours(None).map(|piece| piece.visit(all)).fold(Norms::default(), Norms::add);
            balls.store(&p, &mut answer.reactions);
            residual::certify(&p, &mut answer);
            // what visits did to the velocities is what their reactions do
            for (a, b) in twists.iter().zip(&answer.velocities.rigid) {
                let size = 1.0 + b.linear.length() + b.angular.length();
                assert!((a.linear - b.linear).length() + (a.angular - b.angular).length() < 1e-12 * size);
            }
            assert!(norms.size > 0.0);
            let miss = |k: usize| {
                let size =
                    (answer.reactions.contacts[k].length() + answer.reactions.spins[k].length()) * p.spins[k].mean_diagonal(&p.contacts[k]);
                residual::contact_misfit(&p, &answer, k) / (1.0 + size)
            };
            worst.push((0..p.contacts.len()).map(miss).fold(0.0, f64::max));
            worst_at_once.push((0..p.contacts.len()).filter(|&k| moments::leans(&p, k)).map(miss).fold(0.0, f64::max));
        }
        let at_once = &worst_at_once;
        assert!(at_once[0] < 1e-5 && at_once[1] < 1e-9 && at_once[2] < 1e-12 && at_once[3] < 1e-12, "{at_once:?}");
        // one after the other: what is left falls to 0.3 from visit to visit, or faster
        assert!(worst[0] > 1e-3 && worst[5] < 2e-3 && worst[11] < 2e-6 && worst[23] < 1e-12, "{worst:?}");
        // opening, held, slipping, rolling, both, drilling; twisting or not
        let mut seen = [0; 8];
        for (k, (c, spin)) in p.contacts.iter().zip(&p.spins).enumerate() {
            let (r, m) = (answer.reactions.contacts[k], answer.reactions.spins[k]);
            let on = |size: f64, limit: f64| size >= (1.0 - 1e-9) * limit;
            let slips = on((r.y * r.y + r.z * r.z + if spin.drill > 0.0 { m.x * m.x } else { 0.0 }).sqrt(), c.mu * r.x);
            let rolls = on((m.y * m.y + m.z * m.z).sqrt(), spin.roll * r.x);
            let kind = if r.x == 0.0 { 0 } else { 1 + usize::from(slips) + 2 * usize::from(rolls) };
            seen[kind] += 1;
            seen[5] += usize::from(spin.drill > 0.0 && slips && r.x > 0.0);
            seen[6] += usize::from(spin.drill == 0.0 && r.x > 0.0 && on(m.x.abs(), spin.twist * r.x));
            seen[7] += usize::from(r.x > 0.0 && !on(m.x.abs(), spin.twist * r.x));
            let [force, moment] = by_the_operator(&p, k);
            let error = (force - r).length() + (moment - m).length();
            assert!(error <= 1e-8 * (r.length() + m.length()), "contact {k}: {error:e} {r} {m} {force} {moment} {c:?} {spin:?}");
        }
        let least = [200, 100, 100, 100, 100, if drills { 100 } else { 0 }, 100, 100];
        assert!(seen.iter().zip(least).all(|(seen, least)| *seen >= least), "{seen:?}");
    }
}

#[test]
fn visits_with_moments_have_the_same_bits_in_lanes_of_any_width() {
    let p = alone(1001, true);
    let run = |lanes: Lanes| {
        let mut balls = Balls::default();
        assert!(balls.prepare(&p));
        let mut twists = p.free.rigid.clone();
        stand_in(&p, &mut twists);
        let all = &All::new(&mut twists);
        for momentum in [None, Some(Momentum { beta: 0.3, whole: true }), Some(Momentum { beta: 0.3, whole: false })] {
            for piece in balls.colours(momentum) {
                piece.visit_in(lanes, all);
            }
        }
        let Balls { blocks, states, moments, turns, .. } = &balls;
        let judge = Judge { blocks, states, moments, turns, shifts: &[], v: &twists };
        let Squares { error, size, misfit, carried } = lanes.run_wide(judge);
        let bits = twists.iter().flat_map(|t| t.linear.to_array().into_iter().chain(t.angular.to_array()));
        let reactions = states.iter().chain(turns).flat_map(|s| s.r.into_iter().flatten());
        bits.chain(reactions).chain([error, size, misfit, carried]).map(f64::to_bits).collect::<Vec<u64>>()
    };
    let [narrow, four, wide] = Lanes::ALL.map(run);
    assert!(narrow == wide && four == wide);
}

#[test]
fn moments_are_judged_in_lanes_as_by_the_certificate() {
    let (p, mut random) = (alone(999, true), Sequence::new(3));
    let mut answer = Answer::for_problem(&p);
    for (k, (c, spin)) in p.contacts.iter().zip(&p.spins).enumerate() {
        let mut noise = |size: f64| random.next_between(-size, size);
        let n = noise(0.5) + 0.2;
        answer.reactions.contacts[k] = DVec3::new(n, noise(c.mu), noise(c.mu));
        let about = if spin.twist > 0.0 || spin.drill > 0.0 { noise(0.5) } else { 0.0 };
        answer.reactions.spins[k] = DVec3::new(about, noise(0.5), noise(0.5));
    }
    let expected = residual::certify(&p, &mut answer);
    let mut balls = Balls::default();
    assert!(balls.prepare(&p));
    balls.load(&p, &answer);
    let mut twists = answer.velocities.rigid.clone();
    stand_in(&p, &mut twists);
    let found = balls.residual(&twists);
    let e_s = found.error.sqrt() / found.size.sqrt().max(p.q_scaled);
    assert!(
        (e_s / expected.e_s - 1.0).abs() < 1e-12 && (found.carried.sqrt() / expected.carried - 1.0).abs() < 1e-12,
        "{e_s} {expected:?}"
    );
    let misfit = residual::with_overload(&p, found.misfit.sqrt(), found.carried.sqrt(), [found.error, found.size]);
    assert!((misfit / expected.misfit - 1.0).abs() < 1e-12, "{misfit} {expected:?}");
}

#[test]
fn moments_of_balls_that_cannot_turn_are_refused() {
    let mut p = alone(9, false);
    p.rigid.iter_mut().for_each(|m| m.inverse_inertia = [0.0; 6]);
    p.spins.iter_mut().for_each(|spin| spin.roll = 0.1);
    p.prepare().expect("legal");
    assert!(!Balls::default().prepare(&p));
    // under a known shift as well
    let mut p = alone(9, false);
    assert!(Balls::default().prepare(&p));
    p.lagged = vec![0.1; p.contacts.len()];
    assert!(!Balls::default().prepare(&p));
}
