//! Loaded modules of PTX, and their entries.

use std::sync::Arc;

use super::Kernel;
use crate::contexts::Context;

/// A loaded module.
pub struct Module {
    pub context: &'static Context,
    source: String,
    /// The names of its entries.
    entries: Vec<String>,
}

/// An entry of a loaded module.
pub struct Function {
    pub module: Arc<Module>,
    pub name: String,
    /// `None` if the simulator cannot run it.
    pub kernel: Option<Kernel>,
}

impl Function {
    /// The entry of a name; `None` if the module has none.
    pub fn of(module: Arc<Module>, name: &str) -> Option<Self> {
        let has_name = module.entries.iter().any(|entry| entry == name);
        let kernel = Kernel::of(&module.source, name);
        has_name.then(|| Self { module, name: name.to_owned(), kernel })
    }
}

impl Module {
    /// Reads an image; `None` unless it is PTX with an entry.
    pub fn parse(context: &'static Context, image: &str) -> Option<Self> {
        let entries: Vec<String> = image
            .split(".entry")
            .skip(1)
            .filter_map(|rest| {
                rest.split(|c: char| c == '(' || c.is_whitespace()).find(|word| !word.is_empty())
            })
            .map(str::to_owned)
            .collect();
        let is_ptx = image.contains(".version") && !entries.is_empty();
        is_ptx.then(|| Self { context, source: image.to_owned(), entries })
    }
}
