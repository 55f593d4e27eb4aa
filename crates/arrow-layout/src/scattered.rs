//! Views, list views and elements of dense unions, which may lead anywhere: each of them is read.

/// Views of at most so many bytes hold these bytes themselves.
const INLINE: u64 = 12;

/// From the first byte or element that is in use to the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    first: u64,
    /// Behind the last one; before the first if none is in use.
    end: u64,
}

impl Span {
    const NOTHING: Self = Self { first: u64::MAX, end: 0 };

    /// The first, and how many there are to the last.
    pub(crate) fn extent(self) -> (u64, u64) {
        let count = self.end.saturating_sub(self.first);
        (if count == 0 { 0 } else { self.first }, count)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.end <= self.first
    }

    fn add(&mut self, first: u64, count: u64) -> Option<()> {
        let end = first.checked_add(count)?;
        *self = Self { first: first.min(self.first), end: end.max(self.end) };
        Some(())
    }

    /// Has a place count from the span's first one.  What nobody follows may lie outside, and becomes an end of the
    /// span.  Says whether this changes it.
    fn lower(self, place: &mut u64) -> bool {
        let before = *place;
        *place = before.min(self.end).saturating_sub(self.first);
        *place != before
    }
}

/// A view that does not hold its bytes itself.
struct View {
    buffer: usize,
    offset: u64,
    size: u64,
}

impl View {
    fn of(numbers: [u64; 2]) -> Option<Self> {
        let [[size, _], [buffer, offset]] = numbers.map(halves);
        (size > INLINE).then_some(Self { buffer: buffer as usize, offset, size })
    }
}

/// Two numbers of 32 bits, in the order of their bytes.
fn halves(number: u64) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h] = number.to_ne_bytes();
    [[a, b, c, d], [e, f, g, h]].map(|bytes| u32::from_ne_bytes(bytes).into())
}

fn joined(halves: [u64; 2]) -> u64 {
    let [[a, b, c, d], [e, f, g, h]] = halves.map(|half| (half as u32).to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// The parts of `buffers` buffers that views lead to.  Each view is two numbers.
pub(crate) fn spans_of_views(numbers: &[u64], buffers: usize) -> Option<Vec<Span>> {
    let mut spans = vec![Span::NOTHING; buffers];
    for view in numbers.as_chunks::<2>().0 {
        if let Some(view) = View::of(*view) {
            spans.get_mut(view.buffer)?.add(view.offset, view.size)?;
        }
    }
    Some(spans)
}

/// Has views count from what is left.  Says whether this changes one.
pub(crate) fn lower_views(numbers: &mut [u64], spans: &[Span]) -> bool {
    let mut is_changed = false;
    for view in numbers.as_chunks_mut::<2>().0 {
        let Some(View { buffer, mut offset, .. }) = View::of(*view) else { continue };
        if spans.get(buffer).is_some_and(|span| span.lower(&mut offset)) {
            let [_, place] = view;
            *place = joined([buffer as u64, offset]);
            is_changed = true;
        }
    }
    is_changed
}

/// The elements that list views lead to.  The numbers are all of their offsets, then all sizes.
pub(crate) fn span_of_lists(numbers: &[u64]) -> Option<Span> {
    let (offsets, sizes) = numbers.split_at_checked(numbers.len() / 2)?;
    let mut span = Span::NOTHING;
    for (offset, size) in offsets.iter().zip(sizes).filter(|(_, size)| **size > 0) {
        span.add(*offset, *size)?;
    }
    Some(span)
}

/// Has offsets of list views count from what is left.  Says whether this changes one.
pub(crate) fn lower_lists(offsets: &mut [u64], span: Span) -> bool {
    offsets.iter_mut().fold(false, |is_changed, offset| span.lower(offset) | is_changed)
}

/// A span for each type id.
pub(crate) type Spans = [Span; 128];

/// The elements of the children that those of a dense union lead to.  The numbers are all type ids, then all
/// offsets.
pub(crate) fn spans_of_types(numbers: &[u64]) -> Option<Spans> {
    let (ids, offsets) = numbers.split_at_checked(numbers.len() / 2)?;
    let mut spans = [Span::NOTHING; 128];
    for (id, offset) in ids.iter().zip(offsets) {
        spans.get_mut(usize::try_from(*id).ok()?)?.add(*offset, 1)?;
    }
    Some(spans)
}

/// Has offsets of a dense union count from what is left of the children.  Says whether this changes one.
pub(crate) fn lower_types(ids: &[u64], offsets: &mut [u64], spans: &Spans) -> bool {
    ids.iter().zip(offsets).fold(false, |is_changed, (id, offset)| {
        spans.get(*id as usize).is_some_and(|span| span.lower(offset)) | is_changed
    })
}
