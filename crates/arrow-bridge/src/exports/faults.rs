//! Failures for C++.

use super::buffers::host;
use crate::ffi::{FaultFacts, HostRange, RustFault};
use crate::kind::Kind;

exported! {
    /// `text` is UTF-8.
    answer fault_new(kind: Kind, text: HostRange) -> Box<RustFault> {
        // SAFETY: C++ passes readable bytes.
        let text = unsafe { host(text.data.cast(), text.size as i64) }.unwrap_or_default();
        Box::new(RustFault::new(kind, String::from_utf8_lossy(text)))
    }

    answer fault_facts(fault: &RustFault) -> FaultFacts {
        FaultFacts { kind: fault.kind, text: HostRange::of(fault.text.as_bytes()) }
    }

    answer fault_release(fault: Box<RustFault>) {
        drop(fault);
    }
}
