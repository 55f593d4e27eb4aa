//! The failure of an allocator that the program has set.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Why an allocator that the program has set gave no memory.
#[derive(Clone, Debug)]
pub struct AllocatorError {
    text: String,
    lacks_memory: bool,
    source: Option<Arc<dyn Any + Send + Sync>>,
}

impl AllocatorError {
    /// An error with these words.  `source` is what the allocator itself has raised, for those who know
    /// its type.
    pub fn new(text: impl Into<String>, source: Option<Arc<dyn Any + Send + Sync>>) -> Self {
        Self { text: text.into(), lacks_memory: false, source }
    }

    /// The same error, of an allocator that has no more memory.
    #[must_use]
    pub fn out_of_memory(mut self) -> Self {
        self.lacks_memory = true;
        self
    }

    /// Whether the allocator has no more memory.
    pub fn lacks_memory(&self) -> bool {
        self.lacks_memory
    }

    /// The error that the allocator raised, if it has that type.
    pub fn source<T: Any>(&self) -> Option<&T> {
        self.source.as_deref().and_then(|source| source.downcast_ref())
    }
}

impl fmt::Display for AllocatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for AllocatorError {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.lacks_memory) == (&other.text, other.lacks_memory)
    }
}

impl Eq for AllocatorError {}
