//! FCLIB: the HDF5 files in which friction problems are exchanged.
//!
//! ```text
//! /fclib_local           W q mu           u = W r + q                       /fclib_local_rolling     + mu_r (ours)
//! /fclib_global          M H f w mu       M v = H r + f, u = Hᵀ v + w       /fclib_global_rolling    + mu_r
//!   spacedim             2, 3, or 5 and 3 with rolling                      info/{title, description, math_info}
//!   W, M, H/{m, n, nzmax, nz, p, i, x}    nz = −1: p is n + 1 pointers to columns, i rows
//!                                         nz = −2: p is m + 1 pointers to rows, i columns
//!                                         nz ≥ 0: triplets, i rows and p columns
//!   vectors/{q, mu, f, w, mu_r}
//! /solution/{r, u, v}    /guesses/N/{r, u, v}
//! ```
//!
//! H is dof × rows, and contacts are stored normal first. Entries of one place add. The header of FCLIB says that triplets have the
//! columns in i; files in the wild have the rows there, and so do we, unless only the other way fits the sizes. Equality constraints
//! (matrix G of a global problem) are refused.

mod read;
mod write;

pub use read::{parse, read, solution};
pub use write::{bytes, vectors, write};

use crate::numerics::solvers::{Problem, Solution};

/// What an FCLIB file holds.
///
/// ```
/// use drystone::algebra::blocks::BlockRows;
/// use drystone::io::fclib::{Stored, read, write};
/// use drystone::numerics::{local::LocalProblem, solvers::Problem};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("brick.hdf5");
/// let w = BlockRows::from_dense(&[0, 2], &[1.0, 0.0, 0.0, 3.0]);
/// let problem = Problem::Local(LocalProblem::friction(w, vec![-1.0, 0.2], &[0.5])?);
/// write(&path, &Stored { title: "one brick".into(), ..Stored::of(problem) })?;
/// assert_eq!(read(&path)?.title, "one brick");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stored {
    /// The problem, local or global.
    pub problem: Problem,
    /// Its solution, where the file has one.
    pub solution: Option<Solution>,
    /// First guesses in the order of their numbers.
    pub guesses: Vec<Solution>,
    /// `info/title`
    pub title: String,
    /// `info/description`
    pub description: String,
    /// `info/math_info`
    pub math_info: String,
}

impl Stored {
    /// A problem without solution, guesses and words.
    pub fn of(problem: Problem) -> Self {
        let none = String::new;
        Self { problem, solution: None, guesses: Vec::new(), title: none(), description: none(), math_info: none() }
    }
}

#[cfg(test)]
mod tests;
