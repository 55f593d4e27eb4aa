//! A thread, and what the instructions do.

use super::memory::Memory;
use super::program::{Instruction, Operand, Operation, Program, Space};

/// A thread: where it is, and its registers; `None` once it has returned.
pub(super) struct Thread {
    pub(super) next: Option<usize>,
    pub(super) registers: Vec<u64>,
    special: [u32; 3],
}

/// The memory that a thread can load from and store to.
pub(super) struct Surroundings<'a> {
    pub(super) parameters: &'a [u64],
    pub(super) global: &'a mut Memory,
    pub(super) shared: Memory,
}

/// The reason why a thread stopped.
pub(super) enum Stop {
    Vote { into: usize, with: bool },
    Barrier,
    Returned,
}

impl Thread {
    pub(super) fn new(program: &Program, special: [u32; 3]) -> Self {
        Self { next: Some(0), registers: vec![0; program.registers], special }
    }

    fn value(&self, operand: &Operand) -> u64 {
        match operand {
            Operand::Register(register) => self.registers[*register],
            Operand::Number(number) => *number,
            Operand::Special(number) => self.special[*number].into(),
            Operand::Address(base, offset) => {
                base.map_or(0, |register| self.registers[register]).wrapping_add(*offset)
            }
        }
    }

    fn set(&mut self, operand: &Operand, value: u64) {
        let Operand::Register(register) = operand else { panic!("results go to registers") };
        self.registers[*register] = value;
    }
}

impl Surroundings<'_> {
    fn load(&mut self, space: Space, address: u64, size: u64) -> u64 {
        match space {
            Space::Global => self.global.load(address, size),
            Space::Shared => self.shared.load(address, size),
            Space::Parameters => {
                let word = self.parameters[(address / 8) as usize] >> (address % 8 * 8);
                if size < 8 { word & ((1 << (size * 8)) - 1) } else { word }
            }
        }
    }

    fn store(&mut self, space: Space, address: u64, size: u64, value: u64) {
        match space {
            Space::Global => self.global.store(address, size, value),
            Space::Shared => self.shared.store(address, size, value),
            Space::Parameters => panic!("parameters are only to be read"),
        }
    }
}

impl Program {
    /// Runs a thread up to where it waits for others, or to its end.
    pub(super) fn advance(&self, thread: &mut Thread, around: &mut Surroundings<'_>) -> Stop {
        while let Some(at) = thread.next {
            let Instruction { guard, operation, operands } = &self.instructions[at];
            thread.next = Some(at + 1);
            if guard.is_some_and(|(register, wanted)| (thread.registers[register] != 0) != wanted) {
                continue;
            }
            match operation {
                Operation::Branch(to) => thread.next = Some(*to),
                Operation::Return => thread.next = None,
                Operation::Barrier => return Stop::Barrier,
                Operation::Vote => {
                    assert_eq!(thread.value(&operands[2]), u32::MAX.into(), "the whole warp");
                    let Operand::Register(into) = operands[0] else { panic!("a register") };
                    return Stop::Vote { into, with: thread.value(&operands[1]) != 0 };
                }
                Operation::Exchange => {
                    let (address, value) = (thread.value(&operands[1]), thread.value(&operands[2]));
                    let before = around.load(Space::Global, address, 8);
                    around.store(Space::Global, address, 8, value);
                    thread.set(&operands[0], before);
                }
                Operation::Load(space, count, size) => {
                    let (address, into) = operands.split_last().expect("an address");
                    let address = aligned(thread.value(address), count * size);
                    assert_eq!(into.len() as u64, *count);
                    for (operand, at) in into.iter().zip(0..) {
                        thread.set(operand, around.load(*space, address + at * size, *size));
                    }
                }
                Operation::Store(space, count, size) => {
                    let (address, values) = operands.split_first().expect("an address");
                    let address = aligned(thread.value(address), count * size);
                    assert_eq!(values.len() as u64, *count);
                    for (operand, at) in values.iter().zip(0..) {
                        let value = thread.value(operand);
                        around.store(*space, address + at * size, *size, value);
                    }
                }
                Operation::Compute(name) => {
                    let result = compute(name, |number| thread.value(&operands[number]));
                    thread.set(&operands[0], result);
                }
            }
        }
        Stop::Returned
    }
}

fn aligned(address: u64, size: u64) -> u64 {
    assert!(address.is_multiple_of(size), "{address:#x} is not aligned to {size}");
    address
}

/// The result of an instruction for its operands, which count from 1.
fn compute(name: &str, value: impl Fn(usize) -> u64) -> u64 {
    let low = |number: usize| value(number) as u32;
    match name {
        "mov.u32" | "mov.u64" | "cvt.u64.u32" => value(1),
        "cvt.u32.u64" => low(1).into(),
        "add.u64" => value(1).wrapping_add(value(2)),
        "add.u32" => low(1).wrapping_add(low(2)).into(),
        "and.b64" => value(1) & value(2),
        "and.b32" => (low(1) & low(2)).into(),
        "or.pred" => value(1) | value(2),
        "shl.b64" => value(1) << value(2),
        "shr.u64" => value(1) >> value(2),
        "shl.b32" => (low(1) << low(2)).into(),
        "shr.u32" => (low(1) >> low(2)).into(),
        "sub.u32" => low(1).wrapping_sub(low(2)).into(),
        "mul.lo.u32" => low(1).wrapping_mul(low(2)).into(),
        "mul.wide.u32" => u64::from(low(1)) * u64::from(low(2)),
        "mad.lo.u32" => low(1).wrapping_mul(low(2)).wrapping_add(low(3)).into(),
        "mad.lo.u64" => value(1).wrapping_mul(value(2)).wrapping_add(value(3)),
        "setp.lt.u32" => (low(1) < low(2)).into(),
        "setp.lt.and.u32" => (low(1) < low(2) && value(3) != 0).into(),
        "setp.ge.u32" => (low(1) >= low(2)).into(),
        "setp.ne.u32" => (low(1) != low(2)).into(),
        "setp.eq.u32" => (low(1) == low(2)).into(),
        "setp.eq.u64" => (value(1) == value(2)).into(),
        "setp.ge.u64" => (value(1) >= value(2)).into(),
        "selp.b32" => value(if value(3) == 0 { 2 } else { 1 }),
        "shf.r.wrap.b32" => {
            let both = u64::from(low(2)) << 32 | u64::from(low(1));
            both >> (low(3) % 32) & 0xFFFF_FFFF
        }
        "lop3.b32" => {
            assert_eq!(value(4), 0xF6);
            (low(1) | (low(2) ^ low(3))).into()
        }
        other => panic!("unknown instruction {other}"),
    }
}
