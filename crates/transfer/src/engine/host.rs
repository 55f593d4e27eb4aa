//! The host's side of a copy: one part of memory, or several that count as one.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Parts of host memory, one after the other: all to be read, or one to be written to as well.
#[derive(Debug)]
pub(crate) struct HostMemory<'memory> {
    parts: Parts,
    size: usize,
    memory: PhantomData<&'memory mut [u8]>,
}

/// Most copies have one, and need not allocate for it.
#[derive(Debug)]
enum Parts {
    One(Part),
    Several(Vec<Part>),
}

#[derive(Debug)]
struct Part {
    /// Where it begins, counted from the start of the first one.
    start: usize,
    address: *mut u8,
    length: usize,
}

impl<'memory> HostMemory<'memory> {
    /// One part, to be read.
    pub(crate) fn source(bytes: &'memory [u8]) -> Self {
        Self::one(bytes.as_ptr().cast_mut(), bytes.len())
    }

    /// One part, to be written to; nobody may have done so yet.
    pub(crate) fn target(bytes: &'memory mut [MaybeUninit<u8>]) -> Self {
        Self::one(bytes.as_mut_ptr().cast(), bytes.len())
    }

    fn one(address: *mut u8, length: usize) -> Self {
        let parts = Parts::One(Part { start: 0, address, length });
        Self { parts, size: length, memory: PhantomData }
    }

    /// Several parts, to be read.
    pub(crate) fn sources(parts: &[&'memory [u8]]) -> Self {
        let mut size = 0;
        let parts = parts
            .iter()
            .filter(|part| !part.is_empty())
            .map(|part| {
                let start = size;
                size += part.len();
                Part { start, address: part.as_ptr().cast_mut(), length: part.len() }
            })
            .collect();
        Self { parts: Parts::Several(parts), size, memory: PhantomData }
    }

    fn parts(&self) -> &[Part] {
        match &self.parts {
            Parts::One(part) => std::slice::from_ref(part),
            Parts::Several(parts) => parts,
        }
    }

    /// The same memory, for threads that the borrow checker cannot follow.
    ///
    /// # Safety
    ///
    /// Nobody may touch the memory through it after `'memory`.
    pub(super) unsafe fn unbound(self) -> HostMemory<'static> {
        HostMemory { parts: self.parts, size: self.size, memory: PhantomData }
    }

    /// All bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Where the memory begins, when it is all in one place.
    pub(super) fn start_of_only_part(&self) -> Option<*mut u8> {
        match self.parts() {
            [part] => Some(part.address),
            _ => None,
        }
    }

    /// Walks through `length` bytes from `start` on: where each stretch lies, how far from `start`
    /// it begins, and how long it is.
    pub(super) fn stretches(
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
            for (address, at, length) in memory.stretches(start, length) {
                prop_assert_eq!(at, found.len());
                // SAFETY: a stretch of the parts, which are alive.
                found.extend_from_slice(unsafe { std::slice::from_raw_parts(address, length) });
            }
            prop_assert_eq!(&found, &whole[start..start + length]);
        }
    }
}
