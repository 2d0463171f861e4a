use drystone::io::scene::{Scene, SceneSource, model::Motion as M};
use drystone::model::law::{ContactLaws, CoulombImpact};
use drystone::model::newton_euler::*;
use drystone::model::scheme::{Scheme};
use drystone::simulation::*;
use glam::DVec3;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let sets: Vec<(String, String)> = args[2..].iter().filter_map(|a| a.split_once('=')).map(|(a, b)| (a.into(), b.into())).collect();
    let get = |k: &str| sets.iter().find(|(a, _)| a == k).map(|(_, v)| v.parse::<f64>().unwrap());
    let own: Vec<(String, String)> = sets.iter().filter(|(k, _)| !["h", "tol", "until", "threads"].contains(&k.as_str())).cloned().collect();
    let scene = Scene::load(&SceneSource::new(&args[1]), &own).unwrap();
    rayon::ThreadPoolBuilder::new().num_threads(get("threads").unwrap_or(1.0) as usize).build_global().unwrap();
    let h = get("h").unwrap_or(scene.time.step);
    let mut sim = Simulation::new(Scheme { time_step: h, gravity: scene.gravity_at(0.0), ..Default::default() }).unwrap();
    let l = scene.default_law;
    let conv = |l: drystone::io::scene::model::ContactLaw| CoulombImpact { mu: l.mu, e_n: l.e_n, e_t: l.e_t };
    let mut laws = ContactLaws::uniform(conv(l));
    for p in &scene.pair_laws { laws.set(p.materials[0] as u32, p.materials[1] as u32, conv(p.law)); }
    sim.set_laws(laws);
    sim.solver_mut().tolerance = get("tol").unwrap_or(scene.solver.tolerance);
    sim.solver_mut().max_sweeps = scene.solver.max_sweeps;
    let mut ents = vec![];
    for b in &scene.bodies {
        let mut body = Body::new(b.shape.build().unwrap()).named(&b.name).density(scene.materials[b.material].density).at(b.pose.position).turned(b.pose.rotation).material(b.material as u32);
        if b.motion == M::Static { body = body.fixed(); }
        let e = sim.spawn_body(body).unwrap();
        for i in &b.impulses { sim.at(i.time, Event::Blow(e, AppliedForce { force: i.linear, torque: i.angular })); }
        ents.push(e);
    }
    let x0: Vec<DVec3> = ents.iter().map(|e| sim.world().get::<BodyPose>(*e).unwrap().0.position).collect();
    let end = get("until").unwrap_or(scene.time.end);
    let t = Instant::now();
    let cpu = cpu_time::ProcessTime::now();
    let (mut sweeps, mut newton, mut bad, mut emax, mut all, mut rows) = (0, 0, 0, 0f64, vec![], 0);
    let mut pen = 0f64;
    let mut n = 0;
    while sim.time() < end - 1e-9 {
        let r = sim.step().unwrap();
        sweeps += r.report.sweeps; newton += r.report.newton_iterations; bad += !r.converged as usize; emax = emax.max(r.report.e_s); all.push(r.report.e_s); rows += r.contacts; pen = pen.max(r.penetration);
        n += 1;
        if std::env::var("V").is_ok() && (n < 20 || n % 20 == 0) { println!("{n} contacts {} sweeps {} newton {} e_s {:.1e} pen {:.2e} {:?} kin {:.2e} bal {:.1e}", r.contacts, r.report.sweeps, r.report.newton_iterations, r.report.e_s, r.penetration, r.report.status, r.balance.energy.kinetic, r.balance.error()); }
    }
    sim.detect();
    let gaps: Vec<f64> = sim.world_mut().query::<&drystone::model::contact::Manifold>().iter(sim.world()).flat_map(|m| m.points.iter().map(|t| -t.gap).collect::<Vec<_>>()).filter(|p| *p > 0.0).collect();
    all.sort_by(f64::total_cmp);
    let x1: Vec<DVec3> = ents.iter().map(|e| sim.world().get::<BodyPose>(*e).unwrap().0.position).collect();
    let disp = x0.iter().zip(&x1).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
    let zm = x1.iter().map(|x| x.z).sum::<f64>() / x1.len() as f64;
    println!("wall {:.2} cpu {:.2} cpu/sim-s {:.3} steps {n} sweeps/step {:.1} newton/step {:.2} contacts {} bad {bad} e max {emax:.1e} med {:.1e} pen run {pen:.2e} end max {:.2e} mean {:.2e} disp {disp:.3e} z {zm:.4} bal {:.1e}",
        t.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64() / end, sweeps as f64 / n as f64, newton as f64 / n as f64, rows / n, all[all.len() / 2],
        gaps.iter().copied().fold(0.0, f64::max), gaps.iter().sum::<f64>() / gaps.len().max(1) as f64, sim.balance().error());
}
