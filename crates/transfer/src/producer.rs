//! Copies from a producer, a function that makes the bytes on the host: it reads a file, or decompresses.
//!
//! Several threads make them in pinned memory, from which the device copies, so they lie nowhere else.

use crate::staging::{Piece, Stretch, Task, copy_stretches};
use arrow_cuda_context::Context;
use arrow_cuda_driver::CudaError;
use std::cmp::Reverse;
use std::ops::Range;

/// Device memory, and how its bytes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins on the device.
    pub address: u64,
    /// The number of bytes.
    pub size: usize,
    /// Whether its bytes are made in their order, by one thread.
    pub is_serial: bool,
    /// Whether what lies between it and the part before it that has bytes, less than a MiB, becomes zeros.  Small
    /// parts in one allocation share copies then.
    pub is_joined: bool,
}

/// Smaller parts share a copy.
const STRETCH: usize = 1 << 20;

/// Copies bytes that `produce` makes into parts of a device's memory, which do not overlap.  It is called
/// with a state of its thread, the number of a part, a place in the part, and the bytes to make there; of a
/// serial part, a thread makes the bytes from the first to the last, before those of another part.  `watch`
/// gets the number of bytes made so far, now and then, on the calling thread.
///
/// # Safety
///
/// All parts, and what lies before those that are joined, must be live memory of the context's device, and the
/// caller's to write.
///
/// # Errors
///
/// The first error of `produce` or `watch`; driver errors.  Some of the memory may have changed.
pub unsafe fn copy_from_producer<S: Default, E: From<CudaError> + Send>(
    context: &Context,
    parts: &[Part],
    produce: impl Fn(&mut S, usize, usize, &mut [u8]) -> Result<(), E> + Sync,
    watch: &mut dyn FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    let (stretches, members): (Vec<_>, Vec<_>) = stretches(parts).into_iter().unzip();
    let fill = |state: &mut S, piece: Piece, mut out: &mut [u8]| {
        let mut address = stretches[piece.stretch].address + piece.at as u64;
        for number in members[piece.stretch].clone() {
            let Part { address: begin, size, .. } = parts[number];
            let at = address.saturating_sub(begin) as usize;
            if at >= size || out.is_empty() {
                continue;
            }
            let (gap, rest) =
                out.split_at_mut(out.len().min(begin.saturating_sub(address) as usize));
            gap.fill(0);
            let (bytes, rest) = rest.split_at_mut(rest.len().min(size - at));
            produce(state, number, at, bytes)?;
            address = begin + (at + bytes.len()) as u64;
            out = rest;
        }
        out.fill(0);
        Ok(())
    };
    // SAFETY: guaranteed by the caller.
    unsafe { copy_stretches(context, Task::Upload, &stretches, fill, watch) }
}

/// The stretches that one thread copies, and the numbers of the parts in each; the largest first, so that
/// all threads end at about the same time.
fn stretches(parts: &[Part]) -> Vec<(Stretch, Range<usize>)> {
    let mut all: Vec<(Stretch, Range<usize>)> = Vec::new();
    for (number, part) in parts.iter().enumerate().filter(|(_, part)| part.size > 0) {
        let Part { address, size, is_serial, is_joined } = *part;
        if let Some((last, members)) = all.last_mut().filter(|_| is_joined) {
            last.size = (address - last.address) as usize;
            if last.size < STRETCH && size < STRETCH {
                last.size += size;
                last.is_serial |= is_serial;
                members.end = number + 1;
                continue;
            }
        }
        let step = if is_serial { size } else { STRETCH };
        all.extend((0..size).step_by(step).map(|at| {
            let (address, size) = (address + at as u64, step.min(size - at));
            let stretch = Stretch { address, size, is_serial };
            (stretch, number..number + 1)
        }));
    }
    all.sort_by_key(|(stretch, _)| Reverse(stretch.size / (4 * STRETCH)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stretches_cover_each_part_once_and_only_gaps_of_joined_parts(
            places in proptest::collection::vec((1..2000_u64, 0..3 * STRETCH, any::<[bool; 2]>()), 0..20),
        ) {
            let mut end = 4096;
            let parts: Vec<_> = places.into_iter().map(|(gap, size, [is_serial, is_joined])| {
                let part = Part { address: end + gap, size, is_serial, is_joined };
                end = part.address + size as u64;
                part
            }).filter(|part| part.size > 0).collect();
            let mut all = stretches(&parts);
            all.sort_by_key(|(stretch, _)| stretch.address);
            let mut covered = 0;
            for (stretch, members) in &all {
                prop_assert!(stretch.address >= covered);
                covered = stretch.address + stretch.size as u64;
                let last = parts[members.end - 1];
                let next = parts.get(members.end).filter(|next| next.is_joined);
                prop_assert!(covered <= next.map_or(last.address + last.size as u64, |next| next.address));
                let parts = &parts[members.clone()];
                prop_assert!(parts.len() == 1 || stretch.size < 3 * STRETCH);
                prop_assert!(parts.iter().skip(1).all(|part| part.is_joined));
            }
            for (number, part) in parts.iter().enumerate() {
                let theirs = all.iter().filter(|(_, members)| members.contains(&number));
                let bytes = |(stretch, _): &(Stretch, _)| {
                    let end = (stretch.address + stretch.size as u64).min(part.address + part.size as u64);
                    (end - stretch.address.max(part.address)) as usize
                };
                prop_assert_eq!(theirs.clone().map(bytes).sum::<usize>(), part.size);
                prop_assert!(!part.is_serial || theirs.count() == 1);
            }
        }
    }
}
