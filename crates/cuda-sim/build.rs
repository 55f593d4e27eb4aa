//! Link options of `libcuda_sim.so`.

fn main() {
    // Stream threads run the library's code until the process ends, so it must outlive a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
