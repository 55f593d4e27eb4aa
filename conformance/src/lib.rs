//! The conformance suite's results: compared with snapshots, kept, and rendered as pages.
//!
//! `python -m pyarrow_cuda_compat conformance --json FILE` replays the cases; no code of this crate
//! does.
//!
//! | file | what |
//! |---|---|
//! | `results.rs` | what that command writes to FILE: the machine, and each case's outcome |
//! | `manifest.rs` | the documented items, from the heads of the cases and from `manifest/*.toml` |
//! | `report.rs` | both together, in Markdown |
//!
//! The tests in `tests/replay.rs` compare each transcript with its snapshot.

pub mod manifest;
pub mod report;
pub mod results;

use std::path::{Path, PathBuf};

/// This crate's folder.  When it was moved after it was compiled, the variable `CONFORMANCE_ROOT`
/// names its new place.
pub fn root() -> PathBuf {
    std::env::var_os("CONFORMANCE_ROOT")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(), PathBuf::from)
}
