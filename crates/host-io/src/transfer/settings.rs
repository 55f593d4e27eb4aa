//! What copies may use, for the whole process.

use super::plan::{MOST_THREADS, TransferLimits};
use std::env;
use std::sync::{OnceLock, RwLock};

static LIMITS: OnceLock<RwLock<TransferLimits>> = OnceLock::new();

fn limits() -> &'static RwLock<TransferLimits> {
    LIMITS.get_or_init(|| RwLock::new(from_environment(|name| env::var(name).ok())))
}

/// What copies of ordinary host memory may use.
///
/// Before anybody has set it: what the environment says, else what suits the machine.
/// `PYARROW_CUDA_COPY_THREADS` is a number of threads, and `PYARROW_CUDA_COPY_PINNED` a number of
/// bytes.
pub fn transfer_limits() -> TransferLimits {
    *limits().read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Sets what copies may use from now on.
pub fn set_transfer_limits(new: TransferLimits) {
    let new = TransferLimits { threads: new.threads.min(MOST_THREADS), ..new };
    *limits().write().unwrap_or_else(std::sync::PoisonError::into_inner) = new;
}

fn from_environment(variable: impl Fn(&str) -> Option<String>) -> TransferLimits {
    let threads = variable("PYARROW_CUDA_COPY_THREADS").unwrap_or_default();
    let mut limits = match threads.trim().parse() {
        Ok(threads) => TransferLimits::with_threads(threads),
        Err(_) => TransferLimits::of_this_machine(),
    };
    let pinned = variable("PYARROW_CUDA_COPY_PINNED").unwrap_or_default();
    if let Ok(bytes) = pinned.trim().parse() {
        limits.pinned_bytes = bytes;
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_heard() {
        let read = |threads: &str, bytes: &str| {
            from_environment(|name| match name {
                "PYARROW_CUDA_COPY_THREADS" => Some(threads.to_owned()),
                "PYARROW_CUDA_COPY_PINNED" => Some(bytes.to_owned()),
                _ => None,
            })
        };
        assert_eq!(read("3", "9"), TransferLimits { threads: 3, pinned_bytes: 9, begin_after: 0 });
        assert_eq!(read("0", "").threads, 0);
        assert_eq!(read("many", "-1"), TransferLimits::of_this_machine());
        assert_eq!(read("auto", ""), TransferLimits::of_this_machine());
        assert_eq!(read("2", "x").pinned_bytes, TransferLimits::with_threads(2).pinned_bytes);
    }
}
