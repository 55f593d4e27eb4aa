//! Structures of the C Device interface with any numbers in them, behind pointers that are null or
//! lead to memory that exists.

mod kinds;
mod maker;

use crate::abi::{Array, DeviceArray, Schema};
use arbitrary::{Result, Unstructured};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Event, Stream};
use arrow_cuda_transfer::HostBuffer;
use kinds::EXTREME;
use maker::Maker;
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::rc::Rc;

const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;
const CUDA_MANAGED: i32 = 13;

/// The memory that structures refer to.
pub struct Memory {
    device: DeviceBuffer,
    host: Vec<u64>,
    pinned: HostBuffer,
    event: Event,
}

impl Memory {
    /// # Panics
    ///
    /// Without the simulated device.
    pub fn new(context: &Context) -> Self {
        let event = Event::new(context).unwrap();
        event.record(&Stream::default_of(context)).unwrap();
        let host = vec![0u64; 1 << 14];
        let mut pinned = HostBuffer::allocate(context, size_of_val(&host[..])).unwrap();
        pinned.as_mut_slice().fill(0);
        let device = DeviceBuffer::allocate(context, 4096).unwrap();
        device.copy_from_host(&[0; 4096]).unwrap();
        // Its address reaches other libraries, so it is exposed.
        device.expose();
        Self { device, host, pinned, event }
    }
}

/// A structure's `private_data`: everything that belongs to it.
struct Owned {
    released: Rc<Cell<usize>>,
    _kept: Vec<Box<dyn Any>>,
}

/// How a structure is released that owns what it leads to, and how one that belongs to its parent.
macro_rules! releases {
    ($kind:ty, $release:ident, $leave:ident) => {
        unsafe extern "C" fn $release(structure: *mut $kind) {
            // SAFETY: the structure's owner was put there, and is taken once: a second time is what
            // is looked for.
            unsafe {
                let owned = Box::from_raw((*structure).private_data.cast::<Owned>());
                owned.released.set(owned.released.get() + 1);
                (*structure).release = None;
            }
        }

        unsafe extern "C" fn $leave(structure: *mut $kind) {
            // SAFETY: called with a live structure.
            unsafe { (*structure).release = None };
        }
    };
}
releases!(Array, release_array, leave_array);
releases!(Schema, release_schema, leave_schema);

/// An array and its type.
pub struct Structures {
    pub array: Box<DeviceArray>,
    pub schema: Box<Schema>,
    released: [Rc<Cell<usize>>; 2],
}

impl Structures {
    /// Describes structures by the fuzzer's bytes.  The schema does not lie if it `is_honest`.
    ///
    /// # Errors
    ///
    /// When there are too few bytes.
    pub fn describe(u: &mut Unstructured<'_>, memory: &Memory, is_honest: bool) -> Result<Self> {
        let mut maker = Maker {
            device_type: match u.int_in_range(0..=11)? {
                0..=7 => CUDA,
                8 => CUDA_MANAGED,
                9 => CUDA_HOST,
                10 => CPU,
                _ => u.arbitrary()?,
            },
            memory,
            is_honest,
            kept: [Vec::new(), Vec::new()],
        };
        let (array, schema) = maker.node(u, 0, None)?;
        let device_id = match u.int_in_range(0..=7)? {
            0..=5 => 0,
            6 => 1,
            _ => *u.choose(EXTREME)?,
        };
        let sync_event = maker.event(u)?;
        let mut array = Box::new(DeviceArray {
            array,
            device_id,
            device_type: maker.device_type,
            sync_event,
            reserved: u.arbitrary()?,
        });
        let mut schema = Box::new(schema);
        let mut content = u.bytes(u.len().min(256))?.to_vec();
        // Nothing stays of the input before, so that each makes the same again.
        content.resize(4096, 0);
        memory.device.copy_from_host(&content).unwrap();
        let released = [Rc::default(), Rc::default()];
        let [kept_array, kept_schema] = maker.kept;
        let owned = |kept, released: &Rc<Cell<usize>>| -> *mut c_void {
            Box::into_raw(Box::new(Owned { released: released.clone(), _kept: kept })).cast()
        };
        array.array.private_data = owned(kept_array, &released[0]);
        array.array.release = Some(release_array);
        schema.private_data = owned(kept_schema, &released[1]);
        schema.release = Some(release_schema);
        Ok(Self { array, schema, released })
    }

    /// How often the array and its type were released.
    pub fn released(&self) -> [usize; 2] {
        [self.released[0].get(), self.released[1].get()]
    }
}
