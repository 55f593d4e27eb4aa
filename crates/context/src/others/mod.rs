//! Resources that pass between this crate and other crates for CUDA.
//!
//! An *adopted* resource was made by the other crate, and this crate owns it from then on.  A *lent* one stays this
//! crate's, and the other crate may use it.

mod adopted;
#[cfg(feature = "cust")]
mod loan;

pub use adopted::Adopted;
#[cfg(feature = "cust")]
pub use loan::Loan;
