//! Environment variables, and reports of values that cannot be used.

use std::env;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicBool, Ordering};

/// An environment variable that changes how the process works.
///
/// With [`read`](Self::read), a value that cannot be used does not stop a program.  One line on standard error
/// names the variable, what it accepts, the value, and what is used instead:
///
/// ```text
/// PYARROW_CUDA_CACHE must be a number of bytes or 'off', not 'lots'; nothing is cached
/// ```
///
/// Each variable is one static, so that a bad value is reported once, however often it is read:
///
/// ```
/// use arrow_cuda_driver::Variable;
///
/// static THREADS: Variable = Variable::new("MY_COPY_THREADS", "a number of threads");
///
/// let threads = THREADS.read("one thread copies", |text| text.parse::<u32>().ok());
/// assert_eq!(threads, Ok(None)); // it is not set
/// ```
#[derive(Debug)]
pub struct Variable {
    name: &'static str,
    accepted: &'static str,
    has_complained: AtomicBool,
}

/// A variable has a value that cannot be used, which was reported on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a variable of the environment has a value that cannot be used")]
pub struct Misuse;

impl Variable {
    /// The variable `name`; `accepted` says which values it takes, such as "a number of threads".
    pub const fn new(name: &'static str, accepted: &'static str) -> Self {
        Self { name, accepted, has_complained: AtomicBool::new(false) }
    }

    /// The variable's value as it stands in the environment; none when it is unset or empty.
    pub fn value(&self) -> Option<OsString> {
        env::var_os(self.name).filter(|value| !value.is_empty())
    }

    /// The variable's value as `parse` understands it, which gets it without surrounding spaces;
    /// `None` when it is unset or blank.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for a value that `parse` refuses.  The first one is reported on standard error,
    /// where `instead` says what the caller does without the value, such as "one thread copies".
    pub fn read<T>(
        &self,
        instead: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Misuse> {
        let Some(value) = self.value() else { return Ok(None) };
        let text = value.to_str().map(str::trim);
        if text == Some("") {
            return Ok(None);
        }
        text.and_then(parse).map(Some).ok_or_else(|| {
            if !self.has_complained.swap(true, Ordering::Relaxed) {
                eprintln!("{}; {instead}", self.misuse(&value));
            }
            Misuse
        })
    }

    /// Says that `value` cannot be used: "NAME must be ..., not 'value'".
    pub fn misuse(&self, value: &OsStr) -> String {
        format!("{} must be {}, not '{}'", self.name, self.accepted, value.display())
    }
}
