//! Buffered writes while earlier ones are on their way, and when driver calls fail.

#[path = "../../context/tests/common/mod.rs"]
mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Cache, Context, Stream};
use arrow_cuda_host_io::{BufferWriter, HostBuffer, queue_download};
use common::{Gate, alone, alone_with_simulator, pattern};
use rstest::rstest;
use simulator::{calls_of, fault, with_settings};
use std::thread;

fn zeros(context: &Context, size: usize) -> DeviceBuffer {
    let buffer = DeviceBuffer::allocate(context, size).expect("room");
    buffer.fill(0).expect("a fill");
    buffer
}

/// A writer that buffers as many bytes.
fn writer_of(buffer: &DeviceBuffer, size: usize) -> BufferWriter {
    let writer = BufferWriter::new(buffer.clone()).expect("mutable");
    writer.set_buffer_size(size).expect("host memory");
    writer
}

/// The bytes on the device, without waiting for the default stream.
fn bytes_now(buffer: &DeviceBuffer) -> Vec<u8> {
    let stream = Stream::non_blocking(buffer.context()).expect("room");
    let out = HostBuffer::allocate(buffer.context(), buffer.len()).expect("room");
    let download = queue_download(&stream, buffer, 0, out).expect("alive");
    download.wait().expect("alive").as_slice().to_vec()
}

#[test]
fn a_full_half_travels_while_the_other_fills() {
    let (_alone, context) = alone();
    let buffer = zeros(&context, 11);
    let writer = writer_of(&buffer, 4);
    // Memory for the second half is allocated before: that may wait for the device.
    writer.write_bytes(b"abc").and_then(|()| writer.write_bytes(b"de")).expect("room");
    writer.set_position(0).expect("within");
    writer.flush().expect("alive");
    buffer.fill(0).expect("a fill");
    let gate = Gate::on_default_stream(&context);
    writer.write_bytes(b"abc").expect("room");
    assert_eq!(writer.bytes_buffered(), 3);
    writer.write_bytes(b"d").expect("queued");
    assert_eq!((writer.bytes_buffered(), writer.position()), (0, Ok(4)));
    writer.write_bytes(b"efg").expect("buffered");
    assert_eq!((writer.bytes_buffered(), writer.position()), (3, Ok(7)));
    writer.set_position(8).expect("queued");
    assert_eq!(bytes_now(&buffer), [0; 11]);
    thread::scope(|scope| {
        // These bytes need the first half, and wait for it.
        let last = scope.spawn(|| writer.write_bytes(b"ijk"));
        gate.open();
        last.join().expect("no panic").expect("the device goes on");
    });
    assert_eq!(buffer.to_vec().expect("alive")[..8], *b"abcdefg\0");
    writer.flush().expect("alive");
    assert_eq!(bytes_now(&buffer), b"abcdefg\0ijk");
}

#[test]
fn flush_and_close_wait() {
    let (_alone, context) = alone();
    for is_closing in [false, true] {
        let buffer = zeros(&context, 8);
        let writer = writer_of(&buffer, 4);
        let gate = Gate::on_default_stream(&context);
        writer.write_bytes(b"abc").and_then(|()| writer.write_bytes(b"d")).expect("queued");
        let opener = gate.open_soon();
        let done = if is_closing { writer.close() } else { writer.flush() };
        done.expect("the device goes on");
        opener.join().expect("no panic");
        assert_eq!(bytes_now(&buffer), b"abcd\0\0\0\0");
    }
}

/// Writes a pattern in parts of all sizes, again where a part fails.
fn write_all(buffer: &DeviceBuffer, data: &[u8]) -> u32 {
    let (mut failures, mut done) = (0, 0);
    let mut again = |result: Result<(), _>| {
        failures += u32::from(result.is_err());
        result.is_err()
    };
    let writer = BufferWriter::new(buffer.clone()).expect("mutable");
    while again(writer.set_buffer_size(64)) {}
    for size in (1..80).cycle() {
        let part = &data[done..data.len().min(done + size)];
        if part.is_empty() {
            break;
        }
        while again(writer.write_bytes(part)) {
            assert_eq!(writer.position(), Ok(done as u64), "the position is unchanged");
        }
        done += part.len();
        assert!(writer.bytes_buffered() < 64);
    }
    while again(writer.flush()) {}
    failures
}

/// How many writes of a pattern fail under `rules` of the simulator; all its bytes arrive.
fn failures_under(context: &Context, rules: &str) -> u32 {
    let data = pattern(2000);
    let buffer = zeros(context, data.len());
    fault(rules);
    let failures = write_all(&buffer, &data);
    fault("");
    assert!(buffer.to_vec().expect("alive") == data, "{rules}");
    failures
}

#[rstest]
fn a_write_that_fails_can_be_made_again(
    #[values("cuMemcpyHtoDAsync", "cuEventSynchronize")] function: &str,
) {
    let Some((_alone, context)) = alone_with_simulator() else { return };
    for call in 1..12 {
        assert_eq!(failures_under(&context, &format!("{function}:{call}=719")), 1, "call {call}");
    }
}

/// Each copy asks three times for captures: the last time before the half's end is recorded, in place of which a wait
/// for the stream does as well.
#[test]
fn a_failed_question_for_captures_fails_a_write_or_is_made_up_for() {
    let Some((_alone, context)) = alone_with_simulator() else { return };
    for call in 1..12 {
        let rules = format!("cuStreamIsCapturing:{call}=719");
        assert_eq!(failures_under(&context, &rules), u32::from(call % 3 > 0), "call {call}");
    }
}

/// The first event of each copy belongs to what it retains, the second one to the half.
#[test]
fn a_half_whose_end_nobody_knows_is_given_up() {
    let Some((_alone, context)) = alone_with_simulator() else { return };
    for copy in 1..8 {
        let rules = format!("cuEventRecord:{}=719,cuStreamSynchronize:1=719", 2 * copy);
        assert_eq!(failures_under(&context, &rules), 1, "copy {copy}");
    }
}

#[test]
fn a_write_that_finds_no_half_can_be_made_again() {
    let Some((_alone, context)) = alone_with_simulator() else { return };
    Cache::Pinned.empty().expect("alive");
    // The first half is given up, and there is no memory for the second one, once.
    Cache::Pinned.set_limit(0).expect("alive"); // each half has memory of its own
    let rules = "cuEventRecord:2=719,cuStreamSynchronize:1=719,cuMemHostRegister:2=719";
    assert_eq!(failures_under(&context, rules), 2);
}

#[rstest]
fn writes_need_neither_events_nor_pinned_memory(
    #[values("cuEventRecord:1+=719", "cuMemHostRegister:1+=2")] rules: &str,
) {
    let Some((_alone, context)) = alone_with_simulator() else { return };
    Cache::Pinned.empty().expect("alive");
    failures_under(&context, rules);
}

#[test]
fn an_error_that_nobody_has_seen_surfaces_when_the_writer_is_closed() {
    let Some((_alone, context)) = alone_with_simulator() else { return };
    let buffer = zeros(&context, 8);
    let writer = writer_of(&buffer, 4);
    writer.write_bytes(b"abc").and_then(|()| writer.write_bytes(b"d")).expect("queued");
    fault("cuStreamSynchronize:1=719");
    let closed = writer.close();
    fault("");
    assert!(closed.is_err() && writer.is_closed());
    writer.close().expect("closed already");
}

#[test]
fn bytes_that_travel_are_left_alone() {
    with_settings(&[("CUDA_SIM_LATENCY", "2000")], || {
        let (_alone, context) = alone();
        assert_eq!(failures_under(&context, ""), 0);
    });
}

#[test]
fn a_half_without_another_one_waits_for_itself() {
    with_settings(&[("CUDA_SIM_LATENCY", "2000")], || {
        let (_alone, context) = alone();
        let data = pattern(2000);
        let buffer = zeros(&context, data.len());
        Cache::Pinned.set_limit(0).expect("alive"); // each half has memory of its own
        fault("cuMemHostRegister:2+=719");
        let allocations =
            calls_of(c"cuMemHostRegister", || assert_eq!(write_all(&buffer, &data), 0));
        assert!(allocations > Some(1), "the second half was asked for");
        fault("");
        assert!(buffer.to_vec().expect("alive") == data);
    });
}

/// Each device has a default stream of its own, but the driver's copies between devices follow both.
#[test]
fn bytes_of_another_device_come_after_those_on_their_way() {
    with_settings(&[("CUDA_SIM_DEVICES", "2")], || {
        let (_alone, context) = alone();
        let second = Context::primary(1).expect("a device");
        let other = DeviceBuffer::allocate(&second, 4).expect("room");
        other.copy_from_host(b"WXYZ").expect("a copy");
        let buffer = zeros(&context, 4);
        let writer = writer_of(&buffer, 8);
        let gate = Gate::on_default_stream(&context);
        writer.write_bytes(b"abcd").expect("buffered");
        writer.set_position(0).expect("queued");
        let opener = gate.open_soon(); // after a copy that comes too early
        writer.write_device(&other).expect("a copy");
        opener.join().expect("no panic");
        writer.close().expect("nothing buffered");
        assert_eq!(buffer.to_vec().expect("alive"), b"WXYZ");
    });
}

#[test]
fn small_writes_are_one_copy_a_half() {
    let Some((_alone, context)) = alone_with_simulator() else { return };
    let writer = writer_of(&zeros(&context, 1 << 20), 64 << 10);
    let copies = calls_of(c"cuMemcpyHtoDAsync_v2", || {
        for part in pattern(1 << 20).chunks(1 << 10) {
            writer.write_bytes(part).expect("room");
        }
        writer.close().expect("alive");
    });
    assert_eq!(copies, Some(16));
}
