//! Streams and events, what their work retains, and the ordering of work when memory passes between
//! libraries.

mod arrival;
mod current_stream;
#[expect(unsafe_code, clippy::disallowed_macros, reason = "owns handles of the driver")]
mod event;
mod fences;
mod handoff;
mod in_flight;
mod queues;
#[expect(unsafe_code, clippy::disallowed_macros, reason = "ends a context of the driver's")]
mod reset;
#[expect(unsafe_code, clippy::disallowed_macros, reason = "owns handles of the driver")]
mod stream;
mod users;
mod waits;

pub use arrival::Arrival;
pub use event::{Event, Retained};
pub(crate) use fences::Fences;
pub use handoff::{Consumer, Pending, Ready};
pub use in_flight::{Completed, completed, wait_for_work_in_flight};
pub use stream::Stream;
pub(crate) use users::await_users_of_lost;
