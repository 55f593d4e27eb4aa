//! The simulated driver: its devices, their memory, and everything that has a handle.

mod config;
mod device;

pub use config::Config;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use device::Device;

use crate::base::code::{
    CONTEXT_IS_DESTROYED, INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, NOT_INITIALIZED,
    OPERATING_SYSTEM, Result,
};
use crate::base::{Handle, Handles, lock, watch_forks};
use crate::contexts::{Context, stack};
use crate::kernels::{Function, Module};
use crate::memory::{BLOCK, Kind, Memory, Window};
use crate::streams::{Event, Stream};
use crate::work::capture;

static DRIVER: OnceLock<Driver> = OnceLock::new();
/// Held while the driver is built.
static BUILDING: Mutex<()> = Mutex::new(());

/// Null, as a stream, is the legacy default stream.
pub const STREAM_DEFAULT: Handle = 0;
const STREAM_LEGACY: Handle = 1;
const STREAM_PER_THREAD: Handle = 2;

pub struct Driver {
    pub config: Config,
    pub devices: Vec<Device>,
    memory: Mutex<Memory>,
    /// Every context that ever was; the last one of those that share a handle.
    contexts: Mutex<HashMap<Handle, &'static Context>>,
    pub streams: Handles<Stream>,
    pub events: Handles<Arc<Event>>,
    pub modules: Handles<Arc<Module>>,
    pub functions: Handles<Arc<Function>>,
    pub graphs: Handles<()>,
}

impl Driver {
    /// Builds the machine that the environment describes; once per process.  After a failure, the next
    /// call tries again.
    pub fn initialise() -> Result {
        if DRIVER.get().is_some() {
            return Ok(());
        }
        let _building = lock(&BUILDING);
        if DRIVER.get().is_none() {
            let driver = Self::create()?;
            DRIVER.get_or_init(|| driver);
        }
        Ok(())
    }

    pub fn get() -> Result<&'static Self> {
        DRIVER.get().ok_or(NOT_INITIALIZED)
    }

    fn create() -> Result<Self> {
        let config = Config::from_environment().map_err(|problem| {
            eprintln!("cuda-sim: {problem}");
            INVALID_VALUE
        })?;
        if config.devices == 0 {
            return Err(NO_DEVICE);
        }
        // Several times the memory: reserved ranges and imports take addresses, too.
        let length = (config.memory * 4).next_multiple_of(BLOCK).max(16 << 30);
        let windows = (0..config.devices)
            .map(|_| Window::create(length).map(Box::new))
            .collect::<std::io::Result<Vec<_>>>()
            .map_err(|problem| {
                eprintln!("cuda-sim: cannot reserve address space for a device: {problem}");
                OPERATING_SYSTEM
            })?;
        watch_forks()?;
        let windows = windows.into_iter().map(|window| &*Box::leak(window)).collect::<Vec<_>>();
        Ok(Self {
            devices: windows.iter().map(|_| Device::default()).collect(),
            memory: Mutex::new(Memory::new(&windows, config.memory)),
            config,
            contexts: Mutex::default(),
            streams: Handles::new(),
            events: Handles::new(),
            modules: Handles::new(),
            functions: Handles::new(),
            graphs: Handles::new(),
        })
    }

    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }

    pub fn ordinal(&self, number: i32) -> Result<usize> {
        let ordinal = usize::try_from(number).ok();
        ordinal.filter(|&ordinal| ordinal < self.devices.len()).ok_or(INVALID_DEVICE)
    }

    pub fn create_context(&self, device: usize, is_primary: bool) -> &'static Context {
        let context = Context::create(device, is_primary, self.config.latency);
        let device = &self.devices[device];
        // Before any caller has seen its own.
        let inherited = match context.is_primary {
            true => Some(*device.primary_handle.get_or_init(|| context.handle())),
            false => lock(&device.free_handles).pop(),
        };
        if let Some(handle) = inherited {
            context.inherited.get_or_init(|| handle);
        }
        lock(&device.contexts).push(context);
        let previous = lock(&self.contexts).insert(context.handle(), context);
        if let Some(previous) = previous.filter(|_| is_primary) {
            previous.successor.get_or_init(|| context);
        }
        context
    }

    /// The context of a handle, destroyed or not; `None` if there never was one.
    pub fn known_context(&self, handle: Handle) -> Option<&'static Context> {
        lock(&self.contexts).get(&handle).copied()
    }

    /// The context of a handle.  Ends the process when there never was one, because a real driver
    /// reads through the handle and crashes.  Also fails for null.
    pub fn context(&self, handle: Handle) -> Result<&'static Context> {
        if handle == 0 {
            return Err(INVALID_VALUE);
        }
        let Some(context) = self.known_context(handle) else {
            eprintln!("cuda-sim: {handle:#x} never was a context; a real driver crashes on it");
            std::process::abort();
        };
        match context.is_destroyed() {
            true => Err(CONTEXT_IS_DESTROYED),
            false => Ok(context),
        }
    }

    /// Ends a context when its work is done, and frees all memory that belongs to it when that of its device is.
    pub fn destroy_context(&self, context: &'static Context) {
        context.destroy();
        capture::forget(|queue| queue.context == context.id);
        let device = &self.devices[context.device];
        // Other contexts may use its memory.
        device.synchronize();
        lock(&device.contexts).retain(|other| other.id != context.id);
        if !context.is_primary {
            lock(&device.free_handles).push(context.handle());
        }
        self.streams.release(|stream| stream.context.id == context.id);
        self.events.release(|event| event.context.id == context.id);
        self.modules.release(|module| module.context.id == context.id);
        self.functions.release(|function| function.module.context.id == context.id);
        let mut memory = self.memory();
        let owned = memory.regions.values().filter(|region| {
            // Chunks belong to the device.
            region.context.id == context.id && !matches!(region.kind, Kind::Mapped { .. })
        });
        // The lowest address is freed last, so that it comes back first.
        for base in owned.map(|region| region.base).rev().collect::<Vec<_>>() {
            memory.release(base);
        }
        drop(memory);
        self.unmap_retired();
    }

    /// Returns pages of the host that were released to the system, unless work is in flight, which may use them.
    pub fn unmap_retired(&self) {
        let mut memory = self.memory();
        if self.devices.iter().all(Device::is_idle) {
            memory.unmap_retired();
        }
    }

    pub fn synchronize(&self) {
        self.devices.iter().for_each(Device::synchronize);
    }

    /// The stream of a handle; the default streams are those of the current context.
    pub fn stream(&self, handle: Handle) -> Result<Stream> {
        match handle {
            STREAM_DEFAULT | STREAM_LEGACY => Ok(Stream::legacy(stack::current()?)),
            STREAM_PER_THREAD => Ok(Stream::of_this_thread(stack::current()?)),
            _ => {
                let stream = self.streams.get(handle)?;
                stream.context.check()?;
                Ok(stream)
            }
        }
    }

    pub fn event(&self, handle: Handle) -> Result<Arc<Event>> {
        let event = self.events.get(handle)?;
        event.context.check()?;
        Ok(event)
    }
}
