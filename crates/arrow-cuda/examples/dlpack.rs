//! A column as a tensor of DLPack, for another library in the process.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda --example dlpack
//! ```

use arrow_cuda::arrow_array::Float32Array;
use arrow_cuda::tensor::StridedArray;
use arrow_cuda::tensor::dlpack::Imported;
use arrow_cuda::{Consumer, Context, DeviceArray, Error};

fn main() -> Result<(), Error> {
    let numbers = Float32Array::from(vec![1.5, 2.5, 3.5]);
    let column = DeviceArray::from_host(&Context::primary(0)?, &numbers)?;

    // The consumer works on the legacy default stream, so nothing is waited for.
    let tensor = StridedArray::try_from(&column)?.to_dlpack(Consumer::OnDefaultStream)?;
    let structure = tensor.into_versioned(false);

    // The other library's part.
    // SAFETY: the structure is new, and nobody else has it.
    let imported = unsafe { Imported::versioned(structure) };
    let memory = imported.memory()?;
    println!("{} {:?}", memory.layout.element(), memory.layout.shape());
    Ok(())
}
