//! The kinds of staged copies.

/// A kind of staged copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
    /// The device's bytes are compared with the host's.
    Compare,
}
