//! Code that targets of the C++ bridge share: the bridge itself, objects that it takes for
//! pyarrow's, and structures of the C Device interface.
//!
//! The Rust code and the bridge call each other as they do in Python.  Only pyarrow is another one:
//! `pyarrow/` makes its objects without an interpreter, and calls libarrow in place of its methods.

mod abi;
mod bridge;
mod structures;

pub use bridge::{Pyarrow, Reference};
pub use structures::{Memory, Structures};
