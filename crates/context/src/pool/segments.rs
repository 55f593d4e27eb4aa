//! Lists the contents of the pools, block by block: for reports.

use super::ledger::{BlockState, Ledger, SizeClass};
use super::pools::Pools;
use super::{Source, history};
use crate::{Context, contexts};
use std::sync::Arc;

/// Memory that the driver has allocated, or pinned, for the pools of a context.
///
/// ```
/// use arrow_cuda_context::{Block, Context, Placement, memory_segments};
///
/// let context = Context::primary(0)?;
/// let block = Block::allocate(&context, 100, Placement::Packed)?;
/// let segment = &memory_segments()[0];
/// assert!(segment.context.is_same(&context) && !segment.is_on_host);
/// assert_eq!(segment.size, segment.blocks.iter().map(|block| block.size).sum());
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemorySegment {
    /// The context.
    pub context: Context,
    /// Whether it is pinned host memory.
    pub is_on_host: bool,
    /// Where it begins.
    pub address: u64,
    /// Its size, in bytes.
    pub size: u64,
    /// The sizes of its blocks.
    pub class: SizeClass,
    /// The blocks that tile it, by address.
    pub blocks: Vec<MemoryBlock>,
}

/// A part of a [`MemorySegment`].
///
/// ```
/// use arrow_cuda_context::{Block, BlockState, Context, MemoryBlock, Placement, memory_segments};
///
/// let context = Context::primary(0)?;
/// let block = Block::allocate(&context, 100, Placement::Packed)?;
/// let segments = memory_segments();
/// let is_in_use = |it: &&MemoryBlock| it.state == BlockState::InUse;
/// let found = segments[0].blocks.iter().find(is_in_use).expect("the block");
/// assert_eq!((found.address, found.requested), (block.private_address(), 100));
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemoryBlock {
    /// Where it begins.
    pub address: u64,
    /// The bytes that it takes.
    pub size: u64,
    /// The bytes that were asked for, if it is in use.
    pub requested: u64,
    /// Who may use it.
    pub state: BlockState,
    /// Where the program has allocated it, if the [`MemoryHistory`](crate::MemoryHistory) knows.
    pub origin: Option<Arc<str>>,
}

/// All memory in the pools of this process: of all contexts, on devices and pinned.  Other threads go on to use it.
///
/// ```
/// use arrow_cuda_context::{Block, BlockState, Context, Placement, memory_segments};
///
/// let block = Block::allocate(&Context::primary(0)?, 700, Placement::Packed)?;
/// let blocks = memory_segments().into_iter().flat_map(|segment| segment.blocks);
/// let ours = blocks.filter(|each| each.address == block.private_address()).next();
/// assert!(ours.is_some_and(|it| it.requested == 700 && it.state == BlockState::InUse));
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
pub fn memory_segments() -> Vec<MemorySegment> {
    let origins = history::origins();
    let mut found = Vec::new();
    for context in contexts::all() {
        let Some(pools) = context.extension::<Pools>() else { continue };
        let is_alive = context.is_alive();
        // Pinned memory outlives its context.
        for source in Source::ALL.into_iter().filter(|it| is_alive || it.outlives_context()) {
            let add = |ledger: &mut Ledger| {
                for (segment, blocks) in ledger.segments() {
                    let blocks = blocks.map(|(address, block)| MemoryBlock {
                        address,
                        size: block.capacity,
                        requested: block.in_use(address).map_or(0, |(_, size)| size),
                        state: block.public_state(),
                        origin: origins.get(&address).cloned().flatten(),
                    });
                    found.push(MemorySegment {
                        context: context.clone(),
                        is_on_host: source != Source::Device,
                        address: segment.address,
                        size: segment.capacity,
                        class: segment.class,
                        blocks: blocks.collect(),
                    });
                }
            };
            drop(pools.get(source).with_ledger(add));
        }
    }
    found
}
