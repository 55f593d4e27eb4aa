//! The conformance suite: replays every documented example of `pyarrow.cuda`, and tells which
//! are covered.
//!
//! | file | what |
//! |---|---|
//! | `case.rs` | the scripts in `cases/`, and their replay in a Python of their own |
//! | `manifest.rs` | `manifest/*.toml`: what is documented, and which case shows it |
//! | `results.rs` | what a run of the cases gave, and on which machine |
//! | `report.rs` | both together, in Markdown |
//!
//! The tests in `tests/replay.rs` compare each transcript with its snapshot.

pub mod case;
pub mod manifest;
pub mod report;
pub mod results;

use std::path::{Path, PathBuf};

/// This crate's folder; the variable `CONFORMANCE_ROOT` names another place to which it was
/// moved after it was compiled.
pub fn root() -> PathBuf {
    std::env::var_os("CONFORMANCE_ROOT")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(), PathBuf::from)
}
