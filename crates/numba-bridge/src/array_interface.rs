//! The CUDA array interface: the dictionary by which Python libraries describe their device arrays
//! to each other.

use crate::error::invalid;
use crate::{ElementType, Error, Span, StridedArray, StridedLayout};
use arrow_cuda_context::{Pending, Ready};

/// The version of the interface in exported descriptions.
pub const VERSION: i64 = 3;

const LEGACY_DEFAULT_STREAM: u64 = 1;

/// The entries of `__cuda_array_interface__`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInterface {
    /// The number of elements along each dimension.
    pub shape: Vec<i64>,
    /// The type of the elements, from `typestr`.
    pub element: ElementType,
    /// The address of the first element, the first item of `data`: `None` or 0 only for an array
    /// without elements.
    pub address: Option<u64>,
    /// Whether the memory must not be written to, the second item of `data`.
    pub is_read_only: bool,
    /// The distance between neighbours along each dimension, in bytes; `None` for dense elements in
    /// C order.
    pub strides: Option<Vec<i64>>,
    /// The version of the interface; `None` if the dictionary has no number for it.
    pub version: Option<i64>,
    /// The stream on which work on the array may be pending: 1 and 2 are the default streams, other
    /// numbers are handles.
    pub stream: Option<u64>,
    /// Whether a mask says which elements are valid.
    pub has_mask: bool,
}

/// The memory of an array's elements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArrayMemory {
    /// The start of the elements' span; 0 without elements.
    pub address: u64,
    /// How the elements lie in it.
    pub layout: StridedLayout,
    /// Whether it may be written to.
    pub is_mutable: bool,
    /// The work that may still write to it.
    pub pending: Pending,
}

impl ArrayInterface {
    /// Describes an array that was made ready for any consumer: without pending work.
    pub fn of(array: &StridedArray, ready: &Ready) -> Self {
        let layout = array.layout();
        let strides = (!layout.is_row_major()).then(|| layout.strides().to_vec());
        Self {
            shape: layout.shape().to_vec(),
            element: layout.element(),
            address: Some(array.address(ready)),
            is_read_only: !array.buffer().is_mutable(),
            strides,
            version: Some(VERSION),
            stream: None,
            has_mask: false,
        }
    }

    /// The memory of the array's elements, and how they lie in it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for arrays with a mask, and for an inconsistent description.
    pub fn memory(&self) -> Result<ArrayMemory, Error> {
        if self.has_mask {
            return invalid("masked arrays are not supported");
        }
        let shape = self.shape.clone();
        let layout = match &self.strides {
            None => StridedLayout::row_major(self.element, shape)?,
            Some(strides) => StridedLayout::strided(self.element, shape, strides.clone())?,
        };
        let Span { start, size } = layout.span();
        let address = match self.address.unwrap_or(0) {
            0 if size > 0 => return invalid(format!("an array of {size} bytes at no address")),
            0 => 0,
            first => first.checked_add_signed(start).ok_or_else(|| {
                Error::Invalid("the array's strides leave the address space".into())
            })?,
        };
        let is_mutable = !self.is_read_only;
        Ok(ArrayMemory { address, layout, is_mutable, pending: self.pending()? })
    }

    fn pending(&self) -> Result<Pending, Error> {
        match self.stream {
            Some(0) => invalid("stream 0 is not allowed in __cuda_array_interface__"),
            // Numba names no stream for work on the default one.
            None if self.version.is_some_and(|version| version >= VERSION) => {
                Ok(Pending::DefaultStream)
            }
            Some(LEGACY_DEFAULT_STREAM) => Ok(Pending::DefaultStream),
            Some(_) => Ok(Pending::AnyStream),
            // Before version 3, an array could not name its stream; PyTorch and JAX still export
            // such arrays.
            None => Ok(Pending::AnyStream),
        }
    }
}
