//! The driver's state: devices, contexts, memory and handles.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use crate::code::{
    Answer, CONTEXT_IS_DESTROYED, Code, INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, NOT_INITIALIZED,
    OPERATING_SYSTEM,
};
use crate::config::Config;
use crate::context::Context;
use crate::event::Event;
use crate::gate;
use crate::handles::{Handle, Handles, lock};
use crate::kernel::{Function, Module};
use crate::memory::Memory;
use crate::queue::{Order, Stream};
use crate::space::BLOCK;
use crate::stack;
use crate::window::Window;

static DRIVER: OnceLock<Result<Driver, Code>> = OnceLock::new();

/// Handles that name default streams: by null, the legacy one, and the calling thread's own.
const STREAM_DEFAULT: Handle = 0;
const STREAM_LEGACY: Handle = 1;
const STREAM_PER_THREAD: Handle = 2;

pub struct Driver {
    pub config: Config,
    pub devices: Vec<Device>,
    memory: Mutex<Memory>,
    /// Every context that ever was; the last one of those that share a handle.
    contexts: Mutex<HashMap<Handle, &'static Context>>,
    pub streams: Handles<Arc<Stream>>,
    pub events: Handles<Arc<Event>>,
    pub modules: Handles<Arc<Module>>,
    pub functions: Handles<Arc<Function>>,
}

pub struct Device {
    pub primary: Mutex<Primary>,
    /// All primary contexts of a device have one handle, one after the other.
    primary_handle: OnceLock<Handle>,
    /// Contexts that were not destroyed.
    contexts: Mutex<Vec<&'static Context>>,
}

/// A device's primary context.
#[derive(Default)]
pub struct Primary {
    pub context: Option<&'static Context>,
    pub retains: i32,
    pub flags: u32,
}

impl Driver {
    /// Builds the machine that the environment describes; once per process.
    pub fn initialise() -> Answer {
        match DRIVER.get_or_init(Self::create) {
            Ok(_) => Ok(()),
            Err(code) => Err(*code),
        }
    }

    pub fn get() -> Result<&'static Self, Code> {
        match DRIVER.get() {
            Some(Ok(driver)) => Ok(driver),
            _ => Err(NOT_INITIALIZED),
        }
    }

    fn create() -> Result<Self, Code> {
        let config = Config::from_environment().map_err(|problem| {
            eprintln!("cuda-sim: {problem}");
            INVALID_VALUE
        })?;
        if config.devices == 0 {
            return Err(NO_DEVICE);
        }
        gate::watch_forks()?;
        // Several times the memory, so that freed addresses rest for long before they return.
        let length = (config.memory * 4).next_multiple_of(BLOCK).max(16 << 30);
        let windows = (0..config.devices)
            .map(|_| Window::create(length).map(|window| &*Box::leak(Box::new(window))))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|problem| {
                eprintln!("cuda-sim: no address space for a device: {problem}");
                OPERATING_SYSTEM
            })?;
        let device = || Device {
            primary: Mutex::default(),
            primary_handle: OnceLock::new(),
            contexts: Mutex::default(),
        };
        Ok(Self {
            devices: windows.iter().map(|_| device()).collect(),
            memory: Mutex::new(Memory::new(&windows, config.memory)),
            config,
            contexts: Mutex::default(),
            streams: Handles::new(),
            events: Handles::new(),
            modules: Handles::new(),
            functions: Handles::new(),
        })
    }

    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }

    /// The index of a device by its number.
    ///
    /// # Errors
    /// `INVALID_DEVICE`.
    pub fn ordinal(&self, number: i32) -> Result<usize, Code> {
        let ordinal = usize::try_from(number).ok();
        ordinal.filter(|&ordinal| ordinal < self.devices.len()).ok_or(INVALID_DEVICE)
    }

    pub fn create_context(&self, device: usize, is_primary: bool) -> &'static Context {
        let context = Context::create(device, is_primary);
        if is_primary {
            let of_the_first = self.devices[device].primary_handle.get_or_init(|| context.handle());
            context.inherit(*of_the_first);
        }
        lock(&self.contexts).insert(context.handle(), context);
        lock(&self.devices[device].contexts).push(context);
        context
    }

    /// The context of a handle, destroyed or not; `None` if there never was one.
    pub fn known_context(&self, handle: Handle) -> Option<&'static Context> {
        lock(&self.contexts).get(&handle).copied()
    }

    /// The context of a handle.  Ends the process when there never was one, because a driver
    /// reads through the handle and crashes.
    ///
    /// # Errors
    /// `INVALID_VALUE` for null, `CONTEXT_IS_DESTROYED`.
    pub fn context(&self, handle: Handle) -> Result<&'static Context, Code> {
        if handle == 0 {
            return Err(INVALID_VALUE);
        }
        let Some(context) = self.known_context(handle) else {
            eprintln!("cuda-sim: {handle:#x} never was a context; a driver crashes on it");
            std::process::abort();
        };
        match context.is_destroyed() {
            true => Err(CONTEXT_IS_DESTROYED),
            false => Ok(context),
        }
    }

    /// Ends a context when its work is done, with all memory that belongs to it.
    pub fn destroy_context(&self, context: &'static Context) {
        context.destroy();
        lock(&self.devices[context.device].contexts).retain(|other| other.id != context.id);
        let mut memory = self.memory();
        let mine = memory.regions.iter().filter(|region| region.context.id == context.id);
        for base in mine.map(|region| region.base).collect::<Vec<_>>() {
            memory.release(base);
        }
    }

    /// Waits for everything that was queued on a device.
    pub fn synchronize(&self, device: usize) {
        let contexts = lock(&self.devices[device].contexts).clone();
        for context in contexts {
            context.synchronize();
        }
    }

    /// Waits for every device.
    pub fn synchronize_all(&self) {
        for device in 0..self.devices.len() {
            self.synchronize(device);
        }
    }

    /// The stream of a handle; the default streams are those of the current context.
    ///
    /// # Errors
    /// Those of the current context or of the stream's, `INVALID_HANDLE`.
    pub fn stream(&self, handle: Handle) -> Result<Arc<Stream>, Code> {
        match handle {
            STREAM_DEFAULT | STREAM_LEGACY => Ok(Arc::clone(stack::current()?.legacy_stream())),
            STREAM_PER_THREAD => Ok(stack::current()?.thread_stream()),
            _ => {
                let stream = self.streams.get(handle)?;
                stream.context.healthy()?;
                Ok(stream)
            }
        }
    }

    /// A new stream and its handle.
    pub fn create_stream(&self, context: &'static Context, order: Order, priority: i32) -> Handle {
        self.streams.insert(context.create_stream(order, priority))
    }

    /// # Errors
    /// `INVALID_HANDLE`, or the error of the event's context.
    pub fn event(&self, handle: Handle) -> Result<Arc<Event>, Code> {
        let event = self.events.get(handle)?;
        event.context.healthy()?;
        Ok(event)
    }
}
