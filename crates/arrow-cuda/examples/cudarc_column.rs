//! A column there and back, with `cudarc`'s copies in between.
//!
//! ```sh
//! cargo run -p arrow-cuda --features cudarc --example cudarc_column
//! ```

use arrow_cuda::arrow_array::Int64Array;
use arrow_cuda::arrow_array::types::Int64Type;
use arrow_cuda::{Context, DeviceArray, DeviceSlice, Error};

fn main() -> Result<(), Error> {
    let context = Context::primary(0)?;
    let stream = context.to_cudarc()?.new_stream()?;

    // From cudarc, without a copy: the buffer owns its memory from now on.
    let theirs = stream.clone_htod(&[1i64, 20, 300])?;
    let column = DeviceArray::from_values::<Int64Type>(DeviceSlice::try_from(theirs)?)?;
    println!("{:?}", column.to_host()?);

    // To cudarc, without a copy.
    let column = DeviceArray::from_host(&context, &Int64Array::from(vec![4, 5]))?;
    let numbers = column.values::<Int64Type>()?;
    println!("{:?}", stream.clone_dtoh(&*numbers.as_cudarc(&stream)?)?);
    Ok(())
}
