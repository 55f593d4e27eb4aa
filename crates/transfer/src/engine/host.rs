//! The host side of a copy: one range of memory, or several that are gathered.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A sequence of host ranges: any number to read, or one to read and write.
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
    /// Its offset in the sequence, in bytes.
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

    /// Several ranges to read.
    pub(crate) fn sources(parts: &[&'memory [u8]]) -> Self {
        let mut size = 0;
        let parts = parts
            .iter()
            .filter(|part| !part.is_empty())
            .map(|part| {
                let start = size;
                size += part.len();
                Range { start, address: part.as_ptr().cast_mut(), length: part.len() }
            })
            .collect();
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

    /// The total size, in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The start of the memory, if it is one range.
    pub(super) fn contiguous_start(&self) -> Option<*mut u8> {
        match self.parts() {
            [part] => Some(part.address),
            _ => None,
        }
    }

    /// Iterates over the contiguous runs of `length` bytes from `start` on: the address of each
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stretches_are_the_bytes_in_order(
            parts in vec(vec(any::<u8>(), 0..20), 0..10), start in 0..100usize, length in 0..100usize,
        ) {
            let whole = parts.concat();
            let start = start.min(whole.len());
            let length = length.min(whole.len() - start);
            let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            let memory = HostMemory::sources(&slices);
            prop_assert_eq!(memory.size(), whole.len());
            let mut found = Vec::new();
            for (address, at, length) in memory.runs(start, length) {
                prop_assert_eq!(at, found.len());
                // SAFETY: a run within the ranges, which are alive.
                found.extend_from_slice(unsafe { std::slice::from_raw_parts(address, length) });
            }
            prop_assert_eq!(&found, &whole[start..start + length]);
        }
    }
}
