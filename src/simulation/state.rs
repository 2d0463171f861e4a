//! The state of a simulation: its hash, and saving it.

use super::Simulation;
use crate::model::newton_euler::{BodyPose, Velocity};
use crate::model::lagrangian::Coordinates;
use crate::topology::bodies::Slot;
use bevy_ecs::prelude::Entity;

/// FNV-1a over 64-bit words, byte by byte, least significant first.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, x: f64) {
        for byte in x.to_bits().to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl Simulation {
    /// FNV-1a hash over the bits of position, quaternion (x, y, z, w), linear and angular velocity of every body in slot order,
    /// then of q and v of every Lagrangian system in order of birth.
    ///
    /// ```
    /// use drystone::simulation::{Body, Simulation};
    /// let mut sim = Simulation::default();
    /// sim.spawn_body(Body::point(1.0, glam::DVec3::ONE))?;
    /// let before = sim.state_hash();
    /// sim.step()?;
    /// assert_ne!(sim.state_hash(), before);
    /// # Ok::<(), drystone::simulation::SimulationError>(())
    /// ```
    pub fn state_hash(&mut self) -> u64 {
        let world = self.world_mut();
        let mut bodies: Vec<(Slot, BodyPose, Velocity)> =
            world.query::<(&Slot, &BodyPose, &Velocity)>().iter(world).map(|(s, p, v)| (*s, *p, *v)).collect();
        bodies.sort_by_key(|body| body.0);
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        for (_, pose, velocity) in bodies {
            let numbers = [pose.0.position, velocity.linear, velocity.angular].map(|v| v.to_array());
            numbers[0].iter().chain(&pose.0.rotation.to_array()).chain(&numbers[1]).chain(&numbers[2]).for_each(|&x| hash.add(x));
        }
        let mut systems: Vec<(Entity, &Coordinates)> = world.query::<(Entity, &Coordinates)>().iter(world).collect();
        systems.sort_by_key(|system| system.0);
        for (_, state) in systems {
            state.q.iter().chain(&state.v).for_each(|&x| hash.add(x));
        }
        hash.0
    }
}
