//! The results of a run of the cases, and its machine.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What `python -m pyarrow_cuda_compat conformance --json FILE` writes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Results {
    /// The date, in UTC.
    pub date: String,
    /// The machine, as `python -m pyarrow_cuda_compat info --json` describes it.
    pub machine: Value,
    /// One for each case.
    pub cases: Vec<Outcome>,
    /// One for each module and class of the package with docstring examples.
    #[serde(default)]
    pub examples: Vec<Outcome>,
}

/// The outcome of one case, or of the docstring examples of a module or class.  Its transcript is not
/// kept: that of a case that has passed is the case itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// The case, or `examples/NAME`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// `passed` or `failed`, as the package compares, or `skipped`.
    pub status: String,
    /// How long it took.
    pub seconds: f64,
    /// The difference from what is documented, or what the machine lacks.
    pub detail: String,
}

impl Results {
    /// Reads a run's results.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not of this form.
    pub fn read(path: &Path) -> io::Result<Self> {
        serde_json::from_str(&fs::read_to_string(path)?)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
    }

    /// The last run that was kept: on the simulated device, or on a GPU.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not of this form.
    pub fn kept(simulated: bool) -> io::Result<Self> {
        Self::read(&kept_path(simulated))
    }

    /// Keeps these results as the last ones, without the facts about that one machine.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn keep(mut self) -> io::Result<PathBuf> {
        let path = kept_path(self.is_simulated());
        forget(&mut self.machine);
        let mut text = serde_json::to_string_pretty(&self)?;
        text.push('\n');
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Whether the device was the simulated one.
    pub fn is_simulated(&self) -> bool {
        self.fact("/driver/simulated") == Some(&Value::Bool(true))
    }

    /// A fact about the machine, by its JSON pointer.
    pub fn fact(&self, pointer: &str) -> Option<&Value> {
        self.machine.pointer(pointer)
    }
}

/// The outcomes by their names.
pub fn by_name(outcomes: &[Outcome]) -> BTreeMap<&str, &Outcome> {
    outcomes.iter().map(|outcome| (outcome.name.as_str(), outcome)).collect()
}

fn kept_path(simulated: bool) -> PathBuf {
    let name = if simulated { "simulator.json" } else { "gpu.json" };
    crate::root().join("results").join(name)
}

/// Whether a fact describes one machine or one moment only.
fn is_local(key: &str) -> bool {
    matches!(key, "path" | "environment" | "platform" | "free_memory")
}

fn forget(fact: &mut Value) {
    match fact {
        Value::Object(facts) => {
            facts.retain(|key, _| !is_local(key));
            facts.values_mut().for_each(forget);
        }
        Value::Array(facts) => facts.iter_mut().for_each(forget),
        _ => {}
    }
}
