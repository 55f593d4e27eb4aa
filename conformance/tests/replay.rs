//! Replays each case and compares its transcript with the snapshot, which holds for the simulated
//! device and for real ones.
//!
//! `CONFORMANCE_PYTHON` names the interpreter that has the package.  After a wanted change
//! `INSTA_UPDATE=always` writes the snapshots anew.

use conformance::case::{Case, Replay};
use conformance::root;
use rstest::rstest;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[rstest]
fn replay(
    #[base_dir = "cases"]
    #[files("*/*.py")]
    path: PathBuf,
) {
    // Where it lay when this was compiled is not where it lies now, on another machine.
    let compiled = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
    let script = path.strip_prefix(compiled).expect("it lies below `cases`");
    let case = Case::read(&root().join("cases").join(script)).expect("the case can be read");
    let transcript = match case.replay().expect("there is a Python with the package") {
        Replay::Played(transcript) => transcript,
        Replay::Skipped(reason) => {
            eprintln!("left out: {reason}");
            return;
        }
    };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(case.snapshot(), transcript));
}

#[test]
fn each_snapshot_belongs_to_a_case() {
    let cases = Case::all().expect("the cases can be read");
    let wanted: BTreeSet<_> =
        cases.iter().map(|case| format!("{}.snap", case.snapshot())).collect();
    let found: BTreeSet<_> = std::fs::read_dir(root().join("snapshots"))
        .expect("there are snapshots")
        .map(|entry| entry.expect("it can be listed").file_name().into_string().expect("ASCII"))
        .collect();
    assert_eq!(found, wanted);
}
