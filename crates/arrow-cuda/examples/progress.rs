//! A file to device memory, with progress.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda --example progress
//! ```

use arrow_cuda::{BufferWriter, Context, DeviceBuffer, HostFile};
use std::error::Error;
use std::fs::{File, remove_file, write};

/// The bytes that are copied between two reports.  Fewer than some MiB would be slower.
const STEP: usize = 16 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("progress-{}.bin", std::process::id()));
    write(&path, vec![7; 40 << 20])?;

    let file = File::open(&path)?;
    let size = file.metadata()?.len() as usize;
    let buffer = DeviceBuffer::allocate(&Context::primary(0)?, size)?;
    let (file, writer) =
        (HostFile::to_read(file, 0, size as u64, None), BufferWriter::new(buffer)?);
    for begin in (0..size).step_by(STEP) {
        writer.write_file(&file, begin as u64, STEP.min(size - begin))?;
        println!("{} of {} MiB", writer.position()? >> 20, size >> 20);
    }
    Ok(remove_file(&path)?)
}
