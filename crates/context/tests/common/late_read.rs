//! Work of one device that reads memory of another one later than it may.

use crate::common::Gate;
use arrow_cuda_context::{Block, Context, Current, Placement, Ready, Stream, StreamHandle};
use arrow_cuda_driver::CudaResult;

/// A copy, queued on a stream of `reader` and held up there, which retains nothing: like a kernel of
/// another library that reads a peer's memory.
///
/// The bytes that it finds when it may go on show who had the memory then.  The driver's own release does not wait
/// for such work, whose context then fails, nor does an event of the context that has the memory cover it.
pub struct LateRead {
    gate: Gate,
    stream: Stream,
    found: Block,
}

impl LateRead {
    /// Queues a read of a block of another context.
    pub fn of(block: &Block, reader: &Context) -> Self {
        let from = (block.address(&Ready::by_caller()), block.context());
        let size = usize::try_from(block.size()).expect("few");
        // SAFETY: `found` is as large, and kept until the stream was waited for.  That nobody keeps
        // what is read is the purpose; the driver refuses, or reads, what is there.
        Self::queue(reader, size, |current, to, stream| unsafe {
            current.queue_copy_between((to, reader), from, size, stream)
        })
    }

    /// Queues a read of pinned memory.
    pub fn of_pinned(data: *const u8, size: usize, reader: &Context) -> Self {
        // SAFETY: as above.
        Self::queue(reader, size, |current, to, stream| unsafe {
            current.queue_copy_from_host(to, data, size, stream)
        })
    }

    fn queue(
        reader: &Context,
        size: usize,
        copy: impl FnOnce(&Current<'_>, u64, StreamHandle<'_>) -> CudaResult<()>,
    ) -> Self {
        let stream = Stream::non_blocking(reader).expect("room");
        let found = Block::allocate(reader, size as u64, Placement::Packed).expect("room");
        let gate = Gate::on(&stream);
        let current = reader.enter().expect("alive");
        let queued = copy(&current, found.address(&Ready::by_caller()), stream.handle());
        queued.expect("two devices, or pinned memory");
        drop(current);
        Self { gate, stream, found }
    }

    /// Lets the work go: all that it finds is this byte.
    pub fn finds(self, byte: u8) {
        self.gate.open();
        assert_all_are(byte, &self.stream, &self.found);
    }

    /// Releases the memory meanwhile, and lets the work go a little later.
    pub fn finds_beside<T>(self, byte: u8, release: impl FnOnce() -> T) -> T {
        let Self { gate, stream, found } = self;
        let opened = gate.open_soon();
        let outcome = release();
        opened.join().expect("in time");
        assert_all_are(byte, &stream, &found);
        outcome
    }
}

fn assert_all_are(byte: u8, stream: &Stream, found: &Block) {
    drop(stream.synchronize().expect("the memory is somebody's"));
    let mut bytes = vec![0; usize::try_from(found.size()).expect("few")];
    let (current, from) = (found.context().enter().expect("alive"), found.private_address());
    // SAFETY: the whole block, and as many bytes.
    unsafe { current.copy_to_host(bytes.as_mut_ptr(), from, bytes.len()) }.expect("alive");
    assert!(bytes.iter().all(|it| *it == byte), "others are the next owner's");
}
