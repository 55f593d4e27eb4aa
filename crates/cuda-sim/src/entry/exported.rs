//! How the files of `calls/` export functions of the driver interface.

use std::ffi::c_void;

/// An exported function, as libraries ask for it by name.
pub struct EntryPoint {
    pub name: &'static str,
    /// The version of the interface that has it first.
    pub since: u32,
    /// The version with another variant, which is not simulated.
    pub until: Option<u32>,
    /// Whether a variant for the per-thread default stream exists.  None of these is simulated.
    pub per_thread: bool,
    pub address: *const c_void,
}

/// Exports functions, and lists them as `ENTRY_POINTS`; of several variants, the older one comes first.
///
/// `[SINCE to UNTIL, per_thread] WRAPPER NAME(PARAMETERS) { BODY }`: the versions are those of an
/// [`EntryPoint`], and the wrapper is a function of [`call`](super::call), which gives the body its
/// `driver`.  A body that comes to its end has succeeded; until then it may return an error, or pass one
/// on with `?`.
macro_rules! exported {
    ($driver:ident: $(
        $(#[$attribute:meta])*
        [$since:literal $(to $until:literal)? $(, $per_thread:ident)?]
        $wrapper:ident $name:ident($($parameter:ident: $type:ty),* $(,)?) $body:block
    )*) => {
        $(
            $(#[$attribute])*
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($parameter: $type),*) -> $crate::base::code::Code {
                $crate::entry::call::$wrapper(stringify!($name), |$driver| {
                    let _ = $driver;
                    $body
                    Ok(())
                })
            }
        )*

        pub const ENTRY_POINTS: &[$crate::entry::EntryPoint] = &[$(
            $crate::entry::EntryPoint {
                name: stringify!($name),
                since: $since,
                until: [$(Some($until),)? None][0],
                per_thread: !stringify!($($per_thread)?).is_empty(),
                address: $name as *const std::ffi::c_void,
            },
        )*];
    };
}
pub(crate) use exported;
