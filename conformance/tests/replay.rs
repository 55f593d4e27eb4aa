//! Compares the transcript of each case with its snapshot, which holds for the simulated device
//! and for GPUs.
//!
//! `CONFORMANCE_RESULTS` names the results of `python -m pyarrow_cuda_compat conformance --json`,
//! by a path from the repository's root.  After a wanted change `INSTA_UPDATE=always` writes the
//! snapshots anew.
//!
//! `CONFORMANCE_MAY_LACK` lists for which reasons a case may have been skipped: how they begin,
//! separated by commas, such as `a GPU, a second device`.  When it is empty, no case may be; when
//! it is unset, any reason will do.

use conformance::results::{Outcome, Results};
use conformance::root;
use rstest::rstest;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static RESULTS: LazyLock<Result<Results, String>> = LazyLock::new(|| {
    let file = env::var_os("CONFORMANCE_RESULTS").ok_or(
        "CONFORMANCE_RESULTS must name what \
         `python -m pyarrow_cuda_compat conformance --json FILE` has written",
    )?;
    Results::read(&root().join("..").join(file)).map_err(|error| error.to_string())
});

#[rstest]
fn replay(
    #[base_dir = "cases"]
    #[files("*/*.py")]
    path: PathBuf,
) {
    // The place where it was compiled; on another machine the suite is elsewhere.
    let compiled = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
    let name = name(path.strip_prefix(compiled).expect("it lies below `cases`"));
    let outcome = outcome(&name);
    let Some(transcript) = &outcome.transcript else {
        check_reason(outcome);
        return;
    };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(snapshot(&name), transcript));
}

/// The package has compared what its docstring examples give; a run of some cases may lack them.
#[test]
fn docstring_examples() {
    for outcome in &results().examples {
        match outcome.status.as_str() {
            "skipped" => check_reason(outcome),
            status => assert_eq!(status, "passed", "{}: {}", outcome.name, outcome.detail),
        }
    }
}

fn results() -> &'static Results {
    RESULTS.as_ref().unwrap_or_else(|error| panic!("{error}"))
}

/// The outcome of the case of that name.
fn outcome(name: &str) -> &'static Outcome {
    let outcome = results().cases.iter().find(|outcome| outcome.name == name);
    outcome.unwrap_or_else(|| panic!("the results lack {name}"))
}

/// The name of a script by its path in `cases/`: `cuda_buffer/slice`.
fn name(script: &Path) -> String {
    script.with_extension("").to_str().expect("ASCII").to_owned()
}

/// The name of a case's snapshot, without the suffix.
fn snapshot(name: &str) -> String {
    name.replace('/', "__")
}

/// Fails if a case was skipped that may not be.
fn check_reason(skipped: &Outcome) {
    let allowed = env::var("CONFORMANCE_MAY_LACK").ok();
    let reason = &skipped.detail;
    assert!(may_lack(allowed.as_deref(), reason), "{} skipped: {reason}", skipped.name);
}

/// Whether a case may be skipped for this reason.
fn may_lack(allowed: Option<&str>, reason: &str) -> bool {
    let lacking = reason.strip_prefix("needs ").unwrap_or(reason);
    allowed.is_none_or(|list| {
        list.split(',').map(str::trim).any(|one| !one.is_empty() && lacking.starts_with(one))
    })
}

#[rstest]
#[case::anything(None, "needs a GPU", true)]
#[case::nothing(Some(""), "needs a GPU", false)]
#[case::that(Some("a GPU"), "needs a GPU", true)]
#[case::another(Some("a GPU"), "needs a second device", false)]
#[case::one_of_them(Some("a GPU, numba.cuda"), "needs numba.cuda (No module)", true)]
#[case::broken(Some("a GPU"), "needs numba kernels (no compiler)", false)]
fn what_may_be_lacking(#[case] allowed: Option<&str>, #[case] reason: &str, #[case] may: bool) {
    assert_eq!(may_lack(allowed, reason), may);
}

#[test]
fn each_snapshot_belongs_to_a_case() {
    let cases = root().join("cases");
    let scripts = files(&cases).into_iter().flat_map(|area| files(&area));
    let scripts = scripts.filter(|path| path.extension().is_some_and(|suffix| suffix == "py"));
    let wanted: BTreeSet<_> = scripts
        .map(|path| name(path.strip_prefix(&cases).expect("it lies there")))
        .map(|name| root().join("snapshots").join(format!("{}.snap", snapshot(&name))))
        .collect();
    assert_eq!(files(&root().join("snapshots")), wanted);
}

/// The entries of a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    entries.map(|entry| entry.expect("it can be listed").path()).collect()
}
