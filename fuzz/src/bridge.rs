//! The bridge, and objects that it takes for pyarrow's.

use crate::abi::{DeviceArray, Schema};
use arrow_cuda_bridge::{Bridge, Contents, DataKind, Destination, Object, ObjectRef, PyarrowApi};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_ipc::{DeviceMessage, MessageIndex, Source};
use std::ffi::c_void;
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use std::sync::LazyLock;
use std::time::Duration;

/// Declares the functions of `pyarrow/methods.cc`, and finds them by name.
macro_rules! methods {
    ($($name:ident: $kind:ty,)*) => {
        struct Methods {
            $($name: $kind,)*
        }

        impl Methods {
            fn load(library: &libloading::Library) -> Self {
                $(
                    let name = concat!("fuzz_", stringify!($name), "\0");
                    // SAFETY: the function has the type that its row says.
                    let $name = *unsafe { library.get::<$kind>(name.as_bytes()) }.expect(name);
                )*
                Self { $($name,)* }
            }
        }
    };
}

type Use = unsafe extern "C" fn(context: *mut c_void, batch: Object);

methods! {
    table: unsafe extern "C" fn() -> PyarrowApi,
    new_buffer: unsafe extern "C" fn() -> Object,
    new_file: unsafe extern "C" fn() -> Object,
    decref: unsafe extern "C" fn(Object),
    bytes_allocated: unsafe extern "C" fn() -> i64,
    host: unsafe extern "C" fn() -> Object,
    import_type: unsafe extern "C" fn(*mut Schema, bool) -> Object,
    import: unsafe extern "C" fn(*mut DeviceArray, *mut Schema, Object, bool) -> Object,
    export: unsafe extern "C" fn(Object, *mut DeviceArray, *mut Schema) -> bool,
    is_valid: unsafe extern "C" fn(Object, bool) -> bool,
    schema: unsafe extern "C" fn(*const u8, i64, *mut i64) -> Object,
    read_message: unsafe extern "C" fn(Object, Object) -> Object,
    read_all: unsafe extern "C" fn(Object, bool, Use, *mut c_void),
}

/// The bridge, and what stands in for pyarrow.  Inputs may be refused; a panic ends the process
/// even where the border catches it.
pub struct Pyarrow {
    pub bridge: Bridge,
    pub context: Context,
    methods: Methods,
}

static PYARROW: LazyLock<Pyarrow> = LazyLock::new(|| {
    let folder = std::env::var("FUZZ_BRIDGE").expect("FUZZ_BRIDGE is where the libraries are");
    let folder = Path::new(&folder);
    // SAFETY: our own library.
    let library = unsafe { libloading::Library::new(folder.join("libfuzz_pyarrow.so")) };
    let library = library.expect("the stand-in for pyarrow");
    let methods = Methods::load(&library);
    std::mem::forget(library);
    // SAFETY: a table of functions that agree with the bridge's idea of pyarrow.
    let bridge = unsafe { Bridge::load(&folder.join("libarrow_bridge.so"), (methods.table)()) };
    let context = Context::primary(0).expect("the simulated device");
    Pyarrow { bridge: bridge.expect("the bridge"), context, methods }
});

/// An object of a pyarrow that has no Python: one reference to it.
pub struct Reference(NonNull<arrow_cuda_bridge::PyObject>);

impl Reference {
    fn new(object: Object) -> Option<Self> {
        NonNull::new(object).map(Self)
    }

    pub fn object(&self) -> Object {
        self.0.as_ptr()
    }

    fn object_ref(&self) -> ObjectRef<'_> {
        // SAFETY: our own reference; there is no GIL here.
        unsafe { ObjectRef::new(self.object()) }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: our own reference.
        unsafe { (PYARROW.methods.decref)(self.object()) };
    }
}

fn object_of(reference: Option<&Reference>) -> Object {
    reference.map_or(null_mut(), Reference::object)
}

impl Pyarrow {
    /// The only one.
    pub fn get() -> &'static Self {
        &PYARROW
    }

    /// Fails if anything stays allocated that was not `before`.  libarrow's own threads may drop
    /// what they have read a little later.
    ///
    /// # Panics
    ///
    /// If something is lost.
    pub fn wait_for_release(&self, before: (u64, i64)) {
        for _ in 0..5000 {
            if self.allocated() == before {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(self.allocated(), before);
    }

    /// Allocated memory on the device and on the host.
    pub fn allocated(&self) -> (u64, i64) {
        // SAFETY: asks libarrow for a number.
        (self.context.bytes_allocated().unwrap(), unsafe { (self.methods.bytes_allocated)() })
    }

    // --- the C Device interface --------------------------------------------------------------

    /// `Array._import_from_c_device`, or RecordBatch's, with a type that was imported before or
    /// with the structure's own.  Both structures are released, or belong to the result.
    ///
    /// # Safety
    ///
    /// The structures must be valid for import.
    pub unsafe fn import(
        &self,
        array: *mut DeviceArray,
        schema: *mut Schema,
        by_type: bool,
        is_batch: bool,
    ) -> Option<Reference> {
        let mut schema = schema;
        let mut kind = None;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if by_type {
                kind = Reference::new((self.methods.import_type)(schema, is_batch));
                if kind.is_none() {
                    (*array).release();
                    return None;
                }
                schema = null_mut();
            }
            let described = kind.as_ref().map(Reference::object_ref);
            let prepared =
                self.bridge.prepare_import(array.cast(), schema.cast(), described, is_batch);
            if let Some(consumed) = prepared.ok()? {
                kind = Reference::new(consumed);
            }
            let described = object_of(kind.as_ref());
            let object = (self.methods.import)(array, schema, described, is_batch);
            let imported = Reference::new(object)?;
            let finished = self.bridge.finish_import(imported.object_ref(), array.cast());
            Some(finished.ok()?.and_then(Reference::new).unwrap_or(imported))
        }
    }

    /// `__arrow_c_device_array__`, whose capsules are dropped.  Whether the nulls are counted now.
    fn export(&self, object: &Reference, is_batch: bool) -> bool {
        // SAFETY: live objects and structures.
        unsafe {
            let Ok(prepared) = self.bridge.prepare(object.object_ref(), is_batch) else {
                return false;
            };
            let prepared = prepared.and_then(Reference::new);
            let exported = prepared.as_ref().unwrap_or(object);
            let (mut array, mut schema) = (DeviceArray::default(), Schema::default());
            if !(self.methods.export)(exported.object(), &raw mut array, &raw mut schema) {
                return true;
            }
            let (place, described) = ((&raw mut array).cast(), (&raw mut schema).cast());
            self.bridge.finish_export(exported.object_ref(), place, described).ok();
            array.release();
            schema.release();
            true
        }
    }

    /// Uses an array or batch as one may that comes from a stranger.  libarrow itself gets those
    /// on the host once they are known to be valid.
    pub fn work_with(&self, object: &Reference, is_batch: bool) {
        // SAFETY: live objects.
        unsafe {
            self.bridge.is_on_device(object.object_ref());
            let is_counted = self.export(object, is_batch);
            if !is_batch {
                drop(self.bridge.skeleton_of(object.object_ref()).ok().map(Reference::new));
            }
            // Of maps, libarrow counts the nulls itself, on the host wherever they are.
            let is_valid = is_counted && (self.methods.is_valid)(object.object(), false);
            let manager = Reference::new((self.methods.host)()).unwrap();
            let kind = if is_batch { DataKind::Batch } else { DataKind::Array };
            let host = Destination::new(manager.object_ref(), false);
            let copy = self.bridge.copy_to(object.object_ref(), kind, Some(&host), None);
            // None says that everything lies on the host.
            let Ok(copy) = copy else { return };
            let copy = copy.and_then(Reference::new);
            let on_host = copy.as_ref().unwrap_or(object);
            if is_batch && let Ok(mut payload) = self.bridge.payload(on_host.object_ref()) {
                let message = payload.ranges().map(|ranges| ranges.concat()).ok();
                std::hint::black_box(message);
            }
            if is_valid && (self.methods.is_valid)(on_host.object(), true) {
                self.export(on_host, is_batch);
            }
        }
    }

    // --- messages ----------------------------------------------------------------------------

    /// A `CudaBuffer`.
    pub fn buffer(&self, memory: DeviceBuffer) -> Reference {
        // SAFETY: a fresh object.
        unsafe {
            let fresh = Reference::new((self.methods.new_buffer)()).unwrap();
            self.bridge.init(fresh.object_ref(), Contents::Buffer(memory)).unwrap();
            fresh
        }
    }

    /// A `BufferReader`.
    pub fn reader(&self, buffer: &Reference) -> Reference {
        // SAFETY: a fresh object.
        unsafe {
            let fresh = Reference::new((self.methods.new_file)()).unwrap();
            self.bridge.init(fresh.object_ref(), Contents::Reader(buffer.object_ref())).unwrap();
            fresh
        }
    }

    /// The schema that a stream begins with, and its other bytes.
    pub fn schema<'a>(&self, stream: &'a [u8]) -> Option<(Reference, &'a [u8])> {
        let mut taken = 0;
        // SAFETY: readable bytes.
        let schema =
            unsafe { (self.methods.schema)(stream.as_ptr(), stream.len() as i64, &raw mut taken) };
        Some((Reference::new(schema)?, &stream[taken as usize..]))
    }

    /// `read_record_batch` of a message in `buffer`.
    pub fn read_batch(
        &self,
        buffer: &Reference,
        schema: &Reference,
        message: DeviceMessage,
    ) -> Option<Reference> {
        let (buffer, schema) = (buffer.object_ref(), schema.object_ref());
        // SAFETY: no memo.
        unsafe { self.bridge.read_batch(buffer, schema, None, message) }
            .ok()
            .and_then(Reference::new)
    }

    /// `read_message` of the message that a file begins with, and
    /// `pyarrow.ipc.read_record_batch` of what it returns.
    pub fn read_message(
        &self,
        file: &Reference,
        known: &DeviceMessage,
        schema: &Reference,
    ) -> Option<Reference> {
        // SAFETY: live objects.
        unsafe {
            let read = || (self.methods.read_message)(file.object(), schema.object());
            Reference::new(self.bridge.with_message(file.object_ref(), 0, known, read).unwrap())
        }
    }

    /// Works with the batches of `pyarrow.ipc.open_stream`, or of `open_file`.
    pub fn read_all(&self, file: &Reference, is_file: bool) {
        unsafe extern "C" fn each(_: *mut c_void, batch: Object) {
            let batch = std::mem::ManuallyDrop::new(Reference::new(batch).unwrap());
            PYARROW.work_with(&batch, true);
        }
        // SAFETY: a live object, and a function that borrows its batch.
        unsafe { (self.methods.read_all)(file.object(), is_file, each, null_mut()) };
    }

    /// The table that `Context.table_from_file` returns, copied to the host as one may that knows nothing of it.
    pub fn read_table(&self, messages: &MessageIndex, source: Source<'_>) {
        let read = self.bridge.read_table(messages, source, 0, None, &mut |_, _| true);
        let Ok(table) = read else { return };
        // SAFETY: live objects; there is no GIL here.
        unsafe {
            let Some(table) = table.wrap().ok().and_then(Reference::new) else { return };
            let manager = Reference::new((self.methods.host)()).unwrap();
            let host = Destination::new(manager.object_ref(), false);
            let copy = self.bridge.copy_to(table.object_ref(), DataKind::Table, Some(&host), None);
            drop(copy.ok().flatten().and_then(Reference::new));
        }
    }
}
