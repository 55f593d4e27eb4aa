//! The error for a library that cannot be loaded, with what to do about it.

use super::choice::{Choice, REAL, VARIABLE};
use super::{DRIVER_VARIABLE, simulator};
use std::error::Error;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Why the CUDA driver library could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the CUDA driver library '{library}' could not be loaded ({reason}); {advice}")]
#[non_exhaustive]
pub struct LoadError {
    /// The name or path that the dynamic linker was asked for.
    pub library: String,
    /// The fault, in the dynamic linker's own words if it has refused the library.
    pub reason: String,
    /// The way out.
    pub advice: String,
}

impl LoadError {
    /// The dynamic linker has refused the library, for this reason.
    pub(super) fn refused(choice: &Choice, library: &Path, reason: String) -> Self {
        let advice = Fault::of(library, &reason).advice(choice);
        Self { library: library.display().to_string(), reason, advice }
    }

    pub(super) fn not_a_driver(choice: &Choice, library: &Path) -> Self {
        let reason = "it has no function 'cuInit', so it is not a CUDA driver".to_owned();
        let advice = Fault::NotADriver.advice(choice);
        Self { library: library.display().to_string(), reason, advice }
    }
}

/// The dynamic linker's message about a library that it has refused.
///
/// `libloading`'s own text leaves that out: it stands in the error's source.
///
/// ```
/// use arrow_cuda_driver::linker_message;
///
/// // SAFETY: no library of this name exists, so nothing is run.
/// let refused = unsafe { libloading::Library::new("libabsent.so") }.unwrap_err();
/// assert!(linker_message(&refused).starts_with("libabsent.so: "));
/// ```
pub fn linker_message(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Missing,
    NotALibrary,
    /// The linker's words tell: the library may not be read, was built for another machine, or
    /// needs something that is not there.
    Unusable,
    NotADriver,
}

impl Fault {
    /// The fault of a library that the dynamic linker has refused, for this reason.
    fn of(library: &Path, reason: &str) -> Self {
        let is_path = library.as_os_str().as_encoded_bytes().contains(&b'/');
        if !is_path {
            // The linker has searched its folders, and names the file that it has not found: this
            // library, or one that this library needs.
            let missing = format!("{}: cannot open shared object file", library.display());
            return if reason.starts_with(&missing) { Self::Missing } else { Self::Unusable };
        }
        let mut magic = [0; 4];
        match File::open(library).and_then(|mut file| file.read_exact(&mut magic)) {
            Ok(()) if magic == *b"\x7fELF" => Self::Unusable,
            Err(error) if error.kind() == ErrorKind::NotFound => Self::Missing,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Self::Unusable,
            _ => Self::NotALibrary,
        }
    }

    /// The way out for a user who has made this choice.
    fn advice(self, choice: &Choice) -> String {
        let use_simulator = format!("set {DRIVER_VARIABLE}=sim for the simulated device");
        match (choice, self) {
            (Choice::Real, Self::Missing) => format!(
                "on a machine with an NVIDIA GPU install its driver, elsewhere {use_simulator}"
            ),
            (Choice::Real, _) => {
                format!("reinstall the NVIDIA driver, or without a GPU {use_simulator}")
            }
            (Choice::Simulator, Self::Missing) => {
                let searched = simulator::own_folder().map_or_else(String::new, |folder| {
                    format!(
                        ", which is not in '{}' nor in its folders lib and deps",
                        folder.display()
                    )
                });
                format!(
                    "{DRIVER_VARIABLE}=sim needs the simulator{searched}: copy {} there, from \
                     target/debug/deps of the build with the feature 'simulator' of \
                     arrow-cuda-driver, or name its path by {DRIVER_VARIABLE}; with Python \
                     reinstall pyarrow-cuda-compat, whose wheel carries it",
                    simulator::NAME
                )
            }
            (Choice::Simulator, _) => {
                "reinstall pyarrow-cuda-compat, or in Rust build the simulator again".to_owned()
            }
            (Choice::Library(value), fault) => {
                format!("{}; {use_simulator}, or unset it for {REAL}", fault.of_variable(value))
            }
        }
    }

    /// The fault of the variable's value.
    fn of_variable(self, value: &OsStr) -> String {
        match self {
            Self::Missing | Self::NotADriver => VARIABLE.misuse(value),
            Self::NotALibrary => format!("{DRIVER_VARIABLE} names a file that is not a library"),
            Self::Unusable => {
                format!("{DRIVER_VARIABLE} names a library that this process cannot load")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const NOT_FOUND: &str = "cannot open shared object file: No such file or directory";

    #[rstest]
    #[case(Choice::Real, "libcuda.so.1", NOT_FOUND, "on a machine with an NVIDIA GPU install its")]
    #[case(Choice::Real, "libcuda.so.1", "undefined symbol: f", "reinstall the NVIDIA driver, or")]
    #[case(Choice::Simulator, "libcuda_sim.so", NOT_FOUND, "PYARROW_CUDA_DRIVER=sim needs the sim")]
    #[case(Choice::Simulator, "/proc/self/exe", "undefined symbol: f", "reinstall pyarrow-cuda-co")]
    #[case(Choice::Library("/tmp".into()), "/tmp", "is a directory", "PYARROW_CUDA_DRIVER names a f")]
    fn each_fault_has_its_advice(
        #[case] choice: Choice,
        #[case] library: &str,
        #[case] words: &str,
        #[case] advice: &str,
    ) {
        let error = LoadError::refused(&choice, library.as_ref(), format!("{library}: {words}"));
        assert!(error.advice.starts_with(advice), "{error}");
    }

    #[test]
    fn a_library_that_lacks_another_is_not_missing_itself() {
        let words = "libnvidia-sandbox.so.1: cannot open shared object file: No such file";
        assert_eq!(Fault::of("libcuda.so.1".as_ref(), words), Fault::Unusable);
    }
}
