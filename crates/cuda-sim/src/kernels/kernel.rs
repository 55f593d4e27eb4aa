//! Loaded modules of PTX, and their kernels, which run on the host.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::ptx::Program;
use super::{Range, Ranges};
use crate::base::code::Result;
use crate::contexts::Context;

/// The name of the kernel that only keeps its stream busy.
const SLEEP: &str = "sim_sleep";

/// An entry of a module that the simulator can run.
#[derive(Clone, Debug)]
pub enum Kernel {
    Program(Arc<Program>),
    /// Keeps the stream busy for the number of milliseconds in its parameter.
    Sleep,
}

impl Kernel {
    /// The entry of a text of PTX; fails with the first instruction that the simulator does not know.
    pub fn of(source: &str, entry: &str) -> std::result::Result<Self, String> {
        if entry == SLEEP {
            return Ok(Self::Sleep);
        }
        Ok(Self::Program(Arc::new(Program::parse(source, entry)?)))
    }

    pub fn parameters(&self) -> &[u64] {
        match self {
            Self::Program(program) => &program.parameters,
            Self::Sleep => &[8],
        }
    }

    /// Does what the kernel does, in the blocks and threads of `grid`.  A failure ends the context.
    pub fn run(
        &self,
        grid: (u32, u32),
        parameters: &[u64],
        memory: &mut Ranges<impl Fn(u64) -> Option<Range>>,
    ) -> Result {
        match self {
            Self::Sleep => {
                thread::sleep(Duration::from_millis(parameters[0]));
                Ok(())
            }
            Self::Program(program) => program.run(grid, parameters, memory),
        }
    }
}

pub struct Module {
    pub context: &'static Context,
    source: String,
    entries: Vec<String>,
}

pub struct Function {
    pub module: Arc<Module>,
    pub name: String,
    /// If the simulator cannot run it: what it does not know.
    pub kernel: std::result::Result<Kernel, String>,
}

impl Function {
    /// The entry of a name; `None` if the module does not define it.
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
