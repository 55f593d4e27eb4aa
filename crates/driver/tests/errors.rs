//! The texts of errors: function, number, name and text as the driver gives them.

#![allow(clippy::disallowed_macros, reason = "tests the macro and what is below it")]

use arrow_cuda_driver::{AllocatorError, CallError, CudaError, DeviceMemory, call};
use rstest::rstest;
use std::sync::Arc;

#[rstest]
#[case("cuMemAlloc_v2", 2, "[CUDA_ERROR_OUT_OF_MEMORY] out of memory")]
#[case("cuIpcOpenMemHandle_v2", 201, "[CUDA_ERROR_INVALID_CONTEXT] invalid device context")]
#[case("cuInit", 34, "[CUDA_ERROR_STUB_LIBRARY] CUDA driver is a stub library")]
#[case("cuCtxSynchronize", 12345, "unknown error")]
fn the_text_is_arrows(#[case] function: &'static str, #[case] code: i32, #[case] text: &str) {
    let name = function.trim_end_matches("_v2");
    let error = CudaError::of_call(function, code);
    assert_eq!(error.to_string(), format!("Cuda error {code} in function '{name}': {text}"));
    assert_eq!(error.code(), Some(code));
}

#[test]
fn the_macro_blames_the_function_that_failed() {
    // SAFETY: null is not freed, and no context is current to do more.
    let failed = unsafe {
        call!(cuInit(0)).expect("a driver");
        call!(cuCtxSynchronize())
    };
    let error = failed.expect_err("no context is current");
    assert!(error.to_string().starts_with("Cuda error 201 in function 'cuCtxSynchronize'"));
}

#[test]
fn an_allocation_says_how_much_it_wanted() {
    let error = CudaError::of_call("cuMemAlloc_v2", 2).while_allocating(77);
    assert!(error.is_out_of_memory());
    let text = error.to_string();
    assert!(text.ends_with("out of memory; 77 bytes were requested"), "{text}");
    let memory = || Some(DeviceMemory::new(1, 3, 90));
    let text = error.on_device(memory).to_string();
    assert!(text.ends_with("77 bytes were requested, and 3 of 90 bytes are free on device 1"));
    assert_eq!(CallError::code_in(&text), Some(2));
    let other = CudaError::of_call("cuMemAlloc_v2", 1).while_allocating(77).on_device(memory);
    assert!(!other.to_string().contains("77"));
}

#[test]
fn an_allocator_lacks_memory_only_if_that_was_said() {
    let error = AllocatorError::new("no", Some(Arc::new(7i32)));
    assert_eq!((error.source::<i32>(), error.source::<u32>()), (Some(&7), None));
    assert!(!error.lacks_memory() && error.out_of_memory().lacks_memory());
}
