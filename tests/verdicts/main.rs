//! What solvers say of problems whose answer is known: no wrong `Converged`, no wrong `Inconsistent`.

mod assemblies;
mod friction;
mod small;
