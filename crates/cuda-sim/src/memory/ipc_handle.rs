//! The 64 bytes that name exported memory to another process.

/// Size of a handle in bytes.
pub const HANDLE_BYTES: usize = 64;

const MAGIC: u64 = 0x3143_5049_4d49_5343;

/// The contents of a handle.  Two handles of one allocation are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpcHandle {
    /// The exporting process, and the descriptor of its device's memory there.
    pub process: u32,
    pub descriptor: u32,
    /// Distinguishes the process from a later one with the same number.
    pub nonce: u64,
    pub device: u32,
    /// The allocation's entry in the exporter's list of exports, and its identity there.
    pub slot: u32,
    pub id: u64,
    /// The allocation's place in the device's memory, and its size in bytes.
    pub offset: u64,
    pub size: u64,
}

impl IpcHandle {
    pub fn to_bytes(&self) -> [u8; HANDLE_BYTES] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            MAGIC,
            pair(self.process, self.descriptor),
            self.nonce,
            pair(self.device, self.slot),
            self.id,
            self.offset,
            self.size,
        ];
        let mut bytes = [0; HANDLE_BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        let sum = checksum(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_ne_bytes());
        bytes
    }

    /// The handle in `bytes`; `None` for bytes that are not a handle.
    pub fn from_bytes(bytes: &[u8; HANDLE_BYTES]) -> Option<Self> {
        let word = |index: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[index * 8..index * 8 + 8]);
            u64::from_ne_bytes(word)
        };
        let low = |word: u64| word as u32;
        let high = |word: u64| (word >> 32) as u32;
        (word(0) == MAGIC && word(7) == checksum(&bytes[..56])).then(|| Self {
            process: low(word(1)),
            descriptor: high(word(1)),
            nonce: word(2),
            device: low(word(3)),
            slot: high(word(3)),
            id: word(4),
            offset: word(5),
            size: word(6),
        })
    }
}

/// FNV-1a, which is enough to detect a damaged handle.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn handle()(
            (process, descriptor, device, slot) in any::<(u32, u32, u32, u32)>(),
            (nonce, id, offset, size) in any::<(u64, u64, u64, u64)>(),
        ) -> IpcHandle {
            IpcHandle { process, descriptor, nonce, device, slot, id, offset, size }
        }
    }

    proptest! {
        #[test]
        fn a_handle_survives_its_bytes(handle in handle()) {
            prop_assert_eq!(IpcHandle::from_bytes(&handle.to_bytes()), Some(handle));
        }

        #[test]
        fn a_damaged_handle_is_refused(handle in handle(), at in 0..HANDLE_BYTES, flip in 1..=255_u8) {
            let mut bytes = handle.to_bytes();
            bytes[at] ^= flip;
            prop_assert_eq!(IpcHandle::from_bytes(&bytes), None);
        }
    }

    #[test]
    fn zeros_are_not_a_handle() {
        assert_eq!(IpcHandle::from_bytes(&[0; HANDLE_BYTES]), None);
    }
}
