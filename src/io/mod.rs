//! Files in and out: scenes, meshes.

pub mod scene;
