//! Whether a copy writes through the processor's caches or past them.

use super::super::plan::Task;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stores {
    /// Through the caches.
    Ordinary,
    /// Past the caches, where the processor can.  Call [`fence_stores`] before publishing the bytes
    /// to another thread.
    NonTemporal,
}

/// A larger upload uses its slots again and again, and they stay in the caches: on an H200's host, memory
/// alone sustains 39 GB/s for 1 GiB, and the caches 46.  Eight processes that copy 64 MiB each move 57 GB/s
/// past the caches, and 77 through them (measured).
const MOST_PAST_CACHES_UP: usize = 32 << 20;
/// The program finds smaller results in the caches.  Larger ones would not stay there, and take half
/// the processor time past them (measured: 0.11 s for each GB instead of 0.24).
const LEAST_PAST_CACHES_DOWN: usize = 32 << 20;

impl Stores {
    /// Those for a copy of `size` bytes, whose host memory nobody may have touched before.
    ///
    /// The device reads slots slower if it must snoop other cores' caches: on an H200's host, 1 MiB
    /// took 65 us through the caches, and 37 past them (measured).
    pub(crate) fn for_copy(task: Task, size: usize, is_fresh: impl FnOnce() -> bool) -> Self {
        let past_caches = match task {
            Task::Upload => size <= MOST_PAST_CACHES_UP,
            // The kernel has just cleared a fresh page, which is in the caches therefore: 34 GB/s through
            // them, and 28 past them (measured).
            Task::Download => size >= LEAST_PAST_CACHES_DOWN && !is_fresh(),
            Task::Compare => false,
        };
        if past_caches { Self::NonTemporal } else { Self::Ordinary }
    }

    /// Copies bytes.
    ///
    /// # Safety
    ///
    /// Both pointers must be valid for `length` bytes, and the ranges must not overlap.
    pub(crate) unsafe fn copy(self, from: *const u8, to: *mut u8, length: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if self == Self::NonTemporal {
                return x86_64::copy(from, to, length);
            }
            std::ptr::copy_nonoverlapping(from, to, length);
        }
    }
}

/// Orders all non-temporal stores before the stores that follow.
pub(crate) fn fence_stores() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: takes no pointer.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};

    const VECTOR: usize = size_of::<__m128i>();
    const LINE: usize = 64;

    /// See `Stores::NonTemporal`.  SSE2 is part of every x86-64.
    pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
        let head = to.align_offset(VECTOR).min(length);
        let lines = (length - head) / LINE;
        let tail = head + lines * LINE;
        // SAFETY: all of it lies within both; `to + head` is aligned for whole vectors.
        unsafe {
            std::ptr::copy_nonoverlapping(from, to, head);
            for line in 0..lines {
                let at = head + line * LINE;
                let (from, to) = (from.add(at).cast::<__m128i>(), to.add(at).cast::<__m128i>());
                let vectors: [__m128i; LINE / VECTOR] =
                    std::array::from_fn(|number| _mm_loadu_si128(from.add(number)));
                for (number, vector) in vectors.into_iter().enumerate() {
                    _mm_stream_si128(to.add(number), vector);
                }
            }
            std::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), length - tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fresh_results_stay_in_the_caches() {
        let large = |task, is_fresh| Stores::for_copy(task, LEAST_PAST_CACHES_DOWN, || is_fresh);
        assert_eq!(large(Task::Download, true), Stores::Ordinary);
        assert_eq!(large(Task::Download, false), Stores::NonTemporal);
        assert_eq!(large(Task::Upload, false), Stores::NonTemporal);
        assert_eq!(large(Task::Compare, false), Stores::Ordinary);
    }

    proptest! {
        #[test]
        fn every_byte_is_copied_and_no_other(
            length in 0..400usize, from_at in 0..70usize, to_at in 0..70usize,
        ) {
            let from: Vec<u8> = (0..500u32).map(|at| (at * 7 + 1) as u8).collect();
            let mut to = vec![0; 500];
            // SAFETY: both ranges lie within.
            unsafe {
                Stores::NonTemporal.copy(from[from_at..].as_ptr(), to[to_at..].as_mut_ptr(), length);
            }
            prop_assert_eq!(&to[to_at..to_at + length], &from[from_at..from_at + length]);
            prop_assert!(to[..to_at].iter().chain(&to[to_at + length..]).all(|byte| *byte == 0));
        }
    }
}
