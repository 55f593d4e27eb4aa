//! Turns of the functions of the host that a context's streams call: one runs at a time, as on an H200.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::base::lock;

#[derive(Default)]
pub struct Line {
    waiting: Mutex<Waiting>,
    moved: Condvar,
}

#[derive(Default)]
struct Waiting {
    numbers: VecDeque<u64>,
    next: u64,
}

/// The turn of a function, which it gives up when this is dropped.
pub struct Turn {
    line: &'static Line,
    number: u64,
}

impl Line {
    /// A turn after all others.
    pub fn enter(&'static self) -> Turn {
        let mut waiting = lock(&self.waiting);
        let number = waiting.next;
        waiting.next += 1;
        waiting.numbers.push_back(number);
        Turn { line: self, number }
    }
}

impl Turn {
    /// Runs the function when all before it are done.
    pub fn run(self, function: impl FnOnce()) {
        let mut waiting = lock(&self.line.waiting);
        while waiting.numbers.front() != Some(&self.number) {
            waiting = self.line.moved.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        drop(waiting);
        function();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        lock(&self.line.waiting).numbers.retain(|number| *number != self.number);
        self.line.moved.notify_all();
    }
}
