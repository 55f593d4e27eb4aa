//! This machine: the cores that the process may use, and the NUMA node of each device.

use super::affinity::allowed;
use super::machine::{Home, Machine};
use super::plan::TransferLimits;
use arrow_cuda_context::Device;
use std::num::NonZero;
use std::thread::available_parallelism;

/// `CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID`, and those of the domain, the bus and the number on PCI.
const HOST_NUMA_ID: i32 = 134;
const PCI_ADDRESS: [i32; 3] = [50, 33, 34];

impl TransferLimits {
    /// The default for this machine, by the cores that the process may use now.
    pub fn of_this_machine() -> Self {
        Self::for_cores(Machine::this().cores(&allowed(), parallelism()))
    }
}

impl Home {
    pub(super) fn of(device: Device) -> Self {
        let node = device.attribute(HOST_NUMA_ID).ok().filter(|node| *node >= 0);
        let node = node.unwrap_or_else(|| {
            // Older drivers do not know it, but the system may.
            let address = PCI_ADDRESS.map(|part| device.attribute(part).unwrap_or(-1));
            Machine::this().node_of_pci(address)
        });
        Machine::this().home(node, &allowed(), parallelism())
    }
}

/// How many threads can run at the same time: the standard library knows the quotas of containers.
fn parallelism() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}
