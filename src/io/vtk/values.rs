//! Arrays as bytes, little endian: what both kinds of files hold.

use super::arrays::Precision;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    U8,
    U32,
    I32,
    I64,
    F32,
    F64,
}

impl Kind {
    /// As VTK names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::U8 => "UInt8",
            Self::U32 => "UInt32",
            Self::I32 => "Int32",
            Self::I64 => "Int64",
            Self::F32 => "Float32",
            Self::F64 => "Float64",
        }
    }

    /// Bytes of one.
    pub(super) fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }
}

/// Numbers of points or cells.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub(super) name: &'static str,
    /// Empty where it has none.
    pub(super) unit: &'static str,
    pub(super) kind: Kind,
    /// Numbers for each point or cell.
    pub(super) components: usize,
    pub(super) bytes: Vec<u8>,
}

/// Name and unit.
type Named = (&'static str, &'static str);

impl Values {
    fn new<const N: usize>((name, unit): Named, kind: Kind, components: usize, values: impl Iterator<Item = [u8; N]>) -> Self {
        let mut bytes = Vec::with_capacity(N * values.size_hint().0);
        values.for_each(|value| bytes.extend_from_slice(&value));
        Self { name, unit, kind, components, bytes }
    }

    /// Numbers of bodies, materials.
    pub(super) fn numbers(name: &'static str, values: impl Iterator<Item = u32>) -> Self {
        Self::new((name, ""), Kind::U32, 1, values.map(u32::to_le_bytes))
    }

    /// Three whole numbers each.
    pub(super) fn triples(name: &'static str, values: impl Iterator<Item = [i32; 3]>) -> Self {
        Self::new((name, ""), Kind::I32, 3, values.flatten().map(i32::to_le_bytes))
    }

    /// Small numbers.
    pub(super) fn small(name: &'static str, values: impl Iterator<Item = u8>) -> Self {
        Self::new((name, ""), Kind::U8, 1, values.map(|x| [x]))
    }

    /// Whole numbers of 64 bits.
    pub(super) fn whole(name: &'static str, values: &[i64]) -> Self {
        Self::new((name, ""), Kind::I64, 1, values.iter().map(|x| x.to_le_bytes()))
    }

    /// Whole numbers in 32 bits as long as these do.
    pub(super) fn short(name: &'static str, values: &[i64]) -> Self {
        match values.iter().all(|&x| i32::try_from(x).is_ok()) {
            true => Self::new((name, ""), Kind::I32, 1, values.iter().map(|x| (*x as i32).to_le_bytes())),
            false => Self::whole(name, values),
        }
    }

    /// A number for each point or cell.
    pub(super) fn scalars(named: Named, precision: Precision, values: impl Iterator<Item = f64>) -> Self {
        match precision {
            Precision::Single => Self::new(named, Kind::F32, 1, values.map(|x| (x as f32).to_le_bytes())),
            Precision::Double => Self::new(named, Kind::F64, 1, values.map(f64::to_le_bytes)),
        }
    }

    /// A vector for each point or cell.
    pub(super) fn vectors(named: Named, precision: Precision, values: impl Iterator<Item = DVec3>) -> Self {
        Self { components: 3, ..Self::scalars(named, precision, values.flat_map(|v| v.to_array())) }
    }

    /// A rotation for each point, w first.
    pub(super) fn rotations(named: Named, precision: Precision, values: impl Iterator<Item = DQuat>) -> Self {
        Self { components: 4, ..Self::scalars(named, precision, values.flat_map(|q| [q.w, q.x, q.y, q.z])) }
    }

    /// Points or cells.
    pub(super) fn rows(&self) -> usize {
        self.bytes.len() / (self.kind.size() * self.components)
    }
}
