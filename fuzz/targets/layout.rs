//! Views of arrays, one of the other: none may reach memory that the array does not span.
#![no_main]

use arbitrary::Arbitrary;
use arrow_cuda_numba_bridge::{ElementType, Index, Order, Slice, StridedLayout};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Views {
    item_size: u8,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Index(Vec<Entry>),
    Reshape(Vec<i64>, bool),
    Ravel(bool),
    Transpose(Vec<i64>),
    Reversed,
    Squeeze(Option<Vec<i64>>),
    Broadcast(Vec<i64>),
    View(u32),
    Field(usize, u32, Vec<i64>),
}

#[derive(Arbitrary, Debug)]
enum Entry {
    At(i64),
    Slice(Option<i64>, Option<i64>, Option<i64>),
    Rest,
    New,
}

fn opaque(size: u32) -> ElementType {
    format!("|V{size}").parse().expect("a typestr")
}

fn order(is_c: bool) -> Order {
    if is_c { Order::C } else { Order::Fortran }
}

impl Step {
    /// The view, and where its first element begins.
    fn apply(&self, layout: &StridedLayout) -> Option<(StridedLayout, i64)> {
        let here = |view| (view, 0);
        match self {
            Self::Index(entries) => {
                let entries: Vec<_> = entries.iter().map(Entry::as_index).collect();
                layout.index(&entries).ok()
            }
            Self::Reshape(shape, is_c) => layout.reshape(shape, order(*is_c)).ok().map(here),
            Self::Ravel(is_c) => layout.ravel(order(*is_c)).ok().map(here),
            Self::Transpose(axes) => layout.transpose(axes).ok().map(here),
            Self::Reversed => Some(here(layout.clone().reversed())),
            Self::Squeeze(axes) => layout.squeeze(axes.as_deref()).ok().map(here),
            Self::Broadcast(shape) => layout.broadcast_to(shape).ok().map(here),
            Self::View(size) => layout.with_element(opaque(*size)).ok().map(here),
            Self::Field(offset, size, shape) => {
                let field = layout.field(*offset, opaque(*size), shape).ok()?;
                Some((field, i64::try_from(*offset).expect("within an element")))
            }
        }
    }
}

impl Entry {
    fn as_index(&self) -> Index {
        match *self {
            Self::At(at) => Index::At(at),
            Self::Slice(start, stop, step) => Index::Slice(Slice { start, stop, step }),
            Self::Rest => Index::Rest,
            Self::New => Index::New,
        }
    }
}

/// The range of bytes that a view touches, from the first array's first element.
fn reach(layout: &StridedLayout, offset: i128) -> (i128, i128) {
    let span = layout.span();
    let start = offset + i128::from(span.start);
    (start, start + span.size as i128)
}

fuzz_target!(|views: Views| {
    let element = opaque(views.item_size.into());
    let made = match views.strides {
        None => StridedLayout::row_major(element, views.shape),
        Some(strides) => StridedLayout::strided(element, views.shape, strides),
    };
    let Ok(mut layout) = made else { return };
    let mut offset = 0;
    for step in &views.steps {
        let Some((view, begin)) = step.apply(&layout) else { continue };
        let ((start, end), inner) = (reach(&layout, offset), offset + i128::from(begin));
        let (first, last) = reach(&view, inner);
        assert!(view.size() == 0 || start <= first && last <= end, "{step:?} of {layout:?}");
        assert!(!view.is_contiguous() || view.span().size == view.size(), "{view:?}");
        (layout, offset) = (view, inner);
    }
});
