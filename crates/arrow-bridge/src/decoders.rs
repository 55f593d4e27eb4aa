//! Decoders, each of which decompresses one buffer after the other.

use crate::fault::Fault;
use crate::ffi::{Codec, CppDecoder, Decoded, HostRange, HostTarget};

// None of these needs the GIL.
imported! { Table[]:
    safe fn decoder_open(codec: Codec) -> Result<*mut CppDecoder, Fault>;

    unsafe fn decoder_reset(decoder: *mut CppDecoder) -> Result<(), Fault>;

    unsafe fn decoder_decode(
        decoder: *mut CppDecoder,
        from: HostRange,
        to: HostTarget,
    ) -> Result<Decoded, Fault>;

    unsafe fn decoder_release(decoder: *mut CppDecoder);
}

/// C++'s object, which is used by one thread at a time.
pub(crate) struct Decoder {
    decoder: *mut CppDecoder,
    table: &'static Table,
}

impl Decoder {
    pub(crate) fn open(table: &'static Table, codec: Codec) -> Result<Self, Fault> {
        Ok(Self { decoder: table.decoder_open(codec)?, table })
    }

    pub(crate) fn reset(&self) -> Result<(), Fault> {
        // SAFETY: our own object.
        unsafe { self.table.decoder_reset(self.decoder) }
    }

    pub(crate) fn decode(&self, from: &[u8], to: &mut [u8]) -> Result<Decoded, Fault> {
        let to = HostTarget { data: to.as_mut_ptr(), size: to.len() };
        // SAFETY: our own object; both ranges are valid.
        unsafe { self.table.decoder_decode(self.decoder, HostRange::of(from), to) }
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: our own object, released once.
        unsafe { self.table.decoder_release(self.decoder) };
    }
}
