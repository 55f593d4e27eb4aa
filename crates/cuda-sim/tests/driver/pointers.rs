//! Queries of pointers, and copies between addresses of any kind.

use std::ffi::c_void;
use std::ptr;

use crate::common::process::*;
use crate::common::*;

unsafe extern "C" {
    safe fn cuMemcpy(to: u64, from: u64, size: usize) -> i32;
    safe fn cuMemcpyAsync(to: u64, from: u64, size: usize, stream: Handle) -> i32;
    safe fn cuPointerGetAttributes(
        count: u32,
        attributes: *const i32,
        data: *const *mut c_void,
        pointer: u64,
    ) -> i32;
}

/// Context, type of memory, device pointer, host pointer, device and size.
const ASKED: [i32; 6] = [1, 2, 3, 4, 9, 12];

/// The answers, in places of eight bytes that held zeros.
fn ask(pointer: u64) -> [u64; 6] {
    let mut answers = [0_u64; 6];
    let places = answers.each_mut().map(|place| ptr::from_mut(place).cast());
    let code = cuPointerGetAttributes(6, ASKED.as_ptr(), places.as_ptr(), pointer);
    assert_eq!(code, OK);
    answers
}

#[test]
fn several_attributes_have_defaults() {
    in_own_process(&[], || {
        let context = ready(0) as u64;
        let (p, h) = (alloc(1000), pinned(64) as u64);
        let nowhere = u64::from(-2_i32 as u32);
        assert_eq!(ask(p + 8), [context, 2, p + 8, 0, 0, 1000]);
        assert_eq!(ask(h), [context, 1, h, h, 0, 64]);
        assert_eq!(ask(ptr::from_ref(&p) as u64), [0, 0, 0, 0, nowhere, 0]);
        assert_eq!(cuMemFree_v2(p), OK);
        assert_eq!(ask(p), [0, 0, 0, 0, nowhere, 0]);
    });
}

#[test]
fn a_copy_recognises_device_and_host_addresses() {
    on_device(|_| {
        let (p, q, h, s) = (alloc(4), alloc(4), pinned(4) as u64, stream(1));
        let bytes = [1_u8, 2, 3, 4];
        let back = [0_u8; 4];
        let (bytes, back_at) = (bytes.as_ptr() as u64, back.as_ptr() as u64);
        assert_eq!(cuMemcpy(p, bytes, 4), OK);
        assert_eq!(cuMemcpy(q, p, 4), OK);
        assert_eq!(cuStreamSynchronize(0), OK);
        assert_eq!(cuMemcpyAsync(h, q, 4, s), OK);
        assert_eq!(cuStreamSynchronize(s), OK);
        assert_eq!(cuMemcpy(q, h, 4), OK);
        assert_eq!(read(q, 4), Ok(vec![1, 2, 3, 4]));
        assert_eq!(cuMemcpy(q, p, 5), 1);
        assert_eq!(cuMemcpy(back_at, q + 1, 4), 1);
        assert_eq!(cuMemFree_v2(q), OK);
        assert_eq!(cuMemcpy(back_at, q, 4), 1);
        assert_eq!(back, [0; 4]);
    });
}
