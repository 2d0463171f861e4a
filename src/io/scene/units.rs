//! Numbers with units: `"2400 kg/m3"` → 2400.0 in SI.
//!
//! ```text
//! text   = number [ unit ]        unit   = factor { ("/" | "*" | "·" | space) factor }
//! factor = name [ exponent ]      "/" inverts the one factor after it
//! ```
//!
//! A unit is a scale and four exponents (m, kg, s, rad). The angle is counted as a dimension of its own, so that
//! `"30 deg"` cannot pass for a pure number. Where an acceleration is expected, `g` alone is that of the earth, 9.80665 m/s².

/// Exponents of m, kg, s and rad.
pub(super) type Exponents = [i32; 4];

/// What a field of a scene measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Number,
    Length,
    Mass,
    MassRate,
    Time,
    Angle,
    Velocity,
    AngularVelocity,
    Acceleration,
    Force,
    Torque,
    Impulse,
    AngularImpulse,
    Density,
    Inertia,
    Stiffness,
    SurfaceEnergy,
    StiffnessPerArea,
    Damping,
    TorsionStiffness,
    TorsionDamping,
    Frequency,
    Area,
    Volume,
    Pressure,
}

use Quantity::*;

/// Every quantity with its exponents, name and SI unit. Torque shares its exponents with energy.
const QUANTITIES: [(Quantity, Exponents, &str, &str); 25] = [
    (Number, [0, 0, 0, 0], "a pure number", ""),
    (Length, [1, 0, 0, 0], "a length", "m"),
    (Mass, [0, 1, 0, 0], "a mass", "kg"),
    (MassRate, [0, 1, -1, 0], "a mass rate", "kg/s"),
    (Time, [0, 0, 1, 0], "a time", "s"),
    (Angle, [0, 0, 0, 1], "an angle", "rad"),
    (Velocity, [1, 0, -1, 0], "a velocity", "m/s"),
    (AngularVelocity, [0, 0, -1, 1], "an angular velocity", "rad/s"),
    (Acceleration, [1, 0, -2, 0], "an acceleration", "m/s2"),
    (Force, [1, 1, -2, 0], "a force", "N"),
    (Torque, [2, 1, -2, 0], "a torque", "N m"),
    (Impulse, [1, 1, -1, 0], "an impulse", "N s"),
    (AngularImpulse, [2, 1, -1, 0], "an angular impulse", "N m s"),
    (Density, [-3, 1, 0, 0], "a density", "kg/m3"),
    (Inertia, [2, 1, 0, 0], "a moment of inertia", "kg m2"),
    (Stiffness, [0, 1, -2, 0], "a stiffness", "N/m"),
    (Damping, [0, 1, -1, 0], "a damping", "N s/m"),
    (TorsionStiffness, [2, 1, -2, -1], "a torsional stiffness", "N m/rad"),
    (TorsionDamping, [2, 1, -1, -1], "a torsional damping", "N m s/rad"),
    (Frequency, [0, 0, -1, 0], "a frequency", "Hz"),
    (Area, [2, 0, 0, 0], "an area", "m2"),
    (Volume, [3, 0, 0, 0], "a volume", "m3"),
    (Pressure, [-1, 1, -2, 0], "a pressure", "Pa"),
    (SurfaceEnergy, [0, 1, -2, 0], "an energy per area", "J/m2"),
    (StiffnessPerArea, [-2, 1, -2, 0], "a stiffness per area", "Pa/m"),
];

impl Quantity {
    fn entry(self) -> (Exponents, &'static str, &'static str) {
        let found = QUANTITIES.iter().find(|q| q.0 == self);
        found.map_or(([0; 4], "a pure number", ""), |q| (q.1, q.2, q.3))
    }

    /// With its article: "a length".
    pub(super) fn name(self) -> &'static str {
        self.entry().1
    }

    /// Its SI unit, empty for a pure number.
    pub(super) fn unit(self) -> &'static str {
        self.entry().2
    }
}

/// Name, scale to SI, exponents.
const UNITS: [(&str, f64, Exponents); 45] = [
    ("m", 1.0, [1, 0, 0, 0]),
    ("mm", 1e-3, [1, 0, 0, 0]),
    ("cm", 1e-2, [1, 0, 0, 0]),
    ("dm", 1e-1, [1, 0, 0, 0]),
    ("km", 1e3, [1, 0, 0, 0]),
    ("um", 1e-6, [1, 0, 0, 0]),
    ("µm", 1e-6, [1, 0, 0, 0]),
    ("in", 0.0254, [1, 0, 0, 0]),
    ("ft", 0.3048, [1, 0, 0, 0]),
    ("kg", 1.0, [0, 1, 0, 0]),
    ("g", 1e-3, [0, 1, 0, 0]),
    ("mg", 1e-6, [0, 1, 0, 0]),
    ("t", 1e3, [0, 1, 0, 0]),
    ("lb", 0.453_592_37, [0, 1, 0, 0]),
    ("s", 1.0, [0, 0, 1, 0]),
    ("ms", 1e-3, [0, 0, 1, 0]),
    ("us", 1e-6, [0, 0, 1, 0]),
    ("µs", 1e-6, [0, 0, 1, 0]),
    ("min", 60.0, [0, 0, 1, 0]),
    ("h", 3600.0, [0, 0, 1, 0]),
    ("rad", 1.0, [0, 0, 0, 1]),
    ("mrad", 1e-3, [0, 0, 0, 1]),
    ("deg", std::f64::consts::PI / 180.0, [0, 0, 0, 1]),
    ("°", std::f64::consts::PI / 180.0, [0, 0, 0, 1]),
    ("rev", std::f64::consts::TAU, [0, 0, 0, 1]),
    ("rpm", std::f64::consts::TAU / 60.0, [0, 0, -1, 1]),
    ("Hz", 1.0, [0, 0, -1, 0]),
    ("kHz", 1e3, [0, 0, -1, 0]),
    ("N", 1.0, [1, 1, -2, 0]),
    ("mN", 1e-3, [1, 1, -2, 0]),
    ("kN", 1e3, [1, 1, -2, 0]),
    ("MN", 1e6, [1, 1, -2, 0]),
    ("Pa", 1.0, [-1, 1, -2, 0]),
    ("kPa", 1e3, [-1, 1, -2, 0]),
    ("MPa", 1e6, [-1, 1, -2, 0]),
    ("GPa", 1e9, [-1, 1, -2, 0]),
    ("bar", 1e5, [-1, 1, -2, 0]),
    ("J", 1.0, [2, 1, -2, 0]),
    ("mJ", 1e-3, [2, 1, -2, 0]),
    ("kJ", 1e3, [2, 1, -2, 0]),
    ("W", 1.0, [2, 1, -3, 0]),
    ("l", 1e-3, [3, 0, 0, 0]),
    ("L", 1e-3, [3, 0, 0, 0]),
    ("%", 1e-2, [0, 0, 0, 0]),
    ("1", 1.0, [0, 0, 0, 0]),
];

/// What `g` means where an acceleration is expected (m/s²).
const STANDARD_GRAVITY: f64 = 9.806_65;

/// What is wrong with a text that should hold a number with a unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UnitError {
    pub(super) message: String,
    pub(super) cure: String,
}

/// The value of `text` in SI, if it measures `expected`.
pub(super) fn parse(text: &str, expected: Quantity) -> Result<f64, UnitError> {
    let text = text.trim();
    let split = number_length(text);
    let example = if expected.unit().is_empty() { "0.5".to_owned() } else { format!("\"0.5 {}\"", expected.unit()) };
    let Ok(number) = text[..split].parse::<f64>() else {
        let message = format!("found \"{}\", expected {}", short(text), expected.name());
        let number = if expected.unit().is_empty() { "a number" } else { "a number with a unit" };
        return Err(UnitError { message, cure: format!("write {number}, such as {example}") });
    };
    let unit = text[split..].trim();
    if unit.is_empty() {
        return Ok(number);
    }
    if expected == Acceleration && unit == "g" {
        return Ok(number * STANDARD_GRAVITY);
    }
    let (scale, found) = parse_unit(unit)?;
    if found == expected.entry().0 {
        return Ok(number * scale);
    }
    let message = format!("found {} (\"{}\"), expected {}", describe(found), short(text), expected.name());
    let cure = match expected.unit() {
        "" => "leave the unit away".to_owned(),
        si => format!("give it in {si}, such as {example}, or as a plain number in {si}"),
    };
    Err(UnitError { message, cure })
}

/// What numbers with these units are to be multiplied by so that all are in SI; none where they do not measure the same. A number without a
/// unit is one in SI. Beside accelerations `g` is that of the earth; beside plain numbers alone it may be that or a gram, and has no scale.
pub(in crate::io) fn scales(units: &[&str]) -> Option<Vec<f64>> {
    let given = || units.iter().copied().filter(|unit| !unit.is_empty());
    let parsed = given().filter(|unit| *unit != "g").map(|unit| parse_unit(unit).ok()).collect::<Option<Vec<_>>>()?;
    let kind = match parsed.first() {
        Some((_, kind)) => *kind,
        None if units.iter().all(|unit| *unit == "g") => Mass.entry().0,
        None => return None,
    };
    let scale = |unit: &&str| match *unit {
        "" => Some(1.0),
        "g" if kind == Acceleration.entry().0 => Some(STANDARD_GRAVITY),
        unit => parse_unit(unit).ok().filter(|(_, of)| *of == kind).map(|(scale, _)| scale),
    };
    units.iter().map(scale).collect()
}

/// A time in seconds, with or without its unit.
#[cfg(feature = "cli")]
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    parse(text, Time).map_err(|e| format!("{}; {}", e.message, e.cure))
}

/// Bytes of the decimal number that `text` starts with.
pub(in crate::io) fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let end = digits(sign);
    if end > sign && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(signed).is_some_and(u8::is_ascii_digit) {
            return digits(signed);
        }
    }
    end
}

/// Scale and exponents of a unit such as `kg m2/s²`.
fn parse_unit(unit: &str) -> Result<(f64, Exponents), UnitError> {
    let mut scale = 1.0;
    let mut exponents = [0i32; 4];
    let mut inverse = false;
    for token in tokens(unit) {
        if token == "/" {
            inverse = true;
            continue;
        }
        let (name, power) = split_power(&token);
        let Some(&(_, factor, dims)) = UNITS.iter().find(|u| u.0 == name) else {
            let near = UNITS.iter().map(|u| u.0).min_by(|a, b| distance(a, name).total_cmp(&distance(b, name))).unwrap_or("m");
            let message = format!("found the unknown unit \"{}\" in \"{}\"", short(name), short(unit));
            let cure = format!("did you mean \"{near}\"? Known units: m mm cm km kg g t s ms min rad deg rpm Hz N kN Pa kPa MPa J %");
            return Err(UnitError { message, cure });
        };
        let power = power.filter(|p| (-9..=9).contains(p)).ok_or_else(|| UnitError {
            message: format!("found an exponent out of range in \"{}\"", short(unit)),
            cure: "use exponents from -9 to 9, such as m3 or s^-2".to_owned(),
        })?;
        let power = if inverse { -power } else { power };
        inverse = false;
        // 1/10^n by division: "5 ms" is then the f64 nearest to 0.005 as often as the literal
        scale = if power >= 0 { scale * libm::pow(factor, f64::from(power)) } else { scale / libm::pow(factor, f64::from(-power)) };
        for (e, d) in exponents.iter_mut().zip(dims) {
            *e = e.saturating_add(d * power);
        }
    }
    Ok((scale, exponents))
}

fn tokens(unit: &str) -> Vec<String> {
    let spaced = unit.replace('/', " / ").replace(['*', '·'], " ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// `m3`, `m^3`, `m³`, `s-1` → name and exponent; `None` if the exponent is no number.
fn split_power(token: &str) -> (&str, Option<i32>) {
    if token == "1" {
        return (token, Some(1));
    }
    let Some(at) = token.find(|c: char| c.is_ascii_digit() || "^-+²³⁻".contains(c)) else { return (token, Some(1)) };
    let power = token[at..].replace('^', "").replace('²', "2").replace('³', "3").replace('⁻', "-");
    (&token[..at], power.parse().ok())
}

fn distance(known: &str, found: &str) -> f64 {
    // same letters in another case are nearest: "KG", "mpa"
    let same = known.to_lowercase() == found.to_lowercase();
    if same { -1.0 } else { -strsim::jaro_winkler(known, found) }
}

fn describe(exponents: Exponents) -> String {
    if let Some(q) = QUANTITIES.iter().find(|q| q.1 == exponents) {
        return q.2.to_owned();
    }
    let parts = ["m", "kg", "s", "rad"].iter().zip(exponents).filter(|(_, e)| *e != 0);
    let parts: Vec<String> = parts.map(|(n, e)| if e == 1 { (*n).to_owned() } else { format!("{n}{e}") }).collect();
    format!("something in {}", parts.join(" "))
}

/// At most 40 characters of a text that goes into a message, control characters escaped.
pub(super) fn short(text: &str) -> String {
    let mut s: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        s.push('…');
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_convert_to_si() {
        let table = [
            ("2400 kg/m3", Density, 2400.0),
            ("2.4 t/m^3", Density, 2400.0),
            ("2.4 g/cm³", Density, 2400.0),
            ("3 mm", Length, 0.003),
            ("-1e-2m", Length, -0.01),
            ("0.2 MPa", Pressure, 2e5),
            ("5 ms", Time, 0.005),
            ("1.2 t", Mass, 1200.0),
            ("180 deg", Angle, std::f64::consts::PI),
            ("60 rpm", AngularVelocity, std::f64::consts::TAU),
            ("90 deg/s", AngularVelocity, std::f64::consts::FRAC_PI_2),
            ("9.81 m/s²", Acceleration, 9.81),
            ("9.81 m s^-2", Acceleration, 9.81),
            ("0.2 g", Acceleration, 1.961_33),
            ("0.2 g", Mass, 2e-4),
            ("36 km/h", Velocity, 10.0),
            ("3 N s", Impulse, 3.0),
            ("3 N·m", Torque, 3.0),
            ("10 g cm2", Inertia, 1e-6),
            ("2 kN/m", Stiffness, 2000.0),
            ("2 N s/m", Damping, 2.0),
            ("90 N m/rad", TorsionStiffness, 90.0),
            ("50 %", Number, 0.5),
            ("7", Length, 7.0),
        ];
        for (text, quantity, value) in table {
            let found = parse(text, quantity).expect(text);
            assert!((found - value).abs() <= 4.0 * f64::EPSILON * value.abs(), "{text}: {found}");
        }
    }

    #[test]
    fn what_is_no_number_is_told_whether_it_takes_a_unit() {
        let cure = |quantity| parse("a", quantity).expect_err("no number").cure;
        assert_eq!(cure(Number), "write a number, such as 0.5");
        assert_eq!(cure(Length), "write a number with a unit, such as \"0.5 m\"");
    }

    #[test]
    fn a_wrong_dimension_is_named() {
        let e = parse("3 kg", Length).expect_err("a mass is no length");
        assert_eq!(e.message, "found a mass (\"3 kg\"), expected a length");
        assert!(e.cure.contains("\"0.5 m\""));
        assert!(parse("30 deg", Number).is_err());
        assert!(parse("3 N/m2/s", Length).expect_err("").message.contains("something in m-1 kg s-3"));
    }

    #[test]
    fn nonsense_is_an_error_and_never_a_panic() {
        for text in
            ["", "mm", "3 parsec", "3 m^x", "3 m99999999999", "1e", "--3", "1.2.3 m", "3 m)", "é", "3 é²", "∞ m", "3 m⁻", "nan", "inf m"]
        {
            assert!(parse(text, Length).is_err(), "{text}");
        }
        assert!(parse("3 KG", Mass).expect_err("").cure.contains("\"kg\""));
    }
}
