//! Operators of systems and relations: a constant, or a function of the user.
//!
//! An operator is a vector or a row-major matrix. The system or relation that owns it says its shape and where it is evaluated;
//! whatever it returns is checked to be finite where it is used, and the error names system, operator and time.

use std::sync::Arc;

/// Where an operator is evaluated. Slices on which it must not depend hold NaN when a simulation calls it ([`At::time`]), so that a
/// function which reads them is found and named instead of being wrong in silence: a force F_ext that reads q, an output h that reads v.
///
/// ```
/// use drystone::model::operator::At;
/// let at = At { t: 0.5, x: &[1.0], ..At::default() };
/// assert!(at.q.is_empty() && at.x[0] == 1.0);
/// assert!(At::time(0.5).q[0].is_nan());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct At<'a> {
    /// Time (s).
    pub t: f64,
    /// State of a first-order system; for a relation the states of its systems one after the other (X).
    pub x: &'a [f64],
    /// Coordinates of a second-order system; for a relation those of its systems one after the other (Q).
    pub q: &'a [f64],
    /// Velocities that belong to `q`.
    pub v: &'a [f64],
    /// Multipliers of a relation.
    pub lambda: &'a [f64],
    /// Parameters and inputs z of the owner.
    pub z: &'a [f64],
}

/// What is not there, in as many places as a function may want to read.
static NAN: [f64; 4096] = [f64::NAN; 4096];

impl At<'static> {
    /// A time (s) and no state: x, q, v and λ hold NaN, z is empty.
    #[inline]
    pub fn time(t: f64) -> Self {
        Self { t, x: &NAN, q: &NAN, v: &NAN, lambda: &NAN, z: &[] }
    }
}

impl<'a> At<'a> {
    /// This place with other values where there is no state, and the names of the slices that are there no more.
    pub(crate) fn with_absent(&self, values: &'a [f64], mut which: impl FnMut(&'static str) -> bool) -> Self {
        let mut at = *self;
        for (name, slice) in [("x", &mut at.x), ("q", &mut at.q), ("v", &mut at.v), ("λ", &mut at.lambda)] {
            if std::ptr::eq(slice.as_ptr(), NAN.as_ptr()) && which(name) {
                *slice = values;
            }
        }
        at
    }
}

/// A function of the user: writes its value into the slice, which comes zeroed.
///
/// ```
/// use drystone::model::operator::{At, Function};
/// // a spring that hardens
/// let force: Function = std::sync::Arc::new(|at: &At, f: &mut [f64]| f[0] = -at.q[0] - at.q[0].powi(3));
/// # let _ = force;
/// ```
pub type Function = Arc<dyn Fn(&At, &mut [f64]) + Send + Sync>;

/// A vector or matrix that is constant or comes from a function.
///
/// ```
/// use drystone::model::operator::{At, Operator};
/// let b = Operator::function(|at, b| b[0] = at.t.sin());
/// let mut value = [0.0];
/// b.vector(&At { t: 1.0, ..At::default() }, &mut value);
/// assert_eq!(value[0], 1f64.sin());
/// assert!(Operator::from([1.0, 0.0, 0.0, 1.0]).is_constant());
/// ```
#[derive(Clone, Default)]
pub enum Operator {
    /// Not there.
    #[default]
    Zero,
    /// All entries; matrices row by row.
    Constant(Vec<f64>),
    /// The diagonal of a square matrix.
    Diagonal(Vec<f64>),
    /// `(row, column, value)` of a matrix; values of one place are added.
    Sparse(Vec<(usize, usize, f64)>),
    /// A function of the user.
    Function(Function),
}

impl Operator {
    /// An operator from a closure.
    pub fn function(f: impl Fn(&At, &mut [f64]) + Send + Sync + 'static) -> Self {
        Self::Function(Arc::new(f))
    }

    /// True unless it is a function.
    pub fn is_constant(&self) -> bool {
        !matches!(self, Self::Function(_))
    }

    /// True where there is none.
    pub fn is_zero(&self) -> bool {
        matches!(self, Self::Zero)
    }

    /// The value as a vector.
    pub fn vector(&self, at: &At, out: &mut [f64]) {
        self.matrix(at, 1, out);
    }

    /// The value as a full matrix with this many columns, row by row.
    pub fn matrix(&self, at: &At, columns: usize, out: &mut [f64]) {
        out.fill(0.0);
        match self {
            Self::Zero => {}
            Self::Constant(values) => out.copy_from_slice(values),
            Self::Diagonal(d) => d.iter().enumerate().for_each(|(i, d)| out[i * (columns + 1)] = *d),
            Self::Sparse(entries) => entries.iter().for_each(|&(i, j, x)| out[i * columns + j] += x),
            Self::Function(f) => f(at, out),
        }
    }

    /// Checks that the constant forms fill `rows × columns` and are finite; `name` goes into the message.
    pub fn validate(&self, name: &str, rows: usize, columns: usize) -> Result<(), String> {
        let shape = if columns == 1 { format!("{rows}") } else { format!("{rows} × {columns} = {}", rows * columns) };
        let values: Vec<f64> = match self {
            Self::Zero | Self::Function(_) => return Ok(()),
            Self::Constant(values) if values.len() == rows * columns => values.clone(),
            Self::Constant(values) => return Err(format!("{name} holds {} values, but {shape} are needed", values.len())),
            Self::Diagonal(d) if rows == columns && d.len() == rows => d.clone(),
            Self::Diagonal(d) => {
                return Err(format!("{name} is a diagonal of {} values, but a matrix of {rows} × {columns} is needed", d.len()));
            }
            Self::Sparse(entries) => {
                if let Some(&(i, j, _)) = entries.iter().find(|(i, j, _)| *i >= rows || *j >= columns) {
                    return Err(format!("{name} has an entry at row {i}, column {j}, outside {rows} × {columns}"));
                }
                entries.iter().map(|e| e.2).collect()
            }
        };
        match values.iter().find(|x| !x.is_finite()) {
            Some(bad) => Err(format!("{name} holds {bad}; every value has to be finite")),
            None => Ok(()),
        }
    }
}

/// Constants are equal by value, functions where they are the same closure.
impl PartialEq for Operator {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Zero, Self::Zero) => true,
            (Self::Constant(a), Self::Constant(b)) | (Self::Diagonal(a), Self::Diagonal(b)) => a == b,
            (Self::Sparse(a), Self::Sparse(b)) => a == b,
            (Self::Function(a), Self::Function(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl From<Vec<f64>> for Operator {
    fn from(values: Vec<f64>) -> Self {
        Self::Constant(values)
    }
}

impl<const N: usize> From<[f64; N]> for Operator {
    fn from(values: [f64; N]) -> Self {
        Self::Constant(values.to_vec())
    }
}

impl From<&[f64]> for Operator {
    fn from(values: &[f64]) -> Self {
        Self::Constant(values.to_vec())
    }
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Zero => write!(f, "Zero"),
            Self::Constant(values) => f.debug_tuple("Constant").field(values).finish(),
            Self::Diagonal(d) => f.debug_tuple("Diagonal").field(d).finish(),
            Self::Sparse(entries) => f.debug_tuple("Sparse").field(entries).finish(),
            Self::Function(_) => write!(f, "Function"),
        }
    }
}
