//! The exceptions that failures become.

/// The kind of exception that Python raises for a failure.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `pyarrow.ArrowInvalid`.
    Invalid = 1,
    /// `OSError`.
    Io = 2,
    /// `pyarrow.ArrowTypeError`.
    Type = 3,
    /// `NotImplementedError`.
    NotImplemented = 4,
    /// `MemoryError`: host memory ran out.
    Memory = 5,
    /// `IndexError`.
    Index = 6,
    /// A Python exception is already set.
    Python = 7,
    /// `pyarrow.ArrowKeyError`.
    Key = 8,
    /// `pyarrow.ArrowCapacityError`.
    Capacity = 9,
}
