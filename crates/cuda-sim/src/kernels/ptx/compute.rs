//! The instructions that compute a register from other values.

/// Computes a result from up to three operands.
pub(super) type Compute = fn(u64, u64, u64) -> u64;

fn low(value: u64) -> u32 {
    value as u32
}

/// The meaning of an instruction's name.
pub(super) fn compute(name: &str) -> Option<Compute> {
    Some(match name {
        "mov.u32" | "mov.u64" | "cvt.u64.u32" => |a, _, _| a,
        "cvt.u32.u64" => |a, _, _| low(a).into(),
        "add.u64" => |a, b, _| a.wrapping_add(b),
        "add.u32" => |a, b, _| low(a).wrapping_add(low(b)).into(),
        "and.b64" => |a, b, _| a & b,
        "and.b32" => |a, b, _| (low(a) & low(b)).into(),
        "or.pred" => |a, b, _| a | b,
        "sub.u64" => |a, b, _| a.wrapping_sub(b),
        "min.u64" => |a, b, _| a.min(b),
        "max.u64" => |a, b, _| a.max(b),
        "shl.b64" => |a, b, _| a.checked_shl(low(b)).unwrap_or(0),
        "shr.u64" => |a, b, _| a.checked_shr(low(b)).unwrap_or(0),
        "shl.b32" => |a, b, _| low(a).checked_shl(low(b)).unwrap_or(0).into(),
        "shr.u32" => |a, b, _| low(a).checked_shr(low(b)).unwrap_or(0).into(),
        "sub.u32" => |a, b, _| low(a).wrapping_sub(low(b)).into(),
        "mul.lo.u32" => |a, b, _| low(a).wrapping_mul(low(b)).into(),
        "mul.wide.u32" => |a, b, _| u64::from(low(a)) * u64::from(low(b)),
        "mad.lo.u32" => |a, b, c| low(a).wrapping_mul(low(b)).wrapping_add(low(c)).into(),
        "mad.lo.u64" => |a, b, c| a.wrapping_mul(b).wrapping_add(c),
        "setp.lt.u32" => |a, b, _| (low(a) < low(b)).into(),
        "setp.lt.and.u32" => |a, b, c| (low(a) < low(b) && c != 0).into(),
        "setp.ge.u32" => |a, b, _| (low(a) >= low(b)).into(),
        "setp.ne.u32" => |a, b, _| (low(a) != low(b)).into(),
        "setp.eq.u32" => |a, b, _| (low(a) == low(b)).into(),
        "setp.gt.s32" => |a, b, _| (low(a).cast_signed() > low(b).cast_signed()).into(),
        "setp.lt.u64" => |a, b, _| (a < b).into(),
        "setp.eq.u64" => |a, b, _| (a == b).into(),
        "setp.ge.u64" => |a, b, _| (a >= b).into(),
        "selp.b32" => |a, b, c| if c == 0 { b } else { a },
        "shf.r.wrap.b32" => |a, b, c| {
            let both = u64::from(low(b)) << 32 | u64::from(low(a));
            both >> (low(c) % 32) & 0xFFFF_FFFF
        },
        // With the table 0xf6, the only one that the parser takes.
        "lop3.b32" => |a, b, c| (low(a) | (low(b) ^ low(c))).into(),
        _ => return None,
    })
}
