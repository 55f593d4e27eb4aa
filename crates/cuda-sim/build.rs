//! Link options of `libcuda_sim.so`.

fn main() {
    // Stream threads run the library's code until the process ends, so it must outlive a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // One of the names by which cudarc looks for a driver, and nobody else on Linux: it finds this library if the process
    // has loaded it before, unless the linker has a `libcuda.so`.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda64.so");
    println!("cargo::rerun-if-changed=build.rs");
}
