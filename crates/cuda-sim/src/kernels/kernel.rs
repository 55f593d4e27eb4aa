//! Kernels, which run on the host.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::ptx::Program;
use super::{Range, Ranges};
use crate::base::code::Result;

/// The name of the kernel that only keeps its stream busy.
const SLEEP: &str = "sim_sleep";

/// An entry of a module that the simulator can run.
#[derive(Clone, Debug)]
pub enum Kernel {
    Program(Arc<Program>),
    /// Keeps the stream busy for so many milliseconds.
    Sleep,
}

impl Kernel {
    /// The entry of a text of PTX; `None` for one with instructions that the simulator does not know.
    pub fn of(source: &str, entry: &str) -> Option<Self> {
        if entry == SLEEP {
            return Some(Self::Sleep);
        }
        Some(Self::Program(Arc::new(Program::parse(source, entry)?)))
    }

    /// The size of each parameter, in bytes.
    pub fn parameters(&self) -> &[u64] {
        match self {
            Self::Program(program) => &program.parameters,
            Self::Sleep => &[8],
        }
    }

    /// Does what the kernel does, in so many blocks of so many threads.  A failure ends the context.
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
