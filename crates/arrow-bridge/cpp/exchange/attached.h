// What lives as long as a structure of the C Device interface, beside what its producer keeps.

#pragma once

#include <memory>
#include <utility>

#include "arrow/c/abi.h"

namespace arrow_cuda {

template <typename Kept>
struct Attached {
  Kept kept;
  // The producer's.
  void (*release)(ArrowArray*);
  void* private_data;

  // The consumer may have moved the structure, and may call from any thread.
  static void Release(ArrowArray* array) {
    std::unique_ptr<Attached> attached(static_cast<Attached*>(array->private_data));
    array->release = attached->release;
    array->private_data = attached->private_data;
    // The producer finds the structure as it has made it.
    attached.reset();
    array->release(array);
  }
};

// Destroys `kept` when the structure is released, right before the producer releases its own data.
template <typename Kept>
void Attach(Kept kept, ArrowArray* array) {
  array->private_data = new Attached<Kept>{std::move(kept), array->release, array->private_data};
  array->release = Attached<Kept>::Release;
}

}  // namespace arrow_cuda
