//! Runs the PTX of the kernel, thread by thread, on memory with checked bounds.  The simulated
//! driver cannot test the PTX: it recognises the kernel by its name alone.

use super::kernel::source;
use super::spans::{Spans, THREADS};
use proptest::prelude::*;
use std::collections::HashMap;

const FOUND: u64 = 0x1000;
const ANSWER: u64 = 0x2000;
const TICKET: u64 = 7;
const WARP: u32 = 32;

/// An instruction: its name, without the modes that do not affect the result, and its operands.
struct Instruction {
    guard: Option<(usize, bool)>,
    name: String,
    operands: Vec<Operand>,
}

enum Operand {
    Register(usize),
    Number(u64),
    /// One of `%tid.x`, `%ctaid.x`, `%nctaid.x`.
    Special(usize),
    /// `[register+offset]`
    Address(usize, u64),
    /// `[parameter]`
    Parameter(usize),
    Label(String),
}

struct Program {
    instructions: Vec<Instruction>,
    labels: HashMap<String, usize>,
    registers: usize,
}

impl Program {
    fn parse(source: &str) -> Self {
        let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        let (head, body) = text.split_once('{').expect("a body");
        let parameters: Vec<_> = head.split(".param .u64").skip(1).map(first_word).collect();
        let mut registers = HashMap::new();
        let mut program = Self { instructions: Vec::new(), labels: HashMap::new(), registers: 0 };
        for statement in body.rsplit_once('}').expect("an end").0.split(';') {
            let mut statement = statement.trim();
            if let Some((label, rest)) = statement.split_once(':') {
                program.labels.insert(label.to_owned(), program.instructions.len());
                statement = rest.trim();
            }
            if statement.is_empty() || statement.starts_with(".reg") {
                continue;
            }
            let mut register = |name: &str| {
                let next = registers.len();
                *registers.entry(name.to_owned()).or_insert(next)
            };
            let guard = statement.strip_prefix('@').map(|rest| {
                let (name, rest) = rest.split_once(' ').expect("an instruction");
                statement = rest.trim();
                (register(name.trim_start_matches('!')), !name.starts_with('!'))
            });
            let (name, operands) =
                statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
            let operands = operands.split(',').map(|text| text.trim_matches([' ', '{', '}']));
            let mut operand = |text: &str| match text.strip_prefix('[') {
                Some(place) => {
                    let place = place.trim_end_matches(']');
                    let (base, offset) = place.split_once('+').unwrap_or((place, "0"));
                    match parameters.iter().position(|name| *name == base) {
                        Some(number) => Operand::Parameter(number),
                        None => Operand::Address(register(base), number(offset)),
                    }
                }
                None if text.ends_with(".x") => {
                    let all = ["%tid.x", "%ctaid.x", "%nctaid.x"];
                    Operand::Special(all.iter().position(|name| *name == text).expect("known"))
                }
                None if text.starts_with('%') => Operand::Register(register(text)),
                None if name == "bra" => Operand::Label(text.to_owned()),
                None => Operand::Number(number(text)),
            };
            let operands = operands.filter(|text| !text.is_empty()).map(&mut operand).collect();
            let name = name.replace(".cs", "").replace(".volatile", "");
            program.instructions.push(Instruction { guard, name, operands });
        }
        program.registers = registers.len();
        program
    }
}

fn first_word(text: &str) -> &str {
    text.trim().split([',', '\n', ')']).next().unwrap_or_default().trim()
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).expect("a number"),
        None => text.parse::<i64>().expect("a number").cast_unsigned(),
    }
}

/// Memory at two addresses, and the two words that the kernel may write.
struct Memory<'a> {
    parts: [(u64, &'a [u8]); 2],
    found: u64,
    answer: u64,
    loaded: u64,
}

impl Memory<'_> {
    fn load(&mut self, address: u64, size: u64) -> u64 {
        assert!(address.is_multiple_of(size), "{address:#x} is not aligned to {size}");
        if address == FOUND {
            return self.found;
        }
        self.loaded += size;
        let inside = self.parts.iter().find_map(|(base, bytes)| {
            let at = usize::try_from(address.checked_sub(*base)?).ok()?;
            bytes.get(at..at + size as usize)
        });
        let bytes = inside.unwrap_or_else(|| panic!("{size} bytes at {address:#x} are outside"));
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }
}

/// A thread: where it is, and its registers; `None` once it has returned.
struct Thread {
    next: Option<usize>,
    registers: Vec<u64>,
    special: [u32; 3],
}

/// What a thread stopped for.
enum Stop {
    Vote { into: usize, with: bool },
    Returned,
}

impl Program {
    /// Runs a grid.  Its blocks run after each other, and the warps of a block.
    fn run(&self, blocks: u32, parameters: &[u64], memory: &mut Memory<'_>) {
        for block in 0..blocks {
            for first in (0..THREADS).step_by(WARP as usize) {
                let thread = |number| Thread {
                    next: Some(0),
                    registers: vec![0; self.registers],
                    special: [first + number, block, blocks],
                };
                self.run_warp((0..WARP).map(thread).collect(), parameters, memory);
            }
        }
    }

    fn run_warp(&self, mut warp: Vec<Thread>, parameters: &[u64], memory: &mut Memory<'_>) {
        loop {
            let stops = warp.iter_mut().map(|thread| self.advance(thread, parameters, memory));
            let stops: Vec<_> = stops.collect();
            let votes: Vec<_> =
                stops.iter().filter(|stop| matches!(stop, Stop::Vote { .. })).collect();
            if votes.is_empty() {
                return;
            }
            assert_eq!(votes.len(), warp.len(), "every thread of a warp has to vote");
            let places: Vec<_> = warp.iter().map(|thread| thread.next).collect();
            assert!(places.iter().all(|place| *place == places[0]), "on the same question");
            let any = stops.iter().any(|stop| matches!(stop, Stop::Vote { with: true, .. }));
            for (thread, stop) in warp.iter_mut().zip(&stops) {
                if let Stop::Vote { into, .. } = stop {
                    thread.registers[*into] = any.into();
                }
            }
        }
    }

    /// Runs a thread up to its next vote, or to its end.
    fn advance(&self, thread: &mut Thread, parameters: &[u64], memory: &mut Memory<'_>) -> Stop {
        while let Some(at) = thread.next {
            let Instruction { guard, name, operands } = &self.instructions[at];
            thread.next = Some(at + 1);
            if guard.is_some_and(|(register, wanted)| (thread.registers[register] != 0) != wanted) {
                continue;
            }
            let value = |number: usize| match &operands[number] {
                Operand::Register(register) => thread.registers[*register],
                Operand::Number(number) => *number,
                Operand::Special(number) => thread.special[*number].into(),
                Operand::Address(base, offset) => thread.registers[*base] + offset,
                Operand::Parameter(number) => parameters[*number],
                Operand::Label(label) => self.labels[label] as u64,
            };
            let low = |number: usize| value(number) as u32;
            let result = match name.as_str() {
                "bra" => {
                    thread.next = Some(value(0) as usize);
                    continue;
                }
                "ret" => {
                    thread.next = None;
                    continue;
                }
                "vote.sync.any.pred" => {
                    assert_eq!(low(2), u32::MAX);
                    let Operand::Register(into) = operands[0] else { panic!("a register") };
                    return Stop::Vote { into, with: value(1) != 0 };
                }
                "ld.global.v4.u32" => {
                    let address = value(4);
                    assert!(address.is_multiple_of(16), "{address:#x} is not aligned");
                    for (operand, part) in operands.iter().zip(0..4) {
                        let Operand::Register(into) = operand else { panic!("a register") };
                        thread.registers[*into] = memory.load(address + part * 4, 4);
                    }
                    continue;
                }
                "st.global.u64" => {
                    assert_eq!((value(0), memory.answer), (ANSWER, 0), "written once");
                    memory.answer = value(1);
                    continue;
                }
                "atom.global.exch.b64" => {
                    assert_eq!(value(1), FOUND);
                    std::mem::replace(&mut memory.found, value(2))
                }
                "ld.param.u64" | "mov.u32" | "mov.u64" | "cvt.u64.u32" => value(1),
                "cvt.u32.u64" => low(1).into(),
                "ld.global.u8" => memory.load(value(1), 1),
                "ld.global.u64" => memory.load(value(1), 8),
                "add.u64" => value(1).wrapping_add(value(2)),
                "add.u32" => low(1).wrapping_add(low(2)).into(),
                "and.b64" => value(1) & value(2),
                "and.b32" => (low(1) & low(2)).into(),
                "or.pred" => value(1) | value(2),
                "shl.b64" => value(1) << value(2),
                "shr.u64" => value(1) >> value(2),
                "shl.b32" => (low(1) << low(2)).into(),
                "shr.u32" => (low(1) >> low(2)).into(),
                "mul.wide.u32" => u64::from(low(1)) * u64::from(low(2)),
                "mad.lo.u32" => low(1).wrapping_mul(low(2)).wrapping_add(low(3)).into(),
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
            };
            let Operand::Register(into) = operands[0] else { panic!("{name} gives a result") };
            thread.registers[into] = result;
        }
        Stop::Returned
    }
}

/// Two parts of memory that lie at addresses with these remainders modulo 128.
struct Case {
    program: Program,
    left: u64,
    right: u64,
}

impl Case {
    fn new(left: u64, right: u64) -> Self {
        Self {
            program: Program::parse(source().to_str().expect("PTX is UTF-8")),
            left: 0x10_0000 + left,
            right: 0x90_0000 + right,
        }
    }

    /// The kernel's answer, and how many bytes it has loaded.
    fn compare(&self, ours: &[u8], theirs: &[u8], most_blocks: u32) -> (bool, u64) {
        let spans = Spans::of(self.left, self.right, ours.len() as u64);
        let parts = [(self.left, ours), (self.right, theirs)];
        let mut memory = Memory { parts, found: 0, answer: 0, loaded: 0 };
        let parameters =
            [self.left, self.right, spans.head, spans.vectors, spans.tail, FOUND, ANSWER, TICKET];
        // The remaining vectors need four blocks at most.
        let blocks = spans.blocks().min(most_blocks.max(4));
        self.program.run(blocks, &parameters, &mut memory);
        assert_eq!(memory.found, memory.answer);
        assert!([0, TICKET].contains(&memory.answer));
        (memory.answer == TICKET, memory.loaded)
    }

    /// Equal bytes compare equal, and a changed bit is found at each of these places.
    fn check(&self, size: usize, places: impl IntoIterator<Item = usize>) {
        let ours: Vec<u8> = (0..size).map(|at| ((at * 37) >> 2) as u8).collect();
        let mut theirs = ours.clone();
        assert!(!self.compare(&ours, &theirs, 4).0, "{size} equal bytes");
        for place in places {
            theirs[place] ^= 1 << (place % 8);
            assert!(self.compare(&ours, &theirs, 4).0, "byte {place} of {size}");
            theirs[place] = ours[place];
        }
    }
}

#[test]
fn small_sizes_at_all_alignments() {
    for (left, right) in (0..16).flat_map(|left| (0..16).map(move |right| (left, right))) {
        let case = Case::new(left, right);
        for size in [1, 16, 33, 143, 175] {
            case.check(size, [0, size / 2, size - 1]);
        }
    }
}

#[test]
fn every_byte_counts() {
    for (left, right) in [(0, 0), (5, 5), (0, 1), (3, 8), (127, 12), (120, 2)] {
        Case::new(left, right).check(600, 0..600);
    }
}

#[test]
fn every_part_of_a_tile_counts() {
    // Six tiles in four blocks, and a partial one.
    let size = 6 * 16384 + 1000 * 16 + 9;
    let border = |at: usize| [at - 1, at];
    let places = [0, 16384, 4 * 16384, 6 * 16384, size - 1].into_iter();
    let places: Vec<_> = places.flat_map(|at| border(at.max(1))).collect();
    for (left, right) in [(0, 0), (1, 1), (0, 1), (3, 8), (8, 3), (64, 76)] {
        Case::new(left, right).check(size, places.iter().copied());
    }
}

#[test]
fn every_word_of_a_step_counts() {
    // Two tiles: in the second one, a byte of each word of each of a thread's vectors.
    let size = 2 * 16384 + 256;
    let step = (0..4).flat_map(|row| (0..4).map(move |word| row * 4096 + word * 4));
    let places: Vec<_> = step.map(|at| 16384 + 128 + at + at / 4 % 4).collect();
    for right in 0..16 {
        Case::new(0, right).check(size, places.iter().copied());
    }
}

#[test]
fn a_difference_at_the_start_ends_the_work() {
    for (left, right) in [(0, 0), (0, 1)] {
        let case = Case::new(left, right);
        let ours = vec![0; 1 << 20];
        let mut theirs = ours.clone();
        theirs[200] = 1;
        let (differ, loaded) = case.compare(&ours, &theirs, 4);
        assert!(differ && loaded < 1 << 18, "{loaded} bytes were loaded");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_difference_is_found(
        left in 0..128u64, right in 0..128u64, size in 1..20_000usize, place in any::<usize>(),
    ) {
        Case::new(left, right).check(size, [place % size]);
    }
}
