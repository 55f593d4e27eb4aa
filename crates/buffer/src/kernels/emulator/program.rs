//! Reads the text of a kernel.

use std::collections::HashMap;

/// The text of a kernel, taken apart.
pub(crate) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) registers: usize,
    /// The sizes of its parameters together, and of its shared memory, in bytes.
    pub(super) parameters: u64,
    pub(super) shared: u64,
}

/// An instruction: its name, without the modes that do not affect the result, and its operands.
pub(super) struct Instruction {
    /// A register, and whether the instruction is executed where that holds or where it does not.
    pub(super) guard: Option<(usize, bool)>,
    pub(super) operation: Operation,
    pub(super) operands: Vec<Operand>,
}

pub(super) enum Operation {
    /// Loads or stores so many values of so many bytes each, together.
    Load(Space, u64, u64),
    Store(Space, u64, u64),
    Branch(usize),
    Return,
    Barrier,
    Vote,
    Exchange,
    /// Computes its first operand from the others.
    Compute(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Parameters,
    Global,
    Shared,
}

pub(super) enum Operand {
    Register(usize),
    Number(u64),
    /// One of `%tid.x`, `%ctaid.x`, `%nctaid.x`.
    Special(usize),
    /// `[register+offset]`, `[name+offset]`
    Address(Option<usize>, u64),
}

/// The names in a text.
#[derive(Default)]
struct Names<'a> {
    registers: HashMap<&'a str, usize>,
    /// Where parameters and shared variables lie in their spaces.
    variables: HashMap<&'a str, u64>,
}

impl Program {
    pub(crate) fn parse(source: &str) -> Self {
        let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
        let text = lines.collect::<Vec<_>>().join("\n");
        let (head, body) = text.split_once('{').expect("a body");
        let mut names = Names::default();
        let declared = head.split(".param").skip(1);
        let parameters = declared.fold(0, |at, parameter| names.declare(parameter, at));
        let (mut shared, mut statements, mut labels) = (0, Vec::new(), HashMap::new());
        for statement in body.rsplit_once('}').expect("an end").0.split(';') {
            let mut statement = statement.trim();
            while let Some((label, rest)) = statement.split_once(':') {
                labels.insert(label.trim(), statements.len());
                statement = rest.trim();
            }
            match statement.split_whitespace().next() {
                None | Some(".reg") => {}
                Some(".shared") => shared = names.declare(statement, shared),
                Some(_) => statements.push(statement),
            }
        }
        let instructions = statements.iter().map(|text| names.instruction(text, &labels)).collect();
        Self { instructions, registers: names.registers.len(), parameters, shared }
    }
}

impl<'a> Names<'a> {
    /// Notes a variable like `.param .u64 name`, or `.shared .align 16 .b8 name[64]`, which lies at
    /// `at`.  Returns where the next one lies.
    fn declare(&mut self, variable: &'a str, at: u64) -> u64 {
        let variable = variable.split([',', ')']).next().unwrap_or_default().trim();
        let name = variable.rsplit(char::is_whitespace).next().expect("a name");
        let (name, size) = match name.split_once('[') {
            Some((name, size)) => (name, number(size.trim_end_matches(']'))),
            None => (name, 8),
        };
        self.variables.insert(name, at);
        at + size
    }

    fn instruction(&mut self, text: &'a str, labels: &HashMap<&str, usize>) -> Instruction {
        let mut text = text;
        let guard = text.strip_prefix('@').map(|rest| {
            let (name, rest) = rest.split_once(char::is_whitespace).expect("an instruction");
            text = rest.trim();
            (self.register(name.trim_start_matches('!')), !name.starts_with('!'))
        });
        let (name, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let operation = match name {
            "bra" => Operation::Branch(labels[operands.trim()]),
            "ret" => Operation::Return,
            "bar.sync" => Operation::Barrier,
            "vote.sync.any.pred" => Operation::Vote,
            "atom.global.exch.b64" => Operation::Exchange,
            _ => access(name).unwrap_or_else(|| Operation::Compute(name.to_owned())),
        };
        let operands = match operation {
            Operation::Branch(_) => Vec::new(),
            _ => {
                let texts = operands.split(',').map(|text| text.trim_matches([' ', '{', '}']));
                texts.filter(|text| !text.is_empty()).map(|text| self.operand(text)).collect()
            }
        };
        Instruction { guard, operation, operands }
    }

    fn operand(&mut self, text: &'a str) -> Operand {
        if let Some(place) = text.strip_prefix('[') {
            let place = place.trim_end_matches(']');
            let (base, offset) = place.split_once('+').unwrap_or((place, "0"));
            return match self.variables.get(base) {
                Some(at) => Operand::Address(None, at + number(offset)),
                None => Operand::Address(Some(self.register(base)), number(offset)),
            };
        }
        if text.ends_with(".x") {
            let all = ["%tid.x", "%ctaid.x", "%nctaid.x"];
            return Operand::Special(all.iter().position(|name| *name == text).expect("known"));
        }
        match self.variables.get(text) {
            Some(at) => Operand::Number(*at),
            None if text.starts_with('%') => Operand::Register(self.register(text)),
            None => Operand::Number(number(text)),
        }
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
    let (mut space, mut count, mut size) = (None, 1, None);
    for part in parts {
        match part {
            "param" => space = Some(Space::Parameters),
            "global" => space = Some(Space::Global),
            "shared" => space = Some(Space::Shared),
            "v2" => count = 2,
            "v4" => count = 4,
            "cs" | "volatile" => {}
            kind => size = Some(number(&kind[1..]) / 8),
        }
    }
    Some(make(space.expect("a space"), count, size.expect("a type")))
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).expect("a number"),
        None => text.parse::<i64>().expect("a number").cast_unsigned(),
    }
}
