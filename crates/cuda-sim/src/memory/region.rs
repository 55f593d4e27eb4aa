//! Regions of memory: what is allocated, registered or imported.

use super::ipc_handle::IpcHandle;
use crate::base::lock;
use crate::contexts::Context;

/// Memory that calls may name.
#[derive(Clone)]
pub struct Region {
    pub base: u64,
    /// Bytes that the caller asked for.
    pub size: u64,
    /// Unique in the process.
    pub id: u64,
    pub device: usize,
    pub context: &'static Context,
    pub kind: Kind,
    /// Whether a stream has it to free, in the stream's order.
    pub is_being_freed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From `cuMemAlloc`.
    Device { is_exported: bool },
    /// From `cuMemAllocAsync`.
    Pool,
    /// From `cuMemAllocManaged`: pages of the host.
    Managed,
    /// From `cuMemHostAlloc`.
    Pinned,
    /// The caller's own, registered by `cuMemHostRegister`.
    Registered { is_read_only: bool },
    /// From a pool of page-locked memory, and the devices that can access it.
    HostPool { pool: u64, devices: Vec<usize> },
    /// A chunk from `cuMemCreate`, and the devices that can access it.
    Mapped { handle: u64, devices: Vec<usize> },
    /// Another process's, with the number of times that it is open.
    Imported { origin: IpcHandle, opens: usize },
}

impl Region {
    /// Whether the host reads and writes it at the same address.
    pub fn is_on_host(&self) -> bool {
        self.is_pinned() || self.kind == Kind::Managed
    }

    /// Whether it is page-locked memory of the host.
    pub fn is_pinned(&self) -> bool {
        matches!(self.kind, Kind::Pinned | Kind::Registered { .. } | Kind::HostPool { .. })
    }

    /// Whether the driver refuses to write to it.
    pub fn is_read_only(&self) -> bool {
        self.kind == Kind::Registered { is_read_only: true }
    }

    /// Whether kernels, fills and pointer queries of a context can access it.  Copies always can.
    pub fn is_accessible_from(&self, context: &Context) -> bool {
        if let Kind::Mapped { devices, .. } | Kind::HostPool { devices, .. } = &self.kind {
            return devices.contains(&context.device);
        }
        // An import can be accessed from the context that imported it, on whichever device it lies.
        let is_own = std::ptr::eq(self.context, context);
        is_own
            || self.is_on_host()
            || self.device == context.device
            || lock(&context.peers).contains(&self.context.id)
    }

    /// Whether anybody can access it.
    pub fn has_access(&self) -> bool {
        match &self.kind {
            Kind::Mapped { devices, .. } | Kind::HostPool { devices, .. } => !devices.is_empty(),
            _ => true,
        }
    }

    /// Whether a range may reach from another region to this one after it.
    pub fn continues(&self, other: &Self) -> bool {
        matches!((&self.kind, &other.kind), (Kind::Mapped { devices, .. }, Kind::Mapped { devices: others, .. })
            if devices == others)
    }

    /// Whether it counts against the device's memory until it is freed.
    pub fn is_device_allocation(&self) -> bool {
        matches!(self.kind, Kind::Device { .. } | Kind::Pool)
    }

    pub fn end(&self) -> u64 {
        self.base + self.size
    }
}
