//! The value that a program reads from an environment variable, and its report on standard error.

use arrow_cuda_driver::Variable;
use rstest::rstest;
use std::process::{Command, Output};

static THREADS: Variable = Variable::new("PYARROW_CUDA_TEST_THREADS", "a number of threads");

/// Runs `read_twice` below with a value of choice, in a process of its own.
fn run(value: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a test binary"));
    command.args(["--exact", "read_twice", "--nocapture", "--ignored"]);
    command.env_remove("PYARROW_CUDA_TEST_THREADS");
    command.envs(value.map(|value| ("PYARROW_CUDA_TEST_THREADS", value)));
    command.output().expect("the test binary runs")
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn read_twice() {
    let read = || THREADS.read("one thread copies", |text| text.parse::<u32>().ok());
    println!("value: {:?}", THREADS.value());
    println!("read: {:?} {:?}", read(), read());
}

#[rstest]
#[case(None, "value: None\nread: Ok(None) Ok(None)\n", "")]
#[case(Some(""), "value: None\nread: Ok(None) Ok(None)\n", "")]
#[case(Some("3"), "value: Some(\"3\")\nread: Ok(Some(3)) Ok(Some(3))\n", "")]
#[case(
    Some("many"),
    "value: Some(\"many\")\nread: Err(Misuse) Err(Misuse)\n",
    "PYARROW_CUDA_TEST_THREADS must be a number of threads, not 'many'; one thread copies\n"
)]
fn a_wrong_value_is_reported_once(
    #[case] value: Option<&str>,
    #[case] printed: &str,
    #[case] complaint: &str,
) {
    let output = run(value);
    assert!(output.status.success(), "{output:?}");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(out.contains(printed), "{out}");
    assert_eq!(err, complaint);
}
