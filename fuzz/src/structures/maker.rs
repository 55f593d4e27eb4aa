//! Makes structures of the fuzzer's bytes.

use super::kinds::{EXTENSIONS, EXTREME, KINDS};
use super::{CUDA, CUDA_HOST, CUDA_MANAGED, Memory, leave_array, leave_schema};
use crate::abi::{Array, Schema};
use arbitrary::{Result, Unstructured};
use arrow_cuda_context::Ready;
use std::any::Any;
use std::ffi::{CString, c_char, c_void};
use std::ptr::null_mut;

/// How deep types are nested at most.
const DEPTH: usize = 4;
/// Room in the lists of buffers and children, so that a structure may say that it has more.
const ROOM: usize = 8;
/// The most that an array on the host holds.  All of its memory is zero, and large enough.
const HOST_LENGTH: i64 = 1000;
/// The contents of a released structure, whose members nobody reads.
const NOWHERE: *mut c_void = 8 as *mut c_void;

pub(super) struct Maker<'a> {
    pub(super) device_type: i32,
    pub(super) memory: &'a Memory,
    pub(super) is_honest: bool,
    /// The memory that the structures of the array and the schema refer to.
    pub(super) kept: [Vec<Box<dyn Any>>; 2],
}

/// Most of the time what is right.
fn lie(u: &mut Unstructured<'_>, truth: i64) -> Result<i64> {
    match u.int_in_range(0..=15u8)? {
        0..=13 => Ok(truth),
        14 => Ok(*u.choose(EXTREME)?),
        _ => u.arbitrary(),
    }
}

/// A number of elements for a list that has room for more, or any number if it is full.
fn count<T>(u: &mut Unstructured<'_>, truth: usize, list: &mut *mut T) -> Result<i64> {
    match u.int_in_range(0..=23u8)? {
        0 => {
            *list = null_mut();
            lie(u, truth as i64)
        }
        1 => {
            *list = null_mut();
            Ok(*u.choose(EXTREME)?)
        }
        2 => Ok(-u.int_in_range(0..=i64::MAX)?),
        3 => u.int_in_range(0..=ROOM as i64),
        _ => Ok(truth as i64),
    }
}

impl Maker<'_> {
    fn is_on_host(&self) -> bool {
        ![CUDA, CUDA_MANAGED].contains(&self.device_type)
    }

    /// Keeps a list, with room for more elements.
    fn keep<T: Copy + 'static>(&mut self, of: usize, mut list: Vec<T>, filler: T) -> *mut T {
        list.resize(list.len().max(ROOM), filler);
        let mut list = list.into_boxed_slice();
        let first = list.as_mut_ptr();
        self.kept[of].push(Box::new(list));
        first
    }

    fn keep_text(&mut self, text: &str) -> *const c_char {
        let text = CString::new(text.replace('\0', "")).unwrap();
        let first = text.as_ptr();
        self.kept[1].push(Box::new(text));
        first
    }

    /// Where a buffer lies, or the list of the sizes of views' buffers.
    fn buffer(&mut self, u: &mut Unstructured<'_>, is_sizes: bool) -> Result<*const c_void> {
        let kind = u.int_in_range(0..=9u8)?;
        let place = u64::from(u.int_in_range(0..=31u8)?) * 8;
        let device = self.memory.device.address(&Ready::by_caller());
        Ok(match (kind, self.device_type) {
            (0, _) => null_mut(),
            (_, CUDA_HOST) => self.memory.pinned.as_ptr().cast(),
            // libarrow has the sizes of views' buffers on the host.
            _ if is_sizes || self.is_on_host() => self.memory.host.as_ptr().cast(),
            (1, _) => (device + place + 1) as *const c_void,
            (2, _) => (device + 4096 - place) as *const c_void,
            _ => (device + place) as *const c_void,
        })
    }

    pub(super) fn event(&mut self, u: &mut Unstructured<'_>) -> Result<*mut c_void> {
        let handle = match u.int_in_range(0..=7u8)? {
            0..=3 => return Ok(null_mut()),
            4 => null_mut(),
            5 => 0x1230 as *mut c_void,
            _ => self.memory.event.as_raw(),
        };
        Ok(self.keep(0, vec![handle], null_mut()).cast())
    }

    /// An array and its type, of the format that is wanted, if one is.
    pub(super) fn node(
        &mut self,
        u: &mut Unstructured<'_>,
        depth: usize,
        wanted: Option<&str>,
    ) -> Result<(Array, Schema)> {
        let index = match depth {
            0 if u.ratio(1, 2)? => 0,
            DEPTH.. => 1 + usize::from(u.int_in_range(0..=6u8)?),
            _ => u.choose_index(KINDS.len())?,
        };
        let index = KINDS.iter().position(|kind| Some(kind.0) == wanted).unwrap_or(index);
        let (format, buffers, children) = KINDS[index];
        let children = match children {
            None if wanted.is_some() => 2,
            None => u.int_in_range(0..=3)?,
            Some(count) => count,
        };
        let mut arrays = Vec::new();
        let mut schemas = Vec::new();
        for _ in 0..children {
            let wanted = if format == "+m" { Some("+s") } else { None };
            let (array, schema) = self.node(u, depth + 1, wanted)?;
            arrays.push(self.kept_array(u, array)?);
            schemas.push(self.kept_schema(u, schema)?);
        }
        let (mut dictionary, mut values) = (null_mut(), null_mut());
        if depth < DEPTH && u.ratio(1, 16)? {
            let (array, schema) = self.node(u, depth + 1, None)?;
            dictionary = self.kept_array(u, array)?;
            values = self.kept_schema(u, schema)?;
        }
        let array = self.array(u, buffers, format.starts_with('v'), arrays, dictionary)?;
        let schema = self.schema(u, format, schemas, values)?;
        Ok((array, schema))
    }

    fn array(
        &mut self,
        u: &mut Unstructured<'_>,
        buffers: usize,
        are_views: bool,
        children: Vec<*mut Array>,
        dictionary: *mut Array,
    ) -> Result<Array> {
        let places: Vec<_> = (0..buffers)
            .map(|n| self.buffer(u, are_views && n + 1 == buffers))
            .collect::<Result<_>>()?;
        let child_count = children.len();
        let mut places = self.keep(0, places, null_mut());
        let mut children = self.keep(0, children, null_mut());
        let small = i64::from(u.int_in_range(0..=40u8)?);
        let start = if u.ratio(1, 4)? { i64::from(u.int_in_range(0..=20u8)?) } else { 0 };
        let (mut length, mut offset) = (lie(u, small)?, lie(u, start)?);
        if self.is_on_host() {
            (length, offset) = (length.clamp(0, HOST_LENGTH), offset.clamp(0, HOST_LENGTH));
        }
        let null_count = if u.ratio(1, 3)? { -1 } else { 0 };
        Ok(Array {
            length,
            null_count: lie(u, null_count)?,
            offset,
            n_buffers: count(u, buffers, &mut places)?,
            n_children: count(u, child_count, &mut children)?,
            buffers: places,
            children,
            dictionary,
            release: Some(leave_array),
            private_data: null_mut(),
        })
    }

    fn schema(
        &mut self,
        u: &mut Unstructured<'_>,
        format: &str,
        children: Vec<*mut Schema>,
        dictionary: *mut Schema,
    ) -> Result<Schema> {
        let format = match u.int_in_range(0..=19u8)? {
            1 if !self.is_honest => std::ptr::null(),
            0 if !self.is_on_host() => self.keep_text(u.arbitrary::<&str>()?),
            _ => self.keep_text(format),
        };
        let name = if u.arbitrary()? { self.keep_text("x") } else { null_mut() };
        let metadata = if u.ratio(1, 16)? { self.extension(u)? } else { null_mut() };
        let child_count = children.len();
        let mut children = self.keep(1, children, null_mut());
        let n_children = match self.is_honest {
            true => child_count as i64,
            false => count(u, child_count, &mut children)?,
        };
        Ok(Schema {
            format,
            name,
            metadata,
            flags: u.arbitrary()?,
            n_children,
            children,
            dictionary,
            release: Some(leave_schema),
            private_data: null_mut(),
        })
    }

    /// Metadata with the name of an extension type and its parameters.
    fn extension(&mut self, u: &mut Unstructured<'_>) -> Result<*const c_char> {
        let (name, parameters) = u.choose(EXTENSIONS)?;
        let pairs = [("ARROW:extension:name", *name), ("ARROW:extension:metadata", *parameters)];
        let mut bytes = (pairs.len() as i32).to_ne_bytes().to_vec();
        for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
            bytes.extend((text.len() as i32).to_ne_bytes());
            bytes.extend(text.as_bytes());
        }
        Ok(self.keep(1, bytes, 0).cast())
    }

    /// A child, which may be missing or released.
    fn kept_array(&mut self, u: &mut Unstructured<'_>, mut array: Array) -> Result<*mut Array> {
        if u.ratio(1, 60)? {
            return Ok(null_mut());
        }
        if u.ratio(1, 40)? {
            let (buffers, children, dictionary) = (NOWHERE.cast(), NOWHERE.cast(), NOWHERE.cast());
            array = Array { buffers, children, dictionary, release: None, ..array };
        }
        Ok(self.keep_one(0, array))
    }

    fn kept_schema(&mut self, u: &mut Unstructured<'_>, mut schema: Schema) -> Result<*mut Schema> {
        if !self.is_honest && u.ratio(1, 60)? {
            return Ok(null_mut());
        }
        if !self.is_honest && u.ratio(1, 40)? {
            let (format, children, dictionary) = (NOWHERE.cast(), NOWHERE.cast(), NOWHERE.cast());
            schema = Schema { format, children, dictionary, release: None, ..schema };
        }
        Ok(self.keep_one(1, schema))
    }

    fn keep_one<T: 'static>(&mut self, of: usize, value: T) -> *mut T {
        let mut value = Box::new(value);
        let place = &raw mut *value;
        self.kept[of].push(value);
        place
    }
}
