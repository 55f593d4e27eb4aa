//! Copies 64 MiB to the device and back, from pageable and from pinned memory, and says how fast.

use arrow_cuda_context::{Block, Context, Placement};
use arrow_cuda_driver::CudaError;
use arrow_cuda_transfer::{HostBuffer, copy_from_host, copy_to_host, transfer_limits};
use std::mem::MaybeUninit;
use std::time::Instant;

const SIZE: usize = 64 << 20;

fn main() -> Result<(), CudaError> {
    let context = Context::primary(0)?;
    let block = Block::allocate(&context, SIZE as u64, Placement::Alone)?;
    println!("{}, {} copy threads", context.device().name()?, transfer_limits().threads);
    let pageable = vec![7u8; SIZE];
    let mut pinned = HostBuffer::allocate(&context, SIZE)?;
    pinned.as_mut_slice().fill(7);
    for (kind, data) in [("pageable", pageable.as_slice()), ("pinned", pinned.as_slice())] {
        let mut out = vec![MaybeUninit::uninit(); SIZE];
        for _ in 0..3 {
            let start = Instant::now();
            // SAFETY: the block is as large as `data`, and is ours.
            unsafe { copy_from_host(&context, block.private_address(), data) }?;
            let up = SIZE as f64 / start.elapsed().as_secs_f64() / 1e9;
            let start = Instant::now();
            // SAFETY: as above.
            unsafe { copy_to_host(&context, &mut out, block.private_address()) }?;
            let down = SIZE as f64 / start.elapsed().as_secs_f64() / 1e9;
            println!("{kind}: {up:.1} GB/s to the device, {down:.1} GB/s to pageable memory");
        }
    }
    Ok(())
}
