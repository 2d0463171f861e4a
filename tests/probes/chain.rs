//! A chain of links of very different masses is jerked: impulses turn the light links by more than a pass can foresee.
//!
//! ```text
//! h P / (m l)        turn of a link of mass m and length l under the impulse P: beyond 1 plain passes run away
//! ```

use super::run_text;

/// Links of 1 kg and `ratio` kg in turn, on a table or in the air; the first is tied to what goes off at 1 m/s, sideways and down.
fn chain(links: usize, [even, odd]: [f64; 2], table: bool, [step, tolerance]: [f64; 2]) -> String {
    let mut text = format!("[time]\nstep = {step}\nend = 0.03\n[solver]\ntolerance = {tolerance}\n[contact]\nmu = 0.8\ne_n = 0\n");
    if table {
        text += "[[bodies]]\nname = \"table\"\nshape = { kind = \"cuboid\", size = [2, 0.5, 0.1] }\nposition = [-1, 0, -0.05]\nmotion = \"static\"\n";
    }
    let tie = |name: &str, bodies: [&str; 2], ends: [f64; 2], height: f64| {
        format!(
            "[[joints]]\nname = \"{name}\"\nkind = \"distance\"\nbody1 = \"{}\"\nbody2 = \"{}\"\nanchor = [{:.3}, 0, {height}]\nanchor2 = [{:.3}, 0, 0.0102]\n",
            bodies[0], bodies[1], ends[0], ends[1]
        )
    };
    for k in 0..links {
        let (x, mass) = (-0.03 - 0.06 * k as f64, if k % 2 == 0 { even } else { odd });
        text += &format!(
            "[[bodies]]\nname = \"l{k}\"\nshape = {{ kind = \"cuboid\", size = [0.048, 0.02, 0.02] }}\nposition = [{x:.3}, 0, 0.0102]\nmass = {mass}\n"
        );
        if k > 0 {
            text += &tie(&format!("j{k}"), [&format!("l{}", k - 1), &format!("l{k}")], [x + 0.042, x + 0.018], 0.0102);
        }
    }
    text += "[[bodies]]\nname = \"puller\"\nshape = { kind = \"cuboid\", size = [0.02, 0.02, 0.02] }\nposition = [0.03, 0, 0]\n\
             motion = { kind = \"constant\", velocity = [0.3, 0, -1] }\n";
    text + &tie("pull", ["puller", "l0"], [0.03, -0.012], 0.0)
}

#[test]
fn jerked_chains_are_solved_in_every_step_whatever_their_masses() {
    for links in [2, 3, 4, 6] {
        for masses in [[1.0, 1.0], [1000.0, 1.0], [1.0, 1000.0]] {
            for table in [false, true] {
                let (_, s) = run_text(&chain(links, masses, table, [1e-3, 1e-6]));
                let case = format!("{links} links of {masses:?} kg, table: {table}");
                assert!(s.steps == 30 && s.unconverged_steps == 0, "{case}: {:?}", s.warnings);
                assert!(s.energy.balance_error < 1e-13, "{case}: {:?}", s.energy);
                assert!(s.joint_gap_max_m.is_some_and(|gap| gap < 1e-5), "{case}: {:?}", s.joint_gap_max_m);
            }
        }
    }
}

/// Links in a row that hinges join, dropped over a bar.
fn hinged_links(links: usize, [step, tolerance]: [f64; 2]) -> String {
    let mut text = format!(
        "[time]\nstep = {step}\nend = 0.7\n[solver]\ntolerance = {tolerance}\n[contact]\nmu = 0.3\ne_n = 0\n\
         [[bodies]]\nname = \"floor\"\nshape = {{ kind = \"half_space\" }}\nmotion = \"static\"\n\
         [[bodies]]\nname = \"bar\"\nshape = {{ kind = \"cuboid\", size = [0.2, 1, 0.2] }}\nposition = [{}, 0, 0.5]\nmotion = \"static\"\n",
        0.05 * links as f64
    );
    for k in 0..links {
        text += &format!(
            "[[bodies]]\nname = \"l{k}\"\nshape = {{ kind = \"cuboid\", size = [0.09, 0.06, 0.02] }}\nposition = [{}, 0, 0.7]\nmass = 0.85\n",
            0.1 * k as f64 + 0.05
        );
        if k > 0 {
            let at = 0.1 * k as f64;
            text += &format!(
                "[[joints]]\nkind = \"revolute\"\nbody1 = \"l{}\"\nbody2 = \"l{k}\"\nanchor = [{at}, 0, 0.7]\naxis = [0, 1, 0]\n",
                k - 1
            );
        }
    }
    text
}

/// A row of hinges is a beam across its axes: moments that bend it move hardly anything, so errors leave large ones, and joints put in 127 and 149 J
/// where they had to be right on their own scale alone.
#[test]
fn joints_that_carry_much_shake_no_chain() {
    for step in [2e-3, 1e-3] {
        let (_, s) = run_text(&hinged_links(20, [step, 1e-2]));
        let fallen = 20.0 * 0.85 * 9.81 * 0.2;
        assert!(s.unconverged_steps == 0 && s.energy.joint_work_J < fallen, "{step}: {:?}, {fallen} J", s.energy);
    }
}

/// Sweeps carry a reaction from link to link: a chain of many is left to a factorisation, which fills in next to nothing, after few of them.
#[test]
fn long_chains_take_few_sweeps() {
    let mut text = "[time]\nstep = 2e-3\nend = 0.03\n".to_owned();
    for k in 0..60 {
        let (at, next) = (0.1 * f64::from(k), if k > 0 { format!("body2 = \"l{}\"\n", k - 1) } else { String::new() });
        text += &format!(
            "[[bodies]]\nname = \"l{k}\"\nshape = {{ kind = \"cuboid\", size = [0.1, 0.02, 0.02] }}\nposition = [{}, 0, 0]\n\
             [[joints]]\nkind = \"revolute\"\nbody1 = \"l{k}\"\n{next}anchor = [{at}, 0, 0]\naxis = [0, 1, 0]\n",
            at + 0.05
        );
    }
    let (_, s) = run_text(&text);
    assert!(s.unconverged_steps == 0 && s.energy.balance_error < 1e-12, "{:?}", s.energy);
    assert!(s.iterations_mean < 120.0, "{} sweeps a step", s.iterations_mean);
}
