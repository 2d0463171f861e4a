//! Parameters of solvers by name: what each struct of settings lets a caller change, and what its values may be.

use crate::numerics::complementarity::{
    Auto as Pivoting, BlockGaussSeidel, Enumeration, InteriorPoint as CentralPath, Lemke, Murty, Newton, NewtonFunction, Pgs,
};
use crate::numerics::global::{auto::GlobalAuto, proximal::BodyNewton};
use crate::numerics::local::admm::Admm;
use crate::numerics::local::auto::Auto;
use crate::numerics::local::equations::Function;
use crate::numerics::local::fixed_point::FixedPoint;
use crate::numerics::local::interior_point::InteriorPoint;
use crate::numerics::local::newton::{LineSearch, SemismoothNewton};
use crate::numerics::local::nsgs::{Acceleration, Nsgs, Order};
use crate::numerics::local::proximal::ProximalPoint;
use crate::numerics::{projection::Projection, qp};

/// A parameter of a solver: its name, its default and what would do.
///
/// ```
/// use drystone::numerics::solvers::{Family, find};
/// let nsgs = find("nsgs").ok_or("a solver")?;
/// let relaxation = nsgs.parameters(Family::Local).into_iter().find(|p| p.name == "relaxation").ok_or("a parameter")?;
/// assert_eq!((relaxation.default.as_str(), relaxation.needed.as_str()), ("1", "a number from 0.01 to 1.99"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The value that it has unless it is set, as a text that would set it.
    pub default: String,
    /// What its values may be.
    pub needed: String,
}

/// Least and largest value of a number; words have none.
pub(in crate::numerics) type Range = Option<(f64, f64)>;

/// A value that a text can give.
pub(in crate::numerics) trait Value: Sized {
    fn parse(text: &str, range: Range) -> Option<Self>;
    fn needed(range: Range) -> String;
    fn text(&self) -> String;
}

impl Value for f64 {
    fn parse(text: &str, range: Range) -> Option<Self> {
        let (low, high) = range.unwrap_or((f64::MIN, f64::MAX));
        text.parse().ok().filter(|x| (low..=high).contains(x))
    }

    fn needed(range: Range) -> String {
        range.map_or_else(|| "a number".into(), |(low, high)| format!("a number from {} to {}", low.text(), high.text()))
    }

    fn text(&self) -> String {
        if *self != 0.0 && !(1e-3..1e6).contains(&self.abs()) { format!("{self:e}") } else { self.to_string() }
    }
}

impl Value for usize {
    fn parse(text: &str, range: Range) -> Option<Self> {
        let (low, high) = range.unwrap_or((0.0, 1e15));
        text.parse().ok().filter(|x| (low..=high).contains(&(*x as f64)))
    }

    fn needed(range: Range) -> String {
        let (low, high) = range.unwrap_or((0.0, 1e15));
        format!("a whole number from {} to {}", low.text(), high.text())
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for Option<usize> {
    fn parse(text: &str, range: Range) -> Option<Self> {
        if text == "none" { Some(None) } else { usize::parse(text, range).map(Some) }
    }

    fn needed(range: Range) -> String {
        format!("none, or {}", usize::needed(range))
    }

    fn text(&self) -> String {
        self.map_or_else(|| "none".into(), |n| n.to_string())
    }
}

/// A closed choice by words; `word:` takes a whole number behind the colon.
macro_rules! words {
    ($type:ty { $($word:literal => $variant:ident),+ } { $($prefix:literal takes $number:ident => $with:pat, $made:expr)? }) => {
        impl Value for $type {
            fn parse(text: &str, _: Range) -> Option<Self> {
                match text {
                    $($word => return Some(Self::$variant),)+
                    _ => {}
                }
                $(if let Some($number) = text.strip_prefix($prefix).and_then(|n| n.parse().ok()) {
                    return Some($made);
                })?
                None
            }

            fn needed(_: Range) -> String {
                let words = [$($word.to_owned(),)+ $(format!("{}NUMBER", $prefix),)?];
                format!("one of {}", words.join(", "))
            }

            fn text(&self) -> String {
                match self {
                    $(Self::$variant => $word.to_owned(),)+
                    $($with => format!("{}{}", $prefix, $number),)?
                }
            }
        }
    };
}

words!(Function {
    "alart_curnier" => AlartCurnier, "jean_moreau" => JeanMoreau, "fischer_burmeister" => FischerBurmeister, "natural_map" => NaturalMap
} {});
words!(NewtonFunction { "minimum" => Minimum, "fischer_burmeister" => FischerBurmeister } {});
words!(LineSearch { "none" => None, "goldstein_price" => GoldsteinPrice } { "armijo:" takes window => Self::Armijo { window }, Self::Armijo { window } });
words!(Acceleration { "none" => None, "conjugate" => Conjugate } { "anderson:" takes window => Self::Anderson(window), Self::Anderson(window) });
words!(Order { "natural" => Natural, "coloured" => Coloured } { "shuffled:" takes seed => Self::Shuffled(seed), Self::Shuffled(seed) });

/// A struct of settings whose parameters have names.
pub(in crate::numerics) trait Tuned {
    /// The parameters with their present values.
    fn parameters(&self) -> Vec<Parameter>;

    /// Sets a parameter; what would have done where the value is none of its, `None` within where it has no such name.
    fn set(&mut self, name: &str, value: &str) -> Result<(), Option<String>>;
}

macro_rules! tuned {
    ($($type:ty { $($field:ident $(in $low:literal..$high:literal)?),+ })+) => {
        $(impl Tuned for $type {
            fn parameters(&self) -> Vec<Parameter> {
                fn needed<V: Value>(_: &V, range: Range) -> String {
                    V::needed(range)
                }
                vec![$(Parameter {
                    name: stringify!($field),
                    default: self.$field.text(),
                    needed: needed(&self.$field, tuned!(range $($low, $high)?)),
                }),+]
            }

            fn set(&mut self, name: &str, value: &str) -> Result<(), Option<String>> {
                fn change<V: Value>(place: &mut V, value: &str, range: Range) -> Result<(), Option<String>> {
                    *place = V::parse(value, range).ok_or_else(|| Some(V::needed(range)))?;
                    Ok(())
                }
                match name {
                    $(stringify!($field) => change(&mut self.$field, value, tuned!(range $($low, $high)?)),)+
                    _ => Err(None),
                }
            }
        })+
    };
    (range) => { None };
    (range $low:literal, $high:literal) => { Some(($low, $high)) };
}

tuned! {
    Auto { max_rounds, max_factor, max_descents in 0.0..1e18 }
    Nsgs { max_sweeps, acceleration, order, relaxation in 0.01..1.99, freezing, foresight }
    ProximalPoint { max_outer, max_inner, max_factorisations, alpha in 1e-12..1e6, warm_up }
    Admm { max_iterations, rho in 1e-9..1e9, relaxation in 0.01..1.99, window in 0.0..12.0, max_changes, patience }
    SemismoothNewton { max_iterations, function, line_search, regularisation in 0.0..1e6, patience, restarts }
    InteriorPoint { max_iterations, step_share in 0.01..0.9999 }
    FixedPoint { max_outer, max_inner, inner_share in 0.0..0.99 }
    GlobalAuto { max_rounds, redundancy in 0.0..1e9, max_w, max_descents in 0.0..1e18 }
    BodyNewton { max_iterations, penalty in 1e-9..1e9 }
    Pivoting { max_bases }
    Newton { max_iterations, function, starts in 1.0..1e6 }
    CentralPath { max_iterations }
    Lemke { max_pivots, coverings in 1.0..1e6, proximal_steps }
    Murty { max_iterations, patience }
    Enumeration { max_bases }
    Pgs { max_sweeps, relaxation in 0.01..1.99, regularisation in 0.0..1e9 }
    BlockGaussSeidel { max_sweeps, block in 1.0..64.0 }
    Projection { max_iterations, step in 1e-9..1e9 }
    qp::Admm { max_iterations, rho in 1e-6..1e6 }
    qp::ProjectedGradient { max_iterations }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_text_that_sets_it() {
        for entry in super::super::all() {
            for &family in entry.families {
                let mut names = Vec::new();
                for p in entry.parameters(family) {
                    assert!(!names.contains(&p.name), "{}: {} twice", entry.name, p.name);
                    names.push(p.name);
                    let solver = super::super::Solver::named(entry.name).unwrap().with(p.name, &p.default);
                    assert!(solver.is_ok(), "{} {p:?}: {solver:?}", entry.name);
                }
                assert!(!names.is_empty(), "{} of {family:?}", entry.name);
            }
        }
    }

    #[test]
    fn what_a_time_limit_ends_may_go_on_until_then() {
        use super::super::{Settings, Solver};
        let descents = |time_limit: Option<f64>, given: Option<f64>| {
            let mut solver = Solver::named("auto").unwrap();
            if let Some(given) = given {
                solver = solver.with("max_descents", given).unwrap();
            }
            let ask = Settings { time_limit, solver: Some(solver), ..Settings::default() };
            assert!(ask.tune("nsgs", Nsgs::default()).is_ok() != given.is_some());
            let [local, global] =
                [ask.tune("auto", Auto::default()).unwrap().max_descents, ask.tune("auto", GlobalAuto::default()).unwrap().max_descents];
            assert_eq!(local, global);
            local
        };
        assert_eq!(descents(None, None), Auto::default().max_descents);
        assert_eq!([descents(Some(1.0), None), descents(Some(1.0), Some(5e9)), descents(None, Some(5e9))], [1e18, 5e9, 5e9]);
    }

    #[test]
    fn values_out_of_range_are_told_what_would_do() {
        let mut nsgs = Nsgs::default();
        assert_eq!(nsgs.set("relaxation", "2"), Err(Some("a number from 0.01 to 1.99".into())));
        assert_eq!(nsgs.set("relaxation", "NaN"), Err(Some("a number from 0.01 to 1.99".into())));
        assert_eq!(nsgs.set("max_sweeps", "-1"), Err(Some("a whole number from 0 to 1e15".into())));
        assert_eq!(nsgs.set("acceleration", "anderson"), Err(Some("one of none, conjugate, anderson:NUMBER".into())));
        assert_eq!(nsgs.set("sweeps", "3"), Err(None));
        assert!(nsgs.set("acceleration", "anderson:7").is_ok() && nsgs.acceleration == Acceleration::Anderson(7));
    }
}
