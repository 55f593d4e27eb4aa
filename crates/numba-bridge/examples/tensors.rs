//! Hands device memory to another library as a DLPack tensor, and takes it back.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda-numba-bridge --example tensors
//! ```

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Consumer, Context};
use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
use arrow_cuda_numba_bridge::dlpack::{Imported, Tensor};
use arrow_cuda_numba_bridge::{Error, StridedArray, StridedLayout};

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Error> {
    let context = Context::primary(0).map_err(arrow_cuda_buffer::Error::from)?;
    let buffer = DeviceBuffer::allocate(&context, 24).map_err(arrow_cuda_buffer::Error::from)?;
    buffer.fill(0)?;
    let layout = StridedLayout::row_major("<f4".parse()?, vec![2, 3])?;

    // What Python libraries read as `__cuda_array_interface__`.
    let array = StridedArray::new(&buffer, 0, layout.clone())?;
    let ready = context.make_ready_for(Consumer::Unknown, &[]);
    let interface = ArrayInterface::of(&array, &ready.map_err(arrow_cuda_buffer::Error::from)?);
    println!("{} {:?}", interface.element, interface.shape);

    // The content of a DLPack capsule: the structure owns a share of the buffer.
    let ready = context.make_ready_for(Consumer::OnDefaultStream, &[]);
    let memory = (buffer.clone(), ready.map_err(arrow_cuda_buffer::Error::from)?).into();
    let structure = Tensor::new(memory, layout)?.into_versioned(false);
    // SAFETY: the structure was given away above, and nobody else has it.
    let imported = unsafe { Imported::versioned(structure) };
    let memory = imported.memory()?;
    println!(
        "{} bytes, the same memory: {}",
        memory.layout.size(),
        memory.address == buffer.private_address()
    );
    Ok(())
}
