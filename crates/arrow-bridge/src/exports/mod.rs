//! Rust's functions for the C++ classes: the tables of [`RustApi`].
//!
//! Only C++ calls these functions, under the contract of `ffi.rs`: opaque pointers come from these
//! tables and are live, and other pointers are valid for their use.

/// Exports functions to C++, and lists them as `Table`, of which C++ sees the rows by their names.
///
/// `ANSWER NAME(PARAMETERS) -> RESULT { BODY }`: `answer` gives the body's result as it is; `attempt`,
/// `attempted` and `made` of `fault.rs` let a body fail.  `examples/header.rs` reads these lines.
macro_rules! exported {
    ($(
        $(#[$attribute:meta])*
        $answer:ident $name:ident($($parameter:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block
    )+) => {
        #[repr(C)]
        pub(crate) struct Table {
            $($name: unsafe extern "C" fn($($parameter: $type),*) $(-> $result)?,)+
        }

        pub(super) const TABLE: Table = Table { $($name,)+ };

        $(
            $(#[$attribute])*
            unsafe extern "C" fn $name($($parameter: $type),*) $(-> $result)? {
                $crate::fault::$answer(|| $body)
            }
        )+
    };
}

mod batch_copies;
mod bodies;
mod buffers;
mod contexts;
pub(crate) mod events;
mod faults;
mod files;
mod layouts;
mod metadata;
mod pools;

/// Rust's functions for C++.
#[repr(C)]
pub(crate) struct RustApi {
    faults: faults::Table,
    contexts: contexts::Table,
    buffers: buffers::Table,
    batch_copies: batch_copies::Table,
    bodies: bodies::Table,
    layouts: layouts::Table,
    pools: pools::Table,
    events: events::Table,
    files: files::Table,
    metadata: metadata::Table,
}

pub(crate) static API: RustApi = RustApi {
    faults: faults::TABLE,
    contexts: contexts::TABLE,
    buffers: buffers::TABLE,
    batch_copies: batch_copies::TABLE,
    bodies: bodies::TABLE,
    layouts: layouts::TABLE,
    pools: pools::TABLE,
    events: events::TABLE,
    files: files::TABLE,
    metadata: metadata::TABLE,
};
