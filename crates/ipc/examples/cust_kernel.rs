//! A kernel that `cust` loads, over a column in device memory that another process reads.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda-ipc --features cust --example cust_kernel
//! ```

#[path = "common/second_process.rs"]
mod second_process;

use arrow_array::Int64Array;
use arrow_cuda_buffer::DeviceSlice;
use arrow_cuda_context::{Context, Function, Stream};
use arrow_cuda_ipc::export;
use cust::launch;
use cust::module::Module;
use std::error::Error;
use std::sync::Arc;

fn main() {
    second_process::run(first_process);
}

fn first_process() -> Result<(), Box<dyn Error>> {
    let column = Int64Array::from(vec![1, 20, 300]);
    let context = Context::primary(0)?;
    let numbers = DeviceSlice::from_slice(&context, column.values())?.into_buffer();

    // cust's functions work in the context that is current, and on our stream.
    let _current = context.enter()?;
    let module = Arc::new(Module::from_ptx(second_process::TWICE, &[])?);
    let kernel = Function::of_cust_module(&context, module, "twice")?;
    let stream = Stream::new(&context)?;
    // SAFETY: the buffer outlives the kernel's work, and nobody else uses it meanwhile.
    let theirs = unsafe { numbers.as_cust_slice_mut::<i64>() }?;
    let (function, on, count) = (kernel.to_cust(), stream.as_cust(), theirs.len());
    let blocks = u32::try_from(count.div_ceil(256))?;
    // SAFETY: the kernel takes an address and a count, and reads and writes `count` numbers there.
    unsafe { launch!(function<<<blocks, 256, 0, on>>>(theirs.as_device_ptr(), count as u64)) }?;
    drop(stream.synchronize()?);

    println!("cust has doubled {count} numbers");
    second_process::send(&export(&numbers)?)
}
