//! Compiles the tests again when cases come or go, because there is a test for each case.

fn main() {
    println!("cargo::rerun-if-changed=cases");
}
