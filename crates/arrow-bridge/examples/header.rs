//! Writes `cpp/border/ffi.h`, the C++ side of `src/ffi.rs`, `src/kind.rs` and `src/exports/`, unless it is up to
//! date.

use cbindgen::{Builder, Config};
use std::fs;
use std::path::Path;

fn main() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configuration =
        Config::from_file(crate_folder.join("cbindgen.toml")).expect("a configuration");
    let exports =
        std::env::temp_dir().join(format!("arrow-cuda-exports-{}.rs", std::process::id()));
    fs::write(&exports, table(&crate_folder.join("src/exports"))).expect("a writable folder");
    let mut header = Vec::new();
    Builder::new()
        .with_config(configuration)
        .with_src(crate_folder.join("src/ffi.rs"))
        .with_src(&exports)
        .with_src(crate_folder.join("src/kind.rs"))
        .with_src(crate_folder.join("src/object_ref.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/join.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/layout.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/reach.rs"))
        .with_src(crate_folder.join("../ipc/src/stored_buffer.rs"))
        .generate()
        .expect("a header")
        .write(&mut header);
    fs::remove_file(exports).expect("a writable folder");
    let header = String::from_utf8(header).expect("text");
    let header = format!("{header}{}", rows(&header));
    let place = crate_folder.join("cpp/border/ffi.h");
    if fs::read_to_string(&place).is_ok_and(|written| written == header) {
        return;
    }
    fs::write(&place, header).expect("a writable folder");
}

/// `RustApi` with the rows of its tables as its own, which cbindgen does not find in macros.
fn table(exports: &Path) -> String {
    let source = |module: &str| {
        fs::read_to_string(exports.join(module).with_extension("rs")).expect("a module")
    };
    let between = |text: &str, start: &str, end: &str| {
        let (_, text) = text.split_once(start).expect(start);
        text.split_once(end).expect(end).0.to_owned()
    };
    let mut table = "#[repr(C)]\npub struct RustApi {\n".to_owned();
    for line in between(&source("mod"), "pub(crate) struct RustApi {", "\n}\n").trim().lines() {
        let (module, _) = line.trim().split_once(':').expect("a table");
        for function in between(&source(module), "exported! {\n", "\n}\n").split("\n    }") {
            let head = function.split(" {\n").next().unwrap_or_default();
            let is_code = |line: &&str| !line.trim_start().starts_with(['/', '#']);
            let head: String = head.lines().filter(is_code).map(str::trim).collect();
            let Some((_answer, function)) = head.split_once(' ') else { continue };
            let (name, signature) = function.split_once('(').expect("parameters");
            table += &format!("    pub {name}: unsafe extern \"C\" fn({signature},\n");
        }
    }
    table + "}\n"
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
