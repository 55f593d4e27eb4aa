#include "pyarrow/objects.h"

#include <utility>

namespace arrow_cuda {
namespace {

using InputPtr = std::shared_ptr<arrow::io::InputStream>;

// The head of every `cdef class X(_Weakrefable)`.
struct Head {
  ptrdiff_t refcount;
  void* type;
  PyObject* weakrefs;
  void** vtable;
};

// All as in pyarrow's lib.pxd.  Rust compares these sizes with the types' `__basicsize__`.
struct BufferObject {
  Head head;
  BufferPtr buffer;
  ptrdiff_t shape[1];
  ptrdiff_t strides[1];
};
static_assert(sizeof(BufferObject) == 64);

struct FileObject {
  Head head;
  InputPtr input;
  FilePtr file;
  OutputPtr output;
  int is_readable;
  int is_writable;
  int is_seekable;
  int is_appending;
  int own_file;
};
static_assert(sizeof(FileObject) == 104);

struct DeviceObject {
  Head head;
  std::shared_ptr<arrow::Device> device;
};
static_assert(sizeof(DeviceObject) == 48);

struct MemoryManagerObject {
  Head head;
  ManagerPtr manager;
};
static_assert(sizeof(MemoryManagerObject) == 48);

struct PoolObject {
  Head head;
  arrow::MemoryPool* pool;
};
static_assert(sizeof(PoolObject) == 40);

// The last two classes have no cdef methods, so no vtable.
struct ReaderObject {
  ptrdiff_t refcount;
  void* type;
  PyObject* weakrefs;
  // pyarrow's own subclass of it, which only gives up the GIL when it is destroyed.
  ReaderPtr reader;
};
static_assert(sizeof(ReaderObject) == 40);

struct MemoObject {
  ptrdiff_t refcount;
  void* type;
  PyObject* weakrefs;
  std::shared_ptr<arrow::ipc::DictionaryMemo> owner;
  arrow::ipc::DictionaryMemo* memo;
};
static_assert(sizeof(MemoObject) == 48);

// Slots of the vtables, in the order of lib.pxd.
constexpr size_t kBufferInit = 0;
constexpr size_t kSetRandomAccessFile = 0;
constexpr size_t kSetOutputStream = 2;

template <typename Function>
Function* Slot(void** vtable, size_t index) { return reinterpret_cast<Function*>(vtable[index]); }

FileObject* AsFile(PyObject* object) {
  auto* file = reinterpret_cast<FileObject*>(object);
  return file != nullptr && file->head.vtable == Pyarrow().native_file_vtable ? file : nullptr;
}

Status NotFresh(const char* name) { return Status::TypeError("not a new pyarrow.", name); }

template <typename File>
Status InitFile(PyObject* fresh, size_t setter, File file, int FileObject::* may) {
  auto* object = AsFile(fresh);
  if (object == nullptr) return NotFresh("NativeFile");
  auto* none = Slot<PyObject*(PyObject*, File)>(object->head.vtable, setter)(fresh, std::move(file));
  // The setters return None, or null with a Python exception set.
  if (none == nullptr) return PythonError();
  Pyarrow().decref(none);
  object->*may = 1;
  return Status::OK();
}

}  // namespace

std::shared_ptr<arrow::Device> UnwrapDevice(PyObject* device) {
  return reinterpret_cast<const DeviceObject*>(device)->device;
}

ManagerPtr UnwrapMemoryManager(PyObject* manager) {
  return reinterpret_cast<const MemoryManagerObject*>(manager)->manager;
}

ReaderPtr UnwrapReader(PyObject* reader) {
  return reinterpret_cast<const ReaderObject*>(reader)->reader;
}

arrow::MemoryPool* UnwrapPool(PyObject* pool) {
  return reinterpret_cast<const PoolObject*>(pool)->pool;
}

FilePtr UnwrapFile(PyObject* native_file) {
  const auto* file = AsFile(native_file);
  return file == nullptr ? nullptr : file->file;
}

OutputPtr UnwrapStream(PyObject* native_file) {
  const auto* file = AsFile(native_file);
  return file == nullptr ? nullptr : file->output;
}

arrow::ipc::DictionaryMemo* UnwrapMemo(PyObject* dictionary_memo) {
  const auto* object = reinterpret_cast<const MemoObject*>(dictionary_memo);
  return object == nullptr ? nullptr : object->memo;
}

Status InitBuffer(PyObject* fresh, const BufferPtr& buffer) {
  auto* object = reinterpret_cast<BufferObject*>(fresh);
  if (object == nullptr || object->head.vtable != Pyarrow().buffer_vtable) {
    return NotFresh("Buffer");
  }
  Slot<void(PyObject*, const BufferPtr&)>(object->head.vtable, kBufferInit)(fresh, buffer);
  return Status::OK();
}

void InitReader(PyObject* fresh, ReaderPtr reader) {
  reinterpret_cast<ReaderObject*>(fresh)->reader = std::move(reader);
}

Status InitPool(PyObject* fresh, arrow::MemoryPool* pool) {
  auto* object = reinterpret_cast<PoolObject*>(fresh);
  if (object == nullptr || object->head.vtable != Pyarrow().memory_pool_vtable) {
    return NotFresh("MemoryPool");
  }
  object->pool = pool;
  return Status::OK();
}

Status InitReadable(PyObject* fresh, FilePtr file) {
  return InitFile(fresh, kSetRandomAccessFile, std::move(file), &FileObject::is_readable);
}

Status InitWritable(PyObject* fresh, OutputPtr stream) {
  return InitFile(fresh, kSetOutputStream, std::move(stream), &FileObject::is_writable);
}

WithoutGil::WithoutGil() : state_(Pyarrow().save_thread()) {}

WithoutGil::~WithoutGil() { Pyarrow().restore_thread(state_); }

}  // namespace arrow_cuda
