//! The table that the kernel works through, as `joined.ptx` describes it.  Pure arithmetic.

use super::ends::Ends;
use crate::spans::Spans;
use arrow_cuda_layout::{Change, JoinPiece};

/// The part of a buffer that one block of threads fills.
pub(super) type Part = [u64; 8];

/// Parts end at multiples of this many bits, which are 64 KiB.  So reading an entry of the table costs little,
/// and all blocks end at about the same time.
const STEP: u64 = 64 << 13;

const BYTES: u64 = 0;
const BITS: u64 = 1;
const NUMBERS: u64 = 2;
const VIEWS: u64 = 3;

#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) first: Vec<Part>,
    /// Parts that change what a part of `first` has copied to its place: the device cannot load numbers from
    /// the address of its source.
    pub(super) second: Vec<Part>,
}

impl Parts {
    pub(super) fn add(&mut self, piece: &JoinPiece, ends: &Ends<'_>) {
        let JoinPiece { to_position, from_position, count, change, .. } = *piece;
        let (size, unit) = (change.size(), if change.is_of_bits() { 1 } else { 8 });
        let to = 8 * ends.to.private_address + to_position * unit;
        let from = 8 * ends.from.private_address + from_position * unit;
        let word = if matches!(change, Change::Views(_)) { 32 } else { size };
        let beside =
            ends.beside.map_or((0, 0), |beside| (beside.private_address, beside.size as u64));
        if from.is_multiple_of(word) {
            divide(change, (to, from, count), beside, &mut self.first);
        } else {
            divide(Change::Bytes, (to, from, count * size / 8), beside, &mut self.first);
            divide(change, (to, to, count), beside, &mut self.second);
        }
    }
}

/// Divides `count` elements into parts.  `to` and `from` are addresses in bits.
fn divide(
    change: Change,
    (to, from, count): (u64, u64, u64),
    beside: (u64, u64),
    parts: &mut Vec<Part>,
) {
    let size = change.size();
    let mut done = 0;
    while done < count {
        let start = to + done * size;
        let most = (STEP - start % STEP) / size;
        let length = most.clamp(1, count - done);
        parts.push(part(change, (start, from + done * size), beside, (done, length)));
        done += length;
    }
}

/// The part of `count` elements that follow the first `done` ones.
fn part(
    change: Change,
    (to, from): (u64, u64),
    (beside, size_beside): (u64, u64),
    (done, count): (u64, u64),
) -> Part {
    let numbers = |width, add, most, beside, how| {
        [NUMBERS, to / 8, from / 8, count, add, most, beside, width | how << 32]
    };
    match change {
        Change::Bytes => {
            let (to, from) = (to / 8, from / 8);
            let spans = Spans::of(to, from, count);
            [BYTES, to, from, spans.head, spans.vectors, spans.tail, 0, 0]
        }
        Change::Bits => [BITS, to / 32 * 4, from / 8, count, from % 8, to % 32, 0, 0],
        Change::Ones => [BITS, to / 32 * 4, 0, count, 0, to % 32, 0, 0],
        Change::Views(add) => [VIEWS, to / 8, from / 8, count, add.into(), 0, 0, 0],
        Change::Sum { width, add, most } => numbers(width, add, most, 0, 0),
        Change::SumOfType { add, position, id, .. } => {
            numbers(4, add, u64::MAX, beside + position + done, 1 | u64::from(id) << 8)
        }
        Change::Entry { width, .. } => numbers(width, 0, size_beside / 4, beside, 2),
    }
}
