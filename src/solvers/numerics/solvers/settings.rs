//! What a caller may ask of a solve, whatever the problem.

use super::catalogue::{Entry, all, find};
use super::{Family, Solution};
use crate::numerics::local::{finite, size};
use crate::numerics::{Measure, ProblemError};

/// Copies of a dense matrix that pivoting, factors and scaling take.
const COPIES: u64 = 3;

/// How a problem is to be solved: the same for every kind of problem and every solver.
///
/// ```
/// use drystone::algebra::matrix::Matrix;
/// use drystone::numerics::{lcp::Lcp, solvers::{Settings, Solver}};
/// let p = Lcp { m: Matrix::dense(2, 2, vec![2.0, 1.0, 1.0, 2.0]), q: vec![-5.0, -6.0] };
/// let loose = p.solve(&Settings { tolerance: 1e-4, ..Settings::default() })?;
/// // again by a solver of one's own choice, from that answer
/// let psor = Solver::named("pgs")?.with("relaxation", 1.3)?;
/// let settings = Settings { solver: Some(psor), guess: Some(loose.solution), time_limit: Some(1.0), ..Settings::default() };
/// let answer = p.solve(&settings)?;
/// assert!(answer.converged() && (answer.solution.r[0] - 4.0 / 3.0).abs() < 1e-7);
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    /// Stop when the measure is at most this.
    pub tolerance: f64,
    /// Which error is measured.
    pub measure: Measure,
    /// Stop after so many seconds (wall clock) with the best answer so far. Until then `auto` goes on with descents of the gap where it has found
    /// no solution with friction (`max_descents`); without a limit it gives them up after about ten seconds, of fewer than sixty contacts sooner.
    pub time_limit: Option<f64>,
    /// Budget of iterations instead of the solver's own; 0 gives the guess with its errors.
    pub max_iterations: Option<usize>,
    /// Largest dense matrix, or factor of a matrix, that may be asked for (bytes); what needs more is an error that says how much.
    pub memory_limit: u64,
    /// Start from this instead of zero: r or z, and for global problems v where it is known.
    pub guess: Option<Solution>,
    /// Keep a line for every iteration in [`Answer::log`](super::Answer::log).
    pub log: bool,
    /// The solver, with its parameters; without one the first of [`all`] that takes the problem.
    pub solver: Option<Solver>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            measure: Measure::Rel,
            time_limit: None,
            max_iterations: None,
            memory_limit: 4 << 30,
            guess: None,
            log: false,
            solver: None,
        }
    }
}

/// A registered solver and the parameters that differ from its defaults.
///
/// ```
/// use drystone::numerics::solvers::Solver;
/// let nsgs = Solver::named("nsgs")?.with("max_sweeps", 200)?.with("acceleration", "none")?;
/// assert_eq!(nsgs.name(), "nsgs");
/// let error = nsgs.with("max_sweep", 200).unwrap_err().to_string();
/// assert!(error.contains("`max_sweep`") && error.contains("max_sweeps, acceleration"));
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solver {
    entry: &'static Entry,
    parameters: Vec<(String, String)>,
}

impl Solver {
    /// The solver of that name, with its defaults.
    pub fn named(name: &str) -> Result<Self, ProblemError> {
        let names = || all().iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
        let unknown = || ProblemError::Setting { what: format!("solver `{name}`"), cause: format!("is unknown; there are {}", names()) };
        find(name).map(|entry| Self { entry, parameters: Vec::new() }).ok_or_else(unknown)
    }

    /// The same with a parameter set, given as a number or a word; [`Entry::parameters`] lists them.
    pub fn with(mut self, name: &str, value: impl std::fmt::Display) -> Result<Self, ProblemError> {
        let (value, mut known, mut fits) = (value.to_string(), Vec::new(), None);
        for &family in self.entry.families {
            match (self.entry.try_set)(family, name, &value) {
                Ok(()) => fits = Some(Ok(())),
                Err(Some(needed)) => fits = fits.or(Some(Err(needed))),
                Err(None) => known.extend(self.entry.parameters(family).into_iter().map(|p| p.name)),
            }
        }
        let what = format!("parameter `{name}` of solver {}", self.entry.name);
        match fits {
            Some(Ok(())) => {
                self.parameters.retain(|(other, _)| other != name);
                self.parameters.push((name.to_owned(), value));
                Ok(self)
            }
            Some(Err(needed)) => Err(ProblemError::Setting { what, cause: format!("is {value}; {needed} is needed") }),
            None => {
                let mut names: Vec<&str> = Vec::new();
                known.into_iter().for_each(|n| {
                    if !names.contains(&n) {
                        names.push(n)
                    }
                });
                Err(ProblemError::Setting { what, cause: format!("is unknown; there are {}", names.join(", ")) })
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Its entry in the register.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The parameters that were set.
    pub(in crate::numerics) fn parameters(&self) -> &[(String, String)] {
        &self.parameters
    }
}

impl From<&'static Entry> for Solver {
    fn from(entry: &'static Entry) -> Self {
        Self { entry, parameters: Vec::new() }
    }
}

/// A line of the log of a solve.
///
/// ```
/// use drystone::algebra::matrix::Matrix;
/// use drystone::numerics::{lcp::Lcp, solvers::{Settings, Solver}};
/// let p = Lcp { m: Matrix::dense(2, 2, vec![2.0, 1.0, 1.0, 2.0]), q: vec![-5.0, -6.0] };
/// let settings = Settings { log: true, solver: Some(Solver::named("pgs")?), ..Settings::default() };
/// let log = p.solve(&settings)?.log;
/// assert!(log.len() > 3 && log.windows(2).all(|l| l[0].seconds <= l[1].seconds && l[0].error > l[1].error));
/// # Ok::<(), drystone::numerics::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LogLine {
    /// Iterations so far.
    pub iteration: usize,
    /// The error that the solver stops on, as it knows it at that time.
    pub error: f64,
    /// Seconds since the solve began.
    pub seconds: f64,
}

impl Settings {
    /// The defaults with a solver by name.
    ///
    /// ```
    /// use drystone::numerics::solvers::Settings;
    /// assert!(Settings::with_solver("lemke").is_ok() && Settings::with_solver("lemk").is_err());
    /// ```
    pub fn with_solver(name: &str) -> Result<Self, ProblemError> {
        Ok(Self { solver: Some(Solver::named(name)?), ..Self::default() })
    }

    /// An error names the setting that makes no sense.
    pub fn validate(&self) -> Result<(), ProblemError> {
        let positive = |what: &str, x: f64| {
            let error = || ProblemError::OutOfRange { what: what.into(), found: x, needed: "a positive number is needed" };
            if x > 0.0 { Ok(()) } else { Err(error()) }
        };
        positive("the tolerance", self.tolerance)?;
        self.time_limit.map_or(Ok(()), |limit| positive("the time limit (s)", limit))
    }

    /// Name of the solver for a family that no file holds.
    pub(in crate::numerics) fn taken(&self, family: Family) -> Result<&'static str, ProblemError> {
        let mut names = all().iter().filter(|e| e.families.contains(&family)).map(|e| e.name);
        match &self.solver {
            Some(solver) if solver.entry.families.contains(&family) => Ok(solver.name()),
            Some(solver) => {
                let cause = format!("takes no {} problems; these do: {}", family.name(), names.collect::<Vec<_>>().join(", "));
                Err(ProblemError::Setting { what: format!("solver {}", solver.name()), cause })
            }
            None => Ok(names.next().unwrap_or_default()),
        }
    }

    /// r of the guess, which has n numbers, or zeros.
    pub(in crate::numerics) fn first_guess(&self, n: usize) -> Result<Vec<f64>, ProblemError> {
        let guess = self.guess.as_ref().map_or_else(|| vec![0.0; n], |guess| guess.r.clone());
        size("r of the guess", guess.len(), n, "one per unknown")?;
        finite("r of the guess", &guess)?;
        Ok(guess)
    }

    /// Whether a dense matrix of this size, with the copies that a solver makes, is allowed.
    pub(in crate::numerics) fn may_be_dense(&self, what: &str, rows: usize, columns: usize) -> Result<(), ProblemError> {
        let bytes = (rows as u64).saturating_mul(columns as u64).saturating_mul(8 * COPIES);
        let what = || format!("{what} ({rows} × {columns})");
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        if bytes <= self.memory_limit {
            return Ok(());
        }
        Err(ProblemError::Memory { what: what(), gigabytes: gigabytes(bytes), limit: gigabytes(self.memory_limit) })
    }

    /// The parameters of the solver set on its defaults.
    pub(in crate::numerics) fn tune<S: super::parameters::Tuned>(&self, name: &str, mut solver: S) -> Result<S, ProblemError> {
        for (parameter, value) in self.solver.iter().flat_map(|s| s.parameters()) {
            solver.set(parameter, value).map_err(|_| {
                let names: Vec<&str> = solver.parameters().iter().map(|p| p.name).collect();
                let cause = format!("means nothing for this kind of problem; there are {}", names.join(", "));
                ProblemError::Setting { what: format!("parameter `{parameter}` of solver {name}"), cause }
            })?;
        }
        // what a time limit ends may go on until then; most solvers have no such parameter
        let given = self.solver.iter().flat_map(|s| s.parameters()).any(|(parameter, _)| parameter == "max_descents");
        if self.time_limit.is_some() && !given {
            solver.set("max_descents", "1e18").ok();
        }
        Ok(solver)
    }
}
