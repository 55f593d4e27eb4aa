//! Random copies between layouts, and what they should do: one element after the other.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// An array in a buffer of `size` bytes, as in `Elements`.
#[derive(Clone, Debug)]
pub struct Side {
    pub offset: usize,
    pub strides: Vec<i64>,
    pub size: usize,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub shape: Vec<usize>,
    pub item_size: usize,
    pub to: Side,
    pub from: Side,
}

impl Case {
    /// The target's contents afterwards.
    pub fn apply(&self, target: &[u8], source: &[u8]) -> Vec<u8> {
        let mut result = target.to_vec();
        let size = self.item_size;
        for (to, from) in self.elements() {
            result[to..to + size].copy_from_slice(&source[from..from + size]);
        }
        result
    }

    /// Where each element begins in the target and in the source.
    pub fn elements(&self) -> Vec<(usize, usize)> {
        let first = (self.to.offset as i64, self.from.offset as i64);
        let strides = self.to.strides.iter().zip(&self.from.strides);
        let places = self.shape.iter().zip(strides).fold(vec![first], |places, (length, by)| {
            let step = |n: i64| move |place: &(i64, i64)| (place.0 + n * by.0, place.1 + n * by.1);
            (0..*length as i64).flat_map(|n| places.iter().map(step(n))).collect()
        });
        places.into_iter().map(|(to, from)| (to as usize, from as usize)).collect()
    }
}

/// A dimension of an array that is part of another one: every how many elements, whether backwards,
/// how many more elements the other one has, and how far out the dimension lies.
type Dimension = (usize, bool, usize, u32);

fn dimension() -> impl Strategy<Value = Dimension> {
    let steps = prop_oneof![4 => Just(1), 1 => 2..4usize];
    let more = prop_oneof![4 => Just(0), 1 => 1..4usize];
    (steps, prop::bool::weighted(0.2), more, any::<u32>())
}

/// By how much gaps may enlarge an array.
const MOST_GAPS: usize = 8;

/// A part of an array whose items lie `gap` bytes apart.
fn part(
    shape: &[usize],
    item_size: usize,
    dimensions: &[Dimension],
    gap: usize,
    margin: usize,
) -> Side {
    let mut strides = vec![0; shape.len()];
    let (mut dense, mut gaps) = (item_size + gap, 1);
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.sort_by_key(|at| dimensions[*at].3);
    for at in order {
        let (mut step, is_backwards, mut more, _) = dimensions[at];
        gaps *= step + more;
        if gaps > MOST_GAPS {
            (step, more) = (1, 0);
        }
        let stride = (dense * step) as i64;
        strides[at] = if is_backwards { -stride } else { stride };
        dense *= shape[at] * step + more;
    }
    within(shape, item_size, strides, margin)
}

/// An array in the smallest buffer that has a margin on both sides.
fn within(shape: &[usize], item_size: usize, strides: Vec<i64>, margin: usize) -> Side {
    let reaches = shape.iter().zip(&strides).map(|(length, by)| (length - 1) as i64 * by);
    let (back, forth) =
        reaches.fold((0, 0), |(back, forth), reach| (back - reach.min(0), forth + reach.max(0)));
    let offset = margin + back as usize;
    Side { offset, strides, size: offset + forth as usize + item_size + margin }
}

/// Copies of arrays of these shapes, between parts of arrays, or from an array with any strides.
pub fn cases(shapes: impl Strategy<Value = Vec<usize>>) -> impl Strategy<Value = Case> {
    let sides = |rank: usize| {
        let side = || (vec(dimension(), rank), select(&[0, 0, 0, 1, 4, 16][..]), margins());
        let repeats = vec(prop::bool::weighted(0.2), rank);
        let any_strides = prop::option::weighted(0.2, vec(-40..40i64, rank));
        (side(), side(), repeats, any_strides)
    };
    let item_size = select(&[1usize, 2, 3, 4, 6, 8, 12, 16, 24, 32][..]);
    let parts = (shapes, item_size).prop_flat_map(move |(shape, item_size)| {
        let rank = shape.len();
        (Just(shape), Just(item_size), sides(rank))
    });
    parts.prop_map(|(shape, item_size, (to, from, repeats, any_strides))| {
        let to = part(&shape, item_size, &to.0, to.1, to.2);
        let (dimensions, gap, margin) = from;
        let mut strides = part(&shape, item_size, &dimensions, gap, margin).strides;
        for (stride, repeats) in strides.iter_mut().zip(repeats) {
            *stride *= i64::from(!repeats);
        }
        let from = within(&shape, item_size, any_strides.unwrap_or(strides), margin);
        Case { shape, item_size, to, from }
    })
}

fn margins() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), Just(16), Just(64), 0..40usize]
}

/// Shapes of a few hundred elements at most.
pub fn small_shapes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![vec(1..6usize, 0..=4), vec(1..3usize, 5..=8), vec(1..40usize, 1..=2)]
}

/// Two long dimensions, and others between them.
pub fn long_shapes() -> impl Strategy<Value = Vec<usize>> {
    (vec(1..3usize, 0..=2), 30..70usize, 30..70usize).prop_flat_map(|(mut others, x, y)| {
        others.extend([x, y]);
        Just(others).prop_shuffle()
    })
}
