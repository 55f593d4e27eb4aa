//! What is documented, and which case shows it.

use serde::Deserialize;
use std::fs;
use std::io;
use std::path::Path;

/// The items of one document: a file in `manifest/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The document's name.
    pub document: String,
    /// Where it is published.
    pub source: String,
    /// Where it stands among the documents.
    pub place: u8,
    /// Its items, in its order.
    #[serde(rename = "item")]
    pub items: Vec<Item>,
}

/// One thing that a document promises.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Where in the document.
    pub section: String,
    /// The public name that it speaks of, below `pyarrow.cuda` or in full.
    pub name: String,
    /// What it promises.
    pub what: String,
    /// The parameter that it speaks of, if it does.
    pub parameter: Option<String>,
    /// The case that shows it.
    pub case: Option<String>,
    /// The system that it waits for, when that is not built yet.
    pub planned: Option<String>,
    /// Why this package does not have it, and will not.
    pub left_out: Option<String>,
}

/// Something that this package does differently on purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// What it is about.
    pub topic: String,
    /// What upstream does.
    pub upstream: String,
    /// What this package does.
    pub here: String,
    /// Why.
    pub why: String,
    /// The case that shows it.
    pub case: Option<String>,
    /// The test that shows it, where no script can.
    pub test: Option<String>,
}

#[derive(Deserialize)]
struct Differences {
    difference: Vec<Difference>,
}

/// All documents, in their order.
///
/// # Errors
///
/// When a file cannot be read, or is not of this form.
pub fn documents() -> io::Result<Vec<Document>> {
    let files = fs::read_dir(crate::root().join("manifest"))?;
    let mut documents =
        files.map(|file| read::<Document>(&file?.path())).collect::<io::Result<Vec<_>>>()?;
    documents.sort_by_key(|document| document.place);
    Ok(documents)
}

/// The table of differences.
///
/// # Errors
///
/// When it cannot be read, or is not of this form.
pub fn differences() -> io::Result<Vec<Difference>> {
    read::<Differences>(&crate::root().join("differences.toml")).map(|table| table.difference)
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<T> {
    toml::from_str(&fs::read_to_string(path)?)
        .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}
