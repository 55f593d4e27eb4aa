//! The memory layout of an n-dimensional array.  Pure arithmetic.

mod element_type;
mod index;
mod reshape;
mod strided;

pub use element_type::{ElementType, Kind};
pub use index::{Index, Slice};
pub use strided::{MAX_DIMENSIONS, Order, Span, StridedLayout};
