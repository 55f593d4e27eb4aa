//! Streams of record batches.

use super::abi::{CUDA, FFI_ArrowDeviceArray};
use crate::error::{Error, invalid};
use crate::{DeviceArray, DeviceRecordBatch};
use arrow_cuda_context::Context;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Schema, SchemaRef};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{fmt, ptr};

/// `ArrowDeviceArrayStream`: record batches, of which each is made when it is asked for.
///
/// It is released when dropped.  One thread at a time may use it.
///
/// ```
/// use arrow_array::record_batch;
/// use arrow_cuda_array::{DeviceRecordBatch, FFI_ArrowDeviceArrayStream, c_device};
/// use arrow_cuda_context::Context;
///
/// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
/// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
/// let stream = FFI_ArrowDeviceArrayStream::new(batch.schema(), [Ok(there)]);
/// assert!(stream.device_type == c_device::CUDA && !stream.is_released());
/// # Ok::<(), arrow_cuda_array::Error>(())
/// ```
#[repr(C)]
pub struct FFI_ArrowDeviceArrayStream {
    /// The kind of memory that the batches lie in: [`CUDA`] and others.
    pub device_type: i32,
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut FFI_ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut FFI_ArrowDeviceArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

// SAFETY: the interface has streams move between threads.
unsafe impl Send for FFI_ArrowDeviceArrayStream {}

impl FFI_ArrowDeviceArrayStream {
    /// A structure without a stream, for a producer in C to write to.
    ///
    /// ```
    /// use arrow_cuda_array::FFI_ArrowDeviceArrayStream;
    ///
    /// assert!(FFI_ArrowDeviceArrayStream::empty().is_released());
    /// ```
    pub fn empty() -> Self {
        Self {
            device_type: 0,
            get_schema: None,
            get_next: None,
            get_last_error: None,
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    /// Moves the structure out of memory that a producer in C has written to.  What stays behind counts as
    /// released.
    ///
    /// ```
    /// use arrow_cuda_array::FFI_ArrowDeviceArrayStream;
    /// use arrow_schema::Schema;
    ///
    /// let mut theirs = FFI_ArrowDeviceArrayStream::new(Schema::empty().into(), []);
    /// // SAFETY: a structure that may be written to.
    /// let ours = unsafe { FFI_ArrowDeviceArrayStream::from_raw(&raw mut theirs) };
    /// assert!(theirs.is_released() && !ours.is_released());
    /// ```
    ///
    /// # Safety
    ///
    /// `structure` must point to an aligned, initialised structure that may be written to.
    pub unsafe fn from_raw(structure: *mut Self) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe { ptr::replace(structure, Self::empty()) }
    }

    /// A stream of batches with this schema, each of which is asked for when the consumer wants the next one.
    ///
    /// An error ends the call of the consumer that wanted the batch, with the error's text; so do a panic, and a
    /// batch with another schema.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// use arrow_cuda_array::{DeviceBatchStream, DeviceRecordBatch, FFI_ArrowDeviceArrayStream};
    /// use arrow_cuda_context::Context;
    ///
    /// let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    /// let batch = RecordBatch::try_from_iter([("x", column)])?;
    /// let context = Context::primary(0)?;
    /// let there = DeviceRecordBatch::from_host(&context, &batch)?;
    /// let batches = (0..3).map(move |first| there.slice(first, 1));
    /// let stream = FFI_ArrowDeviceArrayStream::new(batch.schema(), batches);
    ///
    /// // SAFETY: the stream was made above.
    /// let stream = unsafe { DeviceBatchStream::import(&context, stream) }?;
    /// assert_eq!(stream.schema(), &batch.schema());
    /// let whole = DeviceRecordBatch::concat(&stream.collect::<Result<Vec<_>, _>>()?)?;
    /// assert_eq!(whole.to_host()?, batch);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<I>(schema: SchemaRef, batches: I) -> Self
    where
        I: IntoIterator<Item = Result<DeviceRecordBatch, Error>>,
        I::IntoIter: Send + 'static,
    {
        let batches = Box::new(batches.into_iter());
        let producer = Box::new(Producer { schema, batches, failure: CString::default() });
        Self {
            device_type: CUDA,
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release),
            private_data: Box::into_raw(producer).cast(),
        }
    }

    /// Whether the stream was released, or moved elsewhere.
    ///
    /// ```
    /// use arrow_cuda_array::FFI_ArrowDeviceArrayStream;
    /// use arrow_schema::Schema;
    ///
    /// assert!(!FFI_ArrowDeviceArrayStream::new(Schema::empty().into(), []).is_released());
    /// assert!(FFI_ArrowDeviceArrayStream::empty().is_released());
    /// ```
    pub fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

impl fmt::Debug for FFI_ArrowDeviceArrayStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FFI_ArrowDeviceArrayStream")
            .field("device_type", &self.device_type)
            .field("is_released", &self.is_released())
            .finish_non_exhaustive()
    }
}

impl Drop for FFI_ArrowDeviceArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: a live stream, which is released once: its release clears the field.
            unsafe { release(self) };
        }
    }
}

/// The data of an exported stream.
struct Producer {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<DeviceRecordBatch, Error>> + Send>,
    failure: CString,
}

impl Producer {
    fn next(&mut self) -> Result<FFI_ArrowDeviceArray, String> {
        let Some(batch) = self.batches.next() else { return Ok(FFI_ArrowDeviceArray::empty()) };
        let batch = batch.map_err(|error| error.to_string())?;
        if batch.schema().fields() != self.schema.fields() {
            let (other, schema) = (batch.schema(), &self.schema);
            return Err(format!("a batch with the schema {other}, not the stream's: {schema}"));
        }
        batch.export().map_err(|error| error.to_string())
    }

    /// Answers a call of the consumer: 0, or a number of `errno` and the text for `get_last_error`.
    fn answer<T>(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<T, String>,
        to: *mut T,
    ) -> c_int {
        let made = catch_unwind(AssertUnwindSafe(|| make(self)));
        let failure = match made {
            Ok(Ok(value)) => {
                // SAFETY: the consumer passes memory that contains no structure yet.
                unsafe { to.write(value) };
                return 0;
            }
            Ok(Err(text)) => text,
            Err(_) => "the producer of the stream panicked".into(),
        };
        self.failure = CString::new(failure.replace('\0', " ")).unwrap_or_default();
        EIO
    }
}

const EIO: c_int = 5;

/// # Safety
///
/// The stream must be one of [`FFI_ArrowDeviceArrayStream::new`] that is not released.
unsafe fn producer<'a>(stream: *mut FFI_ArrowDeviceArrayStream) -> &'a mut Producer {
    // SAFETY: guaranteed by the caller; consumers make one call at a time.
    unsafe { &mut *(*stream).private_data.cast::<Producer>() }
}

unsafe extern "C" fn get_schema(
    stream: *mut FFI_ArrowDeviceArrayStream,
    to: *mut FFI_ArrowSchema,
) -> c_int {
    let make = |producer: &mut Producer| {
        FFI_ArrowSchema::try_from(producer.schema.as_ref()).map_err(|error| error.to_string())
    };
    // SAFETY: consumers call this with a live stream.
    unsafe { producer(stream) }.answer(make, to)
}

unsafe extern "C" fn get_next(
    stream: *mut FFI_ArrowDeviceArrayStream,
    to: *mut FFI_ArrowDeviceArray,
) -> c_int {
    // SAFETY: consumers call this with a live stream.
    unsafe { producer(stream) }.answer(Producer::next, to)
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowDeviceArrayStream) -> *const c_char {
    // SAFETY: consumers call this with a live stream.
    unsafe { producer(stream) }.failure.as_ptr()
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowDeviceArrayStream) {
    // SAFETY: a consumer calls this once, with a live stream.
    let producer = unsafe {
        (*stream).release = None;
        Box::from_raw((*stream).private_data.cast::<Producer>())
    };
    // A panic must not unwind into C.
    drop(catch_unwind(AssertUnwindSafe(|| drop(producer))));
}

/// The record batches of another library's stream, as they come.
///
/// Each is imported as [`DeviceRecordBatch::import`] does.  An error ends the stream.
///
/// ```
/// use arrow_array::record_batch;
/// use arrow_cuda_array::{DeviceBatchStream, DeviceRecordBatch, FFI_ArrowDeviceArrayStream};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
/// let there = DeviceRecordBatch::from_host(&context, &batch)?;
/// let theirs = FFI_ArrowDeviceArrayStream::new(batch.schema(), [Ok(there.clone()), Ok(there)]);
/// // SAFETY: the stream was made above.
/// for imported in unsafe { DeviceBatchStream::import(&context, theirs) }? {
///     assert_eq!(imported?.to_host()?, batch);
/// }
/// # Ok::<(), arrow_cuda_array::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceBatchStream {
    context: Context,
    schema: SchemaRef,
    /// None: it has ended.
    stream: Option<FFI_ArrowDeviceArrayStream>,
}

impl DeviceBatchStream {
    /// Takes a stream over, and asks it for its schema.
    ///
    /// ```
    /// use arrow_cuda_array::{DeviceBatchStream, FFI_ArrowDeviceArrayStream};
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::Schema;
    ///
    /// let theirs = FFI_ArrowDeviceArrayStream::new(Schema::empty().into(), []);
    /// // SAFETY: the stream was made above.
    /// let mut batches = unsafe { DeviceBatchStream::import(&Context::primary(0)?, theirs) }?;
    /// assert!(batches.next().is_none());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The stream must be what the interface promises, and so must its batches: see
    /// [`DeviceArray::import`].
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a stream that was released or lacks a function, [`Error::Stream`] for its own
    /// error, [`Error::Arrow`] for a schema that arrow-rs refuses.
    pub unsafe fn import(
        context: &Context,
        mut stream: FFI_ArrowDeviceArrayStream,
    ) -> Result<Self, Error> {
        if stream.is_released() {
            return invalid("the stream was released");
        }
        let mut schema = FFI_ArrowSchema::empty();
        let get_schema = stream.get_schema;
        // SAFETY: guaranteed by the caller.
        unsafe { call(&mut stream, get_schema, &mut schema) }?;
        let schema = Schema::try_from(&schema)?.into();
        Ok(Self { context: context.clone(), schema, stream: Some(stream) })
    }

    /// The schema of all batches.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use arrow_cuda_array::{DeviceBatchStream, FFI_ArrowDeviceArrayStream};
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::{DataType, Field, Schema};
    ///
    /// let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]));
    /// let theirs = FFI_ArrowDeviceArrayStream::new(Arc::clone(&schema), []);
    /// // SAFETY: the stream was made above.
    /// let batches = unsafe { DeviceBatchStream::import(&Context::primary(0)?, theirs) }?;
    /// assert_eq!(batches.schema(), &schema);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn take_next(&mut self) -> Result<Option<DeviceRecordBatch>, Error> {
        let Some(mut stream) = self.stream.take() else { return Ok(None) };
        let mut array = FFI_ArrowDeviceArray::empty();
        let get_next = stream.get_next;
        // SAFETY: as the caller of `import` has promised.
        unsafe { call(&mut stream, get_next, &mut array) }?;
        if array.is_released() {
            return Ok(None);
        }
        let rows = DataType::Struct(self.schema.fields().clone());
        // SAFETY: as the caller of `import` has promised.
        let rows = unsafe { DeviceArray::import(&self.context, array, &rows) }?;
        let batch = DeviceRecordBatch::from_struct(self.schema.clone(), &rows)?;
        self.stream = Some(stream);
        Ok(Some(batch))
    }
}

impl Iterator for DeviceBatchStream {
    type Item = Result<DeviceRecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take_next().transpose()
    }
}

/// Calls a function of a stream, and asks for the text of its error.
///
/// # Safety
///
/// The stream must be what the interface promises.
unsafe fn call<T>(
    stream: &mut FFI_ArrowDeviceArrayStream,
    function: Option<unsafe extern "C" fn(*mut FFI_ArrowDeviceArrayStream, *mut T) -> c_int>,
    to: &mut T,
) -> Result<(), Error> {
    let Some(function) = function else { return invalid("the stream lacks a function") };
    // SAFETY: guaranteed by the caller.
    let code = unsafe { function(stream, to) };
    if code == 0 {
        return Ok(());
    }
    // SAFETY: as above.
    let text = stream.get_last_error.map_or(ptr::null(), |function| unsafe { function(stream) });
    let text = match text.is_null() {
        true => "without a text".into(),
        // SAFETY: the interface promises a string that stays until the next call.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy(),
    };
    Err(Error::Stream { code, text: text.into_owned() })
}
