//! Code that the kernels of this crate share: their texts, and what the driver has compiled.

use arrow_cuda_context::{Current, Extension, Function};
use arrow_cuda_driver::{CudaResult, LongLock};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString};

/// Threads per block, as the texts of the kernels say.
pub(crate) const THREADS: u32 = 256;
/// Enough blocks to keep every multiprocessor of a large GPU busy until the end.
pub(crate) const MAX_BLOCKS: u32 = 132 * 16;

/// The head of each kernel's text, and the macros that kernels share.
const COMMON: &str = include_str!("common.ptx");

/// A kernel as it is written down: the name of its entry, and its text without the common head.
pub(crate) struct Ptx(pub(crate) &'static CStr, pub(crate) &'static str);

/// The kernels that were compiled in a context, by their names.  The driver destroys them with it: releasing
/// them later would pass the driver a dead handle.
#[derive(Default)]
struct Compiled(LongLock<BTreeMap<&'static CStr, Function>>);

impl Extension for Compiled {}

impl Ptx {
    /// The kernel, compiled by the driver once a context.
    pub(crate) fn function(&self, current: &Current<'_>) -> CudaResult<Function> {
        let Self(name, text) = *self;
        let compiled = current.context().extension_or(|| CudaResult::Ok(Compiled::default()))?;
        let mut compiled = compiled.0.lock()?;
        if let Some(function) = compiled.get(name) {
            return Ok(function.clone());
        }
        let function = current.load_function(&expanded(text), name)?;
        compiled.insert(name, function.clone());
        Ok(function)
    }
}

/// A kernel's text with its macros written out, which PTX does not have.
///
/// As in GNU's assembler, the lines from `.macro NAME PARAMETER ...` to `.endm` define one, and a line that begins
/// with its name stands for them, with arguments in place of the `\PARAMETER`s.
#[expect(clippy::expect_used, reason = "no text of a kernel contains a NUL")]
fn expanded(text: &str) -> CString {
    let (mut macros, mut out) = (HashMap::new(), String::new());
    let mut lines = COMMON.lines().chain(text.lines());
    while let Some(line) = lines.next() {
        let mut words = line.split_whitespace();
        if words.next() == Some(".macro") {
            let name = words.next().unwrap_or_default();
            let body: Vec<_> = lines.by_ref().take_while(|line| *line != ".endm").collect();
            macros.insert(name, (words, body));
        } else {
            expand(line, &macros, &mut out);
        }
    }
    CString::new(out).expect("no NUL")
}

type Macros<'a> = HashMap<&'a str, (std::str::SplitWhitespace<'a>, Vec<&'a str>)>;

fn expand(line: &str, macros: &Macros<'_>, out: &mut String) {
    let mut arguments = line.split_whitespace();
    match arguments.next().and_then(|name| macros.get(name)) {
        None => out.extend([line, "\n"]),
        Some((parameters, body)) => {
            for line in body {
                let pairs = parameters.clone().zip(arguments.clone());
                let fill = |line: String, (parameter, argument)| {
                    line.replace(&format!("\\{parameter}"), argument)
                };
                expand(&pairs.fold((*line).to_owned(), fill), macros, out);
            }
        }
    }
}
