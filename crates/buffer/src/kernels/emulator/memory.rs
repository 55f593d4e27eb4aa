//! Memory that knows its bounds, and what was done to it.

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

    fn find(&mut self, address: u64, size: u64) -> Option<&mut [u8]> {
        let at = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get_mut(at..at.checked_add(usize::try_from(size).ok()?)?)
    }
}

/// All memory that a kernel may use.
pub(crate) struct Memory(pub(crate) Vec<Region>);

impl Memory {
    pub(super) fn load(&mut self, address: u64, size: u64) -> u64 {
        let region = self.region(address, size);
        region.loaded += size;
        let bytes = region.find(address, size).expect("found above");
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    pub(super) fn store(&mut self, address: u64, size: u64, value: u64) {
        let region = self.region(address, size);
        assert!(region.is_writable, "{size} bytes at {address:#x} are only to be read");
        region.stored += size;
        let bytes = region.find(address, size).expect("found above");
        bytes.copy_from_slice(&value.to_le_bytes()[..bytes.len()]);
    }

    fn region(&mut self, address: u64, size: u64) -> &mut Region {
        let mut regions = self.0.iter_mut();
        let found =
            regions.find_map(|region| region.find(address, size).is_some().then_some(region));
        found.unwrap_or_else(|| panic!("{size} bytes at {address:#x} are outside"))
    }
}
