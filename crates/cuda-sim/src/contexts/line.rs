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

/// A function's place, which it leaves when this is dropped.
pub struct Place {
    line: &'static Line,
    number: u64,
}

impl Line {
    /// A place behind all others.
    pub fn enter(&'static self) -> Place {
        let mut waiting = lock(&self.waiting);
        let number = waiting.next;
        waiting.next += 1;
        waiting.numbers.push_back(number);
        Place { line: self, number }
    }
}

impl Place {
    /// Runs the function when all before it have left.
    pub fn run(self, function: impl FnOnce()) {
        let mut waiting = lock(&self.line.waiting);
        while waiting.numbers.front() != Some(&self.number) {
            waiting = self.line.moved.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        drop(waiting);
        function();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.line.waiting).numbers.retain(|number| *number != self.number);
        self.line.moved.notify_all();
    }
}
