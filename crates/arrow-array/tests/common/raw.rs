//! Structures of the C Device interface as C sees them, and arrays to make them of.

#![allow(dead_code, reason = "for some of the test files")]

use crate::common::field;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, DictionaryArray, ListArray, StringArray, StructArray,
};
use arrow_cuda_array::{DeviceArray, Error, FFI_ArrowDeviceArray};
use arrow_cuda_context::Context;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `ArrowDeviceArray`, as C has it.
#[repr(C)]
pub struct Raw {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut u64,
    pub children: *mut *mut Raw,
    pub dictionary: *mut Raw,
    pub release: *mut c_void,
    pub private_data: *mut c_void,
    pub device_id: i64,
    pub device_type: i32,
    pub sync_event: u64,
    pub reserved: [i64; 3],
}

impl Raw {
    pub fn of(structure: &mut FFI_ArrowDeviceArray) -> &mut Self {
        // SAFETY: the same layout.
        unsafe { &mut *std::ptr::from_mut(structure).cast() }
    }

    pub fn child(&mut self, number: usize) -> &mut Self {
        // SAFETY: as below.
        unsafe { &mut **self.place_of_child(number) }
    }

    pub fn place_of_child(&mut self, number: usize) -> &mut *mut Self {
        // SAFETY: the child of an array that this crate has made.
        unsafe { &mut *self.children.add(number) }
    }

    pub fn dictionary(&mut self) -> &mut Self {
        // SAFETY: as above.
        unsafe { &mut *self.dictionary }
    }

    pub fn buffer(&mut self, number: usize) -> &mut u64 {
        // SAFETY: as above.
        unsafe { &mut *self.buffers.add(number) }
    }
}

/// Counts how often a structure is released.
pub struct Releases(Arc<AtomicUsize>);

/// The data for a structure's own release, and the count of releases.
struct Counted {
    release: Option<unsafe extern "C" fn(*mut FFI_ArrowArray)>,
    private_data: *mut c_void,
    count: Arc<AtomicUsize>,
}

impl Releases {
    pub fn of(structure: &mut FFI_ArrowDeviceArray) -> Self {
        unsafe extern "C" fn release(array: *mut FFI_ArrowArray) {
            // SAFETY: called with what `of` has changed.
            unsafe {
                let array = &mut *array;
                let counted = Box::from_raw(array.private_data().cast::<Counted>());
                counted.count.fetch_add(1, Ordering::Relaxed);
                array.set_private_data(counted.private_data);
                array.set_release(counted.release);
                counted.release.expect("live")(array);
            }
        }
        let (array, count) = (&mut structure.array, Arc::new(AtomicUsize::new(0)));
        // SAFETY: the new release calls the old one.
        unsafe {
            let private_data = array.private_data();
            let counted = Counted { release: array.release(), private_data, count: count.clone() };
            array.set_release(Some(release));
            array.set_private_data(Box::into_raw(Box::new(counted)).cast());
        }
        Self(count)
    }

    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Imports what this crate has made.
pub fn import(
    context: &Context,
    structure: FFI_ArrowDeviceArray,
    data_type: &DataType,
) -> Result<DeviceArray, Error> {
    // SAFETY: it is sound, or a test has it lie, and the import looks before it follows a pointer.
    unsafe { DeviceArray::import(context, structure, data_type) }
}

/// An array with a bitmap, children and a dictionary.
pub fn nested() -> ArrayRef {
    let words: DictionaryArray<Int32Type> = [Some("a"), None, Some("b")].into_iter().collect();
    let numbers = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None]),
        None,
        Some(vec![Some(2)]),
    ]);
    let texts: StringArray = [Some("one"), None, Some("three")].into_iter().collect();
    let views = BinaryViewArray::from_iter_values([b"short".as_slice(), &[b'l'; 20], &[b'm'; 30]]);
    let columns: [(&str, ArrayRef); 4] = [
        ("words", Arc::new(words)),
        ("numbers", Arc::new(numbers)),
        ("texts", Arc::new(texts)),
        ("views", Arc::new(views)),
    ];
    let columns =
        columns.map(|(name, array)| (field(name, array.data_type().clone(), true), array));
    Arc::new(StructArray::from(columns.to_vec()))
}
