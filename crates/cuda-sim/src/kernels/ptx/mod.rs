//! An interpreter of PTX, for the instructions that the kernels of `arrow-cuda-buffer` consist of.
//!
//! Other kernels run too if they get by with these instructions and with blocks of one dimension.

mod block;
mod compute;
mod program;

pub use program::Program;

/// The memory that a kernel's addresses lead to.
pub trait Memory {
    /// Reads the bytes from an address on.
    ///
    /// # Errors
    /// [`Fault::Address`] unless the kernel can access all of them.
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault>;

    /// Writes bytes from an address on.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault>;
}

/// Why a kernel stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Memory that it cannot access.
    Address,
    /// An address that is no multiple of the access's size.
    Alignment,
    /// Threads that have to meet took different branches.
    Divergence,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    struct Nothing;

    impl Memory for Nothing {
        fn load(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
            Err(Fault::Address)
        }

        fn store(&mut self, _: u64, _: &[u8]) -> Result<(), Fault> {
            Err(Fault::Address)
        }
    }

    fn run(body: &str) -> Result<(), Fault> {
        let registers = ".reg .pred %p; .reg .b32 %t;";
        let head = "mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 40;";
        let source = format!(".entry kernel() {{ {registers} {head} {body} }}");
        Program::parse(&source, "kernel").expect("known").run((2, 64), &[], &mut Nothing)
    }

    #[rstest]
    #[case::meeting_again("@%p bra THEN; add.u32 %t, %t, 1; THEN: bar.sync 0; ret;", Ok(()))]
    #[case::half_at_a_barrier("@%p ret; bar.sync 0; ret;", Err(Fault::Divergence))]
    #[case::two_barriers("@%p bra X; bar.sync 0; ret; X: bar.sync 0; ret;", Err(Fault::Divergence))]
    #[case::part_of_a_warp(
        "@%p ret; vote.sync.any.pred %p, %p, 0xffffffff;",
        Err(Fault::Divergence)
    )]
    #[case::misaligned("@%p ret; ld.global.u32 %t, [%t+1];", Err(Fault::Alignment))]
    #[case::outside("ld.global.u8 %t, [%t];", Err(Fault::Address))]
    fn threads_part_and_meet(#[case] body: &str, #[case] expected: Result<(), Fault>) {
        assert_eq!(run(body), expected);
    }

    #[test]
    fn shifts_beyond_the_width_leave_nothing() {
        let all = u64::MAX;
        for (name, expected) in [("shl.b64", 0), ("shr.u64", 0), ("shl.b32", 0), ("shr.u32", 0)] {
            assert_eq!(compute::compute(name).expect("known")(all, 64, 0), expected);
        }
    }

    #[rstest]
    #[case::another_name(".entry other() { ret; }")]
    #[case::no_end(".entry kernel() { ret;")]
    #[case::an_unknown_instruction(".entry kernel() { sin.approx.f32 %x, %x; }")]
    #[case::another_table(".entry kernel() { lop3.b32 %a, %a, %a, %a, 0x80; }")]
    #[case::a_parameter_of_32_bits(".entry kernel(.param .u32 x) { ret; }")]
    #[case::too_many_parameters(".entry kernel(.param .align 8 .b8 x[9000]) { ret; }")]
    #[case::too_much_shared_memory(".entry kernel() { .shared .align 16 .b8 x[1000000]; ret; }")]
    #[case::no_such_label(".entry kernel() { bra THERE; }")]
    fn other_texts_are_not_run(#[case] source: &str) {
        assert!(Program::parse(source, "kernel").is_none());
    }
}
