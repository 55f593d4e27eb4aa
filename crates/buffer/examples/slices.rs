//! Device memory as buffers: copies, slices that share memory, and equality.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda-buffer --example slices
//! ```

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_context::Context;

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Error> {
    let context = Context::primary(0)?;
    let whole = DeviceBuffer::allocate(&context, 16)?;
    whole.fill(b'-')?;

    // A slice shares the memory.
    let middle = whole.slice(4..12)?;
    middle.copy_from_host(b"on a GPU")?;
    println!("{}", String::from_utf8_lossy(&whole.to_vec()?));

    // The device compares.
    let other = DeviceBuffer::allocate(&context, 8)?;
    other.copy_from_device(&middle)?;
    println!("the copy is equal: {}", other.equals(&middle)?);
    other.slice(..1)?.fill(b'O')?;
    println!("after a change: {}", other.equals(&middle)?);

    // Ranges are checked before the driver is called.
    let refused = whole.slice(12..20).expect_err("four bytes too many");
    println!("{refused}");
    Ok(())
}
