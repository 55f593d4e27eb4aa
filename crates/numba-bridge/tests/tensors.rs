//! Tensors: of the host, of other libraries, and of columns.

#[cfg(feature = "arrow")]
use arrow_cuda_array::DeviceArray;
use arrow_cuda_context::{Consumer, Context, Pending, block_at};
use arrow_cuda_numba_bridge::dlpack::abi::{DLDataType, DLDevice, DLManagedTensor, DLTensor};
use arrow_cuda_numba_bridge::dlpack::{HostBytes, Imported, Memory, Tensor, abi};
use arrow_cuda_numba_bridge::{ElementType, Error, Index, Order, StridedArray, StridedLayout};
use rstest::rstest;
use std::ptr::NonNull;
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

#[test]
fn an_imported_array_owns_its_tensor() {
    let context = Context::primary(0).expect("a device");
    let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3]).expect("small");
    let theirs = StridedArray::allocate(&context, layout).expect("room");
    theirs.copy_from_host(&[1, 2, 3, 4, 5, 6], Order::C).expect("a copy");
    let part = theirs.index(&[Index::Rest, Index::At(2)]).expect("within");
    let address = part.private_address();
    let is_allocated = || block_at(address, 0).is_some();

    let tensor = part.to_dlpack(Consumer::OnDefaultStream).expect("a tensor");
    drop((theirs, part));
    // SAFETY: the structure is new, and nobody else has it.
    let imported = unsafe { Imported::versioned(tensor.into_versioned(false)) };
    let array = StridedArray::from_dlpack(imported, &Pending::AnyStream).expect("a sound tensor");
    assert_eq!((array.private_address(), array.layout().shape()), (address, &[2][..]));
    let view = array.index(&[Index::At(1)]).expect("within");
    drop(array);
    assert_eq!(view.to_vec(Order::C).expect("alive"), [6]);
    assert!(is_allocated());
    drop(view);
    assert!(!is_allocated(), "the deleter has run");
}

#[rstest]
#[case::the_host(abi::CPU, 0, "the tensor is in host memory")]
#[case::rocm(10, 0, "the tensor lies on a device of type 10, not CUDA")]
#[case::before_the_first(abi::CUDA, -1, "the tensor has an invalid device number: -1")]
#[case::beyond_the_last(abi::CUDA, 4000, "Cuda error 101")]
fn tensors_elsewhere_are_refused(
    #[case] device_type: i32,
    #[case] device_id: i32,
    #[case] text: &str,
) {
    let (mut data, mut shape) = ([0_u8; 4], [4]);
    let mut structure = DLManagedTensor {
        dl_tensor: DLTensor {
            data: data.as_mut_ptr().cast(),
            device: DLDevice { device_type, device_id },
            ndim: 1,
            dtype: DLDataType { code: 1, bits: 8, lanes: 1 },
            shape: shape.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        },
        manager_ctx: std::ptr::null_mut(),
        deleter: None,
    };
    // SAFETY: a sound structure, which lives longer.
    let imported = unsafe { Imported::legacy(NonNull::from(&mut structure)) };
    let error = StridedArray::from_dlpack(imported, &Pending::Nothing).unwrap_err();
    assert!(error.to_string().starts_with(text), "{error}");
}

#[cfg(feature = "arrow")]
#[rstest]
#[case(vec![6])]
#[case(vec![3, 2])]
#[case(vec![1, 2, 3])]
#[case(vec![0])]
#[case(vec![0, 4])]
#[case(vec![3, 0])]
fn arrays_become_columns_and_arrays_again(#[case] shape: Vec<i64>) {
    let context = Context::primary(0).expect("a device");
    let layout = StridedLayout::row_major(ElementType::int(4), shape.clone()).expect("small");
    let array = StridedArray::allocate(&context, layout).expect("room");
    let bytes: Vec<u8> = (0..array.layout().size() as u8).collect();
    array.copy_from_host(&bytes, Order::C).expect("a copy");
    let column = DeviceArray::try_from(&array).expect("numbers");
    assert_eq!(column.len() as i64, shape[0]);
    let host = column.to_host().expect("alive");
    assert!(DeviceArray::from_host(&context, &host).expect("room").equals(&column).expect("alive"));
    let back = StridedArray::try_from(&column).expect("numbers");
    assert_eq!(back.layout().shape(), shape);
    assert_eq!(back.to_vec(Order::C).expect("alive"), bytes);
    assert!(bytes.is_empty() || back.private_address() == array.private_address());
}

#[cfg(feature = "arrow")]
#[test]
fn arrays_that_are_no_columns_are_refused() {
    let context = Context::primary(0).expect("a device");
    let array = |element, shape: &[i64]| {
        let layout = StridedLayout::row_major(element, shape.to_vec()).expect("small");
        StridedArray::allocate(&context, layout).expect("room")
    };
    let matrix = array(ElementType::int(4), &[2, 3]);
    let gaps = matrix.index(&[Index::Rest, Index::At(0)]).expect("within");
    assert!(matches!(DeviceArray::try_from(&gaps), Err(Error::NeedsCopy(_))));
    assert!(DeviceArray::try_from(&gaps.copy(Order::C).expect("room")).is_ok());
    let unsupported = [
        array(ElementType::complex(8), &[2]),
        array(ElementType::bool(), &[2]),
        array(">i4".parse().expect("a type"), &[2]),
        array(ElementType::int(1), &[0, 1 << 31]),
        array(ElementType::int(1), &[0, i64::MAX, 2]),
        array(ElementType::int(1), &[i64::MAX, 4, 0]),
        array(ElementType::int(1), &[3, i32::MAX.into(), i32::MAX.into(), i32::MAX.into(), 0]),
        array("|V0".parse().expect("a type"), &[3]),
        array("|V3".parse().expect("a type"), &[3]),
    ];
    for each in &unsupported {
        assert!(matches!(DeviceArray::try_from(each), Err(Error::Unsupported(_))), "{each:?}");
    }
    let scalar = array(ElementType::int(4), &[]);
    assert!(matches!(DeviceArray::try_from(&scalar), Err(Error::Invalid(_))));
}

#[cfg(feature = "arrow")]
#[test]
fn columns_that_are_no_arrays_are_refused() {
    use arrow_array::types::Int32Type;
    use arrow_array::{FixedSizeListArray, Float64Array, Int32Array, StringArray};
    use arrow_cuda_array::ArrayParts;
    use arrow_cuda_buffer::DeviceBuffer;
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
