//! Writes `cpp/border/ffi.h`, the C++ side of `src/ffi.rs` and `src/kind.rs`, unless it is up to date.

use cbindgen::{Builder, Config};
use std::fs;
use std::path::Path;

fn main() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configuration =
        Config::from_file(crate_folder.join("cbindgen.toml")).expect("a configuration");
    let mut header = Vec::new();
    Builder::new()
        .with_config(configuration)
        .with_src(crate_folder.join("src/ffi.rs"))
        .with_src(crate_folder.join("src/kind.rs"))
        .with_src(crate_folder.join("src/live.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/join.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/layout.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/reach.rs"))
        .with_src(crate_folder.join("../ipc/src/plain.rs"))
        .generate()
        .expect("a header")
        .write(&mut header);
    let header = String::from_utf8(header).expect("text");
    let header = format!("{header}{}", rows(&header));
    let place = crate_folder.join("cpp/border/ffi.h");
    if fs::read_to_string(&place).is_ok_and(|written| written == header) {
        return;
    }
    fs::write(&place, header).expect("a writable folder");
}

/// A macro that lists the functions of `BridgeApi` but `start`, each with the name of C++'s own: that of the
/// row `copy_to` is `CopyToEntry`.
fn rows(header: &str) -> String {
    let (_, table) = header.split_once("struct BridgeApi {").expect("the table");
    let (table, _) = table.split_once("};").expect("its end");
    let mut list = "\n#define ARROW_CUDA_ROWS(ROW)".to_owned();
    for function in table.split("(*").skip(1) {
        let (row, _) = function.split_once(')').expect("a name");
        if row != "start" {
            list += &format!(" \\\n  ROW({row}, {}Entry)", in_pascal_case(row));
        }
    }
    list + "\n"
}

fn in_pascal_case(name: &str) -> String {
    let capitalised = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(capitalised).collect()
}
