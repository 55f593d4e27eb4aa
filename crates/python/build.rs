//! Link arguments of the extension.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The driver's symbols that are defined inside stay inside: without this, a libcuda that the
    // process loaded with global visibility would take their place, past the chosen driver.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}
