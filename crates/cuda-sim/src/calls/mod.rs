//! The exported functions, by noun.  Their names, parameters and codes are those of the driver interface; where
//! they differ from the documentation, they answer as a real driver did.

mod capture;
mod chunks;
mod context;
mod control;
mod copy;
mod device;
mod entry_point;
mod error;
mod event;
mod fill;
mod host_memory;
mod memory;
mod module;
mod pointer;
mod pools;
mod stream;

use crate::entry::EntryPoint;

/// All exported functions, by file.
const ENTRY_POINTS: [&[EntryPoint]; 15] = [
    capture::ENTRY_POINTS,
    chunks::ENTRY_POINTS,
    context::ENTRY_POINTS,
    copy::ENTRY_POINTS,
    device::ENTRY_POINTS,
    entry_point::ENTRY_POINTS,
    error::ENTRY_POINTS,
    event::ENTRY_POINTS,
    fill::ENTRY_POINTS,
    host_memory::ENTRY_POINTS,
    memory::ENTRY_POINTS,
    module::ENTRY_POINTS,
    pointer::ENTRY_POINTS,
    pools::ENTRY_POINTS,
    stream::ENTRY_POINTS,
];
