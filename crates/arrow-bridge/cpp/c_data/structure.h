// Checks of C Device structures for contradictions that would crash libarrow.
#pragma once

#include <vector>

#include "arrow/c/abi.h"
#include "border/names.h"

namespace arrow_cuda {

// The parts of an array that libarrow reads on the host during the import.
struct ReadOnHost {
  // Keys and entries of maps, whose nulls it counts; it aborts where one is null.
  std::vector<ArrowArray*> maps;
  // Arrays of views, of which it reads how large the buffers are that they lead to.
  std::vector<ArrowArray*> views;
};

// Each refuses null pointers where the counts promise something, numbers below zero, and maps with
// keys that are null, and reads nothing of released structures.  What else is wrong, libarrow
// refuses itself: it compares counts before it follows a pointer, so this does as well.
Status CheckStructure(const ArrowSchema& schema);
// An array of the type that is described.  The schema itself was checked.  An array that is released
// passes: libarrow refuses it, after what it says about the schema.
Status CheckStructure(ArrowArray* array, const ArrowSchema& schema, ReadOnHost* reads);
Status CheckStructure(ArrowArray* array, const DataType& type, ReadOnHost* reads);

// Offset and length.
Status CheckRange(const ArrowArray& array);

// Of the keys or entries of a map.
Status KeysAreNull();

}  // namespace arrow_cuda
