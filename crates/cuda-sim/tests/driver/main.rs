//! Tests of the exported functions.  Most tests run in a process of their own, because the
//! driver's state belongs to the process.

mod captures;
mod common;
mod faults;
mod ipc;
mod kernels;
mod life;
mod memory;
mod model;
mod pointers;
mod streams;
