//! The validation of a message's metadata, before its body is accessed.

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_cuda_ipc::{Frame, Metadata, PREFIX};
use arrow_ipc::writer::StreamWriter;
use criterion::{BenchmarkId, Criterion, Throughput};
use std::hint::black_box;
use std::sync::Arc;

/// The message of a batch with `columns` columns.
fn message(columns: usize) -> Vec<u8> {
    let column: ArrayRef = Arc::new(Float64Array::from(vec![1.5; 100]));
    let names = (0..columns).map(|number| format!("c{number}"));
    let batch = RecordBatch::try_from_iter(names.map(|name| (name, column.clone())))
        .expect("columns of one length");
    let mut stream = Vec::new();
    let mut writer = StreamWriter::try_new(&mut stream, &batch.schema()).expect("a stream");
    writer.write(&batch).expect("a batch");
    writer.finish().expect("an end");
    drop(writer);
    let schema = Frame::parse(&stream[..PREFIX], stream.len() as u64).expect("a schema");
    let start = usize::try_from(schema.body_offset()).expect("a small schema");
    stream.split_off(start)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("message");
    for columns in [1, 64, 256, 4096] {
        let bytes = message(columns);
        let size = bytes.len() as u64;
        group.throughput(Throughput::Elements(columns as u64));
        group.bench_with_input(BenchmarkId::new("check", columns), &bytes, |timer, bytes| {
            timer.iter(|| {
                let frame = Frame::parse(black_box(&bytes[..PREFIX]), size).expect("a message");
                let start = frame.body_offset() as usize;
                let metadata = &bytes[frame.metadata_offset as usize..start];
                let metadata = Metadata::parse(metadata).expect("metadata");
                metadata.check(size - start as u64).expect("sound metadata");
                metadata
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
