//! The kernels' parameters: which words they copy, and where each lies.  Pure arithmetic.

use super::plan::{Dimension, Plan};
use crate::kernels::MAX_BLOCKS;

/// The kernels divide numbers of 31 bits.
const MOST_WORDS: u64 = 1 << 31;
/// Each of them at least doubles the number of words.
const MAX_DIMENSIONS: usize = 31;
/// In the kernels' parameter, before the dimensions, and for each of them: 64-bit numbers.
const HEADER: usize = 4;
const ENTRY: usize = 4;
/// Words that a block copies in a step, four for each thread.
const WORDS_OF_BLOCK: u64 = 1024;
/// The width and height of the squares into which `transposed.ptx` cuts two dimensions.
const SQUARE: u64 = 32;

/// The kernels' parameter, which `strided.ptx` and `transposed.ptx` describe.
pub(super) type Parameter = [u64; HEADER + ENTRY * MAX_DIMENSIONS];

/// Each is described in the file of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    Strided,
    Transposed,
}

#[derive(Clone, Debug)]
pub(super) struct Launch {
    pub(super) kernel: Kernel,
    pub(super) blocks: u32,
    pub(super) parameter: Parameter,
}

/// The launches for a plan with dimensions, between buffers at two addresses: one, unless there are
/// more than 2^31 words.
pub(super) fn launches(plan: Plan, to: u64, from: u64) -> impl Iterator<Item = Launch> {
    let (to, from) = (to + plan.to, from + plan.from);
    let word = widest_word(&plan, to, from);
    let mut dimensions = plan.dimensions;
    if plan.run > word {
        let along = Dimension { length: plan.run / word, to: word, from: word.cast_signed() };
        dimensions.insert(0, along);
    }
    pieces(Piece { to, from, dimensions }, MOST_WORDS).map(move |piece| Launch::of(piece, word))
}

/// The size of the largest word of which everything is a multiple, in bytes.
fn widest_word(plan: &Plan, to: u64, from: u64) -> u64 {
    let strides = plan.dimensions.iter().map(|it| it.to | it.from.unsigned_abs());
    let all = strides.fold(to | from | plan.run, |all, stride| all | stride);
    1 << all.trailing_zeros().min(4)
}

/// Some of the words of a copy: where the first one goes to and comes from, and the dimensions.
#[derive(Clone)]
struct Piece {
    to: u64,
    from: u64,
    dimensions: Vec<Dimension>,
}

/// Cuts the outermost dimension in two until no piece has more than `most` words, which are at least
/// four: so no piece runs out of dimensions.
fn pieces(whole: Piece, most: u64) -> impl Iterator<Item = Piece> {
    let mut rest = vec![whole];
    std::iter::from_fn(move || {
        let mut piece = rest.pop()?;
        while piece.words() > most
            && let Some(second) = piece.split_off_half()
        {
            rest.push(second);
        }
        Some(piece)
    })
}

impl Piece {
    fn words(&self) -> u64 {
        self.dimensions.iter().map(|dimension| dimension.length).product()
    }

    /// Keeps the first half of the outermost dimension, and returns the second one; `None` for one word.
    fn split_off_half(&mut self) -> Option<Self> {
        let whole = self.dimensions.pop()?;
        let half = whole.length / 2;
        let mut second = Self {
            to: self.to + half * whole.to,
            from: self.from.wrapping_add_signed(half.cast_signed() * whole.from),
            dimensions: self.dimensions.clone(),
        };
        for (piece, length) in [(self, half), (&mut second, whole.length - half)] {
            if length > 1 {
                piece.dimensions.push(Dimension { length, ..whole });
            }
        }
        Some(second)
    }
}

impl Launch {
    fn of(piece: Piece, word: u64) -> Self {
        let Piece { to, from, mut dimensions } = piece;
        let kernel = match densest_of_source(&dimensions) {
            Some(at) => {
                dimensions.swap(1, at);
                Kernel::Transposed
            }
            None => Kernel::Strided,
        };
        debug_assert!(dimensions.len() <= MAX_DIMENSIONS);
        let mut parameter = [0; HEADER + ENTRY * MAX_DIMENSIONS];
        let (header, entries) = parameter.split_at_mut(HEADER);
        let (entries, _) = entries.as_chunks_mut::<ENTRY>();
        let mut count = 1;
        for ((at, dimension), entry) in dimensions.iter().enumerate().zip(entries) {
            let length = match kernel {
                Kernel::Transposed if at < 2 => dimension.length.div_ceil(SQUARE),
                _ => dimension.length,
            };
            count *= length;
            let (multiplier, shift) = reciprocal(length);
            *entry = [
                dimension.to,
                dimension.from.cast_unsigned(),
                length | multiplier << 32,
                shift | dimension.length << 32,
            ];
        }
        let rank = dimensions.len() as u64;
        header.copy_from_slice(&[to, from, count | word << 32, rank]);
        let blocks = match kernel {
            Kernel::Strided => count.div_ceil(WORDS_OF_BLOCK),
            Kernel::Transposed => count,
        };
        let blocks = u32::try_from(blocks).map_or(MAX_BLOCKS, |blocks| blocks.min(MAX_BLOCKS));
        Self { kernel, blocks, parameter }
    }
}

/// Which dimension the source is densest along, if the squares of `transposed.ptx` are worth it: if
/// the target is densest along another one, and both are long.
fn densest_of_source(dimensions: &[Dimension]) -> Option<usize> {
    let (across, others) = dimensions.split_first()?;
    let others = others.iter().enumerate().filter(|(_, dimension)| dimension.from != 0);
    let (at, along) = others.min_by_key(|(_, dimension)| dimension.from.unsigned_abs())?;
    let is_denser = along.from.unsigned_abs() < across.from.unsigned_abs();
    let are_long = along.length.min(across.length) >= SQUARE;
    (is_denser && are_long).then_some(at + 1)
}

/// The multiplier and the shift that divide by a length: a number of 31 bits, multiplied and shifted,
/// is the quotient.
///
/// The multiplier is 2^shift / length, rounded up by less than 1.  So what is shifted is larger than
/// the exact quotient by less than 2^31 / 2^shift, which is at most 1 / length: too little to reach
/// the next whole number.
fn reciprocal(length: u64) -> (u64, u64) {
    let shift = 31 + u64::from(length.next_power_of_two().trailing_zeros());
    ((1u64 << shift).div_ceil(length), shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    proptest! {
        #[test]
        fn a_reciprocal_divides_exactly(
            length in prop_oneof![1..100u64, 1..=MOST_WORDS, Just(MOST_WORDS)],
            quotient in any::<u64>(), more in any::<u64>(),
        ) {
            let (multiplier, shift) = reciprocal(length);
            prop_assert!(u32::try_from(multiplier).is_ok() && shift < 63);
            // Next to multiples, too, where the quotient changes.
            let multiple = quotient % (MOST_WORDS / length + 1) * length;
            for number in [multiple.saturating_sub(1), multiple, multiple + more % length] {
                let number = number.min(MOST_WORDS - 1);
                prop_assert_eq!((number * multiplier) >> shift, number / length);
            }
        }

        #[test]
        fn pieces_are_all_words_and_not_too_many(
            lengths in prop::collection::vec(2..9u64, 1..6), most in 4..300u64,
        ) {
            // Each side numbers the words in its own order.
            let count: u64 = lengths.iter().product();
            let (mut to, mut from) = (1, count);
            let dimensions = lengths.into_iter().map(|length| {
                from /= length;
                let dimension = Dimension { length, to, from: from.cast_signed() };
                to *= length;
                dimension
            });
            let whole = Piece { to: 0, from: 0, dimensions: dimensions.collect() };
            let expected = words(&whole);
            let pieces: Vec<_> = pieces(whole, most).collect();
            prop_assert!(pieces.len() as u64 <= (2 * count).div_ceil(most) + 1);
            for piece in &pieces {
                prop_assert!(piece.words() <= most && !piece.dimensions.is_empty());
                prop_assert!(piece.dimensions.len() <= most.ilog2() as usize);
            }
            let all: Vec<_> = pieces.iter().flat_map(words).collect();
            prop_assert_eq!(all, expected);
        }
    }

    /// The kernel of a copy in one launch, the size of its words, and the number of its dimensions.
    fn shape_of(
        shape: &[usize],
        item_size: usize,
        to: (usize, [i64; 2]),
        from: (usize, [i64; 2]),
    ) -> (Kernel, u64, u64) {
        let plan = Plan::of(shape, item_size, (to.0, &to.1), (from.0, &from.1));
        let launches: Vec<_> = launches(plan, 1 << 20, 1 << 21).collect();
        let [launch] = &launches[..] else { panic!("{} launches", launches.len()) };
        (launch.kernel, launch.parameter[2] >> 32, launch.parameter[3])
    }

    #[rstest]
    #[case(4, 8, 0, 256, 64, 16)]
    #[case(4, 7, 0, 256, 64, 4)]
    #[case(1, 48, 8, 208, 64, 8)]
    #[case(1, 48, 16, 210, 64, 2)]
    #[case(16, 2, 0, 200, 40, 8)]
    #[case(3, 4, 0, 256, 24, 4)]
    #[case(1, 5, 0, 200, 100, 1)]
    fn words_are_as_wide_as_the_layouts_allow(
        #[case] item_size: usize,
        #[case] length: usize,
        #[case] to: usize,
        #[case] from: usize,
        #[case] pitch: i64,
        #[case] word: u64,
    ) {
        let item = item_size as i64;
        let sides = ((to, [pitch, item]), (from, [-pitch, item]));
        let (kernel, found, _) = shape_of(&[3, length], item_size, sides.0, sides.1);
        assert_eq!((kernel, found), (Kernel::Strided, word));
    }

    #[rstest]
    #[case::squares([32, 33], 8, [8, 256], Kernel::Transposed)]
    #[case::too_few_rows([31, 500], 4, [4, 124], Kernel::Strided)]
    #[case::too_few_columns([500, 31], 4, [4, 2000], Kernel::Strided)]
    #[case::no_word_for_an_element([100, 100], 12, [12, 1200], Kernel::Strided)]
    #[case::one_row_for_all([100, 100], 4, [0, 4], Kernel::Strided)]
    #[case::one_column_for_all([100, 100], 4, [4, 0], Kernel::Strided)]
    fn what_is_dense_along_different_dimensions_is_cut_into_squares(
        #[case] shape: [usize; 2],
        #[case] item_size: usize,
        #[case] from: [i64; 2],
        #[case] kernel: Kernel,
    ) {
        let item = item_size as i64;
        let to = [shape[1] as i64 * item, item];
        assert_eq!(shape_of(&shape, item_size, (0, to), (0, from)).0, kernel);
    }

    #[test]
    fn dimensions_that_continue_each_other_are_one() {
        let every_other = |step| (0, [10 * step, step]);
        assert_eq!(shape_of(&[7, 10], 1, every_other(2), every_other(3)).2, 1);
        assert_eq!(shape_of(&[7, 9], 1, every_other(2), every_other(3)).2, 2);
    }

    fn words(piece: &Piece) -> Vec<(u64, u64)> {
        piece.dimensions.iter().fold(vec![(piece.to, piece.from)], |words, dimension| {
            let Dimension { length, to, from } = *dimension;
            let at = |n: u64| {
                move |word: &(u64, u64)| (word.0 + n * to, word.1 + n * from.unsigned_abs())
            };
            (0..length).flat_map(|n| words.iter().map(at(n)).collect::<Vec<_>>()).collect()
        })
    }
}
