//! The part of its buffers that a slice reaches.
//!
//! Afterwards, the elements of an array that has bits begin at one of the first 8 positions, so that no bit moves.  The
//! elements of other arrays begin at position 0.  An array that contradicts itself is left whole, with all arrays that
//! contain it.

use crate::layout::{Content, Layout};

/// One array of a tree.  A list of nodes has each array before its children, and those before its dictionary.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayNode {
    /// How it lies in memory.
    pub layout: Layout,
    /// Whether its first buffer is a validity bitmap.
    pub has_validity: bool,
    /// Whether it has a dictionary.
    pub has_dictionary: bool,
    /// The type id of its elements, if it is the child of a union.
    pub type_id: u8,
    /// The number of its children.
    pub children: u32,
    /// The number of its buffers, with the bitmap.
    pub buffers: u32,
    /// The width that the layout names.
    pub width: u64,
    /// The number of its elements.
    pub length: u64,
    /// The position of the first element in the buffers, and in children that have as many elements.
    pub offset: u64,
}

impl ArrayNode {
    /// The contents of its buffers, the bitmap first.  Buffers that views refer to follow.
    fn all_contents(&self) -> impl Iterator<Item = Content> {
        let bitmap = self.has_validity.then_some(Content::Bits);
        bitmap.into_iter().chain(self.layout.contents(self.width))
    }

    /// The number of its children, and of its dictionary.
    fn inner(&self) -> usize {
        (self.children as usize).saturating_add(usize::from(self.has_dictionary))
    }

    fn whole(&self) -> Reached {
        Reached { offset: self.offset, length: self.length, base: 0 }
    }
}

/// The position and length of an array in the parts of its buffers that [`reach`] has found.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The position of the first element in the parts.
    pub offset: u64,
    /// The number of elements, which for a child may be smaller than before.
    pub length: u64,
    /// The bytes or elements left out before the first offset; [`lower`] subtracts them from all offsets.
    pub base: u64,
}

/// A part of a buffer, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    /// Where it begins, from the buffer's start.
    pub start: u64,
    /// Its size.
    pub size: u64,
}

/// An offset that [`reach`] asks its callback to read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The number of the buffer.
    pub buffer: usize,
    /// The offset's position in the buffer, in bytes.
    pub position: u64,
    /// The size of the offset, in bytes: 2, 4 or 8.
    pub width: u64,
}

/// Which offsets [`reach`] reads.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// None: offsets, and the data that they refer to, stay whole.
    None = 0,
    /// The offsets of slices.
    OfSlices = 1,
    /// All.
    All = 2,
    /// All, for [`join`](crate::join()): children begin with the first element that is reached, whatever bits
    /// lie before it in its parent.
    ToJoin = 3,
}

/// The result of [`reach`].
#[derive(Debug)]
pub struct Reach {
    /// Each array's position in the parts.
    pub arrays: Vec<Reached>,
    /// The part of each buffer that the arrays reach.
    pub ranges: Vec<ByteRange>,
}

/// Finds the parts of their buffers that arrays and their children reach.
///
/// `sizes` are the sizes of all buffers, in bytes, in the order of the arrays.  `read` is called once for each depth of
/// the tree, and stores each wanted offset, sign extended.  The result is `None` if the arrays need their whole buffers;
/// with [`Reads::ToJoin`], if one contradicts itself.
///
/// # Errors
///
/// The errors of `read`.
pub fn reach<E>(
    arrays: &[ArrayNode],
    sizes: &[u64],
    reads: Reads,
    mut read: impl FnMut(&[Wanted], &mut [u64]) -> Result<(), E>,
) -> Result<Option<Reach>, E> {
    if reads != Reads::ToJoin && is_whole(arrays, sizes, reads) {
        return Ok(None);
    }
    let mut trimming = Trimming::new(arrays, sizes, reads);
    let mut tasks = trimming.roots();
    while !tasks.is_empty() {
        let mut inner = Vec::new();
        for task in tasks {
            if trimming.trim(task, &mut inner).is_none() {
                trimming.whole.push(task.root);
            }
        }
        let waiting = std::mem::take(&mut trimming.waiting);
        let wanted = std::mem::take(&mut trimming.wanted);
        let mut ends = vec![0; wanted.len()];
        if !wanted.is_empty() {
            read(&wanted, &mut ends)?;
        }
        for (task, ends) in waiting.into_iter().zip(ends.chunks(2)) {
            if trimming.follow(task, ends, &mut inner).is_none() {
                trimming.whole.push(task.root);
            }
        }
        tasks = inner;
    }
    if reads == Reads::ToJoin {
        return Ok(trimming.whole.is_empty().then(|| trimming.into_reach()));
    }
    let found = trimming.into_reach();
    let is_trimmed = found.ranges.iter().zip(sizes).any(|(range, size)| range.size < *size);
    let mut reached = found.arrays.iter().zip(arrays);
    let is_part = reached.any(|(reached, array)| *reached != array.whole());
    Ok(if is_trimmed || is_part { Some(found) } else { None })
}

/// Whether no array is a slice, as far as that is known before offsets are read.
fn is_whole(arrays: &[ArrayNode], sizes: &[u64], reads: Reads) -> bool {
    let mut rest = Rest { arrays, sizes, reads };
    while !rest.arrays.is_empty() {
        if rest.skip_whole(None).is_none() {
            return false;
        }
    }
    true
}

/// Arrays that were not looked at, and the sizes of their buffers.
struct Rest<'a> {
    arrays: &'a [ArrayNode],
    sizes: &'a [u64],
    reads: Reads,
}

impl Rest<'_> {
    /// Skips an array and those within it.  None if one of them is a slice, or has more elements than its
    /// parent needs.
    fn skip_whole(&mut self, needed: Option<u64>) -> Option<()> {
        let (node, others) = self.arrays.split_first()?;
        let (sizes, other_sizes) = self.sizes.split_at_checked(node.buffers as usize)?;
        (self.arrays, self.sizes) = (others, other_sizes);
        let needed = needed.unwrap_or(node.length);
        let has_offsets = matches!(node.layout, Layout::Binary | Layout::List);
        if node.offset > 0 || node.length > needed || (has_offsets && self.reads == Reads::All) {
            return None;
        }
        for (content, size) in node.all_contents().zip(sizes) {
            if content != Content::Bytes
                && size.saturating_sub(content.size(node.length)?) > content.spare()
            {
                return None;
            }
        }
        let number = node.layout.elements_of_children(node.width);
        for _ in 0..node.children {
            self.skip_whole(number.map(|number| node.length.saturating_mul(number)))?;
        }
        if node.has_dictionary { self.skip_whole(None) } else { Some(()) }
    }
}

/// Elements of an array that are reached: `count` of them, from `first` on.
#[derive(Clone, Copy)]
struct Task {
    array: usize,
    first: u64,
    count: u64,
    root: usize,
    /// Between which runs those of the first and the last element lie.
    runs: Option<[(u64, u64); 2]>,
}

/// Where an array's buffers begin, and the arrays within it end.
#[derive(Clone, Copy, Default)]
pub(crate) struct ArrayBounds {
    pub(crate) buffers: usize,
    pub(crate) end: usize,
}

pub(crate) fn places(arrays: &[ArrayNode]) -> Vec<ArrayBounds> {
    let mut places = Vec::with_capacity(arrays.len());
    let mut buffers = 0;
    for array in arrays {
        places.push(ArrayBounds { buffers, end: 0 });
        buffers = usize::saturating_add(buffers, array.buffers as usize);
    }
    // Backwards: the arrays within one follow it.
    for (number, array) in arrays.iter().enumerate().rev() {
        let mut end = number.saturating_add(1);
        for _ in 0..array.inner() {
            let Some(inner) = places.get(end) else { break };
            end = inner.end;
        }
        if let Some(place) = places.get_mut(number) {
            place.end = end;
        }
    }
    places
}

struct Trimming<'a> {
    arrays: &'a [ArrayNode],
    sizes: &'a [u64],
    reads: Reads,
    places: Vec<ArrayBounds>,
    reached: Vec<Reached>,
    ranges: Vec<ByteRange>,
    whole: Vec<usize>,
    waiting: Vec<Task>,
    wanted: Vec<Wanted>,
}

impl<'a> Trimming<'a> {
    fn new(arrays: &'a [ArrayNode], sizes: &'a [u64], reads: Reads) -> Self {
        Self {
            arrays,
            sizes,
            reads,
            places: places(arrays),
            reached: arrays.iter().map(ArrayNode::whole).collect(),
            ranges: sizes.iter().map(|size| ByteRange { start: 0, size: *size }).collect(),
            whole: Vec::new(),
            waiting: Vec::new(),
            wanted: Vec::new(),
        }
    }

    fn roots(&self) -> Vec<Task> {
        let mut roots = Vec::new();
        let mut next = 0;
        while let (Some(array), Some(place)) = (self.arrays.get(next), self.places.get(next)) {
            let count = array.length;
            roots.push(Task { array: next, first: 0, count, root: next, runs: None });
            next = place.end;
        }
        roots
    }

    /// Trims an array's own buffers.  None for one that contradicts itself.
    fn trim(&mut self, task: Task, inner: &mut Vec<Task>) -> Option<()> {
        if let Some(runs) = task.runs {
            return self.want_runs(task, runs);
        }
        let node = *self.arrays.get(task.array)?;
        let place = *self.places.get(task.array)?;
        let position = node.offset.checked_add(task.first)?;
        if node.layout == Layout::RunEndEncoded {
            // The ends of runs count from the first element of all.
            self.set(task.array, position, task.count)?;
            return match self.reads {
                Reads::None => self.enter_whole(task, inner),
                Reads::OfSlices if position == 0 => self.enter_whole(task, inner),
                _ if task.count == 0 => self.enter(task, |_| (0, 0), inner),
                _ => {
                    let all = (0, self.arrays.get(task.array.checked_add(1)?)?.length);
                    self.want_runs(task, [all, all])
                }
            };
        }
        let has_bits = node.has_validity || node.layout == Layout::Bits;
        let skipped = if has_bits && task.count > 0 { position % 8 } else { 0 };
        let (start, count) = (position.checked_sub(skipped)?, skipped.checked_add(task.count)?);
        self.set(task.array, skipped, task.count)?;
        if (node.buffers as usize) < node.all_contents().count() {
            return None;
        }
        for (number, content) in (place.buffers..).zip(node.all_contents()) {
            if content == Content::Bytes {
                continue; // the offsets tell
            }
            let (start, size) = (content.position(start)?, content.size(count)?);
            let has_all = start.checked_add(size)? <= *self.sizes.get(number)?;
            *self.ranges.get_mut(number)? = match has_all {
                true => ByteRange { start, size },
                // An array without elements may lack its buffers.
                false if task.count == 0 => ByteRange::default(),
                false => return None,
            };
        }
        if let Some(number) = node.layout.elements_of_children(node.width) {
            let (start, count) = match self.reads {
                Reads::ToJoin => (position, task.count),
                _ => (start, count),
            };
            let (first, count) = (start.checked_mul(number)?, count.checked_mul(number)?);
            self.enter(task, |_| (first, count), inner)?;
        } else if matches!(node.layout, Layout::Binary | Layout::List) {
            self.want_ends(task, skipped, inner)?;
        } else {
            self.enter_whole(task, inner)?;
        }
        Some(())
    }

    /// The number of an array's buffer, counted from the first after the bitmap.
    fn content(&self, array: usize, number: usize) -> Option<usize> {
        let bitmap = usize::from(self.arrays.get(array)?.has_validity);
        self.places.get(array)?.buffers.checked_add(bitmap)?.checked_add(number)
    }

    fn set(&mut self, array: usize, offset: u64, length: u64) -> Option<()> {
        *self.reached.get_mut(array)? = Reached { offset, length, base: 0 };
        Some(())
    }

    /// Has the offsets read between which everything lies that the elements lead to.
    fn want_ends(&mut self, task: Task, skipped: u64, inner: &mut Vec<Task>) -> Option<()> {
        let node = self.arrays.get(task.array)?;
        let buffer = self.content(task.array, 0)?;
        let (part, width) = (*self.ranges.get(buffer)?, node.width);
        // Without elements, the only offset may be any number, and leads nowhere.
        if part.size == 0 || (task.count == 0 && self.reads == Reads::ToJoin) {
            return self.follow(task, &[0, 0], inner);
        }
        let is_worth_it = match self.reads {
            Reads::None => false,
            Reads::OfSlices => {
                self.sizes.get(buffer)?.checked_sub(part.size)? > Content::Offsets(width).spare()
            }
            Reads::All | Reads::ToJoin => true,
        };
        if !is_worth_it {
            return self.enter_whole(task, inner);
        }
        let first = part.start.checked_add(skipped.checked_mul(width)?)?;
        let last = part.start.checked_add(part.size.checked_sub(width)?)?;
        self.wanted.extend([first, last].map(|position| Wanted { buffer, position, width }));
        self.waiting.push(task);
        Some(())
    }

    /// Has the ends of two runs read, halfway between those that may have the first and the last element.
    fn want_runs(&mut self, task: Task, runs: [(u64, u64); 2]) -> Option<()> {
        let child = task.array.checked_add(1)?;
        let (ends, buffer) = (self.arrays.get(child)?, self.content(child, 0)?);
        for (low, high) in runs {
            let run = low.midpoint(high).min(ends.length.checked_sub(1)?);
            let position = ends.offset.checked_add(run)?.checked_mul(ends.width)?;
            if position.checked_add(ends.width)? > *self.sizes.get(buffer)? {
                return None;
            }
            self.wanted.push(Wanted { buffer, position, width: ends.width });
        }
        self.waiting.push(Task { runs: Some(runs), ..task });
        Some(())
    }

    /// Halves what is left of a search for runs, or goes on with the runs that it has found.
    fn follow_runs(
        &self,
        task: Task,
        mut runs: [(u64, u64); 2],
        ends: [u64; 2],
        inner: &mut Vec<Task>,
    ) -> Option<()> {
        let position = self.reached.get(task.array)?.offset;
        let wanted = [position, position.saturating_add(task.count.checked_sub(1)?)];
        for ((run, end), wanted) in runs.iter_mut().zip(ends).zip(wanted) {
            let (low, high) = *run;
            *run = match low.midpoint(high) {
                _ if low == high => *run,
                middle if end > wanted => (low, middle),
                middle => (middle.checked_add(1)?, high),
            };
        }
        let [(first, _), (last, _)] = runs;
        match runs.iter().all(|(low, high)| low == high) {
            true => {
                self.enter(task, |_| (first, last.saturating_add(1).saturating_sub(first)), inner)
            }
            false => {
                inner.push(Task { runs: Some(runs), ..task });
                Some(())
            }
        }
    }

    /// Trims what offsets lead to, from the first of them to the last.
    fn follow(&mut self, task: Task, ends: &[u64], inner: &mut Vec<Task>) -> Option<()> {
        let [first, last] = *ends else { return None };
        if let Some(runs) = task.runs {
            return self.follow_runs(task, runs, [first, last], inner);
        }
        let size = last.checked_sub(first)?;
        let node = self.arrays.get(task.array)?;
        self.reached.get_mut(task.array)?.base = first;
        if node.layout == Layout::List {
            return self.enter(task, |_| (first, size), inner);
        }
        let buffer = self.content(task.array, 1)?;
        if last > *self.sizes.get(buffer)? {
            return None;
        }
        *self.ranges.get_mut(buffer)? = ByteRange { start: first, size };
        Some(())
    }

    /// Goes on with these elements of each child, and all of a dictionary.
    fn enter(
        &self,
        task: Task,
        elements: impl Fn(&ArrayNode) -> (u64, u64),
        inner: &mut Vec<Task>,
    ) -> Option<()> {
        let node = self.arrays.get(task.array)?;
        let mut next = task.array.checked_add(1)?;
        for number in 0..node.inner() {
            let child = self.arrays.get(next)?;
            let is_child = number < node.children as usize;
            let (first, count) = if is_child { elements(child) } else { (0, child.length) };
            if first.checked_add(count)? > child.length {
                return None;
            }
            inner.push(Task { array: next, first, count, root: task.root, runs: None });
            next = self.places.get(next)?.end;
        }
        Some(())
    }

    fn enter_whole(&self, task: Task, inner: &mut Vec<Task>) -> Option<()> {
        self.enter(task, |child| (0, child.length), inner)
    }

    fn into_reach(mut self) -> Reach {
        let whole = Trimming::new(self.arrays, self.sizes, self.reads);
        for root in std::mem::take(&mut self.whole) {
            let end = self.places.get(root).map_or(root, |place| place.end);
            let first_buffer = self.places.get(root).map_or(0, |place| place.buffers);
            let after = self.places.get(end).map_or(self.ranges.len(), |place| place.buffers);
            copy(&mut self.reached, &whole.reached, root..end);
            copy(&mut self.ranges, &whole.ranges, first_buffer..after);
        }
        Reach { arrays: self.reached, ranges: self.ranges }
    }
}

fn copy<T: Copy>(to: &mut [T], from: &[T], range: std::ops::Range<usize>) {
    let range = range.start..range.end.min(to.len());
    if let (Some(to), Some(from)) = (to.get_mut(range.clone()), from.get(range)) {
        to.copy_from_slice(from);
    }
}

/// Copies offsets of `width` bytes, 4 or 8, minus `base`; smaller ones become 0.  Copies as many as fit into the
/// shorter of `from` and `to`.
///
/// ```
/// let offsets: Vec<u8> = [5i32, 7, 9].iter().flat_map(|offset| offset.to_ne_bytes()).collect();
/// let mut lowered = [0; 12];
/// arrow_cuda_layout::lower(&offsets, &mut lowered, 4, 5);
/// assert_eq!(lowered[8..], 4i32.to_ne_bytes());
/// ```
pub fn lower(from: &[u8], to: &mut [u8], width: u64, base: u64) {
    if width == 4 {
        let base = i32::try_from(base).unwrap_or(i32::MAX);
        let pairs = from.as_chunks::<4>().0.iter().zip(to.as_chunks_mut::<4>().0);
        for (from, to) in pairs {
            *to = i32::from_ne_bytes(*from).max(base).wrapping_sub(base).to_ne_bytes();
        }
        return;
    }
    let base = i64::try_from(base).unwrap_or(i64::MAX);
    for (from, to) in from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<8>().0) {
        *to = i64::from_ne_bytes(*from).max(base).wrapping_sub(base).to_ne_bytes();
    }
}
