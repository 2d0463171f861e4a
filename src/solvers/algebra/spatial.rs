//! Rotations, poses and contact frames.
//!
//! ```text
//! x_world = x₀ + R(q) x_body        q⁺ = q ⊗ exp(½ θ)   (θ: rotation vector in the body frame)
//! ```

use glam::{DMat3, DQuat, DVec3};

/// Position of a frame in the world: `x_world = position + rotation · x_body`.
///
/// ```
/// use drystone::algebra::spatial::Pose;
/// use glam::{DQuat, DVec3};
/// let pose = Pose::new(DVec3::Z, DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2));
/// assert!((pose.point(DVec3::X) - DVec3::new(0.0, 1.0, 1.0)).length() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// Origin of the frame in the world (m).
    pub position: DVec3,
    /// Body to world, a unit quaternion.
    pub rotation: DQuat,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The same orientation elsewhere: moved by this (m, world).
    #[must_use]
    pub fn shifted(&self, by: DVec3) -> Self {
        Self { position: self.position + by, rotation: self.rotation }
    }

    /// The world frame itself.
    pub const IDENTITY: Self = Self { position: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// A frame at `position`, turned by `rotation`.
    pub fn new(position: DVec3, rotation: DQuat) -> Self {
        Self { position, rotation }
    }

    /// A frame at `position` whose axes are those of the world.
    pub fn at(position: DVec3) -> Self {
        Self { position, rotation: DQuat::IDENTITY }
    }

    /// World coordinates of a point given in this frame.
    pub fn point(&self, local: DVec3) -> DVec3 {
        self.position + self.rotation * local
    }

    /// Coordinates in this frame of a point given in the world.
    pub fn local_point(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * (world - self.position)
    }

    /// World components of a vector given in this frame.
    pub fn vector(&self, local: DVec3) -> DVec3 {
        self.rotation * local
    }

    /// Components in this frame of a vector given in the world.
    pub fn local_vector(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * world
    }

    /// The pose of a frame that is given relative to this one.
    #[must_use]
    pub fn compose(&self, inner: &Self) -> Self {
        Self { position: self.point(inner.position), rotation: (self.rotation * inner.rotation).normalize() }
    }

    /// `outer` seen from this frame: `self.compose(&self.relative(&outer)) == outer`.
    #[must_use]
    pub fn relative(&self, outer: &Self) -> Self {
        Self { position: self.local_point(outer.position), rotation: (self.rotation.conjugate() * outer.rotation).normalize() }
    }

    /// True when every number is finite.
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite()
    }
}

/// The rotation by `angle` (rad) about the unit vector `axis`.
///
/// ```
/// use drystone::algebra::spatial::axis_angle;
/// use glam::DVec3;
/// let quarter = axis_angle(DVec3::Z, std::f64::consts::FRAC_PI_2);
/// assert!((quarter * DVec3::X - DVec3::Y).length() < 1e-15);
/// ```
pub fn axis_angle(axis: DVec3, angle: f64) -> DQuat {
    let (sin, cos) = libm::sincos(0.5 * angle);
    let v = axis * sin;
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

/// Turns `q` by the rotation vector `theta` (rad, body frame): `q ⊗ exp(½ θ)`, renormalised.
pub fn rotate_exp(q: DQuat, theta: DVec3) -> DQuat {
    let angle = theta.length();
    // sin(x/2)/x, by its series where the quotient would lose digits
    let s = if angle < 1e-4 { 0.5 - angle * angle / 48.0 } else { libm::sin(0.5 * angle) / angle };
    let v = theta * s;
    (q * DQuat::from_xyzw(v.x, v.y, v.z, libm::cos(0.5 * angle))).normalize()
}

/// Turns `q` by the Cayley map of `theta` (rad, body frame): the angle is `2 atan(‖θ‖/2)`.
///
/// With the midpoint rule for `I ω̇ + ω × I ω = m` this update conserves the angular momentum
/// *vector* to rounding; the exponential map would conserve its length only.
pub fn rotate_cayley(q: DQuat, theta: DVec3) -> DQuat {
    let v = 0.5 * theta;
    (q * DQuat::from_xyzw(v.x, v.y, v.z, 1.0)).normalize()
}

/// Two unit tangents that complete the unit vector `n` to a right-handed frame `(n, t1, t2)`.
///
/// Duff et al., *Building an Orthonormal Basis, Revisited*, JCGT 6(1), 2017: no branch on a threshold.
pub fn tangents(n: DVec3) -> (DVec3, DVec3) {
    let sign = 1f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let t1 = DVec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    (t1, n.cross(t1))
}

/// The matrix `[a]×` with `[a]× b = a × b`.
pub fn skew(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}

/// Eigenvalues of a symmetric matrix and the rotation whose columns are its eigenvectors, by Jacobi's method.
///
/// Small rotations first: the axes stay as near to the given ones as they can, and a matrix that is diagonal to rounding keeps them.
pub fn diagonalize(matrix: DMat3) -> (DVec3, DQuat) {
    let mut a = [matrix.x_axis.to_array(), matrix.y_axis.to_array(), matrix.z_axis.to_array()];
    let scale = (0..3).map(|i| a[i][i].abs()).fold(0.0, f64::max);
    let mut v = DMat3::IDENTITY;
    for sweep in 0..30 {
        let off = a[0][1].abs().max(a[0][2].abs()).max(a[1][2].abs());
        // 1e-12 on entry: noise of the integrals must not turn the axes; afterwards to the last digit
        if off <= if sweep == 0 { 1e-12 } else { 1e-17 } * scale {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + libm::hypot(theta, 1.0));
            let c = 1.0 / libm::hypot(t, 1.0);
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            let (row_p, row_q) = (a[p], a[q]);
            for k in 0..3 {
                (a[p][k], a[q][k]) = (c * row_p[k] - s * row_q[k], s * row_p[k] + c * row_q[k]);
            }
            let (col_p, col_q) = (v.col(p), v.col(q));
            *v.col_mut(p) = c * col_p - s * col_q;
            *v.col_mut(q) = s * col_p + c * col_q;
        }
    }
    (DVec3::new(a[0][0], a[1][1], a[2][2]), DQuat::from_mat3(&v).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_complete_a_right_handed_orthonormal_frame() {
        for n in [DVec3::Z, -DVec3::Z, DVec3::X, DVec3::new(0.3, -0.4, -0.866).normalize()] {
            let (t1, t2) = tangents(n);
            let frame = DMat3::from_cols(n, t1, t2);
            assert!((frame.transpose() * frame - DMat3::IDENTITY).to_cols_array().iter().all(|x| x.abs() < 1e-15));
            assert!((frame.determinant() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_exponential_map_turns_by_the_angle_of_its_vector() {
        for angle in [1e-9, 1e-5, 1e-3, 1.0, 3.0] {
            let q = rotate_exp(DQuat::IDENTITY, DVec3::Y * angle);
            let reference = DQuat::from_rotation_y(angle);
            assert!((q.dot(reference).abs() - 1.0).abs() < 1e-15);
            assert!((q.y - reference.y).abs() < 1e-16 + 1e-15 * angle);
        }
    }

    #[test]
    fn relative_undoes_compose() {
        let a = Pose::new(DVec3::new(1.0, 2.0, 3.0), DQuat::from_rotation_x(0.7));
        let b = Pose::new(DVec3::new(-1.0, 0.5, 0.2), DQuat::from_rotation_y(0.3));
        let c = a.relative(&a.compose(&b));
        assert!((c.position - b.position).length() < 1e-15);
        assert!((skew(DVec3::X) * DVec3::Y - DVec3::Z).length() == 0.0);
    }

    #[test]
    fn jacobi_rebuilds_the_matrix() {
        let r = DMat3::from_quat(DQuat::from_rotation_x(0.7) * DQuat::from_rotation_y(1.9));
        let a = r * DMat3::from_diagonal(DVec3::new(1.0, 2.0, 2.5)) * r.transpose();
        let (d, q) = diagonalize(a);
        let v = DMat3::from_quat(q);
        let error = v * DMat3::from_diagonal(d) * v.transpose() - a;
        assert!(error.to_cols_array().iter().all(|x| x.abs() < 1e-14));
    }
}
