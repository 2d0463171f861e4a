//! One graph: bodies with shapes, Lagrangian systems and relations of the user in one problem.

mod forces;
mod mechanisms;

mod signals;
mod springs;
mod ties;
mod transmissions;

type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;
