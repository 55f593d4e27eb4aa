//! The dictionaries of a stream: which of them a batch needs, and their values so far.

use crate::Error;
use crate::metadata::{MessageKind, Metadata};
use arrow_array::new_empty_array;
use arrow_cuda_array::{DeviceArray, child_types};
use arrow_cuda_context::Context;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{Field as FieldHeader, root_as_message};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::collections::HashMap;

#[derive(Default)]
pub(super) struct Dictionaries {
    /// The numbers of a batch's dictionaries, in the order of its arrays.
    of_batch: Vec<i64>,
    kinds: HashMap<i64, Kind>,
    values: HashMap<i64, DeviceArray>,
}

pub(super) struct Kind {
    /// The type of the values.
    data_type: DataType,
    /// The numbers of the dictionaries within them.
    pub(super) inner: Vec<i64>,
}

impl Kind {
    /// The field that the values are.
    pub(super) fn field(&self) -> Field {
        Field::new("values", self.data_type.clone(), true)
    }
}

impl Dictionaries {
    /// A stream's schema, from the metadata of its first message, and its dictionaries, which have no values yet.
    pub(super) fn of_schema(metadata: &[u8]) -> Result<(SchemaRef, Self), Error> {
        match Metadata::parse(metadata)?.kind {
            MessageKind::Schema { is_swapped: false } => {}
            MessageKind::Schema { is_swapped: true } => {
                return Err(Error::Message("the stream has another byte order".into()));
            }
            _ => return Err(Error::Message("the stream does not begin with its schema".into())),
        }
        let message =
            root_as_message(metadata).map_err(|error| Error::Message(error.to_string()))?;
        let Some(header) = message.header_as_schema() else {
            return Err(Error::Message("the stream does not begin with its schema".into()));
        };
        let schema: Schema = try_fb_to_schema(header)?;
        let mut found = Self::default();
        let fields = header.fields().into_iter().flatten();
        let types = schema.fields().iter().map(|field| field.data_type());
        found.of_batch = found.list(fields.zip(types));
        Ok((schema.into(), found))
    }

    /// Notes the kinds of the dictionaries within these fields; their numbers in the order of the arrays.
    fn list<'a>(
        &mut self,
        fields: impl Iterator<Item = (FieldHeader<'a>, &'a DataType)>,
    ) -> Vec<i64> {
        let mut numbers = Vec::new();
        for (field, data_type) in fields {
            let (values, number) = match (data_type, field.dictionary()) {
                (DataType::Dictionary(_, values), Some(dictionary)) => {
                    (&**values, Some(dictionary.id()))
                }
                _ => (data_type, None),
            };
            let children = field.children().into_iter().flatten();
            let inner = self.list(children.zip(child_types(values)));
            match number {
                None => numbers.extend(inner),
                Some(number) => {
                    numbers.push(number);
                    self.kinds.insert(number, Kind { data_type: values.clone(), inner });
                }
            }
        }
        numbers
    }

    /// The numbers of a batch's dictionaries, in the order of its arrays.
    pub(super) fn numbers(&self) -> &[i64] {
        &self.of_batch
    }

    pub(super) fn kind(&self, number: i64) -> Result<&Kind, Error> {
        let no_such = || Error::Message(format!("the schema has no dictionary {number}"));
        self.kinds.get(&number).ok_or_else(no_such)
    }

    /// Takes the values of a dictionary in place of those before, or after them.
    pub(super) fn add(
        &mut self,
        number: i64,
        is_delta: bool,
        values: Vec<DeviceArray>,
    ) -> Result<(), Error> {
        let mut all: Vec<_> =
            self.values.remove(&number).filter(|_| is_delta).into_iter().collect();
        all.extend(values);
        let values = match all.as_slice() {
            [only] => only.clone(),
            several => DeviceArray::concat(several)?,
        };
        self.values.insert(number, values);
        Ok(())
    }

    /// The values of dictionaries.
    pub(super) fn values(
        &self,
        numbers: &[i64],
        context: &Context,
    ) -> Result<Vec<DeviceArray>, Error> {
        let find = |number: &i64| match self.values.get(number) {
            Some(values) => Ok(values.clone()),
            // The format lets a dictionary follow a batch in which all elements are null.
            None => {
                let empty = new_empty_array(&self.kind(*number)?.data_type);
                Ok(DeviceArray::from_host(context, &empty)?)
            }
        };
        numbers.iter().map(find).collect()
    }
}
