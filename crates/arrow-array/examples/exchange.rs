//! Passes a column on the device to another library, and takes it back, without a copy.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda-array --example exchange
//! ```

use arrow_array::StringArray;
use arrow_cuda_array::{DeviceArray, Error};
use arrow_cuda_context::Context;

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Error> {
    let context = Context::primary(0)?;
    let words: StringArray = [Some("device"), None, Some("memory")].into_iter().collect();
    let array = DeviceArray::from_host(&context, &words)?;
    println!("{} elements, {} of them null", array.len(), array.null_count()?);

    // A structure that a C function of another library takes over, beside its type.
    let data_type = array.data_type().clone();
    let structure = array.slice(1, 2)?.export()?;
    println!("device type {}, device {}", structure.device_type, structure.device_id);

    // SAFETY: the structure was made above, for this type.
    let imported = unsafe { DeviceArray::import(&context, structure, &data_type) }?;
    let same = imported.buffers()[1].private_address() == array.buffers()[1].private_address();
    println!("the same memory: {same}");
    println!("{:?}", imported.to_host()?);
    Ok(())
}
