//! The driver's result codes, by the names that `cuda.h` gives them without `CUDA_ERROR_`.
//!
//! Only those that this project looks at: the driver itself names all others
//! ([`CallError::name`](crate::CallError)).

/// An argument lies outside what the call accepts; also an address that the driver does not know.
pub const INVALID_VALUE: i32 = 1;
/// Device memory, or pinned host memory, ran out.
pub const OUT_OF_MEMORY: i32 = 2;
/// The driver was not initialised; also every call of a forked child.
pub const NOT_INITIALIZED: i32 = 3;
/// The library is the CUDA toolkit's stub, with which programs are linked.
pub const STUB_LIBRARY: i32 = 34;
/// There is no device that this process may use.
pub const NO_DEVICE: i32 = 100;
/// There is no device of that number.
pub const INVALID_DEVICE: i32 = 101;
/// The context was destroyed, or the handle never named one.
pub const INVALID_CONTEXT: i32 = 201;
/// The two devices cannot access each other's memory.
pub const PEER_ACCESS_UNSUPPORTED: i32 = 217;
/// The handle does not fit the call.
pub const INVALID_HANDLE: i32 = 400;
/// The library has no such symbol.
pub const NOT_FOUND: i32 = 500;
/// The work has not completed yet.
pub const NOT_READY: i32 = 600;
/// The context has access to the other one's memory already.
pub const PEER_ACCESS_ALREADY_ENABLED: i32 = 704;
/// The current context was destroyed, or somebody has reset its device.
pub const CONTEXT_IS_DESTROYED: i32 = 709;
/// The device has access to as many others as it can.
pub const TOO_MANY_PEERS: i32 = 711;
/// A stream that captures a graph does not support the call.
pub const STREAM_CAPTURE_UNSUPPORTED: i32 = 900;

/// The result of every call after a kernel or a copy has failed in one of these ways: the context executes nothing any
/// more.  CUDA's documentation names them.
pub const FATAL: [i32; 9] = [700, 702, 710, 714, 715, 716, 717, 718, 719];
