//! The conformance suite's results: kept, and rendered as pages.
//!
//! `python -m pyarrow_cuda_compat conformance --json FILE` replays the cases and compares them; no
//! code of this crate does.
//!
//! | file | what |
//! |---|---|
//! | `results.rs` | what that command writes to FILE: the machine, and each case's outcome |
//! | `manifest.rs` | the documented items, from the heads of the cases and from `manifest/*.toml` |
//! | `report.rs` | both together, in Markdown |

pub mod manifest;
pub mod report;
pub mod results;

use std::path::Path;

/// This crate's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
