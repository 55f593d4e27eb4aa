//! DLPack's descriptions of element types.

use super::abi::DLDataType;
use crate::error::unsupported;
use crate::{ElementType, Error, Kind};

/// The codes of DLPack's specification.
const CODES: [(Kind, u8); 5] =
    [(Kind::Bool, 6), (Kind::Int, 0), (Kind::UInt, 1), (Kind::Float, 2), (Kind::Complex, 5)];

impl ElementType {
    /// The type that DLPack describes, opaque where NumPy has no such number.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for elements that do not fill whole bytes.
    pub fn from_dlpack(dtype: DLDataType) -> Result<Self, Error> {
        let bits = u32::from(dtype.bits) * u32::from(dtype.lanes);
        if bits == 0 || !bits.is_multiple_of(8) {
            return unsupported(format!("elements of {bits} bits do not fill whole bytes"));
        }
        let number = CODES.iter().find(|(_, code)| *code == dtype.code && dtype.lanes == 1);
        Ok(Self::native(number.map_or(Kind::Opaque, |(kind, _)| *kind), bits / 8))
    }

    /// DLPack's description of the type.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for opaque elements and for those in a foreign byte order, which
    /// DLPack cannot describe.
    pub fn to_dlpack(self) -> Result<DLDataType, Error> {
        let code = CODES.iter().find(|(kind, _)| *kind == self.kind());
        match (code, u8::try_from(u64::from(self.size()) * 8)) {
            (Some((_, code)), Ok(bits)) if !self.is_swapped => {
                Ok(DLDataType { code: *code, bits, lanes: 1 })
            }
            _ => unsupported(format!("DLPack cannot describe elements of type '{self}'")),
        }
    }
}
