#![doc = include_str!("../README.md")]

mod base;
mod calls;
mod contexts;
mod driver;
mod entry;
mod kernels;
mod memory;
mod streams;
mod work;
