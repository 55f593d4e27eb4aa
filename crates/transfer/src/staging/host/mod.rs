//! The host side of a copy: one range of memory, or parts that lie anywhere.

#[expect(unsafe_code, reason = "advises the kernel")]
mod fresh;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod stores;

pub(super) use fresh::{HUGE_PAGE, prefer_huge_pages};
pub(super) use stores::{Stores, fence_stores};

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Ranges of host memory, each with its place in one range of the device.  Between them may be gaps.
#[derive(Debug)]
pub(crate) struct HostMemory<'memory> {
    parts: Ranges,
    size: usize,
    memory: PhantomData<&'memory mut [u8]>,
}

/// Most copies have one range, which needs no allocation.
#[derive(Debug)]
enum Ranges {
    One(Range),
    Several(Vec<Range>),
}

#[derive(Debug)]
struct Range {
    /// Its offset in the device's range, in bytes.
    start: usize,
    address: *mut u8,
    length: usize,
}

impl<'memory> HostMemory<'memory> {
    /// One range to read.
    pub(crate) fn source(bytes: &'memory [u8]) -> Self {
        Self::one(bytes.as_ptr().cast_mut(), bytes.len())
    }

    /// One range to write, which may be uninitialised.
    pub(crate) fn target(bytes: &'memory mut [MaybeUninit<u8>]) -> Self {
        Self::one(bytes.as_mut_ptr().cast(), bytes.len())
    }

    fn one(address: *mut u8, length: usize) -> Self {
        let parts = Ranges::One(Range { start: 0, address, length });
        Self { parts, size: length, memory: PhantomData }
    }

    /// Several ranges to read, each with its offset.  The offsets ascend, and no two parts overlap.
    pub(crate) fn sources(parts: &[(usize, &'memory [u8])]) -> Self {
        Self::several(parts.iter().map(|(at, part)| (*at, part.as_ptr().cast_mut(), part.len())))
    }

    /// The same to write; all of them may be uninitialised.
    pub(crate) fn targets(parts: &mut [(usize, &'memory mut [MaybeUninit<u8>])]) -> Self {
        Self::several(
            parts.iter_mut().map(|(at, part)| (*at, part.as_mut_ptr().cast(), part.len())),
        )
    }

    fn several(parts: impl Iterator<Item = (usize, *mut u8, usize)>) -> Self {
        let parts: Vec<_> = parts
            .filter(|(_, _, length)| *length > 0)
            .map(|(start, address, length)| Range { start, address, length })
            .collect();
        let size = parts.last().map_or(0, |last| last.start + last.length);
        Self { parts: Ranges::Several(parts), size, memory: PhantomData }
    }

    fn parts(&self) -> &[Range] {
        match &self.parts {
            Ranges::One(part) => std::slice::from_ref(part),
            Ranges::Several(parts) => parts,
        }
    }

    /// The same memory without its lifetime, for threads that outlive the borrow checker's view.
    ///
    /// # Safety
    ///
    /// No thread may access the memory through the result after `'memory`.
    pub(super) unsafe fn without_lifetime(self) -> HostMemory<'static> {
        HostMemory { parts: self.parts, size: self.size, memory: PhantomData }
    }

    /// Whether most of the memory is fresh, judged by the middle of the largest part.
    pub(super) fn is_fresh(&self) -> bool {
        let largest = self.parts().iter().max_by_key(|part| part.length);
        largest.is_some_and(|part| fresh::is_fresh(part.address.addr() + part.length / 2))
    }

    /// The size of the device's range, in bytes: up to the end of the last part.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The start of the memory, if it is one range without a gap before it.
    pub(super) fn contiguous_start(&self) -> Option<*mut u8> {
        match self.parts() {
            [part] if part.start == 0 => Some(part.address),
            _ => None,
        }
    }

    /// Iterates over the contiguous runs within `length` bytes from `start` on: the address of each
    /// run, its offset from `start`, and its length.
    pub(super) fn runs(
        &self,
        start: usize,
        length: usize,
    ) -> impl Iterator<Item = (*mut u8, usize, usize)> {
        let end = start + length;
        let parts = self.parts();
        let first = parts.partition_point(|part| part.start + part.length <= start);
        parts[first..].iter().take_while(move |part| part.start < end).map(move |part| {
            let from = start.max(part.start);
            let to = end.min(part.start + part.length);
            (part.address.wrapping_add(from - part.start), from - start, to - from)
        })
    }
}
