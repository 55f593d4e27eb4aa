//! Queued work: queues with their threads, which queue waits for which, and which one is captured.

pub mod capture;
pub mod health;
pub mod order;
pub mod queue;
