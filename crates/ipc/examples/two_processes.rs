//! A record batch in device memory that another process reads.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda-ipc --example two_processes
//! ```

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_cuda_context::Context;
use arrow_cuda_ipc::{IpcMemHandle, export, open, read_record_batch, serialize_record_batch};
use arrow_schema::{DataType, Field, Schema};
use std::error::Error;
use std::process::Command;
use std::sync::Arc;

fn main() {
    // The second process gets the handle as an argument.
    let outcome = match std::env::args().nth(1) {
        None => write(),
        Some(handle) => read(&handle),
    };
    if let Err(error) = outcome {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]))
}

fn write() -> Result<(), Box<dyn Error>> {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(41)]));
    let batch = RecordBatch::try_new(schema(), vec![column])?;
    let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
    let handle = export(&message)?.to_bytes();
    println!("the first process wrote {} bytes", message.len());
    let digits: String = handle.iter().map(|byte| format!("{byte:02x}")).collect();
    // The memory must stay allocated until the other process is done.
    let status = Command::new(std::env::current_exe()?).arg(digits).status()?;
    if status.success() { Ok(()) } else { Err(format!("the second process: {status}").into()) }
}

fn read(digits: &str) -> Result<(), Box<dyn Error>> {
    let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
    let handle = IpcMemHandle::from_bytes(&bytes.collect::<Result<Vec<_>, _>>()?)?;
    let message = open(&Context::primary(0)?, &handle)?;
    let batch = read_record_batch(&message, schema())?;
    let column = batch.column(0).as_primitive::<Int64Type>();
    let sum: i64 = column.iter().flatten().sum();
    println!("the second process read {} rows, whose sum is {sum}", batch.num_rows());
    Ok(())
}
