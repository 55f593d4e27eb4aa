//! Devices and their contexts, and the guard that every call to the driver in a context needs.

#[expect(unsafe_code, reason = "calls the driver")]
mod captures;
mod context;
#[expect(unsafe_code, reason = "calls the driver")]
mod current;
#[expect(unsafe_code, reason = "calls the driver")]
mod device;
mod extensions;
#[expect(unsafe_code, reason = "calls the driver")]
mod identity;
#[expect(unsafe_code, reason = "calls the driver")]
mod pointers;
#[expect(unsafe_code, reason = "asks the kernel what is readable")]
mod readable;
#[expect(unsafe_code, reason = "trusts the owners of borrowed contexts")]
mod registry;

pub use context::Context;
pub use current::Current;
pub use device::{Device, driver_version};
pub use extensions::Extension;
pub(crate) use identity::number_of_current;
pub use pointers::Attribute;
pub use readable::is_readable;
pub(crate) use registry::all;
