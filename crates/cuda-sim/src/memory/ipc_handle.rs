//! The 64 bytes that name memory that processes share.

pub const HANDLE_BYTES: usize = 64;

/// The contents of a handle.  Two handles of one allocation are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpcHandle {
    /// The exporting process, and the descriptor of its device's memory there.
    pub process: u32,
    pub descriptor: u32,
    pub device: u64,
    /// Where that memory's file lists the allocation, and what stands there as long as it lives; no other
    /// allocation has the same, of whichever process.
    pub entry: u64,
    pub token: u64,
    /// The allocation's place in the device's memory, and its size in bytes.
    pub offset: u64,
    pub size: u64,
}

impl IpcHandle {
    pub fn to_bytes(&self) -> [u8; HANDLE_BYTES] {
        let exporter = u64::from(self.process) | u64::from(self.descriptor) << 32;
        let words = [exporter, self.device, self.entry, self.token, self.offset, self.size];
        let mut bytes = [0; HANDLE_BYTES];
        bytes[..48].copy_from_slice(words.map(u64::to_ne_bytes).as_flattened());
        let sum = checksum(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_ne_bytes());
        bytes
    }

    /// The handle in `bytes`; `None` for bytes that are not a handle.
    pub fn from_bytes(bytes: &[u8; HANDLE_BYTES]) -> Option<Self> {
        let word = |at: usize| u64::from_ne_bytes(bytes.as_chunks().0[at]);
        (word(7) == checksum(&bytes[..56])).then(|| Self {
            process: word(0) as u32,
            descriptor: (word(0) >> 32) as u32,
            device: word(1),
            entry: word(2),
            token: word(3),
            offset: word(4),
            size: word(5),
        })
    }
}

/// FNV-1a, which is enough to detect a damaged handle, and is not 0 for zeros.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
