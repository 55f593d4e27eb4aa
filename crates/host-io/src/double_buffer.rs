//! A double buffer in pinned memory for buffered writes: one half fills while the other travels to the
//! device.

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Error};
use arrow_cuda_context::{Completed, Context, Retained, Slots, Stream};
use std::sync::Arc;

/// Collects bytes for consecutive places of a device buffer, and queues their copies on the default
/// stream.
#[derive(Debug)]
pub(crate) struct DoubleBuffer {
    stream: Stream,
    size: usize,
    /// The half that fills.  It is there, unless it is full and was given up.  Copies in flight share it, so
    /// nobody borrows the memory; bytes are stored by address.
    current: Option<Arc<Slots>>,
    /// Allocated when it is first needed.
    other: Option<Arc<Slots>>,
    /// Whether copies of the halves may be on their way.
    is_travelling: bool,
    /// How many bytes of the current half there are; the first `sent` of them are on their way.
    filled: usize,
    sent: usize,
    /// Memory that the default stream no longer needs.  Dropping it may block.
    completed: Completed,
}

/// One slot of `size` bytes, and an event.
fn half(context: &Context, size: usize) -> Result<Arc<Slots>, Error> {
    let mut slots = Slots::allocate(context, size)?;
    slots.prepare_ends(&context.enter()?, 1)?;
    Ok(Arc::new(slots))
}

impl DoubleBuffer {
    /// A double buffer with halves of `size` bytes, more than 0.
    pub(crate) fn allocate(context: &Context, size: usize) -> Result<Self, Error> {
        Ok(Self {
            stream: Stream::default_of(context),
            size,
            current: Some(half(context, size)?),
            other: None,
            is_travelling: false,
            filled: 0,
            sent: 0,
            completed: Completed::default(),
        })
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// How many bytes are not on their way yet.
    pub(crate) fn buffered(&self) -> usize {
        self.filled - self.sent
    }

    /// Memory that completed copies have retained, for a place where dropping it may block.
    pub(crate) fn take_completed(&mut self) -> Completed {
        std::mem::take(&mut self.completed)
    }

    /// Takes fewer bytes than a half has, which belong at `position`, after those before them.  If
    /// no half's worth of bytes would stay buffered, all of them go on their way.
    ///
    /// After an error these bytes are not buffered.
    pub(crate) fn write(
        &mut self,
        buffer: &DeviceBuffer,
        position: u64,
        data: &[u8],
    ) -> Result<(), Error> {
        let is_enough = self.buffered() + data.len() >= self.size;
        if self.filled == self.size {
            self.turn()?;
        }
        let (head, tail) = data.split_at(data.len().min(self.size - self.filled));
        self.put(head);
        if self.filled < self.size {
            return Ok(());
        }
        let behind_head = position + head.len() as u64;
        self.send(buffer, behind_head).inspect_err(|_| self.take_back(head.len()))?;
        if !tail.is_empty() {
            self.turn()?;
            self.put(tail);
            if is_enough {
                let end = behind_head + tail.len() as u64;
                self.send(buffer, end).inspect_err(|_| self.take_back(tail.len()))?;
            }
        }
        Ok(())
    }

    /// Queues the copies of all buffered bytes, which end before `position`.  After an error they
    /// stay buffered.
    pub(crate) fn send(&mut self, buffer: &DeviceBuffer, position: u64) -> Result<(), Error> {
        let size = self.buffered();
        let Some(half) = self.current.as_ref().filter(|_| size > 0) else {
            return Ok(());
        };
        let (start, to) = (half.slot(0).wrapping_add(self.sent), position - size as u64);
        let order = CopyOrder::On(&self.stream);
        let owner = || -> Retained { Box::new(Arc::clone(half)) };
        let current_stream = Stream::current(self.stream.context());
        if let Some(stream) = &current_stream {
            self.stream.wait_for(&stream.record()?)?;
        }
        // SAFETY: these bytes lie within the memory, which the copy retains, and `put` does not store
        // to them before the copy is complete.
        let queued = unsafe { buffer.copy_from_host_in(order, to as usize, start, size, owner) }?;
        self.completed.extend(queued);
        self.sent = self.filled;
        self.is_travelling = true;
        let Err(error) = half.end(0).record(&self.stream) else {
            // Copies without a stream are made on that one, and are to see the bytes.
            return Ok(current_stream.map_or(Ok(()), |stream| stream.wait_for(half.end(0)))?);
        };
        // The event says nothing about this copy.
        match self.stream.synchronize() {
            Ok(completed) => {
                self.completed.extend(completed);
                self.is_travelling = false;
                Ok(())
            }
            Err(_) => {
                // The copy retains the memory, which must not be filled again.
                self.current = None;
                (self.filled, self.sent) = (self.size, self.size);
                Err(error.into())
            }
        }
    }

    /// Waits until everything that was sent is on the device.
    pub(crate) fn wait(&mut self) -> Result<(), Error> {
        let is_given_up = self.current.is_none();
        if is_given_up || self.is_travelling {
            // Unlike an event, this releases what the copies have retained.
            self.completed.extend(self.stream.synchronize()?);
        }
        self.is_travelling = false;
        if self.buffered() == 0 && !is_given_up {
            (self.filled, self.sent) = (0, 0);
        }
        Ok(())
    }

    /// Goes on with the other half, once its copies are complete.  All bytes of this one are sent.
    fn turn(&mut self) -> Result<(), Error> {
        if self.other.is_none() {
            match half(self.stream.context(), self.size) {
                Ok(other) => self.other = Some(other),
                Err(error) if self.current.is_none() => return Err(error),
                // Slower copies are better than none: this half is the next one, too.
                Err(_) => {}
            }
        }
        let next = self.other.as_ref().or(self.current.as_ref());
        if let Some(half) = next.filter(|_| self.is_travelling) {
            half.end(0).wait()?;
        }
        if self.other.is_some() {
            std::mem::swap(&mut self.current, &mut self.other);
        }
        (self.filled, self.sent) = (0, 0);
        Ok(())
    }

    /// Forgets the last bytes, if they are not on their way.
    fn take_back(&mut self, size: usize) {
        if self.buffered() > 0 {
            self.filled -= size;
        }
    }

    fn put(&mut self, data: &[u8]) {
        debug_assert!(data.len() <= self.size - self.filled);
        if let Some(half) = &self.current {
            let place = half.slot(0).wrapping_add(self.filled);
            // SAFETY: within the half, after all bytes that are on their way.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), place, data.len()) };
            self.filled += data.len();
        }
    }
}
