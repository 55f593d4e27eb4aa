//! How a copy from one layout to another is simplified.  Pure arithmetic.

/// A dimension along which a copy repeats, with strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    pub(super) length: u64,
    pub(super) to: u64,
    pub(super) from: i64,
}

/// Runs of bytes that are contiguous on both sides, and the dimensions along which they lie.
///
/// No two bytes of the target are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Where the first run begins on each side, in bytes from the buffer's start.
    pub(super) to: u64,
    pub(super) from: u64,
    /// The size of each, in bytes.
    pub(super) run: u64,
    /// The target's densest dimension comes first.  None has a length of 1, and none continues the
    /// one before it.
    pub(super) dimensions: Vec<Dimension>,
}

/// A layout that was found to lie within its buffer: the first element's offset, and the strides.
pub(super) type Layout<'a> = (usize, &'a [i64]);

impl Plan {
    /// The plan for elements of which there is at least one, and those of the target are distinct.
    pub(super) fn of(shape: &[usize], item_size: usize, to: Layout<'_>, from: Layout<'_>) -> Self {
        let ((first_to, to), (first_from, from)) = (to, from);
        let (mut first_to, mut first_from) = (first_to as u64, first_from as u64);
        let mut dimensions = Vec::with_capacity(shape.len());
        for ((length, to), from) in shape.iter().zip(to).zip(from) {
            let (length, to, from) = (*length as u64, *to, *from);
            if length == 1 {
                continue;
            }
            if to >= 0 {
                dimensions.push(Dimension { length, to: to.unsigned_abs(), from });
                continue;
            }
            // From the other end, the target lies forwards.
            let last = (length - 1).cast_signed();
            first_to = first_to.wrapping_add_signed(to * last);
            first_from = first_from.wrapping_add_signed(from * last);
            dimensions.push(Dimension { length, to: to.unsigned_abs(), from: -from });
        }
        dimensions.sort_unstable_by_key(|dimension| dimension.to);
        Self::merged(first_to, first_from, item_size as u64, dimensions)
    }

    /// Merges neighbours that continue each other, in dimensions that are in order.
    fn merged(
        to: u64,
        from: u64,
        mut run: u64,
        dimensions: impl IntoIterator<Item = Dimension>,
    ) -> Self {
        let mut merged: Vec<Dimension> = Vec::new();
        for dimension in dimensions {
            let Dimension { length, to, from } = dimension;
            match merged.last_mut() {
                None if (to, from) == (run, run.cast_signed()) => run *= length,
                Some(inner) if inner.is_continued_by(dimension) => inner.length *= length,
                _ => merged.push(dimension),
            }
        }
        Self { to, from, run, dimensions: merged }
    }

    pub(super) fn plain(to: u64, from: u64, size: u64) -> Self {
        Self { to, from, run: size, dimensions: Vec::new() }
    }

    /// Whether the bytes are contiguous on both sides.
    pub(super) fn is_plain(&self) -> bool {
        self.dimensions.is_empty()
    }

    /// The size of all runs together, in bytes.
    pub(super) fn size(&self) -> u64 {
        self.run * self.dimensions.iter().map(|dimension| dimension.length).product::<u64>()
    }

    pub(super) fn target_span(&self) -> std::ops::Range<u64> {
        let reach = |dimension: &Dimension| dimension.to * (dimension.length - 1);
        self.to..self.to + self.run + self.dimensions.iter().map(reach).sum::<u64>()
    }

    pub(super) fn source_span(&self) -> std::ops::Range<u64> {
        let mut span = self.from..self.from + self.run;
        for dimension in &self.dimensions {
            let reach = dimension.from * (dimension.length - 1).cast_signed();
            span.start = span.start.wrapping_add_signed(reach.min(0));
            span.end = span.end.wrapping_add_signed(reach.max(0));
        }
        span
    }

    /// Whether the two spans share a byte, between buffers at two addresses.
    pub(super) fn overlaps(&self, to: u64, from: u64) -> bool {
        let (target, source) = (self.target_span(), self.source_span());
        to + target.start < from + source.end && from + source.start < to + target.end
    }

    /// The same copy by way of contiguous memory: to its beginning, and from there.  What the
    /// source repeats is there once.
    pub(super) fn in_two_steps(&self) -> (Self, Self) {
        let mut packed = self.run;
        let (mut gathered, mut scattered) = (Vec::new(), Vec::new());
        for Dimension { length, to, from } in self.dimensions.iter().copied() {
            let repeats = from == 0;
            scattered.push(Dimension {
                length,
                to,
                from: if repeats { 0 } else { packed.cast_signed() },
            });
            if !repeats {
                gathered.push(Dimension { length, to: packed, from });
                packed *= length;
            }
        }
        let gather = Self::merged(0, self.from, self.run, gathered);
        let scatter = Self::merged(self.to, 0, self.run, scattered);
        (gather, scatter)
    }
}

impl Dimension {
    fn is_continued_by(&self, outer: Self) -> bool {
        let to = self.to.checked_mul(self.length);
        let from = self.from.checked_mul(self.length.cast_signed());
        to == Some(outer.to) && from == Some(outer.from)
    }
}
