#![doc = include_str!("../README.md")]

mod border;
mod calls;
mod code;
mod config;
mod context;
mod driver;
mod event;
mod fault;
mod gate;
mod handles;
mod ipc_handle;
mod kernel;
mod memory;
mod queue;
mod region;
mod space;
mod stack;
mod window;
