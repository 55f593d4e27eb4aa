//! What the elements of a tensor are.

use crate::abi::DLDataType;

/// The type of an element: a number of whole bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element(DLDataType);

impl Element {
    /// A signed integer of so many bits.
    pub const fn int(bits: u8) -> Self {
        Self(DLDataType { code: 0, bits, lanes: 1 })
    }

    /// An unsigned integer of so many bits.
    pub const fn uint(bits: u8) -> Self {
        Self(DLDataType { code: 1, bits, lanes: 1 })
    }

    /// A floating-point number of so many bits.
    pub const fn float(bits: u8) -> Self {
        Self(DLDataType { code: 2, bits, lanes: 1 })
    }

    /// The size, in bytes.
    pub const fn size(self) -> i64 {
        self.0.bits as i64 / 8 * self.0.lanes as i64
    }

    pub(crate) const fn raw(self) -> DLDataType {
        self.0
    }
}
