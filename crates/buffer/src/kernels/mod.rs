//! What the kernels of this crate have in common.

#[cfg(test)]
pub(crate) mod emulator;

/// Threads per block, as the texts of the kernels say.
pub(crate) const THREADS: u32 = 256;
/// Enough blocks to keep every multiprocessor of a large GPU busy until the end.
pub(crate) const MAX_BLOCKS: u64 = 132 * 16;
