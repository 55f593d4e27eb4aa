//! The table that the kernel works through, as `joined.ptx` describes it.  Pure arithmetic.

use super::{Becomes, Content, Piece};
use crate::Error;
use crate::spans::Spans;

/// What a block of threads fills in its turn, in words: enough that reading the entry costs little, and
/// little enough that all blocks end at about the same time.
pub(super) type Part = [u64; 8];

/// Parts end at multiples of so many bits: 64 KiB.
const STEP: u64 = 64 << 13;

const BYTES: u64 = 0;
const BITS: u64 = 1;
const NUMBERS: u64 = 2;
const VIEWS: u64 = 3;

/// The parts of pieces.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) first: Vec<Part>,
    /// Those that change what the first ones have brought: their sources lie at addresses that the device
    /// cannot load numbers from.
    pub(super) second: Vec<Part>,
}

impl Parts {
    /// Adds the parts of a piece that was checked.
    pub(super) fn add(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        let unit = if piece.content.is_bits() { 1 } else { 8 };
        let to = 8 * piece.to.private_address + piece.to_position * unit;
        let from = 8 * piece.from.private_address + piece.from_position * unit;
        let alignment = match piece.content {
            Content::Numbers { width, .. } => width,
            Content::Views(_) => 4,
            _ => 1,
        };
        if let Content::Numbers { becomes: Becomes::Entry(map), .. } = piece.content
            && !map.private_address.is_multiple_of(4)
        {
            return Err(Error::Invalid("a map is not aligned".into()));
        }
        let size = piece.content.size();
        if (from / 8).is_multiple_of(alignment) {
            divide(piece.content, (to, from, piece.count), &mut self.first);
        } else {
            let bytes = piece.count * size / 8;
            divide(Content::Bytes, (to, from, bytes), &mut self.first);
            divide(piece.content, (to, to, piece.count), &mut self.second);
        }
        Ok(())
    }
}

/// Divides elements between two addresses in bits.
fn divide(content: Content<'_>, (to, from, count): (u64, u64, u64), parts: &mut Vec<Part>) {
    let size = content.size();
    let mut done = 0;
    while done < count {
        let start = to + done * size;
        let most = (STEP - start % STEP) / size;
        let length = most.clamp(1, count - done);
        parts.push(part(content, start, from + done * size, (done, length)));
        done += length;
    }
}

/// The part of so many elements behind those that are `done`.
fn part(content: Content<'_>, to: u64, from: u64, (done, count): (u64, u64)) -> Part {
    match content {
        Content::Bytes => {
            let (to, from) = (to / 8, from / 8);
            let spans = Spans::of(to, from, count);
            [BYTES, to, from, spans.head, spans.vectors, spans.tail, 0, 0]
        }
        Content::Bits => [BITS, to / 32 * 4, from / 8, count, from % 8, to % 32, 0, 0],
        Content::Ones => [BITS, to / 32 * 4, 0, count, 0, to % 32, 0, 0],
        Content::Views(add) => [VIEWS, to / 8, from / 8, count, add.into(), 0, 0, 0],
        Content::Numbers { width, becomes } => {
            let [add, most, beside, how] = match becomes {
                Becomes::Sum { add, most } => [add, most, 0, 0],
                Becomes::SumOfType { add, types, position, id } => {
                    let beside = types.private_address + position + done;
                    [add, u64::MAX, beside, 1 | u64::from(id) << 8]
                }
                Becomes::Entry(map) => [0, map.size / 4, map.private_address, 2],
            };
            [NUMBERS, to / 8, from / 8, count, add, most, beside, width | how << 32]
        }
    }
}
