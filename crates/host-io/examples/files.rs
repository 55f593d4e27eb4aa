//! Device memory as a file, and pinned host memory.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda-host-io --example files
//! ```

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_host_io::{BufferReader, BufferWriter, HostBuffer};

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::primary(0)?;
    let buffer = DeviceBuffer::allocate(&context, 25)?;

    // The writer buffers small writes on the host, and copies them to the device together.
    let writer = BufferWriter::new(buffer.clone())?;
    writer.set_buffer_size(64)?;
    for line in ["one line\n", "and another one\n"] {
        writer.write_bytes(line.as_bytes())?;
        println!("{} bytes wait on the host", writer.bytes_buffered());
    }
    writer.close()?;

    // The reader hands out slices that stay on the device.
    let reader = BufferReader::new(buffer);
    reader.set_position(4)?;
    let word = reader.read_buffer(4)?;
    println!("the reader is at byte {} and has read {word:?}", reader.position()?);

    // Copies to and from pinned memory are the fastest.
    let mut pinned = HostBuffer::allocate(&context, 4)?;
    word.copy_to_host(pinned.as_mut_slice())?;
    println!("in pinned memory: {:?}", String::from_utf8_lossy(pinned.as_slice()));
    Ok(())
}
