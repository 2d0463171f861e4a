//! The ground floor of drystone: linear algebra of small blocks, and statements, residuals and solvers of nonsmooth one-step problems.
//!
//! Programs use it as `drystone::algebra` and `drystone::numerics`; `drystone` without its default features is this crate alone.

pub mod algebra;
pub mod numerics;
