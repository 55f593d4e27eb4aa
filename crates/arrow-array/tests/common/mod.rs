//! Arrays of every type.

#![allow(dead_code, reason = "for some of the test files")]

use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::{Buffer, NullBuffer, ToByteSlice};
use arrow_cuda_array::DeviceArray;
use arrow_cuda_context::Context;
use arrow_data::{ArrayData, BufferSpec, layout};
use arrow_schema::{DataType, Field, Fields, IntervalUnit, TimeUnit, UnionFields, UnionMode};
use proptest::prelude::*;
use std::sync::Arc;

/// A copy on the device.
pub fn there(context: &Context, array: &dyn Array) -> DeviceArray {
    DeviceArray::from_host(context, array).expect("room")
}

pub fn field(name: &str, data_type: DataType, is_nullable: bool) -> Arc<Field> {
    Arc::new(Field::new(name, data_type, is_nullable))
}

/// Types of every layout, nested up to three levels.
pub fn types() -> impl Strategy<Value = DataType> {
    let flat = prop::sample::select(vec![
        DataType::Null,
        DataType::Boolean,
        DataType::Int8,
        DataType::UInt64,
        DataType::Float16,
        DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
        DataType::Interval(IntervalUnit::MonthDayNano),
        DataType::Decimal128(38, 2),
        DataType::Decimal256(76, 2),
        DataType::FixedSizeBinary(3),
        DataType::FixedSizeBinary(0),
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::Utf8View,
        DataType::BinaryView,
    ]);
    flat.prop_recursive(3, 12, 3, |inner| {
        let item = inner.clone().prop_map(|inner| field("item", inner, true));
        let items = |least: usize| {
            prop::collection::vec(inner.clone(), least..3).prop_map(|types| {
                let named = |(number, inner)| field(&format!("f{number}"), inner, true);
                types.into_iter().enumerate().map(named).collect::<Vec<_>>()
            })
        };
        prop_oneof![
            item.clone().prop_map(DataType::List),
            item.clone().prop_map(DataType::LargeList),
            item.clone().prop_map(DataType::ListView),
            item.clone().prop_map(DataType::LargeListView),
            (item.clone(), 0..4i32).prop_map(|(item, size)| DataType::FixedSizeList(item, size)),
            items(0).prop_map(|items| DataType::Struct(items.into())),
            (items(1), any::<bool>()).prop_map(|(items, is_dense)| {
                let ids = (0..items.len() as i8).map(|id| 3 * id + 1);
                let mode = if is_dense { UnionMode::Dense } else { UnionMode::Sparse };
                DataType::Union(ids.zip(items).collect(), mode)
            }),
            inner.clone().prop_map(|values| {
                let entry = Fields::from(vec![
                    field("keys", DataType::Utf8, false),
                    field("values", values, true),
                ]);
                DataType::Map(field("entries", DataType::Struct(entry), false), false)
            }),
            (inner, prop::sample::select(vec![DataType::Int8, DataType::UInt32]))
                .prop_map(|(values, keys)| DataType::Dictionary(Box::new(keys), Box::new(values))),
            item.prop_map(|values| {
                DataType::RunEndEncoded(field("run_ends", DataType::Int32, false), values)
            }),
        ]
    })
}

/// Numbers that look random, and are the same for the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        ((self.0 >> 33) as usize).checked_rem(end).unwrap_or(0)
    }

    pub fn bytes(&mut self, size: usize) -> Vec<u8> {
        (0..size).map(|_| self.below(256) as u8).collect()
    }

    /// Positions that ascend from `first` by at most 5, one more than `length`.
    fn ascending(&mut self, first: usize, length: usize) -> Vec<usize> {
        let mut end = first;
        let rest = (0..length).map(|_| {
            end += self.below(6);
            end
        });
        std::iter::once(first).chain(rest).collect()
    }
}

/// An array of `length` elements of a type.
pub fn array(data_type: &DataType, length: usize, dice: &mut Dice) -> ArrayRef {
    make_array(data(data_type, length, true, dice))
}

fn words<T>(numbers: impl IntoIterator<Item = usize>) -> Buffer
where
    T: TryFrom<usize> + ToByteSlice,
{
    let mut bytes = Vec::new();
    for number in numbers {
        let Ok(number) = T::try_from(number) else { panic!("{number}") };
        bytes.extend_from_slice(number.to_byte_slice());
    }
    Buffer::from(bytes)
}

fn numbers(width: usize, numbers: impl IntoIterator<Item = usize>) -> Buffer {
    if width == 4 { words::<i32>(numbers) } else { words::<i64>(numbers) }
}

fn data(data_type: &DataType, length: usize, may_be_null: bool, dice: &mut Dice) -> ArrayData {
    let layout = layout(data_type);
    let mut builder = ArrayData::builder(data_type.clone()).len(length);
    if layout.can_contain_null_mask && may_be_null && dice.below(3) > 0 {
        let valid: NullBuffer = (0..length).map(|_| dice.below(4) > 0).collect();
        builder = builder.nulls(Some(valid));
    }
    let width = match layout.buffers.first() {
        Some(BufferSpec::FixedWidth { byte_width, .. }) => *byte_width,
        _ => 0,
    };
    let builder = match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
            let first = dice.below(9);
            let ends = dice.ascending(first, length);
            let text = vec![b'a' + dice.below(26) as u8; ends[length] + dice.below(9)];
            builder.add_buffer(numbers(width, ends)).add_buffer(Buffer::from(text))
        }
        DataType::Utf8View | DataType::BinaryView => {
            let led_to: Vec<_> = (0..dice.below(3)).map(|_| Buffer::from(vec![b'v'; 40])).collect();
            let views = (0..length).flat_map(|_| {
                let view = match dice.below(2) {
                    1 if !led_to.is_empty() => {
                        let (buffer, offset) = (dice.below(led_to.len()), dice.below(20));
                        (13 + dice.below(7)) as u128
                            | u128::from(u32::from_ne_bytes(*b"vvvv")) << 32
                            | (buffer as u128) << 64
                            | (offset as u128) << 96
                    }
                    _ => u128::from(b's') << 32 | 1,
                };
                view.to_le_bytes()
            });
            let views = Buffer::from(views.collect::<Vec<u8>>());
            builder.add_buffer(views).add_buffers(led_to)
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            let first = dice.below(9);
            let ends = dice.ascending(first, length);
            let is_nullable = item.is_nullable();
            let child = data(item.data_type(), ends[length] + dice.below(5), is_nullable, dice);
            builder.add_buffer(numbers(width, ends)).add_child_data(child)
        }
        DataType::ListView(item) | DataType::LargeListView(item) => {
            let total = dice.below(30);
            let offsets: Vec<_> = (0..length).map(|_| dice.below(total + 1)).collect();
            let sizes: Vec<_> = offsets.iter().map(|at| dice.below(total - at + 1)).collect();
            let child = data(item.data_type(), total, true, dice);
            let buffers = [numbers(width, offsets), numbers(width, sizes)];
            builder.add_buffers(buffers).add_child_data(child)
        }
        DataType::FixedSizeList(item, size) => {
            let total = length * *size as usize + dice.below(3);
            builder.add_child_data(data(item.data_type(), total, true, dice))
        }
        DataType::Struct(fields) => fields.iter().fold(builder, |builder, field| {
            let longer = length + dice.below(3);
            builder.add_child_data(data(field.data_type(), longer, field.is_nullable(), dice))
        }),
        DataType::Union(fields, mode) => union(fields, *mode, length, dice),
        DataType::RunEndEncoded(_, values) => {
            let ends: Vec<_> =
                dice.ascending(1, length).into_iter().map(|end| end.max(1)).collect();
            let mut ends: Vec<_> = ends.into_iter().chain([length.max(1) + 7 * length]).collect();
            ends.sort_unstable();
            ends.dedup();
            let child = ArrayData::builder(DataType::Int32).len(ends.len());
            let values = data(values.data_type(), ends.len(), true, dice);
            let child = child.add_buffer(words::<i32>(ends)).build().expect("ends");
            builder.child_data(vec![child, values])
        }
        DataType::Dictionary(_, values) => {
            let total = 1 + dice.below(9);
            let keys = (0..length).flat_map(|_| {
                let mut key = vec![0; width];
                key[0] = dice.below(total) as u8;
                key
            });
            let keys = Buffer::from(keys.collect::<Vec<_>>());
            builder.add_buffer(keys).add_child_data(data(values, total, true, dice))
        }
        DataType::Null => builder,
        DataType::Boolean => builder.add_buffer(dice.bytes(length.div_ceil(8)).into()),
        _ => builder.add_buffer(dice.bytes(length * width).into()),
    };
    builder.align_buffers(true).build().expect("a valid array")
}

fn union(
    fields: &UnionFields,
    mode: UnionMode,
    length: usize,
    dice: &mut Dice,
) -> arrow_data::ArrayDataBuilder {
    let data_type = DataType::Union(fields.clone(), mode);
    let builder = ArrayData::builder(data_type).len(length);
    let total = if mode == UnionMode::Sparse { length } else { 1 + dice.below(9) };
    let ids: Vec<_> = fields.iter().map(|(id, _)| id as u8).collect();
    let chosen: Vec<_> = (0..length).map(|_| ids[dice.below(ids.len())]).collect();
    let builder = builder.add_buffer(chosen.into());
    let builder = match mode {
        UnionMode::Sparse => builder,
        UnionMode::Dense => {
            builder.add_buffer(words::<i32>((0..length).map(|_| dice.below(total))))
        }
    };
    fields.iter().fold(builder, |builder, (_, field)| {
        builder.add_child_data(data(field.data_type(), total, true, dice))
    })
}
