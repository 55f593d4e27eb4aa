//! Queued work: queues with their threads, which queue waits for which, and which one is captured.

pub mod capture;
mod health;
mod order;
mod queue;

pub use health::Health;
pub use order::Queues;
pub use queue::{Mark, Order, Queue};
