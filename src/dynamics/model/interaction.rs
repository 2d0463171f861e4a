//! Who is linked, and how: relations and laws between dynamical systems, rigid bodies among them.

use super::joint::Freedom;
use super::law::Law;
use super::relation::Relation;
use bevy_ecs::prelude::{Component, Entity};

/// Marks an interaction, or a system with an integrator, that is linked with a rigid body, be it through others: it stands in one problem
/// with contacts. The others form clusters of their own. Set at the start of a step, see [`crate::topology::islands`].
///
/// ```
/// use drystone::model::{interaction::*, joint::*, law::Law};
/// use drystone::simulation::{Body, Simulation};
/// use glam::DVec3;
/// let mut sim = Simulation::default();
/// let ball = sim.spawn_body(Body::point(1.0, DVec3::ONE))?;
/// let pivot = sim.spawn_joint(ball, None, DVec3::Z)?;
/// sim.step()?;
/// assert!(sim.world().get::<OfBodies>(pivot).is_some());
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfBodies;

/// Marks a rigid body with an integrator that stands among the bodies of the step only as long as one of these is in its island: then it
/// goes back to a cluster. Set with [`OfBodies`].
///
/// ```
/// use drystone::prelude::*;
/// use drystone::model::interaction::Lodger;
/// let mut sim = Simulation::default();
/// let rod = sim.spawn_system(NewtonEuler::new(1.0, DVec3::ONE), Integrator::MoreauJean { theta: 1.0, gamma: 0.5, projection: Projection::None })?;
/// let ball = sim.spawn_body(Body::new(Shape::ball(0.1)?).at(DVec3::X))?;
/// let tie = Interaction::new([rod, ball], LagrangianNonlinear::new(1, Operator::function(|at, y| y[0] = at.q[0] - at.q[7] + 1.0)), Law::Equality);
/// sim.spawn_interaction(tie)?;
/// sim.step()?;
/// assert!(sim.world().get::<Lodger>(rod).is_some() && sim.world().get::<Slot>(rod).is_some());
/// sim.world_mut().despawn(ball);
/// sim.step()?;
/// assert!(sim.world().get::<Lodger>(rod).is_none() && sim.world().get::<Slot>(rod).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lodger;

/// Marks an interaction with a law of impact that carries an impulse: a stop that is reached, a rope that is taut. It is there or not at
/// the end of every step (of a batch, where systems have no shapes), so observers of its insertion and removal hear of the change.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use drystone::model::{interaction::{Engaged, Interaction}, joint::{JointKind, JointSpec}};
/// use drystone::simulation::{Body, Simulation};
/// use glam::DVec3;
/// #[derive(Resource, Default)]
/// struct Knocks(u32);
/// let mut sim = Simulation::default();
/// let door = sim.spawn_body(Body::point(20.0, DVec3::splat(0.5)).at(DVec3::new(0.4, 0.0, 1.0)))?;
/// let hinge = JointSpec::new(JointKind::Revolute).at(DVec3::Z).axis(DVec3::Z).between(0.0, 0.5).motor(1.0, 50.0);
/// let parts = sim.add_joint(door, None, &hinge)?;
/// sim.world_mut().init_resource::<Knocks>();
/// sim.world_mut().entity_mut(parts[2]).observe(|_: On<Insert<Engaged>>, mut knocks: ResMut<Knocks>| knocks.0 += 1);
/// sim.run_until(1.0)?;
/// assert_eq!(sim.world().resource::<Knocks>().0, 1, "the motor holds the door at its stop");
/// # Ok::<(), drystone::simulation::SimulationError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[component(storage = "SparseSet")]
pub struct Engaged;

/// One or two systems, what they share and the law that holds for it (Siconos: `Interaction`).
///
/// ```
/// use drystone::model::{interaction::Interaction, law::Law, relation::LagrangianLinear};
/// # use bevy_ecs::prelude::*;
/// # let ball = World::new().spawn_empty().id();
/// let floor = Interaction::new([ball], LagrangianLinear::new([1.0], [0.0]), Law::NewtonImpact { e: 0.9 });
/// assert_eq!((floor.relation.rows(), floor.active), (1, false));
/// ```
#[derive(Component, Clone, Debug)]
pub struct Interaction {
    /// The one or two systems, in the order in which the relation sees their states; one body alone is joined to the world.
    pub systems: Vec<Entity>,
    /// y and what λ does.
    pub relation: Relation,
    /// What holds between y and λ.
    pub law: Law,
    /// Parameters Z of the relation; of a joint with one coordinate that coordinate, so that its turns are counted.
    pub z: Vec<f64>,
    /// Output y at the end of the last step.
    pub y: Vec<f64>,
    /// Its rate at the end of the last step; empty for first-order systems.
    pub y_dot: Vec<f64>,
    /// Multipliers of the last step: impulses where the law is about the rate of y, forces (or inputs) where it is about y itself,
    /// N s² of Schatzman–Paoli. Those of bodies go along with the time step, see [`Clock::measure`](super::scheme::Clock::measure).
    pub lambda: Vec<f64>,
    /// Multipliers of the projection of positions in the last step; empty without one.
    pub correction: Vec<f64>,
    /// Contact forces at the end of the last step of D1-minus; empty for other integrators.
    pub force: Vec<f64>,
    /// Whether it took part in the last step.
    pub active: bool,
}

impl Interaction {
    /// An interaction that has not acted yet.
    pub fn new(systems: impl Into<Vec<Entity>>, relation: impl Into<Relation>, law: Law) -> Self {
        let relation = relation.into();
        let rows = relation.rows();
        let y_dot = vec![0.0; if relation.is_second_order() { rows } else { 0 }];
        let y = match &relation {
            // a coordinate starts at zero; a distance is known when bodies are
            Relation::Coordinate(q) => vec![-q.sign * q.offset],
            _ => vec![0.0; rows],
        };
        // the coordinate of a joint, next to which angles are counted
        let turns = matches!(&relation, Relation::Joint(joint) if joint.kind.freedom().is_some());
        Self {
            systems: systems.into(),
            relation,
            law,
            z: if turns { vec![0.0] } else { Vec::new() },
            y,
            y_dot,
            lambda: vec![0.0; rows],
            correction: Vec::new(),
            force: Vec::new(),
            active: false,
        }
    }

    /// How far a joint is open (m) and turned against what it holds (rad), of a rope by how much it is too long; none for what is neither.
    pub fn open(&self) -> Option<[f64; 2]> {
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        match (&self.relation, &self.law) {
            (Relation::Joint(joint), _) => {
                let (gap, tilt) = self.y.split_at_checked(joint.kind.translations())?;
                Some([norm(gap), norm(tilt)])
            }
            (Relation::Coordinate(q), Law::NewtonImpact { .. }) if q.freedom == Freedom::Distance => {
                Some([(-self.y.first()?).max(0.0), 0.0])
            }
            _ => None,
        }
    }

    /// Whether its parameters are numbers: a program may write them at any time.
    pub(crate) fn check_parameters(&self) -> Result<(), String> {
        match self.z.iter().find(|z| !z.is_finite()) {
            Some(bad) => Err(format!("z holds {bad}; every value has to be finite")),
            None => Ok(()),
        }
    }

    /// With parameters Z.
    #[must_use]
    pub fn with_parameters(self, z: impl Into<Vec<f64>>) -> Self {
        Self { z: z.into(), ..self }
    }
}
