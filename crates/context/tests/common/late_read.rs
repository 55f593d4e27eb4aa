//! Work of one device that reads memory of another one later than it may.

use crate::common::Gate;
use arrow_cuda_context::{Block, Context, Placement, Ready, Stream};

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
    /// Queues a read of `size` bytes at an address of another context.
    pub fn queue(reader: &Context, (address, owner): (u64, &Context), size: usize) -> Self {
        let stream = Stream::non_blocking(reader).expect("room");
        let found = reader.allocate(size as u64, Placement::Packed).expect("room");
        let gate = Gate::on(&stream);
        let current = reader.enter().expect("alive");
        let to = (found.address(&Ready::by_caller()), reader);
        // SAFETY: `found` is as large, and kept until the stream was waited for.  That nobody keeps
        // what is read is the purpose; the driver refuses, or reads, what is there.
        unsafe { current.queue_copy_between(to, (address, owner), size, stream.handle()) }
            .expect("two devices");
        drop(current);
        Self { gate, stream, found }
    }

    /// Queues a read of pinned memory.
    pub fn queue_on_host(reader: &Context, data: *const u8, size: usize) -> Self {
        let stream = Stream::non_blocking(reader).expect("room");
        let found = reader.allocate(size as u64, Placement::Packed).expect("room");
        let gate = Gate::on(&stream);
        let current = reader.enter().expect("alive");
        // SAFETY: as above.
        unsafe {
            current.queue_copy_from_host(
                found.address(&Ready::by_caller()),
                data,
                size,
                stream.handle(),
            )
        }
        .expect("pinned memory");
        drop(current);
        Self { gate, stream, found }
    }

    /// Releases the memory meanwhile, and lets the work go a little later.  Returns the bytes that it has found.
    pub fn finish_beside<T>(self, release: impl FnOnce() -> T) -> (T, Vec<u8>) {
        let Self { gate, stream, found } = self;
        let opened = gate.open_soon();
        let outcome = release();
        opened.join().expect("in time");
        (outcome, bytes_of(&stream, &found))
    }

    /// Lets the work go, and returns the bytes that it has found.
    pub fn finish(self) -> Vec<u8> {
        self.gate.open();
        bytes_of(&self.stream, &self.found)
    }
}

fn bytes_of(stream: &Stream, found: &Block) -> Vec<u8> {
    drop(stream.synchronize().expect("the memory is somebody's"));
    let mut bytes = vec![0; usize::try_from(found.size()).expect("few")];
    let current = found.context().enter().expect("alive");
    // SAFETY: the whole block, and as many bytes.
    unsafe {
        current.copy_to_host(bytes.as_mut_ptr(), found.address(&Ready::by_caller()), bytes.len())
    }
    .expect("alive");
    bytes
}
