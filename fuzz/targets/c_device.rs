//! Structures of the C Device interface, imported through the bridge: any numbers behind pointers
//! that are null or lead to memory that exists.
#![no_main]

use arbitrary::Unstructured;
use arrow_cuda_fuzz::{Memory, Pyarrow, Structures};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static MEMORY: LazyLock<Memory> = LazyLock::new(|| Memory::new(&Pyarrow::get().context));

fuzz_target!(init: { Pyarrow::get(); }, |bytes: &[u8]| {
    let pyarrow = Pyarrow::get();
    let memory = &*MEMORY;
    let before = pyarrow.allocated();
    let mut u = Unstructured::new(bytes);
    let Ok([by_type, is_batch]) = u.arbitrary::<[bool; 2]>() else { return };
    let Ok(mut made) = Structures::describe(&mut u, memory, by_type) else { return };
    // SAFETY: valid for import as far as pointers go; the rest is what is tested.
    let imported = unsafe {
        let (array, schema) = (&raw mut *made.array, &raw mut *made.schema);
        pyarrow.import(array, schema, by_type, is_batch)
    };
    if let Some(object) = imported {
        pyarrow.work_with(&object, is_batch);
    }
    assert_eq!(made.released(), [1, 1]);
    pyarrow.wait_for_release(before);
});
