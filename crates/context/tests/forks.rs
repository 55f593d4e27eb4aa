//! A child that was forked while another thread was at work.

#[path = "../../cuda-sim/tests/driver/common/child.rs"]
mod child;
mod common;

use arrow_cuda_context::Extension;
use arrow_cuda_driver::CudaError;
use child::in_child;
use common::their_context;
use std::sync::mpsc::channel;
use std::thread;

/// Something that takes long to make.
struct Slow;

impl Extension for Slow {}

#[test]
fn a_child_hears_of_the_fork_while_its_parent_adds_to_a_context() {
    let (context, _) = their_context();
    let (is_adding, added) = (channel(), channel::<()>());
    thread::scope(|scope| {
        let (context, say, wait) = (&context, is_adding.0, added.1);
        scope.spawn(move || {
            let make = || {
                say.send(()).expect("a listener");
                wait.recv().expect("a sender");
                Ok::<_, CudaError>(Slow)
            };
            context.extension_or(make).map(drop).expect("made");
        });
        is_adding.1.recv().expect("a sender");
        let code = in_child(|| match context.bytes_allocated() {
            Err(error) => error.code().unwrap_or(99),
            Ok(_) => 98,
        });
        added.0.send(()).expect("a listener");
        assert_eq!(code, 3, "CUDA_ERROR_NOT_INITIALIZED");
    });
}
