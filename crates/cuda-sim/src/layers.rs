//! Holds the source to one direction of dependence: neither files nor folders form a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules that each module uses, by their paths.
type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn files_and_folders_form_no_circle() {
    let mut sources = BTreeMap::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let files: Graph = sources
        .iter()
        .map(|(module, text)| (module.clone(), used_by(module, text, &sources)))
        .collect();
    let mut folders = Graph::new();
    for (module, used) in &files {
        let used = used.iter().map(|module| folder(module).to_owned());
        let entry = folders.entry(folder(module).to_owned()).or_default();
        entry.extend(used.filter(|other| other != folder(module)));
    }
    // The test would pass if it found nothing.
    assert!(folders["calls"].contains("driver") && files["memory::sharing"].contains("memory"));
    for graph in [files, folders] {
        assert_eq!(circle(&graph), None);
    }
}

/// Reads the modules below a folder, without their tests.
fn read(path: &Path, parent: &str, sources: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(path).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let module = match (parent, name) {
            (_, "lib" | "tests" | "layers") => continue,
            (parent, "mod") => parent.to_owned(),
            ("", name) => name.to_owned(),
            (parent, name) => format!("{parent}::{name}"),
        };
        if path.is_dir() {
            read(&path, &module, sources);
        } else {
            let text = fs::read_to_string(&path).expect("text");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            sources.insert(module, lines.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// The other modules that `text` names.
fn used_by(module: &str, text: &str, modules: &BTreeMap<String, String>) -> BTreeSet<String> {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let inside = format!("{module}::");
    let mut paths = paths_after("crate::", "", text);
    paths.extend(paths_after("super::", parent, text));
    // A folder's own file names those below it as they are.
    paths.extend(
        paths_after("\nuse ", module, text).into_iter().filter(|path| path.starts_with(&inside)),
    );
    let known = paths.iter().filter_map(|path| {
        let ends = path.match_indices("::").map(|(at, _)| at).chain([path.len()]);
        ends.map(|end| &path[..end]).filter(|path| modules.contains_key(*path)).last()
    });
    known.filter(|used| *used != module).map(str::to_owned).collect()
}

/// The paths that follow `prefix`, those in braces one by one, below `parent`.
fn paths_after(prefix: &str, parent: &str, text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let join = |path: &str| match parent {
        "" => path.to_owned(),
        parent => format!("{parent}::{path}"),
    };
    let mut paths = Vec::new();
    for rest in text.split(prefix).skip(1) {
        let start = rest.split(|c| !is_name(c)).next().unwrap_or_default();
        let group = rest[start.len()..].strip_prefix('{').and_then(|group| group.split('}').next());
        match group {
            Some(group) => {
                paths.extend(group.split(',').map(|name| join(&format!("{start}{}", name.trim()))));
            }
            None => paths.push(join(start)),
        }
    }
    paths
}

fn folder(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

/// Modules that use each other in a circle, if there are any.
fn circle(graph: &Graph) -> Option<Vec<&str>> {
    // In a circle, each module uses another of it and is used by one.
    let mut left: Graph = graph.clone();
    loop {
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let used: BTreeSet<String> = left.values().flatten().cloned().collect();
        left.retain(|name, uses| used.contains(name) && !uses.is_disjoint(&names));
        if left.len() == names.len() {
            break;
        }
    }
    let names = graph.keys().filter(|name| left.contains_key(*name));
    let names: Vec<&str> = names.map(String::as_str).collect();
    (!names.is_empty()).then_some(names)
}
