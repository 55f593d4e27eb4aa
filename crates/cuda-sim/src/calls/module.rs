//! Modules, and launching their functions.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, Mutex};

use crate::base::code::{
    INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, NOT_FOUND, NOT_SUPPORTED, Result,
};
use crate::base::{Handle, lock};
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::{Out, exported};
use crate::kernels::{Function, Kernel, Module, Range, Ranges};

const MAX_THREADS_PER_BLOCK: u32 = 1024;
const MAX_THREADS_PER_MULTIPROCESSOR: i32 = 2048;
const REGISTERS: i32 = 16;
/// One more than the last function attribute of the interface.
const FUNCTION_ATTRIBUTES: i32 = 16;

exported! { driver:
    [2000] call cuModuleLoadData(module: Out<Handle>, image: *const c_char) {
        load(driver, module, image)?;
    }

    /// Loads PTX; the options have no effect.
    [2010] call cuModuleLoadDataEx(
        module: Out<Handle>,
        image: *const c_char,
        _option_count: u32,
        _options: *mut i32,
        _option_values: *mut *mut c_void,
    ) {
        load(driver, module, image)?;
    }

    /// Unloads a module, and its functions with it.
    [2000] call cuModuleUnload(module: Handle) {
        stack::current()?;
        let module = driver.modules.remove(module)?;
        driver.functions.remove_all(|function| Arc::ptr_eq(&function.module, &module));
    }

    [2000] call cuModuleGetFunction(function: Out<Handle>, module: Handle, name: *const c_char) {
        stack::current()?;
        let out = function.required()?;
        let module = driver.modules.get(module)?;
        if name.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller passes a C string.
        let name = unsafe { CStr::from_ptr(name) };
        let entry = name.to_str().ok().and_then(|name| Function::of(module, name));
        out.set(driver.functions.insert(Arc::new(entry.ok_or(NOT_FOUND)?)));
    }

    /// Queues a kernel, if the simulator knows its instructions.
    [4000, per_thread] call cuLaunchKernel(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        _shared_bytes: u32,
        stream: Handle,
        arguments: *const *const c_void,
        extra: *const *const c_void,
    ) {
        let context = stack::current()?;
        let function = driver.functions.get(function)?;
        let stream = driver.stream(stream)?;
        let contexts = [function.module.context.id, stream.context.id];
        if contexts.iter().any(|&id| id != context.id) {
            return Err(INVALID_HANDLE);
        }
        let grid = [grid_x, grid_y, grid_z];
        let block = [block_x, block_y, block_z];
        let threads = block.iter().fold(1_u32, |product, &n| product.saturating_mul(n));
        if grid.contains(&0) || threads == 0 || threads > MAX_THREADS_PER_BLOCK {
            return Err(INVALID_VALUE);
        }
        let kernel = match &function.kernel {
            Ok(kernel) => kernel,
            Err(unknown) => {
                warn_of_unknown(&function.name, unknown);
                return Err(NOT_SUPPORTED);
            }
        };
        let ([blocks, 1, 1], [threads, 1, 1]) = (grid, block) else {
            warn_of_unknown(&function.name, "blocks and grids of more than one dimension");
            return Err(NOT_SUPPORTED);
        };
        let parameters = read_parameters(arguments, kernel)?;
        if !extra.is_null() {
            return Err(NOT_SUPPORTED);
        }
        let kernel = kernel.clone();
        stream.submit(move || {
            let mut memory = Ranges::new(|address| {
                let memory = driver.memory();
                let (region, found) = memory.accessible(context, address)?;
                Some(Range { start: region.base, size: region.size, contents: found.contents })
            });
            kernel.run((blocks, threads), &parameters, &mut memory)
        })?;
    }

    /// Returns an attribute of a function; 0 for one that means nothing here.
    [2020] call cuFuncGetAttribute(value: Out<i32>, attribute: i32, function: Handle) {
        let value = value.required()?;
        driver.functions.get(function)?;
        value.set(match attribute {
            0 => MAX_THREADS_PER_BLOCK as i32,
            4 => REGISTERS,
            1..FUNCTION_ATTRIBUTES => 0,
            _ => return Err(INVALID_VALUE),
        });
    }

    [6050] call cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<i32>,
        function: Handle,
        block_size: i32,
        _shared_bytes: usize,
    ) {
        stack::current()?;
        let blocks = blocks.required()?;
        driver.functions.get(function)?;
        if block_size <= 0 {
            return Err(INVALID_VALUE);
        }
        blocks.set(match block_size > MAX_THREADS_PER_BLOCK as i32 {
            true => 0,
            false => (MAX_THREADS_PER_MULTIPROCESSOR / block_size).min(32),
        });
    }
}

fn load(driver: &Driver, module: Out<Handle>, image: *const c_char) -> Result {
    let context = stack::current()?;
    let out = module.required()?;
    if image.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller passes an image; text ends with a zero, and binary images have zeros in
    // their header.
    let image = unsafe { CStr::from_ptr(image) };
    let text = image.to_str().map_err(|_| INVALID_IMAGE)?;
    let module = Module::parse(context, text).ok_or(INVALID_IMAGE)?;
    // As an H200's driver does.
    context.synchronize();
    out.set(driver.modules.insert(Arc::new(module)));
    Ok(())
}

/// Reads the parameters of a kernel, one after the other.
fn read_parameters(arguments: *const *const c_void, kernel: &Kernel) -> Result<Vec<u64>> {
    let sizes = kernel.parameters();
    if arguments.is_null() && !sizes.is_empty() {
        return Err(INVALID_VALUE);
    }
    let mut parameters = Vec::new();
    for (index, size) in sizes.iter().enumerate() {
        // SAFETY: the caller passes a pointer to each parameter of the kernel, of this size.
        let words = unsafe { arguments.add(index).read().cast::<u64>() };
        // SAFETY: as above.
        parameters
            .extend((0..*size as usize / 8).map(|at| unsafe { words.add(at).read_unaligned() }));
    }
    Ok(parameters)
}

fn warn_of_unknown(name: &str, unknown: &str) {
    static TOLD: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());
    // Once each.
    if lock(&TOLD).insert((name.to_owned(), unknown.to_owned())) {
        eprintln!(
            "cuda-sim: kernel {name} is not run, because the simulator does not know this: {unknown}"
        );
    }
}
