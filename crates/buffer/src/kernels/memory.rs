//! Memory for tests of kernels, which knows its bounds, and what was done to it.

use super::ptx::{self, Fault};

/// Memory at an address, nothing around which belongs to the kernel.
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_writable: bool,
    /// How many bytes the kernel has loaded and stored.
    pub(crate) loaded: u64,
    pub(crate) stored: u64,
}

impl Region {
    pub(crate) fn read_only(address: u64, bytes: &[u8]) -> Self {
        Self { is_writable: false, ..Self::writable(address, bytes) }
    }

    pub(crate) fn writable(address: u64, bytes: &[u8]) -> Self {
        Self { address, bytes: bytes.to_vec(), is_writable: true, loaded: 0, stored: 0 }
    }

    fn find(&mut self, address: u64, size: usize) -> Option<&mut [u8]> {
        let at = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get_mut(at..at.checked_add(size)?)
    }
}

/// All memory that a kernel may use.
pub(crate) struct Memory(pub(crate) Vec<Region>);

impl ptx::Memory for Memory {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        for region in &mut self.0 {
            if let Some(bytes) = region.find(address, into.len()) {
                into.copy_from_slice(bytes);
                region.loaded += into.len() as u64;
                return Ok(());
            }
        }
        Err(Fault::Address)
    }

    fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        for region in self.0.iter_mut().filter(|region| region.is_writable) {
            if let Some(place) = region.find(address, bytes.len()) {
                place.copy_from_slice(bytes);
                region.stored += bytes.len() as u64;
                return Ok(());
            }
        }
        Err(Fault::Address)
    }
}
