//! Reads the text of a kernel.

use std::collections::HashMap;

use super::compute::{Compute, compute};

/// The most bytes that an instruction loads or stores.
pub(super) const WIDEST: usize = 16;

/// The most bytes of all parameters, and of the shared memory of a block, as on hardware.
const MAX_PARAMETERS: u64 = 4096;
const MAX_SHARED: u64 = 48 << 10;

/// The table that makes `lop3` the first operand, or the exclusive or of the others.
const OR_OF_XOR: u64 = 0xF6;

#[derive(Debug)]
pub struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) registers: usize,
    /// The size of each parameter, in bytes: a multiple of 8.
    pub parameters: Vec<u64>,
    /// The size of its shared memory, in bytes.
    pub(super) shared: u64,
}

/// An instruction: its operation, without the modes that do not affect the result, and its operands.
#[derive(Debug)]
pub(super) struct Instruction {
    /// A register, and whether the instruction is executed where that holds or where it does not.
    pub(super) guard: Option<(usize, bool)>,
    pub(super) operation: Operation,
    pub(super) operands: Vec<Operand>,
}

#[derive(Debug)]
pub(super) enum Operation {
    /// Loads or stores values, each with this number of bytes, together at most 16.
    Load(Space, usize),
    Store(Space, usize),
    Branch(usize),
    Return,
    Barrier,
    Vote,
    Exchange,
    /// Adds bits to a word.
    Or,
    /// Computes its first operand from the others.
    Compute(Compute),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Parameters,
    Global,
    Shared,
}

#[derive(Debug)]
pub(super) enum Operand {
    Register(usize),
    Number(u64),
    /// One of `%tid.x`, `%ctaid.x`, `%nctaid.x`.
    Special(usize),
    /// `[register+offset]`, `[name+offset]`
    Address(Option<usize>, u64),
}

#[derive(Default)]
struct Names<'a> {
    registers: HashMap<&'a str, usize>,
    /// Where parameters and shared variables lie in their spaces.
    variables: HashMap<&'a str, u64>,
    /// The instructions that labels stand before.
    labels: HashMap<&'a str, usize>,
}

impl Program {
    /// The entry of a name in a text of PTX.
    ///
    /// # Errors
    ///
    /// The first part of it that the interpreter does not know.
    pub fn parse(source: &str, entry: &str) -> Result<Self, String> {
        let unknown = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
        let text = lines.collect::<Vec<_>>().join("\n");
        let entries = text.split(".entry").skip(1);
        let is_wanted = |text: &&str| text.split(['(', '{']).next().map(str::trim) == Some(entry);
        let found = entries.map(str::trim_start).find(is_wanted).and_then(|it| it.split_once('{'));
        let (head, rest) = found.ok_or_else(|| format!(".entry {entry}"))?;
        let mut names = Names::default();
        let mut parameters = Vec::new();
        for parameter in head.split(".param").skip(1) {
            let size = names.declare(parameter, parameters.iter().sum());
            let size = size.filter(|size| size.is_multiple_of(8));
            let text = parameter.trim_end_matches([',', ')', '\n', ' ']);
            parameters.push(size.ok_or_else(|| unknown(&format!(".param{text}")))?);
        }
        let (mut shared, mut statements) = (0, Vec::new());
        for statement in body(rest).ok_or("a body without an end")?.split(';') {
            let mut statement = statement.trim();
            while let Some((label, rest)) = statement.split_once(':') {
                names.labels.insert(label.trim(), statements.len());
                statement = rest.trim();
            }
            match statement.split_whitespace().next() {
                None | Some(".reg") => {}
                Some(".shared") => {
                    let size = names.declare(statement, shared);
                    shared += size.ok_or_else(|| unknown(statement))?;
                }
                Some(_) => statements.push(statement),
            }
        }
        if parameters.iter().sum::<u64>() > MAX_PARAMETERS || shared > MAX_SHARED {
            return Err(format!("parameters and shared memory of more than {MAX_SHARED} bytes"));
        }
        let instructions = statements
            .iter()
            .map(|text| names.instruction(text).ok_or_else(|| unknown(text)))
            .collect::<Result<_, _>>()?;
        Ok(Self { instructions, registers: names.registers.len(), parameters, shared })
    }
}

/// The text up to the brace that ends a body; the operands of an instruction may stand in braces, too.
fn body(text: &str) -> Option<&str> {
    let mut depth = 0;
    let end = text.find(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth < 0
    })?;
    Some(&text[..end])
}

impl<'a> Names<'a> {
    /// Notes a variable like `.param .u64 name`, or `.shared .align 16 .b8 name[64]`, which lies at
    /// `at`.  Returns its size.
    fn declare(&mut self, variable: &'a str, at: u64) -> Option<u64> {
        let variable = variable.split([',', ')']).next()?.trim();
        let name = variable.rsplit(char::is_whitespace).next()?;
        let (name, size) = match name.split_once('[') {
            Some((name, size)) => (name, number(size.trim_end_matches(']'))?),
            // The only width of numbers that the kernels take.
            None if variable.contains("64 ") => (name, 8),
            None => return None,
        };
        if size > MAX_SHARED {
            return None;
        }
        self.variables.insert(name, at);
        Some(size)
    }

    fn instruction(&mut self, text: &'a str) -> Option<Instruction> {
        let (guard, text) = match text.strip_prefix('@') {
            Some(rest) => {
                let (name, rest) = rest.split_once(char::is_whitespace)?;
                let register = self.register(name.trim_start_matches('!'));
                (Some((register, !name.starts_with('!'))), rest.trim())
            }
            None => (None, text),
        };
        let (name, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let operation = match name {
            "bra" => Operation::Branch(*self.labels.get(operands.trim())?),
            "ret" => Operation::Return,
            "bar.sync" => Operation::Barrier,
            "vote.sync.any.pred" => Operation::Vote,
            "atom.global.exch.b64" => Operation::Exchange,
            "red.global.or.b32" => Operation::Or,
            _ => access(name).or_else(|| compute(name).map(Operation::Compute))?,
        };
        let texts = match operation {
            Operation::Branch(_) => "",
            _ => operands,
        };
        let texts = texts.split(',').map(|text| text.trim_matches([' ', '{', '}']));
        let operands = texts.filter(|text| !text.is_empty()).map(|text| self.operand(text));
        let mut operands = operands.collect::<Option<Vec<_>>>()?;
        if name == "lop3.b32" && !matches!(operands.pop()?, Operand::Number(OR_OF_XOR)) {
            return None;
        }
        if let Operation::Load(_, size) | Operation::Store(_, size) = operation
            && operands.len().checked_sub(1)? * size > WIDEST
        {
            return None;
        }
        Some(Instruction { guard, operation, operands })
    }

    fn operand(&mut self, text: &'a str) -> Option<Operand> {
        if let Some(place) = text.strip_prefix('[') {
            let place = place.trim_end_matches(']');
            let (base, offset) = place.split_once('+').unwrap_or((place, "0"));
            return Some(match self.variables.get(base) {
                Some(at) => Operand::Address(None, at.wrapping_add(number(offset)?)),
                None => Operand::Address(Some(self.register(base)), number(offset)?),
            });
        }
        if text.ends_with(".x") {
            let all = ["%tid.x", "%ctaid.x", "%nctaid.x"];
            return all.iter().position(|name| *name == text).map(Operand::Special);
        }
        Some(match self.variables.get(text) {
            Some(at) => Operand::Number(*at),
            None if text.starts_with('%') => Operand::Register(self.register(text)),
            None => Operand::Number(number(text)?),
        })
    }

    fn register(&mut self, name: &'a str) -> usize {
        let next = self.registers.len();
        *self.registers.entry(name).or_insert(next)
    }
}

/// The meaning of a name such as `ld.global.cs.v4.u32`, if it is a load or a store.
fn access(name: &str) -> Option<Operation> {
    let mut parts = name.split('.');
    let make = match parts.next()? {
        "ld" => Operation::Load,
        "st" => Operation::Store,
        _ => return None,
    };
    let (mut space, mut size) = (None, None);
    for part in parts {
        match part {
            "param" => space = Some(Space::Parameters),
            "global" => space = Some(Space::Global),
            "shared" => space = Some(Space::Shared),
            // The operands say how many values there are.
            "v2" | "v4" | "cs" | "volatile" => {}
            "u8" => size = Some(1),
            "u16" => size = Some(2),
            "u32" => size = Some(4),
            "u64" => size = Some(8),
            _ => return None,
        }
    }
    Some(make(space?, size?))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse::<i64>().ok().map(i64::cast_unsigned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_named() {
        let refused = |parameters: &str, body: &str| {
            let text = format!(".version 7.0\n.visible .entry k({parameters})\n{{\n{body}\n}}");
            Program::parse(&text, "k").expect_err("not known")
        };
        let body = ".reg .f32 %f<4>;\nret;\nadd.f32  %f1, %f2,\n %f3;";
        assert_eq!(refused("", body), "add.f32 %f1, %f2, %f3");
        assert_eq!(refused(".param .u64 a, .param .u32 b", "ret;"), ".param .u32 b");
        assert_eq!(refused("", ".shared .b8 s[1000000];"), ".shared .b8 s[1000000]");
        assert_eq!(Program::parse("", "k").expect_err("nothing there"), ".entry k");
    }
}
