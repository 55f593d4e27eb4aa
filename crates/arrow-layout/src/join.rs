//! A plan for concatenating arrays: the pieces that fill each buffer of the result.

use crate::layout::{Content, Layout};
use crate::node::{ArrayBounds, ArrayNode, Reach, places};
use std::fmt;

/// One array of the result of [`plan_join`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// The number of its elements.
    pub length: u64,
    /// The number of its buffers, including the bitmap, but not the data buffers of views.
    pub buffers: u32,
    /// Whether the first of them is a validity bitmap.
    pub has_validity: bool,
}

/// A copy of elements from a buffer of the arrays to a buffer of the result.  Positions are in bytes, or in bits if
/// [`Change::is_of_bits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinPiece {
    /// The number of the result's buffer.
    pub to: usize,
    /// The position of the first element there.
    pub to_position: u64,
    /// The number of the source buffer; arbitrary for [`Change::Ones`].
    pub from: usize,
    /// The position of the first element there.
    pub from_position: u64,
    /// The number of elements.
    pub count: u64,
    /// The type of the elements, and how the copy changes them.
    pub change: Change,
}

/// The type of a piece's elements, and how a copy changes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes, unchanged.
    Bytes,
    /// Bits, unchanged.
    Bits,
    /// Bits, all of which become 1.
    Ones,
    /// Unsigned numbers, to which `add` is added (wrapping around), limited to `most`.
    Sum {
        /// The size of each, in bytes.
        width: u64,
        /// The number that is added to each.
        add: u64,
        /// The largest result.
        most: u64,
    },
    /// Numbers of 4 bytes, the offsets of a dense union: `add` is added to those whose type id is `id`.
    SumOfType {
        /// The number that is added.
        add: u64,
        /// The number of the buffer of type ids, a byte for each element.
        types: usize,
        /// The position of the first element's type id, in bytes.
        position: u64,
        /// The type id of the elements that change.
        id: u8,
    },
    /// Indices, replaced by the 32-bit numbers at those places of a buffer; by 0 if they are out of bounds.
    Entry {
        /// The size of each, in bytes.
        width: u64,
        /// The number of the buffer.
        map: usize,
    },
    /// Views of binary data, of 16 bytes each: this number is added to the buffer number in views of more than 12
    /// bytes.
    Views(u32),
}

impl Change {
    /// Whether positions are in bits.
    pub fn is_of_bits(self) -> bool {
        matches!(self, Self::Bits | Self::Ones)
    }

    /// The size of an element, in bits.
    pub fn size(self) -> u64 {
        match self {
            Self::Bytes => 8,
            Self::Bits | Self::Ones => 1,
            Self::Sum { width, .. } | Self::Entry { width, .. } => width.saturating_mul(8),
            Self::SumOfType { .. } => 32,
            Self::Views(_) => 128,
        }
    }
}

/// The plan that [`plan_join`] makes.
#[derive(Debug, Default)]
pub struct Join {
    /// The arrays of the result: one for each column, each followed by its children, without dictionaries.
    pub arrays: Vec<Joined>,
    /// The sizes of the result's buffers, in bytes; multiples of 4 for bits.
    pub sizes: Vec<u64>,
    /// The pieces that fill these buffers, buffer by buffer.
    pub pieces: Vec<JoinPiece>,
}

/// Why arrays cannot be concatenated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// The offsets or run ends of the type cannot count all elements.
    Overflow,
    /// The arrays contradict each other.
    Invalid,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overflow => "the type's offsets cannot count so many elements",
            Self::Invalid => "the arrays contradict themselves or each other",
        })
    }
}

impl std::error::Error for JoinError {}

/// Plans how to concatenate the arrays of each column.  `columns` has the number of top-level arrays of each column, in
/// the order of `arrays`; `found` is the result of [`reach`](crate::reach()) with
/// [`Reads::ToJoin`](crate::Reads::ToJoin).  All arrays of a column must have the same dictionary.
///
/// # Errors
///
/// See [`JoinError`].
pub fn plan_join(
    arrays: &[ArrayNode],
    columns: &[usize],
    found: &Reach,
) -> Result<Join, JoinError> {
    let mut plan = Plan { arrays, places: places(arrays), found, join: Join::default() };
    let mut next = 0;
    for count in columns {
        let mut parts = Vec::new(); // `count` may be any number
        for _ in 0..*count {
            parts.push(plan.part(next)?);
            next = plan.places.get(next).ok_or(JoinError::Invalid)?.end;
        }
        plan.add(&parts, None)?;
    }
    Ok(plan.join)
}

#[derive(Clone, Copy)]
struct Part {
    number: usize,
    node: ArrayNode,
    place: ArrayBounds,
    /// The position of its first element, as far as it has bits or runs, and the number of elements.
    offset: u64,
    length: u64,
    base: u64,
}

impl Part {
    /// The number of a buffer, counted from the first after the bitmap.
    fn content(&self, number: usize) -> usize {
        let bitmap = usize::from(self.node.has_validity);
        self.place.buffers.saturating_add(bitmap).saturating_add(number)
    }
}

/// For each part, the number that is added to its numbers, and the largest result.
type Sums = Vec<(u64, u64)>;

struct Plan<'a> {
    arrays: &'a [ArrayNode],
    places: Vec<ArrayBounds>,
    found: &'a Reach,
    join: Join,
}

impl Plan<'_> {
    fn part(&self, number: usize) -> Result<Part, JoinError> {
        let found = || {
            let reached = self.found.arrays.get(number)?;
            Some(Part {
                number,
                node: *self.arrays.get(number)?,
                place: *self.places.get(number)?,
                offset: reached.offset,
                length: reached.length,
                base: reached.base,
            })
        };
        found().ok_or(JoinError::Invalid)
    }

    fn children(&self, parts: &[Part], child: u32) -> Result<Vec<Part>, JoinError> {
        let child_of = |part: &Part| {
            let mut number = part.number.saturating_add(1);
            for _ in 0..child {
                number = self.places.get(number).ok_or(JoinError::Invalid)?.end;
            }
            if number < part.place.end { self.part(number) } else { Err(JoinError::Invalid) }
        };
        parts.iter().map(child_of).collect()
    }

    /// Where the part of a buffer begins, and its size, in bytes.
    fn range(&self, number: usize) -> Result<(u64, u64), JoinError> {
        let range = self.found.ranges.get(number).ok_or(JoinError::Invalid)?;
        Ok((range.start, range.size))
    }

    /// Where an element of `width` bytes begins in a buffer, in bytes.
    fn element(&self, buffer: usize, element: u64, width: u64) -> Result<u64, JoinError> {
        sum(self.range(buffer)?.0, product(element, width)?)
    }

    fn push(&mut self, position: u64, from: (usize, u64), count: u64, change: Change) {
        let (from, from_position) = from;
        let to = self.join.sizes.len();
        let piece = JoinPiece { to, to_position: position, from, from_position, count, change };
        if count > 0 {
            self.join.pieces.push(piece);
        }
    }

    /// Plans one array of the result, and those within it.  With `sums`, its numbers change.
    fn add(&mut self, parts: &[Part], sums: Option<Sums>) -> Result<(), JoinError> {
        let Some(Part { node, .. }) = parts.first().copied() else { return Ok(()) };
        let is_alike = |part: &Part| {
            (part.node.layout, part.node.width, part.node.children)
                == (node.layout, node.width, node.children)
        };
        if !parts.iter().all(is_alike) {
            return Err(JoinError::Invalid);
        }
        let length = total(parts.iter().map(|part| part.length), most_of(8)?)?;
        let has_validity = parts.iter().any(|part| part.node.has_validity && part.length > 0);
        let contents = node.layout.contents(node.width).count() as u32;
        let buffers = contents.saturating_add(u32::from(has_validity));
        self.join.arrays.push(Joined { length, buffers, has_validity });
        if has_validity {
            self.add_bits(parts, |part| part.node.has_validity.then_some(part.place.buffers))?;
        }
        let children: Vec<_> = (0..node.children)
            .map(|child| self.children(parts, child))
            .collect::<Result<_, _>>()?;
        let sums = match node.layout {
            Layout::ListView => Some(sums_of(children.first(), node.width)?),
            _ => sums,
        };
        for (number, content) in node.layout.contents(node.width).enumerate() {
            let buffer = |part: &Part| part.content(number);
            match content {
                Content::Bits => self.add_bits(parts, |part| Some(buffer(part)))?,
                Content::Fixed(_) if (node.layout, number) == (Layout::DenseUnion, 1) => {
                    self.add_offsets_of_union(parts, &children)?;
                }
                Content::Fixed(width) => {
                    let sums = sums.as_ref().filter(|_| number == 0);
                    self.add_fixed(parts, width, buffer, sums)?;
                }
                Content::Offsets(width) => {
                    self.add_offsets(parts, width, buffer, children.first())?;
                }
                Content::Bytes => self.add_bytes(parts, buffer)?,
            }
        }
        let mut sums = match node.layout {
            Layout::RunEndEncoded => Some(sums_of_runs(parts, &children)?),
            _ => None,
        };
        for children in &children {
            self.add(children, sums.take())?;
        }
        Ok(())
    }

    fn end_buffer(&mut self, size: u64) {
        self.join.sizes.push(size);
    }

    fn add_bits(
        &mut self,
        parts: &[Part],
        buffer: impl Fn(&Part) -> Option<usize>,
    ) -> Result<(), JoinError> {
        let mut at = 0;
        for part in parts {
            let (from, change) = match buffer(part) {
                Some(buffer) if part.length > 0 => {
                    let start = product(self.range(buffer)?.0, 8)?;
                    ((buffer, sum(start, part.offset)?), Change::Bits)
                }
                _ => ((0, 0), Change::Ones),
            };
            self.push(at, from, part.length, change);
            at = sum(at, part.length)?;
        }
        self.end_buffer(product(at.div_ceil(32), 4)?);
        Ok(())
    }

    fn add_fixed(
        &mut self,
        parts: &[Part],
        width: u64,
        buffer: impl Fn(&Part) -> usize,
        sums: Option<&Sums>,
    ) -> Result<(), JoinError> {
        let (mut at, mut views) = (0u64, 0);
        for (number, part) in parts.iter().enumerate() {
            let from = (buffer(part), self.element(buffer(part), part.offset, width)?);
            let all = product(part.length, width)?;
            match sums.and_then(|sums| sums.get(number)) {
                Some((add, most)) => {
                    let change = Change::Sum { width, add: *add, most: *most };
                    self.push(at, from, part.length, change);
                }
                None if part.node.layout == Layout::BinaryView => {
                    self.push(at, from, part.length, Change::Views(views));
                    let own = u32::from(part.node.has_validity).saturating_add(1);
                    let others = part.node.buffers.saturating_sub(own);
                    views = u32::checked_add(views, others).ok_or(JoinError::Overflow)?;
                }
                None => self.push(at, from, all, Change::Bytes),
            }
            at = sum(at, all)?;
        }
        self.end_buffer(at);
        Ok(())
    }

    /// Offsets count what their parts lead to behind what those before lead to.
    fn add_offsets(
        &mut self,
        parts: &[Part],
        width: u64,
        buffer: impl Fn(&Part) -> usize,
        children: Option<&Vec<Part>>,
    ) -> Result<(), JoinError> {
        let last = parts.iter().rposition(|part| part.length > 0);
        let (mut at, mut before) = (0, 0u64);
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| part.length > 0) {
            let from = (buffer(part), self.element(buffer(part), part.offset, width)?);
            let count = sum(part.length, u64::from(last == Some(number)))?;
            let add = before.wrapping_sub(part.base);
            self.push(at, from, count, Change::Sum { width, add, most: u64::MAX });
            at = sum(at, product(count, width)?)?;
            let length = match children.map(|children| children.get(number)) {
                Some(child) => child.ok_or(JoinError::Invalid)?.length,
                None => self.range(buffer(part).saturating_add(1))?.1,
            };
            before = total([before, length].into_iter(), most_of(width)?)?;
        }
        self.end_buffer(at);
        Ok(())
    }

    fn add_bytes(
        &mut self,
        parts: &[Part],
        buffer: impl Fn(&Part) -> usize,
    ) -> Result<(), JoinError> {
        let mut at = 0;
        for part in parts.iter().filter(|part| part.length > 0) {
            let (start, size) = self.range(buffer(part))?;
            self.push(at, (buffer(part), start), size, Change::Bytes);
            at = sum(at, size)?;
        }
        self.end_buffer(at);
        Ok(())
    }

    /// A piece for each type, which picks out the elements of that type.
    fn add_offsets_of_union(
        &mut self,
        parts: &[Part],
        children: &[Vec<Part>],
    ) -> Result<(), JoinError> {
        let mut sums = Vec::with_capacity(children.len());
        for children in children {
            sums.push(sums_of(Some(children), 4)?);
        }
        let mut at = 0;
        for (number, part) in parts.iter().enumerate() {
            let (types, offsets) = (part.content(0), part.content(1));
            let position = self.element(types, part.offset, 1)?;
            let from = (offsets, self.element(offsets, part.offset, 4)?);
            for (children, sums) in children.iter().zip(&sums) {
                let child = children.get(number).ok_or(JoinError::Invalid)?;
                let (add, _) = *sums.get(number).ok_or(JoinError::Invalid)?;
                let id = child.node.type_id;
                let change = Change::SumOfType { add, types, position, id };
                self.push(at, from, part.length, change);
            }
            at = sum(at, product(part.length, 4)?)?;
        }
        self.end_buffer(at);
        Ok(())
    }
}

/// The numbers that are added to positions in the children: the elements of earlier ones.
fn sums_of(children: Option<&Vec<Part>>, width: u64) -> Result<Sums, JoinError> {
    let mut before = 0;
    let mut sums = Sums::new();
    for child in children.ok_or(JoinError::Invalid)? {
        sums.push((before, u64::MAX));
        before = total([before, child.length].into_iter(), most_of(width)?)?;
    }
    Ok(sums)
}

/// The ends of runs count from the first element of the result, and the last run of a part ends with it.
fn sums_of_runs(parts: &[Part], children: &[Vec<Part>]) -> Result<Sums, JoinError> {
    let ends = children.first().and_then(|ends| ends.first()).ok_or(JoinError::Invalid)?;
    let mut before = 0u64;
    let mut sums = Sums::new();
    for part in parts {
        let add = before.wrapping_sub(part.offset);
        before = total([before, part.length].into_iter(), most_of(ends.node.width)?)?;
        sums.push((add, before));
    }
    Ok(sums)
}

/// The largest signed number of `width` bytes.
fn most_of(width: u64) -> Result<u64, JoinError> {
    match width {
        2 => Ok(i16::MAX as u64),
        4 => Ok(i32::MAX as u64),
        8 => Ok(i64::MAX as u64),
        _ => Err(JoinError::Invalid), // no offset and no run's end is so wide
    }
}

fn sum(one: u64, other: u64) -> Result<u64, JoinError> {
    one.checked_add(other).ok_or(JoinError::Overflow)
}

fn product(one: u64, other: u64) -> Result<u64, JoinError> {
    one.checked_mul(other).ok_or(JoinError::Overflow)
}

fn total(mut lengths: impl Iterator<Item = u64>, most: u64) -> Result<u64, JoinError> {
    let total = lengths.try_fold(0u64, u64::checked_add);
    total.filter(|total| *total <= most).ok_or(JoinError::Overflow)
}
