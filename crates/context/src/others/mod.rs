//! What passes between this crate and other crates for CUDA: what they have made and we own from then on, and what
//! is ours and they may use.

mod adopted;
#[cfg(feature = "cust")]
mod loan;

pub use adopted::Adopted;
#[cfg(feature = "cust")]
pub use loan::{Loan, LoanMut};
