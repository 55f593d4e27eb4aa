//! Worker threads copy pageable memory to and from pinned slots, while the device copies other slots.
//!
//! A copy is a *job*, divided into *pieces*.  Its *lane* is pinned memory, divided into *slots*, one for each piece.
//! The *issuer* is the thread that asked for the copy: it has the device *move* slots, that is, copy them.  Workers
//! *help*: they copy pieces between host memory and slots.  The issuer helps when it has time.

mod admission;
#[expect(unsafe_code, reason = "calls the system")]
mod affinity;
#[expect(unsafe_code, reason = "has the device copy")]
mod double_buffers;
mod helpers;
mod home;
#[expect(unsafe_code, reason = "hands memory to other threads")]
mod host;
#[expect(unsafe_code, reason = "has the device copy")]
mod issuer;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod job;
mod lanes;
mod machine;
mod mailbox;
mod plan;
mod pools;
#[expect(unsafe_code, reason = "hands memory to other threads")]
mod run;
mod settings;
mod stager;
mod sync;
mod throttle;
mod turns;
mod workers;

#[cfg(all(test, loom))]
#[expect(unsafe_code, reason = "loom checks accesses to memory")]
mod models;

pub(crate) use double_buffers::{Piece, Stretch, copy_stretches};
pub(crate) use host::HostMemory;
pub(crate) use plan::Task;
pub use plan::{MAX_THREADS, TransferLimits};
pub(crate) use run::run;
pub use settings::{set_transfer_limits, transfer_limits};
