//! Offsets that count from what is left.

/// Copies offsets of `width` bytes, 4 or 8, minus `base`; smaller ones become 0.  Copies as many as fit into the
/// shorter of `from` and `to`.
///
/// ```
/// let offsets: Vec<u8> = [5i32, 7, 9].iter().flat_map(|offset| offset.to_ne_bytes()).collect();
/// let mut lowered = [0; 12];
/// arrow_cuda_layout::lower(&offsets, &mut lowered, 4, 5);
/// assert_eq!(lowered[8..], 4i32.to_ne_bytes());
/// ```
pub fn lower(from: &[u8], to: &mut [u8], width: u64, base: u64) {
    if width == 4 {
        let base = i32::try_from(base).unwrap_or(i32::MAX);
        let pairs = from.as_chunks::<4>().0.iter().zip(to.as_chunks_mut::<4>().0);
        for (from, to) in pairs {
            *to = i32::from_ne_bytes(*from).max(base).wrapping_sub(base).to_ne_bytes();
        }
        return;
    }
    let base = i64::try_from(base).unwrap_or(i64::MAX);
    for (from, to) in from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<8>().0) {
        *to = i64::from_ne_bytes(*from).max(base).wrapping_sub(base).to_ne_bytes();
    }
}
