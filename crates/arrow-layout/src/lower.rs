//! Offsets that count what is left of what they lead to.

/// Stores offsets of `width` bytes, 4 or 8, less `base`; those below it become 0.  Stores as many as both
/// memories have room for.
pub fn lower(from: &[u8], to: &mut [u8], width: u64, base: u64) {
    if width == 4 {
        let base = i32::try_from(base).unwrap_or(i32::MAX);
        let pairs = from.as_chunks::<4>().0.iter().zip(to.as_chunks_mut::<4>().0);
        for (from, to) in pairs {
            *to = (i32::from_ne_bytes(*from).max(base) - base).to_ne_bytes();
        }
        return;
    }
    let base = i64::try_from(base).unwrap_or(i64::MAX);
    for (from, to) in from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<8>().0) {
        *to = (i64::from_ne_bytes(*from).max(base) - base).to_ne_bytes();
    }
}
