//! A column as a tensor of DLPack, for another library in the process, and a tensor of another library as a column.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda --example dlpack
//! ```

use arrow_cuda::arrow_array::Float32Array;
use arrow_cuda::tensor::StridedArray;
use arrow_cuda::tensor::dlpack::Imported;
use arrow_cuda::{Consumer, Context, DeviceArray, Error, Pending, ToDlpack};

fn main() -> Result<(), Error> {
    let numbers = Float32Array::from(vec![1.5, 2.5, 3.5]);
    let column = DeviceArray::from_host(&Context::primary(0)?, &numbers)?;

    // The consumer works on the legacy default stream, so nothing is waited for.
    let tensor = column.to_dlpack(Consumer::OnDefaultStream)?;
    let structure = tensor.into_versioned(false); // the other library owns it

    // The other way: the structure of another library, which has made it for the legacy default stream.
    // SAFETY: the structure is new, and nobody else has it.
    let theirs = unsafe { Imported::versioned(structure) };
    let array = StridedArray::from_dlpack(theirs, &Pending::DefaultStream)?;
    let column = DeviceArray::try_from(&array)?; // without a copy
    println!("{:?}", column.to_host()?);
    Ok(())
}
