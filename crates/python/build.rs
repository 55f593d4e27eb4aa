//! Link arguments of the extension.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Binds the driver symbols that the extension defines to itself. Otherwise a libcuda that the
    // process has loaded with global visibility would replace them, and bypass the chosen driver.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}
