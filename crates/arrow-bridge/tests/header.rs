//! `cpp/border/ffi.h` matches `src/ffi.rs`: a type that changes on one side only fails here, or
//! when C++ is compiled.

use cbindgen::{Builder, Config};
use std::path::Path;
use std::{env, fs, process};

// Compiled in: the machines with a GPU run this test without the sources.
const SOURCE: &str = include_str!("../src/ffi.rs");
const CONFIGURATION: &str = include_str!("../cbindgen.toml");
const HEADER: &str = include_str!("../cpp/border/ffi.h");

fn generated() -> String {
    let folder = env::temp_dir().join(format!("arrow-cuda-bridge-header-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder of our own");
    let (source, configuration) = (folder.join("ffi.rs"), folder.join("cbindgen.toml"));
    fs::write(&source, SOURCE).expect("room for the source");
    fs::write(&configuration, CONFIGURATION).expect("room for the configuration");
    let configuration = Config::from_file(configuration).expect("a configuration");
    let mut header = Vec::new();
    Builder::new()
        .with_config(configuration)
        .with_src(source)
        .generate()
        .expect("a header")
        .write(&mut header);
    fs::remove_dir_all(folder).expect("the folder is ours");
    String::from_utf8(header).expect("a header is text")
}

#[test]
fn the_header_is_generated_from_the_rust_side() {
    let header = generated();
    if env::var_os("UPDATE_HEADER").is_some() {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("cpp/border/ffi.h");
        fs::write(place, &header).expect("the header can be written");
        return;
    }
    assert!(
        header == HEADER,
        "cpp/border/ffi.h is out of date: UPDATE_HEADER=1 cargo test -p arrow-cuda-bridge --test \
         header"
    );
}
