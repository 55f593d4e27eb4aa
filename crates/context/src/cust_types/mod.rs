//! Conversions from and to the types of `cust`.
//!
//! `cust` works in the context that is current on the thread, so its functions work in one of our
//! contexts as long as a guard of [`Context::enter`](crate::Context::enter) lives.

mod context;
mod event;
mod function;
mod stream;
