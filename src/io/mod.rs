//! Files in and out: scenes, meshes.

pub mod mesh;
pub mod scene;
