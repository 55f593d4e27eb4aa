//! The driver library that `PYARROW_CUDA_DRIVER` chooses.

use super::simulator;
use crate::environment::Variable;
use std::ffi::OsString;
use std::path::PathBuf;

/// The environment variable that chooses the driver: unset for the real one, `sim` for the
/// simulator, or a library's path.
pub const DRIVER_VARIABLE: &str = "PYARROW_CUDA_DRIVER";

pub(super) static VARIABLE: Variable = Variable::new(
    DRIVER_VARIABLE,
    "'sim' for the simulated device, or the name or path of a CUDA driver library",
);

pub(super) const REAL: &str = "libcuda.so.1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Nothing is set: the real driver.
    Real,
    Simulator,
    Library(OsString),
}

impl Choice {
    pub(super) fn from_environment() -> Self {
        match VARIABLE.value() {
            None => Self::Real,
            Some(value) if value == "sim" => Self::Simulator,
            Some(value) => Self::Library(value),
        }
    }

    /// The name that the dynamic linker gets.
    pub(super) fn library(&self) -> PathBuf {
        match self {
            Self::Real => REAL.into(),
            Self::Simulator => simulator::path(),
            Self::Library(library) => library.into(),
        }
    }
}
