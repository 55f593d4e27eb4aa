//! [`Layout`]: Layout
//! [`reach`]: reach()
//! [`lower`]: lower()
#![doc = include_str!("../README.md")] // with the links above
#![forbid(unsafe_code)]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

mod join;
mod layout;
mod lower;
mod node;
mod reach;
mod scattered;
mod whole;

pub use join::{Change, Join, JoinError, JoinPiece, Joined, plan_join};
pub use layout::{Content, Layout};
pub use lower::lower;
pub use node::{ArrayNode, ByteRange, Reach, Reached, Reads, Wanted};
pub use reach::reach;
