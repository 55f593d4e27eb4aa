//! Two streams of one context, ordered by an event.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda-context --example streams
//! ```

use arrow_cuda_context::{Block, Context, Device, Event, Placement, Ready, Stream};
use arrow_cuda_driver::CudaResult;

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> CudaResult<()> {
    let context = Context::primary(0)?;
    println!("device 0 of {}: {}", Device::count()?, context.device().name()?);

    let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
    let (start, end) = (Event::with_timing(&context)?, Event::with_timing(&context)?);
    start.record(&first)?;
    // Work that is queued on the second stream from now on begins after the event.
    second.wait_for(&start)?;
    end.record(&second)?;
    end.synchronize()?;
    assert!(first.is_complete()? && second.is_complete()?);
    println!("from one event to the other: {:.3} ms", start.elapsed(&end)?);

    let block = Block::allocate(&context, 1 << 20, Placement::Packed)?;
    println!(
        "{} bytes are allocated at {:#x}",
        context.bytes_allocated()?,
        block.address(&Ready::by_caller())
    );
    drop(block);
    println!("{} bytes are allocated after the release", context.bytes_allocated()?);
    Ok(())
}
