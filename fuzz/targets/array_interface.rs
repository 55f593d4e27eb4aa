//! Descriptions by the CUDA array interface: any numbers, and any text for the element type.
#![no_main]

use arbitrary::Arbitrary;
use arrow_cuda_numba_bridge::ElementType;
use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Described<'a> {
    typestr: &'a str,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    address: Option<u64>,
    is_read_only: bool,
    version: Option<i64>,
    stream: Option<u64>,
    has_mask: bool,
}

fuzz_target!(|described: Described<'_>| {
    let Ok(element) = described.typestr.parse::<ElementType>() else { return };
    assert_eq!(element.to_string().parse(), Ok(element));
    let Described { shape, strides, address, is_read_only, version, stream, has_mask, .. } =
        described;
    let array = ArrayInterface {
        shape,
        element,
        address,
        is_read_only,
        strides,
        version,
        stream,
        has_mask,
    };
    let Ok(memory) = array.memory() else { return };
    let span = memory.layout.span();
    assert!(!array.has_mask && memory.layout.shape() == array.shape);
    if span.size > 0 {
        let first = i128::from(array.address.expect("elements have an address"));
        assert_eq!(i128::from(memory.address), first + i128::from(span.start));
    }
});
