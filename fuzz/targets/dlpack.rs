//! Structures of DLPack: any numbers behind pointers that are valid or null.
#![no_main]

use arbitrary::Arbitrary;
use arrow_cuda_numba_bridge::dlpack::Imported;
use arrow_cuda_numba_bridge::dlpack::abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, MAJOR,
};
use libfuzzer_sys::fuzz_target;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Arbitrary, Debug)]
struct Described {
    data: u64,
    device: (i32, i32),
    /// Another number of dimensions than the shape has, which a structure can only have where nobody reads it.
    wrong_ndim: Option<i32>,
    dtype: (u8, u8, u16),
    dimensions: Vec<(i64, i64)>,
    has_shape: bool,
    has_strides: bool,
    byte_offset: u64,
    flags: u64,
    /// None for the structure before version 1.
    version: Option<(bool, u32, u32)>,
}

/// How often deleters were called.
static DELETED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn delete_legacy(tensor: *mut DLManagedTensor) {
    // SAFETY: made by `legacy`, and called once.
    drop(unsafe { Box::from_raw(tensor) });
    DELETED.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn delete_versioned(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: made by `versioned`, and called once.
    drop(unsafe { Box::from_raw(tensor) });
    DELETED.fetch_add(1, Ordering::Relaxed);
}

fuzz_target!(|described: Described| {
    let (mut shape, mut strides): (Vec<i64>, Vec<i64>) =
        described.dimensions.iter().copied().unzip();
    let true_ndim = shape.len() as i32;
    // More dimensions than there are numbers: refused before they are read, if they are too many.
    let ndim = described.wrong_ndim.filter(|ndim| !(0..=64).contains(ndim)).unwrap_or(true_ndim);
    let list =
        |list: &mut Vec<i64>, is_there| if is_there { list.as_mut_ptr() } else { null_mut() };
    let (code, bits, lanes) = described.dtype;
    let dl_tensor = DLTensor {
        data: described.data as *mut _,
        device: DLDevice { device_type: described.device.0, device_id: described.device.1 },
        ndim,
        dtype: DLDataType { code, bits, lanes },
        shape: list(&mut shape, described.has_shape),
        strides: list(&mut strides, described.has_strides),
        byte_offset: described.byte_offset,
    };
    let before = DELETED.load(Ordering::Relaxed);
    let imported = imported(dl_tensor, described.version, described.flags);
    if let Ok(memory) = imported.memory() {
        let span = memory.layout.span();
        assert_eq!(memory.layout.shape(), shape);
        if span.size > 0 {
            let first = i128::from(described.data) + i128::from(described.byte_offset);
            assert_eq!(i128::from(memory.address), first + i128::from(span.start));
        }
    }
    drop(imported);
    assert_eq!(DELETED.load(Ordering::Relaxed), before + 1);
});

fn imported(dl_tensor: DLTensor, version: Option<(bool, u32, u32)>, flags: u64) -> Imported {
    let manager_ctx = null_mut();
    let Some((is_ours, major, minor)) = version else {
        let tensor = DLManagedTensor { dl_tensor, manager_ctx, deleter: Some(delete_legacy) };
        // SAFETY: a valid structure, of which the result is the only owner.
        return unsafe { Imported::legacy(NonNull::from(Box::leak(Box::new(tensor)))) };
    };
    let version = DLPackVersion { major: if is_ours { MAJOR } else { major }, minor };
    let deleter = Some(delete_versioned as unsafe extern "C" fn(_));
    let tensor = DLManagedTensorVersioned { version, manager_ctx, deleter, flags, dl_tensor };
    // SAFETY: as above.
    unsafe { Imported::versioned(NonNull::from(Box::leak(Box::new(tensor)))) }
}
