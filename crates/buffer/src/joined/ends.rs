//! The buffers of a piece: where its bytes come from, and where they go.

use crate::error::invalid;
use crate::range::within;
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use arrow_cuda_layout::{Change, JoinPiece};

pub(super) struct Ends<'a> {
    pub(super) to: &'a DeviceBuffer,
    /// Of ones the target itself.
    pub(super) from: &'a DeviceBuffer,
    /// Types or a map.
    pub(super) beside: Option<&'a DeviceBuffer>,
}

impl<'a> Ends<'a> {
    pub(super) fn of(
        piece: &JoinPiece,
        to: &'a [DeviceBuffer],
        from: &[Option<&'a DeviceBuffer>],
    ) -> Result<Self, Error> {
        let source = |number: usize| from.get(number).copied().flatten();
        let ends = || {
            let to = to.get(piece.to)?;
            let beside = match piece.change {
                Change::SumOfType { types: number, .. } | Change::Entry { map: number, .. } => {
                    Some(source(number)?)
                }
                _ => None,
            };
            let from = if piece.change == Change::Ones { to } else { source(piece.from)? };
            Some(Self { to, from, beside })
        };
        ends().ok_or_else(|| Error::Invalid("a piece lacks a buffer".into()))
    }

    pub(super) fn check(&self, piece: &JoinPiece, context: &Context) -> Result<(), Error> {
        let JoinPiece { to_position, from_position, count, change, .. } = *piece;
        self.to.check_mutable()?;
        for buffer in [self.to, self.from].into_iter().chain(self.beside) {
            if !buffer.context().is_same(context) {
                drop(buffer.context().enter()?); // says so if it is gone
                return invalid("a buffer belongs to another context");
            }
            buffer.check_memory()?;
        }
        let unit = if change.is_of_bits() { 1 } else { 8 };
        let length = count.saturating_mul(change.size() / unit) as usize;
        let all = |buffer: &DeviceBuffer| buffer.size.saturating_mul(8 / unit as usize);
        within(to_position as usize, length, all(self.to))?;
        if change != Change::Ones {
            within(from_position as usize, length, all(self.from))?;
        }
        let address = self.to.private_address;
        let is_aligned = match (change, self.beside) {
            (Change::Bytes, _) => true,
            (Change::Bits | Change::Ones, _) => (address | self.to.size as u64).is_multiple_of(4),
            (Change::SumOfType { position, .. }, Some(types)) => {
                within(position as usize, count as usize, types.size)?;
                (address + to_position).is_multiple_of(4)
            }
            (Change::Entry { .. }, Some(map)) if !map.private_address.is_multiple_of(4) => false,
            _ => {
                let size = change.size() / 8;
                size.is_power_of_two() && size <= 16 && (address + to_position).is_multiple_of(size)
            }
        };
        if is_aligned { Ok(()) } else { invalid("a buffer is not aligned") }
    }
}
