//! The second process of an example, which gets a handle as its argument.

use arrow_array::Int64Array;
use arrow_cuda_buffer::DeviceSlice;
use arrow_cuda_context::Context;
use arrow_cuda_ipc::{IpcMemHandle, open};
use std::error::Error;
use std::process::Command;

/// A kernel that doubles numbers of 64 bits, which the simulator runs as well.
pub const TWICE: &str = "
.version 6.0
.target sm_50
.address_size 64

.visible .entry twice(.param .u64 numbers, .param .u64 count)
{
    .reg .pred  %outside;
    .reg .b32   %thread, %block;
    .reg .b64   %numbers, %count, %number, %value;

    ld.param.u64    %numbers, [numbers];
    ld.param.u64    %count, [count];
    mov.u32         %thread, %tid.x;
    mov.u32         %block, %ctaid.x;
    mad.lo.u32      %thread, %block, 256, %thread;
    cvt.u64.u32     %number, %thread;
    setp.ge.u64     %outside, %number, %count;
    @%outside bra   END;
    shl.b64         %number, %number, 3;
    add.u64         %numbers, %numbers, %number;
    ld.global.u64   %value, [%numbers];
    add.u64         %value, %value, %value;
    st.global.u64   [%numbers], %value;
END:
    ret;
}
";

/// Runs the first process, or in the second one what reads the column.
pub fn run(first: fn() -> Result<(), Box<dyn Error>>) {
    let outcome = match std::env::args().nth(1) {
        None => first(),
        Some(handle) => read(&handle),
    };
    if let Err(error) = outcome {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Starts the second process, and waits for it.
pub fn send(handle: &IpcMemHandle) -> Result<(), Box<dyn Error>> {
    let digits: String = handle.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let status = Command::new(std::env::current_exe()?).arg(digits).status()?;
    if status.success() { Ok(()) } else { Err(format!("the second process: {status}").into()) }
}

fn read(digits: &str) -> Result<(), Box<dyn Error>> {
    let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
    let handle = IpcMemHandle::from_bytes(&bytes.collect::<Result<Vec<_>, _>>()?)?;
    let numbers = DeviceSlice::<i64>::from_buffer(open(&Context::primary(0)?, &handle)?)?;
    let column = Int64Array::from(numbers.to_vec()?);
    println!("the second process read {column:?}");
    Ok(())
}
