//! Texts that are truncated to the room that C++ has.

/// The length of the longest part of `text` that has at most `most` bytes and ends between
/// characters: the other side decodes UTF-8.
pub(crate) fn length_within(text: &str, most: usize) -> usize {
    // `str::floor_char_boundary` came with Rust 1.91.
    (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::length_within;
    use rstest::rstest;

    #[rstest]
    #[case("", 5, 0)]
    #[case("text", 4, 4)]
    #[case("text", 3, 3)]
    #[case("text", 9, 4)]
    #[case("naïve", 2, 2)]
    #[case("naïve", 3, 2)]
    #[case("naïve", 4, 4)]
    #[case("ï", 0, 0)]
    #[case("ï", 1, 0)]
    fn no_character_is_divided(#[case] text: &str, #[case] most: usize, #[case] expected: usize) {
        assert_eq!(length_within(text, most), expected);
    }
}
