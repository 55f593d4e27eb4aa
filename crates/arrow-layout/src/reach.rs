//! The part of its buffers that a slice reaches.
//!
//! Afterwards, the elements of an array that has bits begin at one of the first 8 positions, so that no bit moves.  The
//! elements of other arrays begin at position 0.  An array that contradicts itself is left whole, with all arrays that
//! contain it.

use crate::layout::{Content, Layout};
use crate::node::{ArrayBounds, ArrayNode, ByteRange, Reach, Reached, Reads, Wanted, places};
use crate::scattered::{
    Spans, lower_lists, lower_types, lower_views, span_of_lists, spans_of_types, spans_of_views,
};
use crate::whole::{is_whole, leads_far, view_data};
use bytemuck::allocation::try_zeroed_vec;
use std::collections::BTreeMap;

/// Finds the parts of their buffers that arrays and their children reach.
///
/// `sizes` are the sizes of all buffers, in bytes, in the order of the arrays.  For each depth of the tree, `read` is
/// called at most once for offsets, and once for the views, list views and elements of dense unions of slices.  It
/// stores all wanted numbers, one after the other, sign extended.  It returns false if they are too many to read, and
/// what they lead to stays whole.  The result is `None` if the arrays need their whole buffers; with
/// [`Reads::ToJoin`], if one contradicts itself.
///
/// # Errors
///
/// The errors of `read`.
pub fn reach<E>(
    arrays: &[ArrayNode],
    sizes: &[u64],
    reads: Reads,
    mut read: impl FnMut(&[Wanted], &mut [u64]) -> Result<bool, E>,
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
        let waiting = [&mut trimming.ends, &mut trimming.elements].map(std::mem::take);
        for Waiting { tasks, wanted } in waiting {
            // Nobody has compared the sizes with memory yet: they may be any, and no page is touched before.
            let count = wanted.iter().fold(0, |all: u64, wanted| all.saturating_add(wanted.count));
            let (mut numbers, has_room) = match try_zeroed_vec(count as usize) {
                Ok(numbers) => (numbers, true),
                Err(()) => (Vec::new(), false),
            };
            let is_read = wanted.is_empty() || has_room && read(&wanted, &mut numbers)?;
            let mut rest = numbers.as_mut_slice();
            for (task, count) in tasks {
                let numbers = rest.split_off_mut(..count).unwrap_or_default();
                let done = match is_read {
                    true => trimming.follow(task, numbers, &mut inner),
                    false => trimming.enter_whole(task, &mut inner),
                };
                if done.is_none() {
                    trimming.whole.push(task.root);
                }
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

/// Arrays that wait for numbers, and how many each waits for.
#[derive(Default)]
struct Waiting {
    tasks: Vec<(Task, usize)>,
    wanted: Vec<Wanted>,
}

impl Waiting {
    fn push(&mut self, task: Task, wanted: impl IntoIterator<Item = Wanted>) {
        let before = self.wanted.len();
        self.wanted.extend(wanted);
        let own = self.wanted.iter().skip(before);
        self.tasks.push((task, own.map(|wanted| wanted.count as usize).sum()));
    }
}

struct Trimming<'a> {
    arrays: &'a [ArrayNode],
    sizes: &'a [u64],
    reads: Reads,
    places: Vec<ArrayBounds>,
    reached: Vec<Reached>,
    ranges: Vec<ByteRange>,
    replaced: BTreeMap<usize, Vec<u8>>,
    whole: Vec<usize>,
    /// For the ends of what they lead to.
    ends: Waiting,
    /// For all of their elements.
    elements: Waiting,
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
            replaced: BTreeMap::new(),
            whole: Vec::new(),
            ends: Waiting::default(),
            elements: Waiting::default(),
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
            // The ends of runs count from the first element of all; without elements, no run is left.
            self.set(task.array, if task.count == 0 { 0 } else { position }, task.count)?;
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
        } else if node.layout.is_scattered() {
            self.want_elements(task, skipped, inner)?;
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
            return self.follow_ends(task, &[0, 0], inner);
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
        let wanted = [first, last].map(|position| Wanted { buffer, position, width, count: 1 });
        self.ends.push(task, wanted);
        Some(())
    }

    /// Has all elements of a slice read, each of which may lead anywhere.
    fn want_elements(&mut self, task: Task, skipped: u64, inner: &mut Vec<Task>) -> Option<()> {
        if self.reads == Reads::ToJoin {
            return self.enter_whole(task, inner);
        }
        if task.count == 0 {
            return self.follow_elements(task, &mut [], inner);
        }
        let node = self.arrays.get(task.array)?;
        let (mut wanted, mut is_slice) = (Vec::new(), false);
        for (number, content) in node.layout.contents(node.width).enumerate() {
            let buffer = self.content(task.array, number)?;
            let part = self.ranges.get(buffer)?;
            is_slice |= self.sizes.get(buffer)?.checked_sub(part.size)? > content.spare();
            let position = part.start.checked_add(content.position(skipped)?)?;
            let size = content.size(1)?;
            let width = size.min(8); // a view is two numbers
            let count = task.count.checked_mul(size.checked_div(width)?)?;
            wanted.push(Wanted { buffer, position, width, count });
        }
        is_slice |= self.reads == Reads::All && leads_far(self.data_of(task.array)?, task.count);
        if self.reads == Reads::None || !is_slice {
            return self.enter_whole(task, inner);
        }
        self.elements.push(task, wanted);
        Some(())
    }

    /// How much the elements of an array may lead to: elements of children, or bytes as views take them.
    fn data_of(&self, array: usize) -> Option<u64> {
        let node = self.arrays.get(array)?;
        if node.layout == Layout::BinaryView {
            let first = self.places.get(array)?.buffers;
            let sizes = self.sizes.get(first..first.checked_add(node.buffers as usize)?)?;
            return Some(view_data(node, sizes));
        }
        let (mut all, mut next) = (0u64, array.checked_add(1)?);
        for _ in 0..node.children {
            all = all.saturating_add(self.arrays.get(next)?.length);
            next = self.places.get(next)?.end;
        }
        Some(all)
    }

    /// Has the ends of two runs read, halfway between those that may have the first and the last element.
    fn want_runs(&mut self, task: Task, runs: [(u64, u64); 2]) -> Option<()> {
        let child = task.array.checked_add(1)?;
        let (ends, buffer) = (self.arrays.get(child)?, self.content(child, 0)?);
        let mut wanted = Vec::with_capacity(2);
        for (low, high) in runs {
            let run = low.midpoint(high).min(ends.length.checked_sub(1)?);
            let position = ends.offset.checked_add(run)?.checked_mul(ends.width)?;
            if position.checked_add(ends.width)? > *self.sizes.get(buffer)? {
                return None;
            }
            wanted.push(Wanted { buffer, position, width: ends.width, count: 1 });
        }
        self.ends.push(Task { runs: Some(runs), ..task }, wanted);
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

    /// Trims what the numbers lead to that were read.
    fn follow(&mut self, task: Task, numbers: &mut [u64], inner: &mut Vec<Task>) -> Option<()> {
        match self.arrays.get(task.array)?.layout.is_scattered() {
            true => self.follow_elements(task, numbers, inner),
            false => self.follow_ends(task, numbers, inner),
        }
    }

    /// Trims what offsets lead to, from the first of them to the last.
    fn follow_ends(&mut self, task: Task, ends: &[u64], inner: &mut Vec<Task>) -> Option<()> {
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

    /// Trims what elements lead to that may lead anywhere, from the first of it to the last.
    fn follow_elements(
        &mut self,
        task: Task,
        numbers: &mut [u64],
        inner: &mut Vec<Task>,
    ) -> Option<()> {
        let node = *self.arrays.get(task.array)?;
        let half = numbers.len() / 2;
        match node.layout {
            Layout::BinaryView => {
                let first = self.content(task.array, 1)?;
                let end =
                    self.places.get(task.array)?.buffers.checked_add(node.buffers as usize)?;
                let spans = spans_of_views(numbers, end.checked_sub(first)?)?;
                for (buffer, span) in (first..end).zip(&spans) {
                    let (start, size) = span.extent();
                    if start.checked_add(size)? > *self.sizes.get(buffer)? {
                        return None;
                    }
                    *self.ranges.get_mut(buffer)? = ByteRange { start, size };
                }
                if lower_views(numbers, &spans) {
                    self.replace(task, 0, numbers, 8)?;
                }
                self.enter_whole(task, inner)
            }
            Layout::ListView => {
                let span = span_of_lists(numbers)?;
                let (offsets, _sizes) = numbers.split_at_mut_checked(half)?;
                if lower_lists(offsets, span) {
                    self.replace(task, 0, offsets, node.width)?;
                }
                self.enter(task, |_| span.extent(), inner)
            }
            _ => {
                let spans = spans_of_types(numbers)?;
                self.check_types(task, &spans)?;
                let (types, offsets) = numbers.split_at_mut_checked(half)?;
                if lower_types(types, offsets, &spans) {
                    self.replace(task, 1, offsets, 4)?;
                }
                let span = |child: &ArrayNode| spans.get(child.type_id as usize);
                self.enter(task, |child| span(child).map_or((0, 0), |span| span.extent()), inner)
            }
        }
    }

    /// Whether a union has a child for each type in use.
    fn check_types(&self, task: Task, spans: &Spans) -> Option<()> {
        let mut is_missing = spans.map(|span| !span.is_empty());
        let mut next = task.array.checked_add(1)?;
        for _ in 0..self.arrays.get(task.array)?.children {
            if let Some(is_missing) = is_missing.get_mut(self.arrays.get(next)?.type_id as usize) {
                *is_missing = false;
            }
            next = self.places.get(next)?.end;
        }
        (!is_missing.contains(&true)).then_some(())
    }

    /// Has numbers of `width` bytes take the place of the elements' own in a buffer, counted from the first after the
    /// bitmap.
    fn replace(&mut self, task: Task, number: usize, numbers: &[u64], width: u64) -> Option<()> {
        let buffer = self.content(task.array, number)?;
        let size = self.ranges.get(buffer)?.size;
        let skipped = size.checked_sub(width.checked_mul(numbers.len() as u64)?)?;
        let mut bytes = vec![0; size as usize];
        let own = bytes.get_mut(skipped as usize..)?;
        match width {
            4 => {
                for (to, number) in own.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
                    *to = (*number as u32).to_ne_bytes();
                }
            }
            _ => {
                for (to, number) in own.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
                    *to = number.to_ne_bytes();
                }
            }
        }
        self.replaced.insert(buffer, bytes);
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
            self.replaced.retain(|number, _| !(first_buffer..after).contains(number));
        }
        Reach { arrays: self.reached, ranges: self.ranges, replaced: self.replaced }
    }
}

fn copy<T: Copy>(to: &mut [T], from: &[T], range: std::ops::Range<usize>) {
    let range = range.start..range.end.min(to.len());
    if let (Some(to), Some(from)) = (to.get_mut(range.clone()), from.get(range)) {
        to.copy_from_slice(from);
    }
}
