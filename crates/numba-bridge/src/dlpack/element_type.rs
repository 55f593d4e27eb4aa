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
    /// ```
    /// use arrow_cuda_numba_bridge::ElementType;
    /// use arrow_cuda_numba_bridge::dlpack::abi::DLDataType;
    ///
    /// let float32 = DLDataType { code: 2, bits: 32, lanes: 1 };
    /// assert_eq!(ElementType::from_dlpack(float32)?, ElementType::float(4));
    /// let int4 = DLDataType { code: 0, bits: 4, lanes: 1 };
    /// assert!(ElementType::from_dlpack(int4).is_err()); // half a byte
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
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
    /// ```
    /// use arrow_cuda_numba_bridge::ElementType;
    ///
    /// let float32 = ElementType::float(4).to_dlpack()?;
    /// assert_eq!((float32.code, float32.bits, float32.lanes), (2, 32, 1));
    /// assert!("|V12".parse::<ElementType>()?.to_dlpack().is_err()); // structures
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
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
