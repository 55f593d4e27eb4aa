//! Exported and imported tensors.

use arrow_cuda_numba_bridge::dlpack::abi::{self, DLDataType, DLDevice, DLPackVersion, DLTensor};
use arrow_cuda_numba_bridge::dlpack::abi::{DLManagedTensor, DLManagedTensorVersioned};
use arrow_cuda_numba_bridge::dlpack::{HostBytes, Imported, Memory, Tensor};
use arrow_cuda_numba_bridge::{ElementType, Error, Layout};
use rstest::rstest;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

#[rstest]
#[case(0)]
#[case(1000)]
fn host_memory_keeps_its_owner(#[case] size: usize) {
    let bytes: Arc<Vec<u8>> = Arc::new((0..size).map(|at| at as u8).collect());
    // SAFETY: the owner keeps the bytes.
    let host = || unsafe { HostBytes::new(bytes.as_ptr(), size as u64, Box::new(bytes.clone())) };
    let layout = |size| Layout::row_major(ElementType::uint(1), vec![size]).expect("small");
    let too_long = Tensor::new(Memory::Host(host()), layout(size as i64 + 1));
    assert!(matches!(too_long, Err(Error::Invalid(_))));
    let tensor = Tensor::new(Memory::Host(host()), layout(size as i64)).expect("it fits");
    // SAFETY: it is ours; the elements are read while it lives.
    unsafe {
        let imported = Imported::versioned(tensor.into_versioned(true));
        let memory = imported.memory().expect("a sound tensor");
        assert_eq!((memory.device_type, memory.layout.span().size), (abi::CPU, size as u64));
        if size > 0 {
            let read = std::slice::from_raw_parts(memory.address as *const u8, size);
            assert_eq!(read, &bytes[..]);
        }
        assert_eq!(Arc::strong_count(&bytes), 2);
    }
    assert_eq!(Arc::strong_count(&bytes), 1);
}

/// A structure of another library, and how often its deleter was called.
struct ForeignTensor {
    structure: DLManagedTensorVersioned,
    shape: Vec<i64>,
    strides: Vec<i64>,
    deleted: u32,
}

fn theirs(shape: &[i64], strides: &[i64]) -> Box<ForeignTensor> {
    unsafe extern "C" fn delete(tensor: *mut DLManagedTensorVersioned) {
        // SAFETY: the structure of a box that outlives it.
        unsafe { (*(*tensor).manager_ctx.cast::<ForeignTensor>()).deleted += 1 };
    }
    let mut theirs = Box::new(ForeignTensor {
        structure: DLManagedTensorVersioned {
            version: DLPackVersion { major: 1, minor: 99 },
            manager_ctx: null_mut(),
            deleter: Some(delete),
            flags: 0,
            dl_tensor: DLTensor {
                data: 0x1000 as *mut c_void,
                device: DLDevice { device_type: abi::CUDA, device_id: 0 },
                ndim: i32::try_from(shape.len()).expect("few"),
                dtype: DLDataType { code: 0, bits: 32, lanes: 1 },
                shape: null_mut(),
                strides: null_mut(),
                byte_offset: 0,
            },
        },
        shape: shape.to_vec(),
        strides: strides.to_vec(),
        deleted: 0,
    });
    theirs.structure.manager_ctx = (&raw mut *theirs).cast();
    theirs.structure.dl_tensor.shape = theirs.shape.as_mut_ptr();
    if !strides.is_empty() {
        theirs.structure.dl_tensor.strides = theirs.strides.as_mut_ptr();
    }
    theirs
}

fn memory_of(theirs: &mut ForeignTensor) -> Result<(u64, u64), Error> {
    let deleted = theirs.deleted;
    // SAFETY: the structure outlives the import, which owns it as far as its deleter knows.
    let memory = unsafe {
        let imported = Imported::versioned(NonNull::from(&mut theirs.structure));
        imported.memory()
    };
    assert_eq!(theirs.deleted, deleted + 1, "the deleter runs once, whatever is wrong");
    memory.map(|memory| (memory.address, memory.layout.span().size))
}

#[rstest]
#[case(&[-1], &[], |_: &mut DLTensor| (), "length of -1")]
#[case(&[1 << 40, 1 << 40], &[], |_: &mut DLTensor| (), "overflows")]
#[case(&[2], &[i64::MAX], |_: &mut DLTensor| (), "overflow")]
#[case(&[3], &[], |tensor: &mut DLTensor| tensor.ndim = -1, "-1 dimensions")]
#[case(&[3], &[], |tensor: &mut DLTensor| tensor.ndim = i32::MAX, "dimensions")]
#[case(&[3], &[], |tensor: &mut DLTensor| tensor.shape = null_mut(), "no shape")]
#[case(&[3], &[], |tensor: &mut DLTensor| tensor.data = null_mut(), "at no address")]
#[case(&[3], &[], |tensor: &mut DLTensor| tensor.byte_offset = u64::MAX, "address space")]
#[case(&[3], &[-1], |tensor: &mut DLTensor| tensor.data = 4 as *mut c_void, "address space")]
#[case(&[8], &[], |tensor: &mut DLTensor| tensor.dtype.bits = 1, "1 bits")]
#[case(&[8], &[], |tensor: &mut DLTensor| tensor.dtype.lanes = 0, "0 bits")]
fn invalid_tensors(
    #[case] shape: &[i64],
    #[case] strides: &[i64],
    #[case] lie: impl FnOnce(&mut DLTensor),
    #[case] text: &str,
) {
    let mut theirs = theirs(shape, strides);
    lie(&mut theirs.structure.dl_tensor);
    let error = memory_of(&mut theirs).expect_err("invalid");
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn a_structure_may_have_no_deleter() {
    let mut shape = [4i64];
    let mut structure = DLManagedTensor {
        dl_tensor: theirs(&[], &[]).structure.dl_tensor,
        manager_ctx: null_mut(),
        deleter: None,
    };
    structure.dl_tensor.ndim = 1;
    structure.dl_tensor.shape = shape.as_mut_ptr();
    // SAFETY: nobody else has it.
    let imported = unsafe { Imported::legacy(NonNull::from(&mut structure)) };
    assert_eq!(imported.memory().expect("a sound tensor").layout.size(), 16);
}
