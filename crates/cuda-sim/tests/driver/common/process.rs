//! Tests that run in processes of their own, and may play several roles.

use std::any::type_name;
use std::env;
use std::process::{Command, Output};

/// Which part of the test a process plays, and the name of the test.
const ROLE: &str = "CUDA_SIM_TEST_ROLE";
const NAME: &str = "CUDA_SIM_TEST_NAME";

/// Runs a test's body in a process of its own, with these environment variables, because the
/// driver's state is the process's.  `body` is a closure in the test function.
pub fn in_own_process<F: Fn()>(variables: &[(&str, &str)], body: F) {
    in_process_of::<F>(variables, body);
}

/// Runs the test in which the type `F` is written.
pub fn in_process_of<F>(variables: &[(&str, &str)], body: impl Fn()) {
    if role().is_some() {
        return body();
    }
    let path = type_name::<F>().trim_end_matches("::{{closure}}");
    let (_, name) = path.split_once("::").expect("a path in a crate");
    let mut command = command(name, "main");
    let done = command.envs(variables.iter().copied()).output();
    assert_success(&done.expect("the test program starts"));
}

/// A command that plays another role in this process's test.
pub fn as_role(role: &str) -> Command {
    command(&env::var(NAME).expect("a test's name"), role)
}

/// The role of this process; `None` in the one that the user started.
pub fn role() -> Option<String> {
    env::var(ROLE).ok()
}

pub fn is_role(role: &str) -> bool {
    self::role().as_deref() == Some(role)
}

pub fn assert_success(done: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success(), "{}\n{out}\n{err}", done.status);
    // A name that selects no test would pass.
    assert!(out.contains("1 passed"), "{out}");
}

fn command(name: &str, role: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("a path"));
    command.args([name, "--exact", "--nocapture"]);
    command.env(NAME, name).env(ROLE, role);
    command
}
