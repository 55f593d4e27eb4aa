//! Guards operators of arrays, such as `array + 1` and `array[1:3]`, in place.
//!
//! pyarrow's operators first check that the data lies on the host.  Then they pass their operands to a function of
//! `pyarrow.compute`, or to a method, which has a guard.  Python calls operators through slots of the class.  This
//! module replaces the functions there by its own, which let the check pass.  An index of one element meets a second
//! check, which does not pass.

use super::assertions::Trusted;
use super::cpython_slots::{found, heirs, word};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

type Object = *mut ffi::PyObject;
/// Slots by the number of operands, in which the thread may be unwound: see `interpreter/daemon_threads.rs`.
type Unary = unsafe extern "C-unwind" fn(Object) -> Object;
type Binary = unsafe extern "C-unwind" fn(Object, Object) -> Object;
type Ternary = unsafe extern "C-unwind" fn(Object, Object, Object) -> Object;

/// Where CPython 3.11 to 3.14 have the tables of operators and of indexing in a type, in words.
const NUMBERS: usize = 12;
const MAPPING: usize = 14;
/// Each slot, its table, its place there in words, and the function that stands in.  The last one is of chunked arrays.
const SLOTS: [(c_int, usize, usize, *mut c_void); 14] = [
    (ffi::Py_nb_add, NUMBERS, 0, binary::<0> as *mut c_void),
    (ffi::Py_nb_subtract, NUMBERS, 1, binary::<1> as *mut c_void),
    (ffi::Py_nb_multiply, NUMBERS, 2, binary::<2> as *mut c_void),
    (ffi::Py_nb_power, NUMBERS, 5, ternary::<3> as *mut c_void),
    (ffi::Py_nb_negative, NUMBERS, 6, unary::<4> as *mut c_void),
    (ffi::Py_nb_absolute, NUMBERS, 8, unary::<5> as *mut c_void),
    (ffi::Py_nb_lshift, NUMBERS, 11, binary::<6> as *mut c_void),
    (ffi::Py_nb_rshift, NUMBERS, 12, binary::<7> as *mut c_void),
    (ffi::Py_nb_and, NUMBERS, 13, binary::<8> as *mut c_void),
    (ffi::Py_nb_xor, NUMBERS, 14, binary::<9> as *mut c_void),
    (ffi::Py_nb_or, NUMBERS, 15, binary::<10> as *mut c_void),
    (ffi::Py_nb_true_divide, NUMBERS, 30, binary::<11> as *mut c_void),
    (ffi::Py_mp_subscript, MAPPING, 1, binary::<12> as *mut c_void),
    (ffi::Py_mp_subscript, MAPPING, 1, binary::<13> as *mut c_void),
];
/// pyarrow's functions, in the same order.
static THEIRS: [AtomicPtr<c_void>; SLOTS.len()] =
    [const { AtomicPtr::new(null_mut()) }; SLOTS.len()];

/// Replaces the operators of arrays and the indexing of chunked arrays, and their copies in the classes that inherit
/// them.  Arrays of older pyarrows have indexing only.
#[pyfunction(name = "_guard_operators")]
pub(super) fn guard_operators(
    array: &Bound<'_, PyType>,
    chunked: &Bound<'_, PyType>,
) -> PyResult<()> {
    for (number, (slot, table, index, ours)) in SLOTS.into_iter().enumerate() {
        let class = if number + 1 < SLOTS.len() { array } else { chunked };
        // SAFETY: live types, and the GIL is held, so that nobody else uses the slots; each is written only where
        // Python has it.  Whoever inherits an operator has a table.
        unsafe {
            let original = ffi::PyType_GetSlot(class.as_type_ptr(), slot);
            if original.is_null() || original == ours {
                continue;
            }
            let place =
                |class: &Bound<'_, PyType>| word(*word(class.as_ptr(), table).cast(), index);
            found(class, place(class), original)?;
            if let Some(theirs) = THEIRS.get(number) {
                theirs.store(original, Ordering::Relaxed);
            }
            for each in std::iter::once(class.clone()).chain(heirs(class)?) {
                if *place(&each) == original {
                    *place(&each) = ours;
                }
            }
        }
    }
    Ok(())
}

/// pyarrow's operator, which takes its first operand for one on the host.  The frame drops nothing meanwhile.
///
/// # Safety
///
/// `F` is the type of the slot with this number.
unsafe fn operate<F>(number: usize, first: Object, call: impl FnOnce(F) -> Object) -> Object {
    let theirs = THEIRS.get(number).map_or(null_mut(), |it| it.load(Ordering::Relaxed));
    let trusted = Trusted::begin(first.addr());
    // SAFETY: what the slot had, by the caller's word.
    let result = call(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&theirs) });
    drop(trusted);
    result
}

/// # Safety
///
/// As Python calls an operator of one operand.
unsafe extern "C-unwind" fn unary<const N: usize>(one: Object) -> Object {
    // SAFETY: guaranteed by the caller.
    unsafe { operate::<Unary>(N, one, |theirs| theirs(one)) }
}

/// # Safety
///
/// As Python calls an operator of two operands.
unsafe extern "C-unwind" fn binary<const N: usize>(one: Object, two: Object) -> Object {
    // SAFETY: guaranteed by the caller.
    unsafe { operate::<Binary>(N, one, |theirs| theirs(one, two)) }
}

/// # Safety
///
/// As Python calls an operator of three operands.
unsafe extern "C-unwind" fn ternary<const N: usize>(
    one: Object,
    two: Object,
    three: Object,
) -> Object {
    // SAFETY: guaranteed by the caller.
    unsafe { operate::<Ternary>(N, one, |theirs| theirs(one, two, three)) }
}
