//! Writes `cpp/border/ffi.h`, the C++ side of `src/ffi.rs` and `src/kind.rs`, unless it is up to date.

use cbindgen::{Builder, Config};
use std::path::Path;

fn main() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configuration =
        Config::from_file(crate_folder.join("cbindgen.toml")).expect("a configuration");
    Builder::new()
        .with_config(configuration)
        .with_src(crate_folder.join("src/ffi.rs"))
        .with_src(crate_folder.join("src/kind.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/join.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/layout.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/reach.rs"))
        .with_src(crate_folder.join("../ipc/src/plain.rs"))
        .generate()
        .expect("a header")
        .write_to_file(crate_folder.join("cpp/border/ffi.h"));
}
