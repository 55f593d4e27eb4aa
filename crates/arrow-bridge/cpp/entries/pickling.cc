// Arrays without their data, and the assembly of batches and tables.
#include "entries/entries.h"

#include "arrow/array/util.h"
#include "border/status.h"
#include "pickling/assembly.h"
#include "pickling/skeleton.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

PyObject* SkeletonOfEntry(PyObject* object, Failure* failure) noexcept {
  PyObject* skeleton = nullptr;
  Guard(failure, [&]() -> arrow::Status {
    const auto array = UnwrapArray(object);
    if (array == nullptr) return arrow::Status::TypeError("expected an initialised pyarrow.Array");
    return WrapArray(arrow::MakeArray(SkeletonOf(*array->data()))).Value(&skeleton);
  });
  return skeleton;
}

PyObject* AssembleEntry(PyObject* schema, PyObject* const* columns, size_t count,
                        Failure* failure) noexcept {
  PyObject* assembled = nullptr;
  Guard(failure, [&] { return Assemble(schema, columns, count).Value(&assembled); });
  return assembled;
}

}  // namespace arrow_cuda
