//! Writes `cpp/border/ffi.h`, the C++ side of `src/ffi.rs`, `src/kind.rs`, and all that is `exported!` and `imported!`,
//! unless it is up to date.

use cbindgen::{Builder, Config};
use std::fs;
use std::path::Path;

fn main() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configuration =
        Config::from_file(crate_folder.join("cbindgen.toml")).expect("a configuration");
    let tables = std::env::temp_dir().join(format!("arrow-cuda-tables-{}.rs", std::process::id()));
    let rust = table(&crate_folder.join("src/exports"), "RustApi", exported);
    let cpp = table(&crate_folder.join("src/bridge"), "BridgeApi", imported);
    let loaded = fs::read_to_string(crate_folder.join("src/bridge/mod.rs")).expect("a module");
    let entry = format!("pub type {};\n", between(&loaded, "\ntype ", ";"));
    fs::write(&tables, rust + &cpp + &entry).expect("a writable folder");
    let mut header = Vec::new();
    Builder::new()
        .with_config(configuration)
        .with_src(crate_folder.join("src/ffi.rs"))
        .with_src(&tables)
        .with_src(crate_folder.join("src/kind.rs"))
        .with_src(crate_folder.join("src/object_ref.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/join.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/layout.rs"))
        .with_src(crate_folder.join("../arrow-layout/src/node.rs"))
        .with_src(crate_folder.join("../ipc/src/body_buffer.rs"))
        .generate()
        .expect("a header")
        .write(&mut header);
    fs::remove_file(tables).expect("a writable folder");
    let header = String::from_utf8(header).expect("text");
    let header = format!("{header}{}", rows(&header));
    let place = crate_folder.join("cpp/border/ffi.h");
    if fs::read_to_string(&place).is_ok_and(|written| written == header) {
        return;
    }
    fs::write(&place, header).expect("a writable folder");
}

/// A table of tables, with the rows of these as its own, which cbindgen does not find in macros.
fn table(folder: &Path, name: &str, rows: fn(&str) -> String) -> String {
    let source = |module: &str| {
        let places = [folder.join(module), folder.with_file_name(module)];
        let found = places.iter().find_map(|it| fs::read_to_string(it.with_extension("rs")).ok());
        found.expect("a module")
    };
    let mut table = format!("#[repr(C)]\npub struct {name} {{\n");
    for field in between(&source("mod"), &format!("struct {name} {{\n"), "}\n").lines() {
        match field.strip_suffix("Table,").and_then(|field| field.trim().split_once(':')) {
            Some((module, _)) => table += &rows(&source(module)),
            None => table += &format!("{field}\n"),
        }
    }
    table + "}\n"
}

/// The rows of what a module exports.
fn exported(module: &str) -> String {
    let functions = between(module, "exported! {\n", "\n}\n").split("\n    }");
    let heads = functions.map(|function| code(function.split(" {\n").next().unwrap_or_default()));
    heads.filter_map(|head| head.split_once(' ').map(|(_answer, head)| row(head))).collect()
}

/// The rows of what a module imports.
fn imported(module: &str) -> String {
    let heads = code(between(module, "imported! { ", "\n}\n"))
        .replace("-> Result<(), Fault>", "-> Failure")
        .replace("-> Result<", "-> Outcome<")
        .replace(", Fault>;", ">;");
    heads.split(';').filter_map(|head| head.split_once("fn ").map(|(_, head)| row(head))).collect()
}

fn row(head: &str) -> String {
    let (name, signature) = head.split_once('(').expect("parameters");
    let name = name.split('<').next().unwrap_or_default();
    format!("    pub {name}: unsafe extern \"C\" fn({signature},\n")
}

/// Without comments and attributes, in one line.
fn code(lines: &str) -> String {
    let is_code = |line: &&str| !line.starts_with(['/', '#']);
    lines.lines().map(str::trim).filter(is_code).collect()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, text) = text.split_once(start).expect(start);
    text.split_once(end).expect(end).0
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
