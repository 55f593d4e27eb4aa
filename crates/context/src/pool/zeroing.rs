//! Zeroes memory before a caller gets it, if the program has asked for that.

use super::Block;
use crate::Current;
use arrow_cuda_driver::{CudaResult, Variable};
use std::sync::OnceLock;

static ZERO: Variable = Variable::new("PYARROW_CUDA_ZERO", "'on' or 'off'");

pub(super) fn is_on() -> bool {
    static IS_ON: OnceLock<bool> = OnceLock::new();
    *IS_ON.get_or_init(|| {
        let value = ZERO.read("new memory is zeroed", |text| match text {
            "on" | "1" => Some(true),
            "off" | "0" => Some(false),
            _ => None,
        });
        // Whoever sets it means to be on the safe side.
        value.map_or(true, Option::unwrap_or_default)
    })
}

/// A new block, zeroed if the variable is on: it may hold the bytes of earlier buffers.
pub(super) fn prepared(block: Block) -> CudaResult<Block> {
    if !is_on() {
        return Ok(block);
    }
    let size = usize::try_from(block.size()).unwrap_or(usize::MAX);
    if block.is_on_host() {
        let start = std::ptr::with_exposed_provenance_mut::<u8>(block.private_address() as usize);
        // SAFETY: a live block, which nobody else has yet.
        unsafe { start.write_bytes(0, size) };
        return Ok(block);
    }
    let fill = |current: Current<'_>| {
        // SAFETY: a live block, which nobody else has yet.
        let zeroed = unsafe { current.fill_memory(block.private_address(), 0, size) };
        // The driver may still be writing to it then.
        zeroed.inspect_err(|_| block.expose())
    };
    block.context().enter().and_then(fill)?;
    Ok(block)
}
