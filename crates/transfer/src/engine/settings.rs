//! What copies may use, for the whole process.

use super::device_engine;
use super::plan::{MOST_THREADS, TransferLimits};
use std::env;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As numbers, without a lock: a forked child may ask while another thread of its parent sets them.
struct Limits {
    threads: AtomicUsize,
    pinned_bytes: AtomicUsize,
    begin_after: AtomicUsize,
}

fn limits() -> &'static Limits {
    static LIMITS: OnceLock<Limits> = OnceLock::new();
    LIMITS.get_or_init(|| {
        let of_the_environment = from_environment(|name| env::var(name).ok());
        let limits = Limits {
            threads: AtomicUsize::default(),
            pinned_bytes: AtomicUsize::default(),
            begin_after: AtomicUsize::default(),
        };
        limits.store(of_the_environment);
        limits
    })
}

impl Limits {
    fn store(&self, new: TransferLimits) {
        self.threads.store(new.threads.min(MOST_THREADS), Ordering::Relaxed);
        self.pinned_bytes.store(new.pinned_bytes, Ordering::Relaxed);
        self.begin_after.store(new.begin_after, Ordering::Relaxed);
    }
}

/// What copies of ordinary host memory may use.
///
/// Before anybody has set it: what the environment says, else what suits the machine.
/// `PYARROW_CUDA_COPY_THREADS` is a number of threads, and `PYARROW_CUDA_COPY_PINNED` a number of
/// bytes.
pub fn transfer_limits() -> TransferLimits {
    let limits = limits();
    TransferLimits {
        threads: limits.threads.load(Ordering::Relaxed),
        pinned_bytes: limits.pinned_bytes.load(Ordering::Relaxed),
        begin_after: limits.begin_after.load(Ordering::Relaxed),
    }
}

/// Sets what copies may use from now on.  Where that is no threads or no memory, those that there are
/// go, once the copies are made that use them.
pub fn set_transfer_limits(new: TransferLimits) {
    limits().store(new);
    if transfer_limits().ring().is_none() {
        device_engine::release_all();
    }
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
        let three = TransferLimits { pinned_bytes: 9, ..TransferLimits::with_threads(3) };
        assert_eq!(read("3", "9"), three);
        assert_eq!(read("0", "").threads, 0);
        assert_eq!(read("many", "-1"), TransferLimits::of_this_machine());
        assert_eq!(read("auto", ""), TransferLimits::of_this_machine());
        assert_eq!(read("2", "x").pinned_bytes, TransferLimits::with_threads(2).pinned_bytes);
    }
}
