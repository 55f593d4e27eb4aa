//! Asks the simulator the questions of `probe/ask.py`, and compares its answers with those that a
//! real driver gave.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// Questions to which the simulator's answer differs, with its answer and the reason.
fn exceptions() -> Vec<(&'static str, Value, &'static str)> {
    let mut all = vec![
        (
            "/close_import_other_device",
            json!({"code": 0, "waits": false, "end": 719}),
            "a driver promises no such wait, and makes none for a kernel",
        ),
        (
            "/destroyed_context",
            json!({
                "push": 709, "set": 709, "free": 1, "dtoh": 1, "attribute": 1, "free_host": 1,
                "peer": 709, "synchronize": 0,
            }),
            "the real driver reads through a freed handle and crashes; a code can be tested for",
        ),
        (
            "/garbage_context",
            json!("died -6"),
            "the real driver crashes by SIGSEGV; the simulator says why and aborts",
        ),
        ("/addresses_and_handles_after_a_reset/stream", json!(true), HANDLES_COME_BACK),
        ("/addresses_and_handles_after_a_reset/event", json!(true), HANDLES_COME_BACK),
    ];
    all.extend(ENDS_WITH_A_WAIT.map(|path| (path, json!(false), WAITS_TOO_EARLY)));
    all
}

const WAITS_TOO_EARLY: &str =
    "the wait does not cover the work, which fails all the same, and no driver promises it";
const ENDS_WITH_A_WAIT: [&str; 6] = [
    "/reset_other_device_kernel/waits",
    "/reset_other_device_copy/waits",
    "/destroy_pinned_other_device_kernel/waits",
    "/destroy_pinned_other_device_copy/waits",
    "/destroy_registered_other_device_kernel/waits",
    "/destroy_registered_other_device_copy/waits",
];

const HANDLES_COME_BACK: &str = "no driver promises that a handle never comes back, so a program that keeps a stale one is to find another object";

#[test]
fn the_simulator_answers_as_hardware_did() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("probe");
    let recording = std::fs::read_to_string(here.join("hardware.json")).expect("the recording");
    let mut wanted: Value = serde_json::from_str(&recording).expect("JSON");
    for (path, answer, reason) in exceptions() {
        let place = wanted.pointer_mut(path).expect("a recorded question");
        assert_ne!(*place, answer, "no exception is needed: {reason}");
        *place = answer;
    }

    let done = Command::new("python3")
        .arg(here.join("ask.py"))
        .arg(library())
        .env("CUDA_SIM_DEVICES", "2")
        .env_remove("CUDA_SIM_MEMORY")
        .env_remove("CUDA_SIM_FAULT")
        // The file imports the one beside it.
        .env_remove("PYTHONSAFEPATH")
        .output()
        .expect("python3 starts");
    let complaint = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{complaint}");
    let answers: Value = serde_json::from_slice(&done.stdout).expect("JSON");

    let mut differences = Vec::new();
    compare("", &wanted, &answers, &mut differences);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Lists where two answers differ, as JSON paths.
fn compare(path: &str, wanted: &Value, answer: &Value, differences: &mut Vec<String>) {
    match (wanted, answer) {
        (Value::Object(left), Value::Object(right)) => {
            let extra = right.keys().filter(|key| !left.contains_key(*key));
            for key in left.keys().chain(extra) {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned();
                let (left, right) = (of(left), of(right));
                let absent = || json!("absent");
                let (left, right) = (left.unwrap_or_else(absent), right.unwrap_or_else(absent));
                compare(&format!("{path}/{key}"), &left, &right, differences);
            }
        }
        _ if wanted == answer => {}
        _ => differences.push(format!("{path}: hardware {wanted}, simulator {answer}")),
    }
}

/// The library that was built with this test; the one in `target/<profile>` may be older.
fn library() -> PathBuf {
    let program = env::current_exe().expect("a path");
    let library = program.with_file_name("libcuda_sim.so");
    assert!(library.exists(), "{} is not built", library.display());
    library
}
