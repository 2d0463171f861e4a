//! Hash of the state.
