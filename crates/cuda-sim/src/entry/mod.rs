//! The wrapper around every exported function.

pub mod call;
mod exported;
pub mod fault;
mod out;

pub use call::in_callback;
pub use exported::EntryPoint;
pub(crate) use exported::exported;
pub use out::Out;
