//! Copies on streams against the bytes that they should leave.

#[path = "../../context/tests/common/mod.rs"]
mod common;

use arrow_cuda_buffer::{
    CopyOrder, DeviceBuffer, DeviceSlice, Elements, Error, copy_elements, copy_elements_in,
};
use arrow_cuda_context::{Context, Stream};
use common::{Gate, alone, second_device};

/// Has the kernel loaded that copies between layouts: that may wait for all work of the context.
fn load_kernel(context: &Context) {
    let buffer = upload(context, b"abcd");
    let from = Elements { buffer: &buffer, offset: 0, strides: &[2] };
    let result = upload(context, b"--");
    let to = Elements { buffer: &result, offset: 0, strides: &[1] };
    copy_elements(to, from, &[2], 1).expect("a copy");
    assert_eq!(result.to_vec().expect("alive"), b"ac");
}

fn upload(context: &Context, bytes: &[u8]) -> DeviceBuffer {
    DeviceSlice::from_slice(context, bytes).expect("room").into_buffer()
}

#[test]
fn copies_between_layouts_come_in_turn_and_retain_their_buffers() {
    let (_alone, context) = alone();
    load_kernel(&context);
    let stream = Stream::non_blocking(&context).expect("room");
    let before = context.bytes_allocated().expect("alive");
    let (from, to) = (upload(&context, b"abcd"), upload(&context, b"--------"));
    let gate = Gate::on(&stream);
    let target = Elements { buffer: &to, offset: 1, strides: &[2] };
    let source = Elements { buffer: &from, offset: 0, strides: &[1] };
    copy_elements_in(CopyOrder::On(&stream), target, source, &[4], 1).expect("alive");
    // Within one buffer, which takes memory meanwhile.
    let start = Elements { offset: 0, strides: &[1], ..target };
    copy_elements_in(CopyOrder::On(&stream), start, target, &[4], 1).expect("alive");
    drop(from);
    assert_eq!(to.to_vec().expect("alive"), b"--------", "nothing is done yet");
    assert_eq!(context.bytes_allocated().expect("alive") - before, 4 + 8 + 4);
    gate.open();
    drop(stream.synchronize().expect("alive"));
    assert_eq!(to.to_vec().expect("alive"), b"abcd-c-d");
    assert_eq!(context.bytes_allocated().expect("alive") - before, 8);
}

#[test]
fn copies_between_layouts_without_a_stream_are_complete_when_they_return() {
    let (_alone, context) = alone();
    load_kernel(&context);
    let (from, to) = (upload(&context, b"abcd"), upload(&context, b"----"));
    let default = Stream::default_of(&context);
    let opener = Gate::on(&default).open_soon();
    let target = Elements { buffer: &to, offset: 3, strides: &[-2] };
    let source = Elements { buffer: &from, offset: 0, strides: &[1] };
    copy_elements(target, source, &[2], 1).expect("alive");
    assert!(default.is_complete().expect("alive"));
    opener.join().expect("no panic");
    assert_eq!(to.to_vec().expect("alive"), b"-b-a");
}

#[test]
fn copies_between_layouts_of_two_devices_come_in_turn() {
    let (_alone, first) = alone();
    let Some(second) = second_device() else { return };
    [&first, &second].into_iter().for_each(load_kernel);
    for (here, there) in [(&first, &second), (&second, &first)] {
        let stream = Stream::non_blocking(here).expect("room");
        for (to, from) in [(here, there), (there, here)] {
            let (source, target) = (upload(from, b"--------"), upload(to, b"........"));
            let (early, late) = (upload(to, b"abcdefgh"), upload(to, b"ABCDEFGH"));
            let result = upload(from, b"????????");
            let gate = Gate::on(&stream);
            source.copy_from_device_in(CopyOrder::On(&stream), 0, &early).expect("alive");
            let every_second = Elements { buffer: &target, offset: 0, strides: &[2] };
            let backwards = Elements { buffer: &source, offset: 7, strides: &[-2] };
            copy_elements_in(CopyOrder::On(&stream), every_second, backwards, &[4], 1)
                .expect("alive");
            source.copy_from_device_in(CopyOrder::On(&stream), 0, &late).expect("alive");
            result.copy_from_device_in(CopyOrder::On(&stream), 0, &target).expect("alive");
            drop(target);
            gate.open();
            drop(stream.synchronize().expect("alive"));
            assert_eq!(result.to_vec().expect("alive"), b"h.f.d.b.");
            assert_eq!(source.to_vec().expect("alive"), b"ABCDEFGH");
        }
    }
}

#[test]
fn pageable_memory_is_read_before_the_call_returns() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let (buffer, order) = (upload(&context, b"----"), CopyOrder::On(&stream));
    let opener = Gate::on(&stream).open_soon();
    buffer.fill_in(order, b'x').expect("alive");
    // SAFETY: the bytes outlive the call, which waits.
    unsafe { buffer.copy_from_host_in(order, 0, b"data".as_ptr(), 4, || Box::new(())) }
        .expect("alive");
    assert!(stream.is_complete().expect("alive"));
    opener.join().expect("no panic");
    assert_eq!(buffer.to_vec().expect("alive"), b"data");
}

#[test]
fn wrong_arguments_are_refused_and_change_nothing() {
    let (_alone, context) = alone();
    let stream = Stream::new(&context).expect("room");
    let (buffer, data) = (upload(&context, b"0123"), upload(&context, b"ab"));
    let outside = buffer.copy_from_device_in(CopyOrder::On(&stream), 3, &data);
    assert!(matches!(outside, Err(Error::OutOfBounds(_))));
    let read_only = buffer.read_only();
    assert!(matches!(read_only.fill_in(CopyOrder::On(&stream), 0), Err(Error::ReadOnly)));
    assert!(matches!(
        read_only.copy_from_device_in(CopyOrder::On(&stream), 0, &data),
        Err(Error::ReadOnly)
    ));
    drop(stream.synchronize().expect("alive"));
    assert_eq!(buffer.to_vec().expect("alive"), b"0123");
}

#[test]
fn copies_between_layouts_refuse_a_stream_of_another_context() {
    let (_alone, context) = alone();
    let Some(other) = second_device() else { return };
    let stream = Stream::new(&other).expect("room");
    let buffer = upload(&context, b"here");
    let every_second = Elements { buffer: &buffer, offset: 0, strides: &[2] };
    let refused = copy_elements_in(CopyOrder::On(&stream), every_second, every_second, &[2], 1);
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
}
