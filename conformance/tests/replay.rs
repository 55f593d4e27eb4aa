//! Replays each case and compares its transcript with the snapshot, which holds for the simulated
//! device and for real ones.
//!
//! `CONFORMANCE_PYTHON` names the interpreter that has the package.  After a wanted change
//! `INSTA_UPDATE=always` writes the snapshots anew.
//!
//! `CONFORMANCE_MAY_LACK` says for want of what a case may be left out: how the reasons begin,
//! separated by commas, such as `a GPU, a second device`.  Empty, it is no reason at all; unset,
//! any reason will do.

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
            let allowed = std::env::var("CONFORMANCE_MAY_LACK").ok();
            assert!(may_lack(allowed.as_deref(), &reason), "left out: {reason}");
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

/// Whether a case that says it `needs` something may be left out.
fn may_lack(allowed: Option<&str>, reason: &str) -> bool {
    let lacking = reason.strip_prefix("needs ").unwrap_or(reason);
    allowed.is_none_or(|list| {
        list.split(',').map(str::trim).any(|one| !one.is_empty() && lacking.starts_with(one))
    })
}

#[rstest]
#[case::anything(None, "needs a GPU", true)]
#[case::nothing(Some(""), "needs a GPU", false)]
#[case::that(Some("a GPU"), "needs a GPU\n", true)]
#[case::another(Some("a GPU"), "needs a second device\n", false)]
#[case::one_of_them(Some("a GPU, numba.cuda"), "needs numba.cuda (No module)\n", true)]
#[case::broken(Some("a GPU"), "needs numba kernels (no compiler)\n", false)]
fn what_may_be_lacking(#[case] allowed: Option<&str>, #[case] reason: &str, #[case] may: bool) {
    assert_eq!(may_lack(allowed, reason), may);
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
