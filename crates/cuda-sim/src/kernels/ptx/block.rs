//! The threads of a grid, which run each instruction together.

use std::collections::BTreeMap;
use std::mem::take;

use super::program::{Instruction, Operand, Operation, Program, Space, WIDEST};
use crate::base::code::{ILLEGAL_ADDRESS, LAUNCH_FAILED, MISALIGNED_ADDRESS, Result};
use crate::kernels::{Range, Ranges};

const WARP: usize = 32;

/// The numbers of threads that are at the same instruction, in ascending order.
type Group = Vec<usize>;

struct Block<'a, F> {
    program: &'a Program,
    parameters: &'a [u64],
    global: &'a mut Ranges<F>,
    shared: Vec<u8>,
    /// How many threads it has, its number, and the number of all blocks.
    threads: usize,
    number: u32,
    blocks: u32,
    /// The values of the first register of all threads, then of the second one, and so on.
    registers: Vec<u64>,
    /// Threads with work to do, by their next instruction.
    groups: BTreeMap<usize, Group>,
    /// Threads that wait for all others, and their next instruction.
    waiting: Group,
    behind_barrier: usize,
}

impl Program {
    /// Runs a grid.  Its blocks run one after the other.  `parameters` holds the kernel's parameters
    /// one after the other.  Fails with `ILLEGAL_ADDRESS` for memory that it cannot access,
    /// `MISALIGNED_ADDRESS` for an address that is no multiple of the access's size,
    /// `LAUNCH_FAILED` for threads that have to meet and took different branches.  The first of them
    /// ends the grid.
    pub fn run(
        &self,
        (blocks, threads): (u32, u32),
        parameters: &[u64],
        memory: &mut Ranges<impl Fn(u64) -> Option<Range>>,
    ) -> Result {
        assert_eq!(size_of_val(parameters) as u64, self.parameters.iter().sum::<u64>());
        let threads = threads as usize;
        let mut block = Block {
            program: self,
            parameters,
            global: memory,
            shared: vec![0xEE; self.shared as usize],
            threads,
            number: 0,
            blocks,
            registers: vec![0; self.registers * threads],
            groups: BTreeMap::new(),
            waiting: Group::new(),
            behind_barrier: 0,
        };
        for number in 0..blocks {
            block.number = number;
            block.run()?;
        }
        Ok(())
    }
}

impl<F: Fn(u64) -> Option<Range>> Block<'_, F> {
    /// Runs all threads to their ends.  Those that are furthest behind run first, so that threads which
    /// took different branches meet again.
    fn run(&mut self) -> Result {
        self.groups.insert(0, (0..self.threads).collect());
        loop {
            while let Some((at, group)) = self.groups.pop_first() {
                self.advance(at, group)?;
            }
            match take(&mut self.waiting) {
                none if none.is_empty() => return Ok(()),
                all if all.len() == self.threads => self.join(self.behind_barrier, all),
                _ => return Err(LAUNCH_FAILED),
            }
        }
    }

    /// Has more threads continue at an instruction.
    fn join(&mut self, at: usize, group: Group) {
        if group.is_empty() {
            return;
        }
        let all = self.groups.entry(at).or_default();
        all.extend(group);
        all.sort_unstable();
    }

    /// Runs threads until they part, wait, end, or meet others.
    fn advance(&mut self, mut at: usize, mut group: Group) -> Result {
        let program = self.program;
        let until = self.groups.first_key_value().map_or(usize::MAX, |(at, _)| *at);
        while at < until {
            let Some(Instruction { guard, operation, operands }) = program.instructions.get(at)
            else {
                return Ok(());
            };
            at += 1;
            let (active, others): (Group, Group) = match guard {
                Some((register, wanted)) => group
                    .iter()
                    .partition(|&&thread| (self.register(*register, thread) != 0) == *wanted),
                None => (take(&mut group), Group::new()),
            };
            match operation {
                Operation::Branch(to) if others.is_empty() => (at, group) = (*to, active),
                Operation::Branch(_) if active.is_empty() => group = others,
                Operation::Branch(to) => {
                    self.join(*to, active);
                    self.join(at, others);
                    return Ok(());
                }
                Operation::Return => group = others,
                Operation::Barrier => {
                    if !self.waiting.is_empty() && self.behind_barrier != at {
                        return Err(LAUNCH_FAILED);
                    }
                    self.behind_barrier = at;
                    self.waiting.extend(active);
                    group = others;
                }
                _ => {
                    self.execute(operation, operands, &active)?;
                    if guard.is_none() {
                        group = active;
                    }
                }
            }
            if group.is_empty() {
                return Ok(());
            }
        }
        self.join(at, group);
        Ok(())
    }

    fn execute(&mut self, operation: &Operation, operands: &[Operand], active: &[usize]) -> Result {
        match operation {
            Operation::Compute(compute) => {
                let [into, sources @ ..] = operands else { return Ok(()) };
                for &thread in active {
                    let value = |at: usize| {
                        sources.get(at).map_or(0, |operand| self.value(operand, thread))
                    };
                    let result = compute(value(0), value(1), value(2));
                    self.set(into, thread, result);
                }
            }
            Operation::Load(space, size) => {
                let Some((place, into)) = operands.split_last() else { return Ok(()) };
                for &thread in active {
                    let mut bytes = [0; WIDEST];
                    let bytes = &mut bytes[..into.len() * size];
                    let address = self.value(place, thread);
                    self.load(*space, address, bytes)?;
                    for (operand, bytes) in into.iter().zip(bytes.chunks(*size)) {
                        self.set(operand, thread, number(bytes));
                    }
                }
            }
            Operation::Store(space, size) => {
                let Some((place, values)) = operands.split_first() else { return Ok(()) };
                for &thread in active {
                    let mut bytes = [0; WIDEST];
                    let bytes = &mut bytes[..values.len() * size];
                    for (operand, bytes) in values.iter().zip(bytes.chunks_mut(*size)) {
                        bytes.copy_from_slice(
                            &self.value(operand, thread).to_le_bytes()[..bytes.len()],
                        );
                    }
                    let address = self.value(place, thread);
                    self.store(*space, address, bytes)?;
                }
            }
            Operation::Exchange => {
                let [into, place, value] = operands else { return Ok(()) };
                for &thread in active {
                    let mut before = [0; 8];
                    let (address, value) = (self.value(place, thread), self.value(value, thread));
                    self.load(Space::Global, address, &mut before)?;
                    self.store(Space::Global, address, &value.to_le_bytes())?;
                    self.set(into, thread, u64::from_le_bytes(before));
                }
            }
            Operation::Or => {
                let [place, value] = operands else { return Ok(()) };
                for &thread in active {
                    let mut word = [0; 4];
                    let (address, value) = (self.value(place, thread), self.value(value, thread));
                    self.load(Space::Global, address, &mut word)?;
                    let word = u32::from_le_bytes(word) | value as u32;
                    self.store(Space::Global, address, &word.to_le_bytes())?;
                }
            }
            Operation::Vote => {
                let [into, vote, _whole_warp] = operands else { return Ok(()) };
                for warp in active.chunk_by(|a, b| a / WARP == b / WARP) {
                    if warp.len() != WARP {
                        return Err(LAUNCH_FAILED);
                    }
                    let any = warp.iter().any(|&thread| self.value(vote, thread) != 0);
                    warp.iter().for_each(|&thread| self.set(into, thread, any.into()));
                }
            }
            Operation::Branch(_) | Operation::Return | Operation::Barrier => {}
        }
        Ok(())
    }

    fn load(&mut self, space: Space, address: u64, into: &mut [u8]) -> Result {
        check_aligned(address, into.len())?;
        match space {
            Space::Global => self.global.load(address, into),
            Space::Shared => {
                into.copy_from_slice(within(&mut self.shared, address, into.len())?);
                Ok(())
            }
            Space::Parameters => {
                let word = self.parameters.get((address / 8) as usize).ok_or(ILLEGAL_ADDRESS)?;
                let (word, start) = (word.to_le_bytes(), (address % 8) as usize);
                into.copy_from_slice(word.get(start..start + into.len()).ok_or(ILLEGAL_ADDRESS)?);
                Ok(())
            }
        }
    }

    fn store(&mut self, space: Space, address: u64, bytes: &[u8]) -> Result {
        check_aligned(address, bytes.len())?;
        match space {
            Space::Global => self.global.store(address, bytes),
            Space::Shared => {
                within(&mut self.shared, address, bytes.len())?.copy_from_slice(bytes);
                Ok(())
            }
            Space::Parameters => Err(ILLEGAL_ADDRESS),
        }
    }

    fn register(&self, register: usize, thread: usize) -> u64 {
        self.registers[register * self.threads + thread]
    }

    fn value(&self, operand: &Operand, thread: usize) -> u64 {
        match operand {
            Operand::Register(register) => self.register(*register, thread),
            Operand::Number(number) => *number,
            Operand::Special(which) => [thread as u32, self.number, self.blocks][*which].into(),
            Operand::Address(base, offset) => {
                base.map_or(0, |base| self.register(base, thread)).wrapping_add(*offset)
            }
        }
    }

    fn set(&mut self, operand: &Operand, thread: usize, value: u64) {
        if let Operand::Register(register) = operand {
            self.registers[register * self.threads + thread] = value;
        }
    }
}

fn check_aligned(address: u64, size: usize) -> Result {
    if address.is_multiple_of(size as u64) { Ok(()) } else { Err(MISALIGNED_ADDRESS) }
}

fn within(memory: &mut [u8], address: u64, size: usize) -> Result<&mut [u8]> {
    let start = usize::try_from(address).map_err(|_| ILLEGAL_ADDRESS)?;
    let end = start.checked_add(size).ok_or(ILLEGAL_ADDRESS)?;
    memory.get_mut(start..end).ok_or(ILLEGAL_ADDRESS)
}

/// The number in up to 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
