//! The exported functions, by noun.  Their names, parameters and codes are those of the driver
//! interface; what differs from the documentation there was asked of a real driver.

mod callback;
mod capture;
mod context;
mod control;
mod copy;
mod device;
mod entry_point;
mod error;
mod event;
mod fill;
mod host_memory;
mod ipc;
mod memory;
mod module;
mod peer;
mod pointer;
mod primary;
mod stack;
mod stream;
