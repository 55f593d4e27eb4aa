//! Resources that pass between this crate and other crates for CUDA: adopted ones, which those have made and we own
//! from then on, and lent ones, which are ours and which those may use.

mod adopted;
#[cfg(feature = "cust")]
mod loan;

pub use adopted::Adopted;
#[cfg(feature = "cust")]
pub use loan::Loan;
