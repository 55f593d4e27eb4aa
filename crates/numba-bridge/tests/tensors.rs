//! Exported and imported tensors.  One test counts the context's bytes; the others leave none
//! allocated.

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_numba_bridge::dlpack::abi::{self, DLDataType, DLDevice, DLPackVersion, DLTensor};
use arrow_cuda_numba_bridge::dlpack::abi::{DLManagedTensor, DLManagedTensorVersioned};
use arrow_cuda_numba_bridge::dlpack::{HostBytes, Imported, Memory, Tensor};
use arrow_cuda_numba_bridge::{ElementType, Error, Layout};
use rstest::rstest;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::Mutex;
use std::thread;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn context() -> Context {
    Context::primary(0).expect("a device")
}

fn layout(element: ElementType, shape: &[i64]) -> Layout {
    Layout::row_major(element, shape.to_vec()).expect("small numbers")
}

fn buffer(bytes: &[u8]) -> DeviceBuffer {
    let buffer = DeviceBuffer::allocate(&context(), bytes.len() as u64).expect("room");
    buffer.copy_from_host(0, bytes).expect("a copy");
    buffer
}

#[test]
fn the_structure_releases_its_memory_on_any_thread() {
    let _alone = ONE_AT_A_TIME.lock().expect("no panic");
    let before = context().bytes_allocated().expect("alive");
    let bytes: Vec<u8> = (0..48).collect();
    let whole = buffer(&bytes);
    let address = whole.address();
    let tensor = |part: DeviceBuffer| {
        Tensor::new(part.into(), layout(ElementType::int(2), &[2, 3, 4]))
            .expect("a shape that fits")
    };
    let versioned = tensor(whole.clone()).into_versioned(false);
    let legacy = tensor(whole).into_legacy().expect("mutable memory");
    // SAFETY: both are ours, and each is taken over once.
    let imported = unsafe { [Imported::versioned(versioned), Imported::legacy(legacy)] };
    for imported in imported {
        assert_eq!(context().bytes_allocated().expect("alive"), before + 48);
        let memory = imported.memory().expect("a sound tensor");
        assert_eq!((memory.device_type, memory.device_id), (abi::CUDA, 0));
        assert_eq!(
            (memory.address, memory.layout.span().size, memory.is_mutable),
            (address, 48, true)
        );
        thread::spawn(move || drop(imported)).join().expect("no panic");
    }
    assert_eq!(context().bytes_allocated().expect("alive"), before);
}

#[test]
fn a_structure_describes_its_memory() {
    let _alone = ONE_AT_A_TIME.lock().expect("no panic");
    let memory = buffer(&[7; 24]).read_only();
    let tensor = || Tensor::new(memory.clone().into(), layout(ElementType::float(4), &[3, 2]));
    assert!(matches!(tensor().expect("it fits").into_legacy(), Err(Error::Unsupported(_))));
    let exported = tensor().expect("it fits").into_versioned(true);
    // SAFETY: the structure is ours, and its lengths are right.
    unsafe {
        let structure = exported.as_ref();
        assert_eq!(structure.version, DLPackVersion { major: 1, minor: 1 });
        assert_eq!(structure.flags, abi::READ_ONLY | abi::IS_COPIED);
        let tensor = &structure.dl_tensor;
        assert_eq!(tensor.dtype, DLDataType { code: 2, bits: 32, lanes: 1 });
        assert_eq!(std::slice::from_raw_parts(tensor.shape, 2), [3, 2]);
        assert_eq!(std::slice::from_raw_parts(tensor.strides, 2), [2, 1]);
        let imported = Imported::versioned(exported);
        assert!(!imported.memory().expect("a sound tensor").is_mutable);
    }
    assert!(matches!(
        Tensor::new(memory.clone().into(), layout(ElementType::float(4), &[7])),
        Err(Error::Invalid(_))
    ));
}

#[rstest]
#[case(0)]
#[case(1000)]
fn host_memory_keeps_its_owner(#[case] size: usize) {
    let bytes: Arc<Vec<u8>> = Arc::new((0..size).map(|at| at as u8).collect());
    // SAFETY: the owner keeps the bytes.
    let host = unsafe { HostBytes::new(bytes.as_ptr(), size as u64, Box::new(bytes.clone())) };
    let layout = layout(ElementType::uint(1), &[size as i64]);
    let tensor = Tensor::new(Memory::Host(host), layout).expect("it fits");
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

#[test]
fn the_first_element_of_a_backwards_tensor_lies_behind_the_others() {
    let _alone = ONE_AT_A_TIME.lock().expect("no panic");
    let memory = buffer(&[1, 2, 3, 4, 5, 6]);
    let address = memory.address();
    let backwards = Layout::strided(ElementType::uint(1), vec![2, 3], vec![3, -1]);
    let tensor = Tensor::new(memory.into(), backwards.expect("small numbers"));
    let structure = tensor.expect("elements that fit").into_versioned(false);
    // SAFETY: the structure is ours, and is taken over once.
    let imported = unsafe {
        assert_eq!(structure.as_ref().dl_tensor.data as u64, address + 2);
        Imported::versioned(structure)
    };
    assert_eq!(imported.memory().expect("a sound tensor").address, address);
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
#[case::of_no_dimensions(&[], &[], |_: &mut DLTensor| (), (0x1000, 4))]
#[case::dense(&[2, 3], &[], |_: &mut DLTensor| (), (0x1000, 24))]
#[case::transposed(&[2, 3], &[1, 2], |_: &mut DLTensor| (), (0x1000, 24))]
#[case::backwards(&[3], &[-1], |_: &mut DLTensor| (), (0xff8, 12))]
#[case::with_gaps(&[2, 3], &[6, 1], |_: &mut DLTensor| (), (0x1000, 36))]
#[case::repeated(&[2, 2], &[0, 3], |_: &mut DLTensor| (), (0x1000, 16))]
#[case::at_an_offset(&[3], &[1], |tensor: &mut DLTensor| tensor.byte_offset = 8, (0x1008, 12))]
#[case::empty(&[0, 9], &[], |tensor: &mut DLTensor| tensor.data = null_mut(), (0, 0))]
#[case::of_lanes(&[2], &[], |tensor: &mut DLTensor| tensor.dtype.lanes = 4, (0x1000, 32))]
fn sound_tensors(
    #[case] shape: &[i64],
    #[case] strides: &[i64],
    #[case] change: impl FnOnce(&mut DLTensor),
    #[case] expected: (u64, u64),
) {
    let mut theirs = theirs(shape, strides);
    change(&mut theirs.structure.dl_tensor);
    assert_eq!(memory_of(&mut theirs), Ok(expected));
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
fn only_the_deleter_of_another_version_is_used() {
    let mut theirs = theirs(&[3], &[]);
    theirs.structure.version.major = 2;
    // In that version, these bytes need not be a shape.
    theirs.structure.dl_tensor.shape = std::ptr::dangling_mut();
    let error = memory_of(&mut theirs).expect_err("another version");
    assert!(matches!(&error, Error::Unsupported(text) if text.contains("2.99")), "{error}");
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
