//! Holds the folders to the order in which the README lists them.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn each_folder_uses_those_above_it_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("text");
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("/` |"));
    let order: Vec<&str> = rows.map(|(folder, _)| folder).collect();
    let place = |name: &str| order.iter().position(|folder| *folder == name);
    assert!(place("base") < place("calls"), "the test would pass if it found nothing");
    for (at, folder) in order.iter().enumerate() {
        for file in files(root.join("src").join(folder)) {
            let text = fs::read_to_string(&file).expect("text");
            for used in text.split("crate::").skip(1) {
                let name = used.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                assert!(place(name).is_some_and(|used| used <= at), "{file:?} uses {name}");
            }
        }
    }
}

/// The files below a folder.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path());
    entries.flat_map(|path| if path.is_dir() { files(path) } else { vec![path] }).collect()
}
