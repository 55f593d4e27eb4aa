//! Memory that processes share: exports and imports.

use super::ipc_handle::IpcHandle;
use super::{Kind, Memory, window};
use crate::base::code::{INVALID_VALUE, Result};
use crate::contexts::Context;

impl Memory {
    pub fn export(&mut self, address: u64) -> Result<IpcHandle> {
        let base = self.containing(address).ok_or(INVALID_VALUE)?.base;
        let region = self.regions.get_mut(&base).ok_or(INVALID_VALUE)?;
        let Kind::Device { is_exported } = &mut region.kind else {
            return Err(INVALID_VALUE);
        };
        *is_exported = true;
        let window = self.devices[region.device].window;
        let offset = base - window.base;
        let (entry, token) = window.list_export(offset, region.id);
        Ok(IpcHandle {
            process: std::process::id(),
            descriptor: window.descriptor().cast_unsigned(),
            device: region.device as u64,
            entry,
            token,
            offset,
            size: region.size,
        })
    }

    /// Imports another process's allocation.  If the context imports it again, it has the same
    /// address; another context has a mapping of its own.  Fails with `INVALID_VALUE` when the
    /// exporter or its allocation is gone.
    pub fn import(&mut self, context: &'static Context, handle: &IpcHandle) -> Result<u64> {
        let known = self.regions.values().find_map(|region| match &region.kind {
            Kind::Imported { origin, .. }
                if origin == handle && std::ptr::eq(region.context, context) =>
            {
                Some(region.base)
            }
            _ => None,
        });
        if let Some(base) = known {
            self.count_open(base, 1);
            return Ok(base);
        }
        let device = handle.device as usize;
        let memory = self.devices.get_mut(device).ok_or(INVALID_VALUE)?;
        let file = window::open_foreign(handle).ok_or(INVALID_VALUE)?;
        let base = memory.attach(&file, handle.offset, handle.size)?;
        let kind = Kind::Imported { origin: handle.clone(), opens: 1 };
        self.add(context, device, base, handle.size, kind);
        Ok(base)
    }

    /// Adds `change` to the number of times that an import is open, and returns the sum; `None`
    /// where no import starts.
    pub fn count_open(&mut self, base: u64, change: isize) -> Option<usize> {
        match &mut self.regions.get_mut(&base)?.kind {
            Kind::Imported { opens, .. } => {
                *opens = opens.saturating_add_signed(change);
                Some(*opens)
            }
            _ => None,
        }
    }
}
