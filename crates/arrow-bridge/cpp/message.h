// What an IPC message's metadata says about its body, read without trusting a byte of it.
//
// libarrow verifies the metadata itself, later.  This look decides only whether the body may
// stay on the device, so whatever is malformed or unknown simply counts as "no".
#pragma once

#include <cstdint>
#include <span>

namespace arrow_cuda {

struct MessageFacts {
  enum class Kind { kOther, kSchema, kDictionary, kBatch };

  Kind kind = Kind::kOther;
  int64_t body_size = 0;
  // Of a schema: its batches are of the other byte order, and libarrow swaps them on the CPU.
  bool swapped = false;
  // Of a dictionary: libarrow appends it to the earlier one, on the CPU.
  bool delta = false;
  // Of a batch or dictionary: libarrow cuts the body up and reads none of it.
  bool stays_put = false;
};

MessageFacts InspectMessage(std::span<const uint8_t> metadata);

// Whether an IPC file with this footer has batches of the other byte order.
bool FooterIsSwapped(std::span<const uint8_t> footer);

}  // namespace arrow_cuda
