//! Checks that the parts of an array fit together, as far as the host can tell.

use crate::error::{Error, invalid};
use crate::node::{Memory, Node};
use crate::types::{self, Buffers, too_long};
use arrow_cuda_layout::Content;
use arrow_schema::DataType;

impl<B: Memory> Node<B> {
    /// Checks a new array over arrays that were checked.  What its buffers hold is not read.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        types::check(&self.data_type)?;
        let end = self.offset.checked_add(self.length).filter(|end| i64::try_from(*end).is_ok());
        let Some(end) = end else {
            let (length, offset) = (self.length, self.offset);
            return invalid(format!("an impossible length: {length} elements from {offset} on"));
        };
        let layout = Buffers::of(&self.data_type);
        self.check_nulls(end, &layout)?;
        self.check_buffers(end, &layout)?;
        self.check_children(end)?;
        match (types::dictionary(&self.data_type), &self.dictionary) {
            (None, None) => Ok(()),
            (Some(expected), Some(values)) => check_type(expected, &values.data_type),
            (Some(_), None) => invalid(format!("{} without a dictionary", self.data_type)),
            (None, Some(_)) => invalid(format!("{} with a dictionary", self.data_type)),
        }
    }

    fn check_nulls(&mut self, end: u64, layout: &Buffers) -> Result<(), Error> {
        if self.data_type == DataType::Null {
            self.null_count = Some(self.length);
        } else if self.null_count.is_some_and(|count| count > self.length) {
            let (count, length) = (self.null_count.unwrap_or(0), self.length);
            return invalid(format!("{count} nulls among {length} elements"));
        } else if self.validity.is_none() {
            if self.null_count.is_some_and(|count| count > 0) {
                return invalid(format!("{} with nulls, but without a bitmap", self.data_type));
            }
            self.null_count = Some(0);
        }
        match &self.validity {
            Some(_) if !layout.has_validity => {
                invalid(format!("{} with a validity bitmap", self.data_type))
            }
            Some(bits) => check_size("the validity bitmap", bits.size(), Content::Bits, end),
            None => Ok(()),
        }
    }

    fn check_buffers(&self, end: u64, layout: &Buffers) -> Result<(), Error> {
        let (found, expected) = (self.buffers.len(), layout.contents.len());
        if found < expected || (found > expected && !layout.is_variadic) {
            return invalid(format!("{} with {found} buffers, not {expected}", self.data_type));
        }
        let buffers = self.buffers.iter().zip(&layout.contents).enumerate();
        for (number, (buffer, content)) in buffers {
            check_size(&format!("buffer {number}"), buffer.size(), *content, end)?;
        }
        Ok(())
    }

    fn check_children(&self, end: u64) -> Result<(), Error> {
        let expected = types::children(&self.data_type);
        if self.children.len() != expected.len() {
            let (found, expected) = (self.children.len(), expected.len());
            return invalid(format!("{} with {found} children, not {expected}", self.data_type));
        }
        let (layout, width) = types::layout(&self.data_type);
        for (child, data_type) in self.children.iter().zip(expected) {
            check_type(data_type, &child.data_type)?;
            let Some(number) = layout.elements_of_children(width) else { continue };
            let needed = end.checked_mul(number).ok_or_else(|| too_long(end))?;
            if child.length < needed {
                return invalid(format!(
                    "a child of {} has {} elements, not {needed}",
                    self.data_type, child.length
                ));
            }
        }
        match (&self.data_type, &*self.children) {
            (DataType::RunEndEncoded(..), [ends, values]) if ends.length != values.length => {
                invalid(format!("{} ends of runs for {} values", ends.length, values.length))
            }
            (DataType::RunEndEncoded(..), [ends, _]) if ends.null_count != Some(0) => {
                invalid("ends of runs that may be null")
            }
            _ => Ok(()),
        }
    }
}

fn check_size(name: &str, size: u64, content: Content, end: u64) -> Result<(), Error> {
    match types::size(content, end)? {
        Some(needed) if size < needed => {
            invalid(format!("{name} has {size} bytes, and {end} elements need {needed}"))
        }
        _ => Ok(()),
    }
}

fn check_type(expected: &DataType, found: &DataType) -> Result<(), Error> {
    match expected == found {
        true => Ok(()),
        false => invalid(format!("an array of {found} in place of {expected}")),
    }
}
