//! Tensors in memory of the host.

use arrow_cuda_numba_bridge::dlpack::{HostBytes, Imported, Memory, Tensor, abi};
use arrow_cuda_numba_bridge::{ElementType, Error, StridedLayout};
use rstest::rstest;
use std::sync::Arc;

#[rstest]
fn host_memory_keeps_its_owner(#[values(0, 1000)] size: usize) {
    let bytes: Arc<Vec<u8>> = Arc::new((0..size).map(|at| at as u8).collect());
    // SAFETY: the owner keeps the bytes.
    let host = || unsafe { HostBytes::new(bytes.as_ptr(), size, Box::new(bytes.clone())) };
    let layout = |size| StridedLayout::row_major(ElementType::uint(1), vec![size]).expect("small");
    let too_long = Tensor::new(Memory::Host(host()), layout(size as i64 + 1));
    assert!(matches!(too_long, Err(Error::Invalid(_))));
    let tensor = Tensor::new(Memory::Host(host()), layout(size as i64)).expect("it fits");
    // SAFETY: it is ours; the elements are read while it lives.
    unsafe {
        let imported = Imported::versioned(tensor.into_versioned(true));
        let memory = imported.memory().expect("a sound tensor");
        assert_eq!((memory.device_type, memory.layout.span().size), (abi::CPU, size));
        if size > 0 {
            let read = std::slice::from_raw_parts(memory.address as *const u8, size);
            assert_eq!(read, &bytes[..]);
        }
        assert_eq!(Arc::strong_count(&bytes), 2);
    }
    assert_eq!(Arc::strong_count(&bytes), 1);
}

#[cfg(feature = "arrow")]
#[test]
fn columns_that_are_no_arrays_are_refused() {
    use arrow_array::types::Int32Type;
    use arrow_array::{FixedSizeListArray, Float64Array, Int32Array, StringArray};
    use arrow_cuda_array::{ArrayParts, DeviceArray};
    use arrow_cuda_buffer::DeviceBuffer;
    use arrow_cuda_context::{Consumer, Context};
    use arrow_cuda_numba_bridge::{Order, StridedArray};
    use arrow_schema::DataType;

    let context = Context::primary(0).expect("a device");
    let there =
        |array: &dyn arrow_array::Array| DeviceArray::from_host(&context, array).expect("room");
    let lists = (0..4).map(|row| Some([row, row + 10].map(Some)));
    let lists = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(lists, 2);
    let part = there(&lists).slice(1, 2).expect("within");
    let array = StridedArray::try_from(&part).expect("numbers");
    assert_eq!(array.layout().shape(), [2, 2]);
    let numbers = [1i32, 11, 2, 12].map(i32::to_ne_bytes).concat();
    assert_eq!(array.to_vec(Order::C).expect("alive"), numbers);
    assert!(array.to_dlpack(Consumer::AfterEvent).is_err(), "nobody could wait for the event");

    assert!(StridedArray::try_from(&there(&Int32Array::from(vec![Some(1), None]))).is_err());
    assert!(StridedArray::try_from(&there(&StringArray::from(vec!["a"]))).is_err());
    let bytes = DeviceBuffer::allocate(&context, 17).expect("room");
    let odd = vec![bytes.slice(1..).expect("within")];
    let parts = ArrayParts { buffers: odd, ..ArrayParts::new(DataType::Float64, 2) };
    let odd = DeviceArray::new(&context, parts).expect("enough bytes");
    assert!(StridedArray::try_from(&odd).is_err(), "a kernel would fault");
    assert!(StridedArray::try_from(&there(&Float64Array::from(vec![1.5]))).is_ok());
}
