//! The limits of staged copies, for the whole process.

use super::plan::{MAX_THREADS, TransferLimits};
use super::pools;
use super::stager;
use arrow_cuda_driver::Variable;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Atomic numbers instead of a lock, which another thread might hold during a fork.
#[derive(Default)]
struct Limits {
    threads: AtomicUsize,
    pinned_bytes: AtomicUsize,
    begin_after: AtomicUsize,
}

fn limits() -> &'static Limits {
    static LIMITS: OnceLock<Limits> = OnceLock::new();
    LIMITS.get_or_init(|| {
        let limits = Limits::default();
        limits.store(from_environment());
        limits
    })
}

impl Limits {
    fn store(&self, new: TransferLimits) {
        self.threads.store(new.threads.min(MAX_THREADS), Ordering::Relaxed);
        self.pinned_bytes.store(new.pinned_bytes, Ordering::Relaxed);
        self.begin_after.store(new.begin_after, Ordering::Relaxed);
    }
}

/// The resources that copies of pageable host memory may use.
///
/// The default is set by the environment, else by the machine.  `PYARROW_CUDA_COPY_THREADS` is a
/// number of threads, and `PYARROW_CUDA_COPY_PINNED` a number of bytes.
pub fn transfer_limits() -> TransferLimits {
    let limits = limits();
    TransferLimits {
        threads: limits.threads.load(Ordering::Relaxed),
        pinned_bytes: limits.pinned_bytes.load(Ordering::Relaxed),
        begin_after: limits.begin_after.load(Ordering::Relaxed),
    }
}

/// Sets the resources that copies may use from now on.  If that is no threads or no memory,
/// existing ones are released, once the copies that use them are complete.  The driver waits for the
/// device's other work before it releases pinned memory.
///
/// Stagers then look again at the processors that the process may use.  Copies do not, because that reads files.
///
/// ```
/// use arrow_cuda_transfer::{TransferLimits, set_transfer_limits, transfer_limits};
///
/// set_transfer_limits(TransferLimits { pinned_bytes: 64 << 20, ..TransferLimits::with_threads(4) });
/// assert_eq!(transfer_limits().threads, 4);
/// ```
pub fn set_transfer_limits(new: TransferLimits) {
    limits().store(new);
    pools::forget();
    if !transfer_limits().allow_staging() {
        stager::release_all();
    }
}

fn from_environment() -> TransferLimits {
    static THREADS: Variable =
        Variable::new("PYARROW_CUDA_COPY_THREADS", "a number of threads, such as 8 or 0");
    static PINNED: Variable =
        Variable::new("PYARROW_CUDA_COPY_PINNED", "a number of bytes, such as 33554432");
    let threads = THREADS.read("the machine's cores decide", |text| text.parse().ok());
    let pinned = PINNED.read("the number of threads decides", |text| text.parse().ok());
    let threads = threads.unwrap_or_default();
    let limits = threads.map_or_else(TransferLimits::of_this_machine, TransferLimits::with_threads);
    let pinned_bytes = pinned.unwrap_or_default().unwrap_or(limits.pinned_bytes);
    TransferLimits { pinned_bytes, ..limits }
}
