//! Structures of the C Device interface: who releases them, and who waits for what.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;
#[path = "../../context/tests/common/mod.rs"]
mod device;
#[path = "common/raw.rs"]
mod raw;

use arrow_array::{Array, Int32Array, StringArray};
use arrow_cuda_array::{ArrayParts, DeviceArray, FFI_ArrowDeviceArray, c_device};
use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, DeviceSlice};
use arrow_cuda_context::{Arrival, Stream};
use arrow_cuda_driver::call;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use common::there;
use device::{Gate, alone};
use raw::{Releases, import, nested};
use std::thread;

#[test]
fn the_last_buffer_releases_the_structure_on_any_thread() {
    let (_alone, context) = alone();
    let exported = there(&context, &nested());
    let before = context.bytes_allocated().expect("alive");
    let mut structure = exported.export().expect("alive");
    let releases = Releases::of(&mut structure);
    let imported = import(&context, structure, exported.data_type()).expect("sound");
    drop(exported);
    let words = imported.children().next().expect("a child");
    let last = words.dictionary().expect("values").buffers()[1].clone();
    drop((words, imported));
    assert_eq!(last.to_vec().expect("alive"), b"ab");
    assert_eq!(releases.count(), 0);
    thread::spawn(move || drop(last)).join().expect("no panic");
    assert_eq!(releases.count(), 1);
    assert!(context.bytes_allocated().expect("alive") < before, "its memory is released, too");
}

#[test]
fn a_consumer_in_c_releases_a_structure_once() {
    let (_alone, context) = alone();
    let before = context.bytes_allocated().expect("alive");
    let mut structure = there(&context, &nested()).export().expect("alive");
    assert!(context.bytes_allocated().expect("alive") > before);
    let release = structure.array.release().expect("live");
    // SAFETY: called once, with its structure.
    unsafe { release(&raw mut structure.array) };
    assert!(structure.is_released());
    assert_eq!(context.bytes_allocated().expect("alive"), before);
    drop(structure);
}

#[test]
fn an_exchange_copies_nothing() {
    let (_alone, context) = alone();
    let exported = there(&context, &Int32Array::from(vec![Some(1), None, Some(3)]));
    let before = context.bytes_allocated().expect("alive");
    let structure = exported.export().expect("alive");
    let imported = import(&context, structure, &DataType::Int32).expect("sound");
    assert_eq!(context.bytes_allocated().expect("alive"), before);
    let addresses = |array: &DeviceArray| {
        [array.nulls().expect("nulls").private_address(), array.buffers()[0].private_address()]
    };
    assert_eq!(addresses(&imported), addresses(&exported));
    // An imported array is exported again, and its structure retains the first one.
    let again = imported.export().expect("alive");
    drop((exported, imported));
    let again = import(&context, again, &DataType::Int32).expect("sound");
    let found = again.to_host().expect("valid");
    assert_eq!(&*found, &Int32Array::from(vec![Some(1), None, Some(3)]) as &dyn Array);
    assert!(again.buffers().iter().all(|buffer| !buffer.is_mutable()));
}

#[test]
fn what_kernels_cannot_load_from_is_exported_as_a_copy() {
    let (_alone, context) = alone();
    let whole = DeviceBuffer::allocate(&context, 64).expect("room");
    whole.copy_from_host(&(0..64).collect::<Vec<u8>>()).expect("alive");
    for place in [0, 1, 4, 8] {
        let buffers = vec![whole.slice_with_length(place, 32).expect("within")];
        let parts = ArrayParts { buffers, ..ArrayParts::new(DataType::Int64, 4) };
        let array = DeviceArray::new(&context, parts).expect("parts that fit");
        let structure = array.export().expect("alive");
        let address = structure.array.buffer(1) as u64;
        assert!(address.is_multiple_of(8));
        assert_eq!(address == array.buffers()[0].private_address(), place.is_multiple_of(8));
        let imported = import(&context, structure, &DataType::Int64).expect("sound");
        let values = [imported, array].map(|array| array.to_host().expect("valid"));
        assert_eq!(&values[0], &values[1]);
    }
}

#[test]
fn a_child_outlives_the_structure_that_it_was_moved_out_of() {
    let (_alone, context) = alone();
    let before = context.bytes_allocated().expect("alive");
    let exported = there(&context, &nested());
    let data_type = exported.children().nth(2).expect("texts").data_type().clone();
    let structure = exported.export().expect("alive");
    drop(exported);
    // SAFETY: the consumer's way to move a child.
    let child = unsafe {
        let child = std::ptr::from_ref(structure.array.child(2)).cast_mut();
        FFI_ArrowDeviceArray {
            array: FFI_ArrowArray::from_raw(child),
            device_type: c_device::CUDA,
            ..FFI_ArrowDeviceArray::empty()
        }
    };
    drop(structure);
    let texts = import(&context, child, &data_type).expect("sound");
    assert_eq!(texts.buffers()[1].to_vec().expect("alive"), b"onethree");
    drop(texts);
    assert_eq!(context.bytes_allocated().expect("alive"), before);
}

#[test]
fn a_structure_is_moved_out_of_memory_once() {
    let (_alone, context) = alone();
    let mut structure = there(&context, &Int32Array::from(vec![1])).export().expect("alive");
    // SAFETY: a live structure.
    let moved = unsafe { FFI_ArrowDeviceArray::from_raw(&raw mut structure) };
    assert!(structure.is_released() && !moved.is_released());
    let refused = import(&context, structure, &DataType::Int32);
    assert_eq!(refused.expect_err("released").to_string(), "the structure was released");
}

#[test]
fn an_exported_array_has_an_event_behind_its_work() {
    let (_alone, context) = alone();
    let array = there(&context, &Int32Array::from(vec![1, 2]));
    let work = Stream::non_blocking(&context).expect("room");
    let gate = Gate::on(&work);
    array.buffers()[0].fill_in(CopyOrder::On(&work), 1).expect("alive");
    assert!(array.export().expect("alive").sync_event.is_null(), "that stream is not ordered");
    let mut structure = array.export_on(&work).expect("alive");
    assert!(!structure.sync_event.is_null());
    let releases = Releases::of(&mut structure);
    let stream = Stream::non_blocking(&context).expect("room");
    // SAFETY: made above, for this type.
    let imported = unsafe { DeviceArray::import_on(&stream, structure, &DataType::Int32) };
    let imported = imported.expect("sound");
    assert!(!stream.is_complete().expect("alive"), "it waits for the event");
    assert!(!Stream::default_of(&context).is_complete().expect("alive"), "and so does this one");
    // The export covers pending work of the default stream, too.
    assert!(!array.export().expect("alive").sync_event.is_null());
    gate.open();
    let found = imported.to_host().expect("valid");
    assert_eq!(&*found, &Int32Array::from(vec![0x0101_0101; 2]) as &dyn Array);
    assert_eq!(releases.count(), 0);
    drop(imported);
    assert_eq!(releases.count(), 1);
}

#[test]
fn nulls_and_sizes_are_read_behind_the_event() {
    let (_alone, context) = alone();
    let texts = there(&context, &StringArray::from(vec![Some("one"), None, Some("three")]));
    let slice = texts.slice(1, 2).expect("within"); // whose nulls are unknown
    let validity = texts.clone().into_parts().nulls.expect("nulls");
    let offsets = &texts.buffers()[0];
    let right = offsets.copy_to(&context).expect("room");
    offsets.fill(0xFF).expect("alive");
    validity.fill(0xFF).expect("alive");
    let work = Stream::non_blocking(&context).expect("room");
    let gate = Gate::on(&work);
    offsets.copy_from_device_in(CopyOrder::On(&work), 0, &right).expect("alive");
    validity.fill_in(CopyOrder::On(&work), 0b101).expect("alive");
    let opening = gate.open_soon();
    let structure = slice.export_on(&work).expect("alive");
    assert_eq!(structure.array.null_count(), 1);
    let imported = import(&context, structure, &DataType::Utf8).expect("sound");
    let expected = StringArray::from(vec![None, Some("three")]);
    assert_eq!(&*imported.to_host().expect("valid"), &expected as &dyn Array);
    opening.join().expect("no panic");
}

#[test]
fn managed_memory_stays_managed() {
    let (_alone, context) = alone();
    let mut address = 0u64;
    let attach_global = 1;
    {
        let _current = context.enter().expect("alive");
        // SAFETY: a place for the address.
        unsafe { call!(cuMemAllocManaged((&raw mut address).cast(), 12, attach_global)) }
            .expect("room");
    }
    // SAFETY: the test does not release it, and nobody else knows it.
    let memory = unsafe {
        DeviceBuffer::view(&context, address, 12, true, Arrival::complete(), Box::new(()))
    };
    let memory = memory.expect("managed memory");
    let numbers = DeviceSlice::<i32>::from_buffer(memory).expect("aligned");
    numbers.copy_from_host(&[1, 2, 3]).expect("alive");
    let parts =
        ArrayParts { buffers: vec![numbers.into_buffer()], ..ArrayParts::new(DataType::Int32, 3) };
    let array = DeviceArray::new(&context, parts).expect("parts that fit");
    let structure = array.export().expect("alive");
    assert_eq!(structure.device_type, c_device::CUDA_MANAGED);
    let imported = import(&context, structure, &DataType::Int32).expect("sound");
    let found = imported.to_host().expect("valid");
    assert_eq!(&*found, &Int32Array::from(vec![1, 2, 3]) as &dyn Array);
}

#[test]
fn pinned_arrays_are_the_hosts_and_the_devices() {
    let (_alone, context) = alone();
    let whole = there(&context, &nested());
    let part = whole.slice(1, 2).expect("within");
    let pinned = part.to_pinned_array().expect("valid");
    assert_eq!(&pinned, &nested().slice(1, 2));
    let mut structure = c_device::export_pinned(&context, &pinned).expect("pinned");
    assert_eq!((structure.device_type, structure.device_id), (c_device::CUDA_HOST, -1));
    let releases = Releases::of(&mut structure);
    let data_type = pinned.data_type().clone();
    // SAFETY: made above, for this type.
    let imported =
        unsafe { c_device::import_host(&context, structure, &data_type) }.expect("sound");
    assert_eq!(&imported, &pinned);
    assert_eq!(&there(&context, &imported).to_host().expect("valid"), &pinned);
    drop(imported);
    assert_eq!(releases.count(), 1);
    let refused = c_device::export_pinned(&context, &nested()).expect_err("pageable memory");
    assert!(refused.to_string().contains("to_pinned_array"), "{refused}");
}

#[test]
fn host_arrays_wait_for_their_event_and_others_are_refused() {
    let (_alone, context) = alone();
    let stream = Stream::new(&context).expect("alive");
    let pinned = there(&context, &Int32Array::from(vec![1])).to_pinned_array().expect("valid");
    let gate = Gate::on(&stream);
    let event = stream.record().expect("alive");
    let handle = event.as_raw();
    let mut structure = c_device::export_pinned(&context, &pinned).expect("pinned");
    structure.sync_event = std::ptr::from_ref(&handle).cast_mut().cast();
    thread::scope(|scope| {
        // SAFETY: made above, for this type, with an event that lives.
        let importer = scope.spawn(|| unsafe {
            let array = c_device::import_host(&context, structure, &DataType::Int32);
            (array, event.is_complete())
        });
        gate.open();
        let (array, is_complete) = importer.join().expect("no panic");
        assert_eq!((&array.expect("sound"), is_complete), (&pinned, Ok(true)));
    });
    for structure in
        [FFI_ArrowDeviceArray::empty(), there(&context, &pinned).export().expect("alive")]
    {
        // SAFETY: refused by what the structure says itself.
        let refused = unsafe { c_device::import_host(&context, structure, &DataType::Int32) };
        refused.expect_err("released, or on the device");
    }
}
