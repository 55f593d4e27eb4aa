//! Queued work: queues with their threads, and which queue waits for which.

pub mod health;
pub mod order;
pub mod queue;
