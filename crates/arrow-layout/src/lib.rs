#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(
    not(test),
    deny(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used,
    )
)]

mod join;
mod layout;
mod reach;

pub use join::{Change, Join, JoinError, JoinPiece, Joined, join};
pub use layout::{Content, Layout};
pub use reach::{ArrayNode, ByteRange, Reach, Reached, Reads, Wanted, lower, reach};
