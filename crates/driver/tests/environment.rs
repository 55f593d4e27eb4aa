//! The value that a program reads from an environment variable, and its report on standard error.

#[path = "common/again.rs"]
mod again;

use again::again;
use arrow_cuda_driver::Variable;
use rstest::rstest;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

static THREADS: Variable = Variable::new("PYARROW_CUDA_TEST_THREADS", "a number of threads");

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn read_twice() {
    let read = || THREADS.read("one thread copies", |text| text.parse::<u32>().ok());
    println!("value: {:?}", THREADS.value());
    println!("read: {:?} {:?}", read(), read());
}

#[rstest]
#[case(None, "value: None\nread: Ok(None) Ok(None)\n", "")]
#[case(Some(b"".as_slice()), "value: None\nread: Ok(None) Ok(None)\n", "")]
#[case(Some(b" ".as_slice()), "value: Some(\" \")\nread: Ok(None) Ok(None)\n", "")]
#[case(Some(b" 3 ".as_slice()), "value: Some(\" 3 \")\nread: Ok(Some(3)) Ok(Some(3))\n", "")]
#[case(
    Some(b"\xff".as_slice()),
    "value: Some(\"\\xFF\")\nread: Err(Misuse) Err(Misuse)\n",
    "PYARROW_CUDA_TEST_THREADS must be a number of threads, not '\u{fffd}'; one thread copies\n"
)]
#[case(
    Some(b"many".as_slice()),
    "value: Some(\"many\")\nread: Err(Misuse) Err(Misuse)\n",
    "PYARROW_CUDA_TEST_THREADS must be a number of threads, not 'many'; one thread copies\n"
)]
fn a_wrong_value_is_reported_once(
    #[case] value: Option<&[u8]>,
    #[case] printed: &str,
    #[case] complaint: &str,
) {
    let mut command = again("read_twice");
    command.env_remove("PYARROW_CUDA_TEST_THREADS");
    command.envs(value.map(|value| ("PYARROW_CUDA_TEST_THREADS", OsStr::from_bytes(value))));
    let output = command.output().expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(out.contains(printed), "{out}");
    assert_eq!(err, complaint);
}
