//! How a schema differs from the columns of a message.

use pyo3::prelude::*;

/// Arrays, nested ones too, and buffers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Counts {
    arrays: usize,
    buffers: usize,
}

/// pyarrow itself does not read deeper types.
const MOST_DEPTH: usize = 64;

/// What to do about an error for a message with so many arrays and buffers: what the schema needs, and the first column
/// that the message lacks.  `None` if the numbers agree, or are not known.
pub(super) fn mismatch(
    schema: &Bound<'_, PyAny>,
    (arrays, buffers): (usize, usize),
) -> PyResult<Option<String>> {
    let (there, mut needed) = (Counts { arrays, buffers }, Counts { arrays: 0, buffers: 0 });
    let mut lacking = None;
    for field in schema.try_iter()? {
        let field = field?;
        let Some(of_field) = counts(&field.getattr("type")?, MOST_DEPTH)? else { return Ok(None) };
        needed.arrays += of_field.arrays;
        needed.buffers += of_field.buffers;
        let is_there = needed.arrays <= there.arrays && needed.buffers <= there.buffers;
        if lacking.is_none() && !is_there {
            let (name, kind) = (field.getattr("name")?, field.getattr("type")?);
            lacking = Some(format!(
                "column {} of type {kind} is the first that it lacks; ",
                name.repr()?
            ));
        }
    }
    Ok((needed != there).then(|| {
        format!(
            "the message is of another schema: it has {} arrays and {} buffers, and this schema needs {} and {}; \
             {}pass the schema of the batch that was written",
            there.arrays,
            there.buffers,
            needed.arrays,
            needed.buffers,
            lacking.unwrap_or_default()
        )
    }))
}

/// The arrays and buffers of a column in a message; `None` if the type does not tell.
fn counts(kind: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Counts>> {
    if depth == 0 {
        return Ok(None);
    }
    if let Some(storage) = kind.getattr_opt("storage_type")? {
        return counts(&storage, depth - 1);
    }
    // The indices of a dictionary stand in the message.
    if let Some(indices) = kind.getattr_opt("index_type")? {
        return counts(&indices, depth - 1);
    }
    let name = kind.str()?.to_string();
    if name.contains("view") {
        return Ok(None); // as many buffers as the data took
    }
    // In memory these have a first buffer, without validity, which is not written.
    let has_none = ["null", "sparse_union", "dense_union", "run_end_encoded"];
    let is_without = has_none.iter().any(|each| name.starts_with(each));
    let in_memory: usize = kind.getattr("num_buffers")?.extract()?;
    let mut found = Counts { arrays: 1, buffers: in_memory.saturating_sub(is_without.into()) };
    let fields: usize = kind.getattr("num_fields")?.extract()?;
    for number in 0..fields {
        let field = kind.call_method1("field", (number,))?.getattr("type")?;
        let Some(of_field) = counts(&field, depth - 1)? else { return Ok(None) };
        found.arrays += of_field.arrays;
        found.buffers += of_field.buffers;
    }
    Ok(Some(found))
}
