//! Copies between arrays of any layout on the simulated device, beside a copy byte by byte.
#![no_main]

use arbitrary::Arbitrary;
use arrow_cuda_buffer::{DeviceBuffer, Elements, copy_elements};
use arrow_cuda_context::Context;
use libfuzzer_sys::fuzz_target;

/// The size of each buffer, in bytes.
const SIZE: u8 = 200;

#[derive(Arbitrary, Debug)]
struct Copy {
    dimensions: Vec<Dimension>,
    item_size: u8,
    to: u8,
    from: u8,
    is_within: bool,
    /// Numbers of any size, in place of one of the above.
    extreme: Option<(u8, usize, i64, i64)>,
}

#[derive(Arbitrary, Debug)]
struct Dimension {
    length: u8,
    to: i8,
    from: i8,
}

struct Places {
    shape: Vec<usize>,
    to: Vec<i64>,
    from: Vec<i64>,
}

impl Places {
    fn of(copy: &Copy) -> Self {
        let mut places = Self { shape: vec![], to: vec![], from: vec![] };
        for Dimension { length, to, from } in copy.dimensions.iter().take(6) {
            places.shape.push(usize::from(length % 6));
            places.to.push((*to).into());
            places.from.push((*from).into());
        }
        if let (Some((at, length, to, from)), false) = (copy.extreme, places.shape.is_empty()) {
            let at = usize::from(at) % places.shape.len();
            (places.shape[at], places.to[at], places.from[at]) = (length, to, from);
        }
        places
    }

    /// Where each element begins on either side.
    fn elements(&self, to: i64, from: i64) -> Vec<(usize, usize)> {
        let mut elements = vec![(to, from)];
        for ((length, to), from) in self.shape.iter().zip(&self.to).zip(&self.from) {
            let steps = |at: &(i64, i64)| {
                let at = *at;
                (0..*length as i64).map(move |step| (at.0 + step * to, at.1 + step * from))
            };
            elements = elements.iter().flat_map(steps).collect();
        }
        elements.iter().map(|(to, from)| (*to as usize, *from as usize)).collect()
    }
}

thread_local! {
    static MEMORY: [DeviceBuffer; 2] = {
        let context = Context::primary(0).expect("the simulated device");
        [0, 1].map(|_| DeviceBuffer::allocate(&context, SIZE.into()).expect("memory"))
    };
}

fuzz_target!(|copy: Copy| {
    let places = Places::of(&copy);
    let old: Vec<u8> = (0..SIZE).collect();
    let new: Vec<u8> =
        if copy.is_within { old.clone() } else { old.iter().rev().copied().collect() };
    MEMORY.with(|[target, other]| {
        target.copy_from_host(&old).expect("a copy");
        other.copy_from_host(&new).expect("a copy");
        let source = if copy.is_within { target } else { other };
        let to = Elements { buffer: target, offset: copy.to.into(), strides: &places.to };
        let from = Elements { buffer: source, offset: copy.from.into(), strides: &places.from };
        let mut expected = old;
        match copy_elements(to, from, &places.shape, copy.item_size.into()) {
            Ok(()) if copy.item_size == 0 || places.shape.contains(&0) => {}
            Ok(()) => {
                let size = usize::from(copy.item_size);
                for (to, from) in places.elements(copy.to.into(), copy.from.into()) {
                    expected[to..to + size].copy_from_slice(&new[from..from + size]);
                }
            }
            Err(arrow_cuda_buffer::Error::Cuda(error)) => panic!("the driver refused: {error}"),
            Err(_) => {}
        }
        assert_eq!(target.to_vec().expect("a copy"), expected);
    });
});
