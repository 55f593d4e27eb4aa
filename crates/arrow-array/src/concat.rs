//! Concatenates arrays on the device.

use crate::error::invalid;
use crate::node::Node;
use crate::{DeviceArray, DeviceRecordBatch, Error, trim, types};
use arrow_cuda_buffer::{DeviceBuffer, join_into_new};
use arrow_cuda_context::Context;
use arrow_cuda_layout::{Change, JoinError, JoinPiece, Joined, Reads, plan_join, reach};
use arrow_schema::DataType;
use std::iter::Enumerate;
use std::{slice, vec};

impl DeviceArray {
    /// One array of the elements of several, all of one type and in the memory of one context.
    ///
    /// A kernel writes it to one new allocation, after the work of the legacy default stream, without the parts that
    /// slices do not reach.  A dictionary that all arrays share is not copied; different ones are concatenated,
    /// and the keys are raised.  The buffers that views refer to are shared.
    ///
    /// ```
    /// use arrow_array::{Array, StringArray};
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let words = StringArray::from(vec![Some("one"), None, Some("three")]);
    /// let there = DeviceArray::from_host(&Context::primary(0)?, &words)?;
    /// let both = DeviceArray::concat(&[there.slice(1, 2)?, there])?;
    /// assert_eq!((both.len(), both.null_count()?), (5, 2));
    /// assert_eq!(both.slice(2, 3)?.to_host()?.to_data(), words.to_data());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] without arrays, for arrays of different types or contexts, and when the type's
    /// offsets or keys cannot count all elements; driver errors.
    pub fn concat(arrays: &[Self]) -> Result<Self, Error> {
        let Some(first) = arrays.first() else { return invalid("there are no arrays") };
        for other in arrays {
            if other.data_type() != first.data_type() {
                let (ours, theirs) = (first.data_type(), other.data_type());
                return invalid(format!("an array of {theirs}, behind one of {ours}"));
            }
            if !other.context().is_same(first.context()) {
                return invalid("the arrays lie in different contexts: copy_to brings them to one");
            }
        }
        let parts: Vec<_> = arrays.iter().map(|array| &array.node).collect();
        Ok(Self::checked(first.context(), concat(first.context(), &parts)?))
    }
}

impl DeviceRecordBatch {
    /// One batch of the rows of several with the same schema: see [`DeviceArray::concat`].
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// let parts = [there.slice(2, 1)?, there.slice(0, 2)?];
    /// let whole = DeviceRecordBatch::concat(&parts)?;
    /// assert_eq!(whole.to_host()?, record_batch!(("x", Int64, [3, 1, 2]))?);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DeviceArray::concat`].
    pub fn concat(batches: &[Self]) -> Result<Self, Error> {
        let Some(first) = batches.first() else { return invalid("there are no batches") };
        let rows = batches.iter().map(Self::to_struct).collect::<Result<Vec<_>, _>>()?;
        Self::from_struct(first.schema(), &DeviceArray::concat(&rows)?)
    }
}

fn concat(context: &Context, parts: &[&Node<DeviceBuffer>]) -> Result<Node<DeviceBuffer>, Error> {
    let plain: Vec<_> = parts.iter().map(|part| without_dictionaries(part)).collect();
    let (mut arrays, mut from, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for part in &plain {
        part.list(0, &mut arrays);
        from.extend(part.all_buffers());
        ends.push(from.len());
    }
    let sizes: Vec<_> = from.iter().map(|buffer| buffer.len() as u64).collect();
    let read = |wanted: &[_], numbers: &mut [_]| trim::read_numbers(&from, wanted, numbers);
    let found = reach(&arrays, &sizes, Reads::ToJoin, read)?.ok_or(JoinError::Invalid)?;
    let planned = plan_join(&arrays, &[parts.len()], &found)?;
    let sizes: Vec<_> = planned.sizes.iter().map(|size| *size as usize).collect();
    let to = DeviceBuffer::suballocate(context, &sizes)?;
    let mut whole = Whole {
        context,
        ends,
        arrays: planned.arrays.into_iter(),
        buffers: to.iter().enumerate(),
        pieces: planned.pieces,
    };
    let node = whole.node(parts, true)?;
    let pieces = whole.pieces;
    join_into_new(context, &to, &from.into_iter().map(Some).collect::<Vec<_>>(), &pieces)?;
    Ok(node)
}

fn without_dictionaries(part: &Node<DeviceBuffer>) -> Node<DeviceBuffer> {
    let mut plain = part.clone();
    plain.visit_mut(&mut |node| node.dictionary = None);
    plain
}

/// The result, while its arrays are made in the order of the plan.
struct Whole<'a> {
    context: &'a Context,
    /// For each part, the end of its buffers among those of all.
    ends: Vec<usize>,
    arrays: vec::IntoIter<Joined>,
    buffers: Enumerate<slice::Iter<'a, DeviceBuffer>>,
    pieces: Vec<JoinPiece>,
}

impl Whole<'_> {
    /// The array that arrays of the parts become, one of each part.
    fn node(
        &mut self,
        parts: &[&Node<DeviceBuffer>],
        is_outermost: bool,
    ) -> Result<Node<DeviceBuffer>, Error> {
        let (Some(first), Some(joined)) = (parts.first(), self.arrays.next()) else {
            return Err(JoinError::Invalid.into());
        };
        let made: Vec<_> = self.buffers.by_ref().take(joined.buffers as usize).collect();
        let end = made.last().map_or(0, |(number, _)| number + 1);
        let mut made = made.into_iter().map(|(_, buffer)| buffer.clone());
        let validity = if joined.has_validity { made.next() } else { None };
        let mut buffers: Vec<_> = made.collect();
        let own = types::Buffers::of(&first.data_type).contents.len();
        buffers.extend(parts.iter().flat_map(|part| part.buffers.iter().skip(own).cloned()));
        let mut children = Vec::with_capacity(first.children.len());
        for number in 0..first.children.len() {
            let inner: Option<Vec<_>> =
                parts.iter().map(|part| part.children.get(number)).collect();
            children.push(self.node(&inner.ok_or(JoinError::Invalid)?, false)?);
        }
        let dictionary = match first.dictionary {
            Some(_) => Some(Box::new(self.dictionary(parts, end)?)),
            None => None,
        };
        // Of arrays within others, only a part may be reached.
        let nulls = || parts.iter().map(|part| part.null_count).sum();
        Ok(Node {
            data_type: first.data_type.clone(),
            length: joined.length,
            offset: 0,
            null_count: match joined.has_validity {
                true if is_outermost => nulls(),
                true => None,
                false if first.data_type == DataType::Null => Some(joined.length),
                false => Some(0),
            },
            validity,
            buffers,
            children,
            dictionary,
        })
    }

    /// The dictionary that those of the parts become.  The keys, which fill the buffer before number `end`, count
    /// its values from now on.
    fn dictionary(
        &mut self,
        parts: &[&Node<DeviceBuffer>],
        end: usize,
    ) -> Result<Node<DeviceBuffer>, Error> {
        let all: Option<Vec<_>> = parts.iter().map(|part| part.dictionary.as_deref()).collect();
        let all = all.ok_or(JoinError::Invalid)?;
        let (Some(first), Some(part)) = (all.first(), parts.first()) else {
            return Err(JoinError::Invalid.into());
        };
        if all.iter().all(|other| first.is_same_memory(other)) {
            return Ok((*first).clone());
        }
        let (width, most) = types::keys(&part.data_type);
        let mut before = Vec::with_capacity(all.len());
        let mut total = 0u64;
        for values in &all {
            before.push(total);
            total = total.saturating_add(values.length);
        }
        if total.saturating_sub(1) > most {
            return invalid(format!(
                "keys of {} cannot count the {total} values of all dictionaries",
                part.data_type
            ));
        }
        for piece in self.pieces.iter_mut().filter(|piece| piece.to + 1 == end) {
            let owner = self.ends.partition_point(|end| *end <= piece.from);
            let add = *before.get(owner).ok_or(JoinError::Invalid)?;
            piece.count /= width;
            piece.change = Change::Sum { width, add, most: u64::MAX };
        }
        concat(self.context, &all)
    }
}
