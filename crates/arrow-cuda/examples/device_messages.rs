//! A record batch that becomes a message, and a batch again, without leaving the device.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda --example device_messages
//! ```

use arrow_cuda::arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_cuda::ipc::{export, read_device_batch, serialize_device_batch};
use arrow_cuda::{Context, DeviceRecordBatch, Error};
use std::sync::Arc;

fn main() -> Result<(), Error> {
    let context = Context::primary(0)?;
    let words: ArrayRef = Arc::new(StringArray::from(vec!["one", "two", "three"]));
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
    let batch = RecordBatch::try_from_iter([("words", words), ("numbers", numbers)])?;

    let there = DeviceRecordBatch::from_host(&context, &batch)?.project(&[1])?.slice(1, 2)?;
    let message = serialize_device_batch(&there)?;
    println!("{} bytes on the device", message.len());
    println!("another process opens them by {} bytes", export(&message)?.to_bytes().len());

    let again = read_device_batch(&message, there.schema())?;
    println!("{:?}", again.to_host()?.column(0));
    Ok(())
}
