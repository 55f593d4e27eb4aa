//! A kernel that `cudarc` loads, over a column in device memory that another process reads.
//!
//! ```sh
//! cargo run -p arrow-cuda-ipc --features cudarc --example cudarc_kernel
//! ```
//!
//! On the simulated device, `cudarc` must find the simulator under the real driver's name.  If it does not, the program
//! prints how to arrange that.

#[path = "common/second_process.rs"]
mod second_process;

use arrow_array::Int64Array;
use arrow_cuda_buffer::DeviceSlice;
use arrow_cuda_context::Context;
use arrow_cuda_ipc::export;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use std::error::Error;

fn main() {
    second_process::run(first_process);
}

fn first_process() -> Result<(), Box<dyn Error>> {
    let column = Int64Array::from(vec![1, 20, 300]);
    let context = Context::primary(0)?;
    let numbers = DeviceSlice::from_slice(&context, column.values())?.into_buffer();

    let cudarc = context.to_cudarc()?;
    let kernel =
        cudarc.load_module(Ptx::from_src(second_process::TWICE))?.load_function("twice")?;
    let stream = cudarc.new_stream()?;
    let mut theirs = numbers.as_cudarc_mut::<i64>(&stream)?;
    let count = theirs.len();
    let (mut view, long) = (theirs.as_view_mut(), count as u64);
    let shape = LaunchConfig {
        grid_dim: (u32::try_from(count.div_ceil(256))?, 1, 1),
        block_dim: (256, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: the kernel takes an address and a count, and reads and writes `count` numbers there.
    unsafe { stream.launch_builder(&kernel).arg(&mut view).arg(&long).launch(shape) }?;
    // From here on, our work is ordered after cudarc's; another process needs a wait.
    drop(theirs);
    context.synchronize()?;

    println!("cudarc has doubled {count} numbers");
    second_process::send(&export(&numbers)?)
}
