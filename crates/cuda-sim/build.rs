//! Link options of `libcuda_sim.so`.

fn main() {
    // Stream threads run the library's code until the process ends, so it must outlive a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Whoever loads the driver by its name then finds this library, if the process has loaded it before.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so");
    println!("cargo::rerun-if-changed=build.rs");
}
