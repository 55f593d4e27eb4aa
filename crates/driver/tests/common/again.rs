//! This test program again, where a test needs a process of its own.

use std::process::Command;

/// Runs one of its ignored tests.
pub fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test binary"));
    command.args([test, "--exact", "--nocapture", "--ignored"]);
    command
}

/// The text that it prints.
#[allow(dead_code, reason = "for some of the test files")]
pub fn printed(command: &mut Command) -> String {
    let output = command.output().expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}
