//! A test is made for each case when the tests are compiled: again when cases come or go.

fn main() {
    println!("cargo::rerun-if-changed=cases");
}
