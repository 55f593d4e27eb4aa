//! The documented items, and the case that shows each.
//!
//! A case names the items that it shows in its head; a file in `manifest/` has the document's name, the order
//! of its sections, and the items that this package leaves out.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A document, and everything that it promises.
#[derive(Debug)]
pub struct Document {
    /// The document's name.
    pub document: String,
    /// Where it is published.
    pub source: String,
    /// Its items, by its sections.
    pub items: Vec<Item>,
}

/// One thing that a document promises.
#[derive(Debug, PartialEq)]
pub struct Item {
    /// Where in the document.
    pub section: String,
    /// The public name that it speaks of, below `pyarrow.cuda` or in full.
    pub name: String,
    /// The promise.
    pub what: String,
    /// The parameter that it speaks of, if it does.
    pub parameter: Option<String>,
    /// The case that shows it, or why this package leaves it out.
    pub shown: Shown,
}

/// How the suite treats an item.
#[derive(Debug, PartialEq)]
pub enum Shown {
    /// The case of this name shows it.
    By(String),
    /// This package does not have it, and will not, for this reason.
    LeftOut(String),
}

/// A file in `manifest/`: a document, its sections in their order, and the items without a case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outline {
    document: String,
    source: String,
    place: u8,
    sections: Vec<String>,
    #[serde(default)]
    left_out: Vec<LeftOut>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    section: String,
    name: String,
    what: String,
    why: String,
}

/// Something that this package does differently on purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Its subject, which is the name of its table.
    #[serde(skip)]
    pub topic: String,
    /// Upstream's behaviour.
    pub upstream: String,
    /// This package's behaviour.
    pub here: String,
    /// Why.
    pub why: String,
    /// The case that shows it.
    pub case: Option<String>,
    /// The test that shows it, where no case can.
    pub test: Option<String>,
}

/// All documents, in their order.
///
/// # Errors
///
/// If a file cannot be read or does not have this form, or if a case names a document or section
/// that does not exist.
pub fn documents() -> io::Result<Vec<Document>> {
    let mut outlines = BTreeMap::new();
    for file in files(&crate::root().join("manifest"))? {
        outlines.insert(stem(&file), read::<Outline>(&file)?);
    }
    let mut items: BTreeMap<_, Vec<Item>> = BTreeMap::new();
    for area in files(&crate::root().join("cases"))? {
        for path in files(&area)? {
            let case = format!("{}/{}", stem(&area), stem(&path));
            for (document, item) in shown_by(&case, &fs::read_to_string(path)?) {
                let outline = outlines.get(&document);
                if !outline.is_some_and(|outline| outline.sections.contains(&item.section)) {
                    let section = &item.section;
                    return Err(io::Error::other(format!(
                        "{case}: no section {document}, {section}"
                    )));
                }
                items.entry(document).or_default().push(item);
            }
        }
    }
    let mut outlines: Vec<_> = outlines.into_iter().collect();
    outlines.sort_by_key(|(_, outline)| outline.place);
    let documents = outlines.into_iter().map(|(file, outline)| {
        let mut items = items.remove(&file).unwrap_or_default();
        items.extend(outline.left_out.into_iter().map(|LeftOut { section, name, what, why }| {
            Item { section, name, what, parameter: None, shown: Shown::LeftOut(why) }
        }));
        items.sort_by_key(|item| outline.sections.iter().position(|name| *name == item.section));
        Document { document: outline.document, source: outline.source, items }
    });
    Ok(documents.collect())
}

/// The items that the head of a case lists, each with its document's file:
///
/// ```text
/// # shows: cuda_buffer, slice
/// #   CudaBuffer.slice(offset): where the slice begins, in bytes; a line that begins with more
/// #     spaces continues the one above it
/// ```
///
/// Where no section is named, each item's own name is that of its section.
fn shown_by(case: &str, session: &str) -> Vec<(String, Item)> {
    let mut place = ("", "");
    let mut found: Vec<(String, Item)> = Vec::new();
    for line in session.lines().take_while(|line| line.starts_with('#')) {
        if let Some(named) = line.strip_prefix("# shows: ") {
            place = named.split_once(", ").unwrap_or((named, ""));
        } else if let (Some(more), Some((_, item))) =
            (line.strip_prefix("#     "), found.last_mut())
        {
            item.what.push(' ');
            item.what.push_str(more);
        } else if let Some((label, what)) =
            line.strip_prefix("#   ").and_then(|item| item.split_once(": "))
        {
            let (name, parameter) = match label.strip_suffix(')').and_then(|it| it.split_once('('))
            {
                Some((name, parameter)) => (name, Some(parameter.to_owned())),
                None => (label, None),
            };
            let item = Item {
                section: if place.1.is_empty() { name } else { place.1 }.to_owned(),
                name: name.to_owned(),
                what: what.to_owned(),
                parameter,
                shown: Shown::By(case.to_owned()),
            };
            found.push((place.0.to_owned(), item));
        }
    }
    found
}

/// The entries of a folder, by name.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// The table of differences.
///
/// # Errors
///
/// When it cannot be read, or is not of this form.
pub fn differences() -> io::Result<Vec<Difference>> {
    let tables = read::<toml::Table>(&crate::root().join("differences.toml"))?;
    let row = |(topic, row): (String, toml::Value)| {
        Ok(Difference { topic, ..row.try_into().map_err(io::Error::other)? })
    };
    tables.into_iter().map(row).collect()
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<T> {
    toml::from_str(&fs::read_to_string(path)?)
        .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_lists_what_it_shows() {
        let session = "# Title\n# needs: gpu\n# shows: one, A section, of two words\n#   Name(size): first\n\
                      #     and more: so\n# shows: two, class\n#   with stream: second\n\
                      # shows: two\n#   read(size): third\n\n>>> import sys\n\n\
                      # shows: three, not the head\n#   X: y\n";
        let item = |section: &str, name: &str, what: &str, parameter: Option<&str>| Item {
            section: section.to_owned(),
            name: name.to_owned(),
            what: what.to_owned(),
            parameter: parameter.map(str::to_owned),
            shown: Shown::By("a/b".to_owned()),
        };
        let expected = [
            (
                "one".to_owned(),
                item("A section, of two words", "Name", "first and more: so", Some("size")),
            ),
            ("two".to_owned(), item("class", "with stream", "second", None)),
            ("two".to_owned(), item("read", "read", "third", Some("size"))),
        ];
        assert_eq!(shown_by("a/b", session), expected);
    }
}
