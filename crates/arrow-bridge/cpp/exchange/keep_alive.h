// Keeps objects alive as long as a structure of the C Device interface, beside the producer's data.

#pragma once

#include <utility>

#include "arrow/c/abi.h"

namespace arrow_cuda {

template <typename Kept>
struct KeptAlive {
  Kept kept;
  // The producer's.
  void (*release)(ArrowArray*);
  void* private_data;

  // The consumer may have moved the structure, and may call from any thread.
  static void Release(ArrowArray* array) {
    std::unique_ptr<KeptAlive> held(static_cast<KeptAlive*>(array->private_data));
    array->release = held->release;
    array->private_data = held->private_data;
    // The producer finds the structure as it has made it.
    held.reset();
    array->release(array);
  }
};

// Destroys `kept` when the structure is released, right before the producer releases its own data.
template <typename Kept>
void KeepAlive(Kept kept, ArrowArray* array) {
  array->private_data = new KeptAlive<Kept>{std::move(kept), array->release, array->private_data};
  array->release = KeptAlive<Kept>::Release;
}

}  // namespace arrow_cuda
