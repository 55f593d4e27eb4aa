//! How a function of C++ becomes a method.

use crate::fault::{Failure, Fault, Outcome, done};
use crate::ffi::{BatchSource, BatchesTaken, Contexts, Decoded, HostRanges};
use crate::object_ref::Object;

/// Imports functions from C++, lists them as `Table`, and makes a method of each.
///
/// `OWNER[FIELD.FIELD]:` names the type that gets the methods, and where it has the table.  Then come lines like those
/// of Rust's own `unsafe extern` blocks: `VISIBILITY SAFETY fn NAME(PARAMETERS) -> RESULT;`.  The types of its
/// arguments show all that a `safe` function requires.  [`Returned`] tells what C++ returns.  `examples/header.rs`
/// reads these lines.
macro_rules! imported {
    ($owner:ident $fields:tt: $(
        $(#[$attribute:meta])*
        $visibility:vis $safety:ident fn $name:ident $(<$lifetime:lifetime>)? (
            $($parameter:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)?;
    )+) => {
        #[repr(C)]
        pub(crate) struct Table {
            $($name: $(for<$lifetime>)? unsafe extern "C" fn($($type),*)
                $(-> <$result as $crate::imported::Returned>::Row)?,)+
        }

        impl $owner {$(imported! {
            @$safety $fields [$(#[$attribute])* $visibility]
            $name [$($lifetime)?] ($($parameter: $type),*) $(-> $result)?
        })+}
    };
    (@safe $($method:tt)+) => { imported! { @method [] $($method)+ } };
    (@unsafe $($method:tt)+) => { imported! { @method [unsafe] $($method)+ } };
    (
        @method [$($unsafe:tt)?] [$($field:ident).*] [$(#[$attribute:meta])* $visibility:vis]
        $name:ident [$($lifetime:lifetime)?] ($($parameter:ident: $type:ty),*) $(-> $result:ty)?
    ) => {
        $(#[$attribute])*
        $visibility $($unsafe)? fn $name $(<$lifetime>)? (&self, $($parameter: $type),*) $(-> $result)? {
            // SAFETY: guaranteed by the caller, or by the types of the arguments.
            let row = unsafe { (self $(.$field)*.$name)($($parameter),*) };
            $(<$result as $crate::imported::Returned>::of)? (row)
        }
    };
}

/// A type that methods return.
pub(crate) trait Returned {
    /// The result of the C++ function, from which the type is made.  `examples/header.rs` has the same rules.
    type Row;

    fn of(row: Self::Row) -> Self;
}

macro_rules! returned {
    ($([$($generic:tt)*] $type:ty: |$row:ident: $cpp:ty| $of:expr;)+) => {$(
        impl<$($generic)*> Returned for $type {
            type Row = $cpp;

            fn of($row: $cpp) -> Self {
                $of
            }
        }
    )+};
}

returned! {
    [] Result<(), Fault>: |row: Failure| done(row);
    [T: Returned] Result<T, Fault>: |row: Outcome<T::Row>| row.into_result().map(T::of);
    // Null where C++ has made none.
    [] Option<Object>: |row: Object| Some(row).filter(|object| !object.is_null());
    [T] Option<&T>: |row: Self| row;
    [T] *mut T: |row: Self| row;
    [] bool: |row: Self| row;
    [] i32: |row: Self| row;
    [] i64: |row: Self| row;
    [] BatchSource: |row: Self| row;
    [] BatchesTaken: |row: Self| row;
    [] Contexts: |row: Self| row;
    [] Decoded: |row: Self| row;
    [] HostRanges: |row: Self| row;
}
