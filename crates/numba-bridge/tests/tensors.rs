//! Tensors in memory of the host.

use arrow_cuda_numba_bridge::dlpack::{HostBytes, Imported, Memory, Tensor, abi};
use arrow_cuda_numba_bridge::{ElementType, Error, Layout};
use rstest::rstest;
use std::sync::Arc;

#[rstest]
fn host_memory_keeps_its_owner(#[values(0, 1000)] size: usize) {
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
