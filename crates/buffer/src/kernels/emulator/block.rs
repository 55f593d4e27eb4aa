//! The threads of a grid, which wait for each other.

use super::memory::{Memory, Region};
use super::program::Program;
use super::thread::{Stop, Surroundings, Thread};
use crate::kernels::THREADS;

const WARP: usize = 32;

impl Program {
    /// Runs a grid.  Its blocks run after each other, and so do the warps of a block, up to where
    /// they wait for each other.  `parameters` holds the kernel's parameters one behind the other.
    pub(crate) fn run(&self, blocks: u32, parameters: &[u64], memory: &mut Memory) {
        assert_eq!(size_of_val(parameters) as u64, self.parameters);
        for block in 0..blocks {
            self.run_block([block, blocks], parameters, memory);
        }
    }

    fn run_block(&self, [block, blocks]: [u32; 2], parameters: &[u64], memory: &mut Memory) {
        let threads = (0..THREADS).map(|thread| Thread::new(self, [thread, block, blocks]));
        let mut threads: Vec<Thread> = threads.collect();
        let shared = vec![0xEE; self.shared as usize];
        let mut around = Surroundings {
            parameters,
            global: memory,
            shared: Memory(vec![Region::writable(0, &shared)]),
        };
        loop {
            let warps = threads.chunks_mut(WARP).map(|warp| self.run_warp(warp, &mut around));
            let waiting = warps.filter(|is_waiting| *is_waiting).count();
            if waiting == 0 {
                return;
            }
            assert_eq!(waiting, threads.len() / WARP, "every warp has to reach the barrier");
        }
    }

    /// Runs a warp up to its end, or to a barrier, where it returns true.
    fn run_warp(&self, warp: &mut [Thread], around: &mut Surroundings<'_>) -> bool {
        loop {
            let stops: Vec<_> =
                warp.iter_mut().map(|thread| self.advance(thread, around)).collect();
            let count = |kind: fn(&Stop) -> bool| stops.iter().filter(|stop| kind(stop)).count();
            if count(|stop| matches!(stop, Stop::Returned)) == warp.len() {
                return false;
            }
            let place = warp[0].next;
            if count(|stop| matches!(stop, Stop::Barrier)) == warp.len() {
                assert!(warp.iter().all(|thread| thread.next == place), "at the same barrier");
                return true;
            }
            let votes = count(|stop| matches!(stop, Stop::Vote { .. }));
            assert_eq!(votes, warp.len(), "every thread of a warp has to vote");
            assert!(warp.iter().all(|thread| thread.next == place), "on the same question");
            let any = stops.iter().any(|stop| matches!(stop, Stop::Vote { with: true, .. }));
            for (thread, stop) in warp.iter_mut().zip(&stops) {
                if let Stop::Vote { into, .. } = stop {
                    thread.registers[*into] = any.into();
                }
            }
        }
    }
}
