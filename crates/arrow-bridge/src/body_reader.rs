//! The messages of an Arrow file whose bodies are on their way to a device.

use crate::decoders::{self, Decoder};
use crate::fault::Fault;
use crate::ffi::{Decoded, RustBuffer};
use crate::kind::Kind;
use arrow_cuda_context::Context;
use arrow_cuda_ipc::{BodyBuffer, Codec, MessageIndex, Source};
use std::cell::RefCell;

/// Gets the number of bytes that have arrived, and that of all.  Nothing else arrives if it returns false.
pub type Watch<'a> = dyn FnMut(u64, u64) -> bool + 'a;

/// The messages, and where their bodies are.
pub(crate) struct BodyReader<'a> {
    pub(crate) messages: &'a MessageIndex,
    pub(crate) source: Source<'a>,
    pub(crate) watch: RefCell<&'a mut Watch<'a>>,
    pub(crate) decoders: &'static decoders::Table,
}

impl BodyReader<'_> {
    /// Copies these to buffers on a device: threads read and decompress them.  Meanwhile `use_copies` gets the buffers.
    pub(crate) fn copy(
        &self,
        context: &Context,
        buffers: &[&BodyBuffer],
        use_copies: impl FnOnce(&[RustBuffer]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let (source, decoders) = (&self.source, self.decoders);
        let sizes: Vec<_> =
            buffers.iter().map(|buffer| (buffer.size as usize, buffer.codec.is_some())).collect();
        let produce =
            |decompressor: &mut Decompressor, number: usize, at: usize, out: &mut [u8]| {
                let Some(buffer) = buffers.get(number) else { return Ok(()) };
                match buffer.codec {
                    None => Ok(source.read(buffer.position + at as u64, out)?),
                    Some(codec) => {
                        if at == 0 {
                            decompressor.begin(decoders, codec, buffer)?;
                        }
                        decompressor.read(source, buffer, out)?;
                        let is_end = at + out.len() == buffer.size as usize;
                        if is_end { decompressor.end(source, buffer) } else { Ok(()) }
                    }
                }
            };
        let total = buffers.iter().map(|buffer| buffer.size).sum();
        let mut watch = self.watch.borrow_mut();
        let mut use_copies = Some(use_copies);
        let watch = |made: &[RustBuffer], passed: usize| {
            if let Some(use_copies) = use_copies.take() {
                use_copies(made)?;
            }
            match watch(passed as u64, total) {
                true => Ok(()),
                false => Err(Fault::new(Kind::Io, "the copy was stopped")),
            }
        };
        RustBuffer::suballocated_from_producer(context, &sizes, produce, watch).map(drop)
    }
}

/// Compressed bytes that a thread reads at once: those of a buffer that fits into the processor's cache, so that
/// it is decompressed by one call.
const CHUNK: u64 = 1 << 20;

/// The state in which a thread decompresses one buffer after the other.
#[derive(Default)]
struct Decompressor {
    decoder: Option<(Codec, Decoder)>,
    /// Bytes of the file, and how many of them were decompressed.
    chunk: Vec<u8>,
    used: usize,
    /// How many bytes of the buffer were read.
    read: u64,
    is_finished: bool,
}

impl Decompressor {
    fn begin(
        &mut self,
        decoders: &'static decoders::Table,
        codec: Codec,
        buffer: &BodyBuffer,
    ) -> Result<(), Fault> {
        (self.used, self.read, self.is_finished) = (0, 0, false);
        self.chunk.clear();
        match &self.decoder {
            Some((made_for, decoder)) if *made_for == codec => decoder.reset(),
            _ => {
                Decoder::open(decoders, codec).map(|decoder| self.decoder = Some((codec, decoder)))
            }
        }
        .map_err(|fault| damaged(buffer, fault))
    }

    /// Fills `out` with the next bytes.
    fn read(
        &mut self,
        source: &Source<'_>,
        buffer: &BodyBuffer,
        mut out: &mut [u8],
    ) -> Result<(), Fault> {
        while !out.is_empty() {
            let written = self.step(source, buffer, out)?;
            out = out.split_at_mut(written).1;
        }
        Ok(())
    }

    /// Checks that no bytes are left.
    fn end(&mut self, source: &Source<'_>, buffer: &BodyBuffer) -> Result<(), Fault> {
        while !self.is_finished || self.has_more(buffer) {
            self.step(source, buffer, &mut [])?;
        }
        Ok(())
    }

    /// Decompresses some of the bytes, and returns how many it has made.
    fn step(
        &mut self,
        source: &Source<'_>,
        buffer: &BodyBuffer,
        out: &mut [u8],
    ) -> Result<usize, Fault> {
        let Some((codec, decoder)) = &self.decoder else { return Ok(0) };
        if self.is_finished {
            match codec {
                _ if !self.has_more(buffer) => {
                    return Err(damaged(buffer, "the frame has fewer bytes"));
                }
                // libarrow takes one frame of LZ4, and any number of frames of ZSTD, with or without bytes.
                Codec::Lz4 => return Err(damaged(buffer, "more bytes follow the frame")),
                Codec::Zstd => decoder.reset().map_err(|fault| damaged(buffer, fault))?,
            }
        }
        if self.used == self.chunk.len() && self.read < buffer.encoded_size {
            let count = CHUNK.min(buffer.encoded_size - self.read);
            self.chunk.resize(count as usize, 0);
            source.read(buffer.position + self.read, &mut self.chunk)?;
            (self.used, self.read) = (0, self.read + count);
        }
        let rest = self.chunk.get(self.used..).unwrap_or_default();
        let decoded = decoder.decode(rest, out).map_err(|fault| damaged(buffer, fault))?;
        let Decoded { used, written, is_finished } = decoded;
        if used == 0 && written == 0 && !is_finished {
            return Err(damaged(buffer, "the frame has another size, or is cut off"));
        }
        (self.used, self.is_finished) = (self.used + used, is_finished);
        Ok(written)
    }

    /// Whether some compressed bytes were not used.
    fn has_more(&self, buffer: &BodyBuffer) -> bool {
        self.used < self.chunk.len() || self.read < buffer.encoded_size
    }
}

fn damaged(buffer: &BodyBuffer, reason: impl std::fmt::Display) -> Fault {
    let BodyBuffer { size, position, .. } = buffer;
    let text =
        format!("cannot decompress the {size} bytes at byte {position} of the file: {reason}");
    Fault::new(Kind::Io, text)
}
