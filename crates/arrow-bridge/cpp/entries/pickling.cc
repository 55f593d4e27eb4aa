// Arrays without their data, and the assembly of batches and tables.
#include "entries/entries.h"

#include "arrow/array/util.h"
#include "border/status.h"
#include "pickling/assembly.h"
#include "pickling/skeleton.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

PyObject* SkeletonOfEntry(PyObject* object, Failure* failure) noexcept {
  return GuardObject(failure, [&]() -> arrow::Result<PyObject*> {
    const auto array = UnwrapArray(object);
    if (array == nullptr) return arrow::Status::TypeError("expected an initialised pyarrow.Array");
    return WrapArray(arrow::MakeArray(SkeletonOf(*array->data())));
  });
}

PyObject* AssembleEntry(PyObject* schema, PyObject* const* columns, size_t count,
                        Failure* failure) noexcept {
  return GuardObject(failure, [&] { return Assemble(schema, columns, count); });
}

}  // namespace arrow_cuda
