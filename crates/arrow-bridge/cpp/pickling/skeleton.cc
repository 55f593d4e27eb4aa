#include "pickling/skeleton.h"

#include <utility>

#include "arrow/buffer.h"
#include "arrow/device.h"
#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

bool IsPlainHostMemory(const arrow::Buffer& buffer) {
  return buffer.device_type() == arrow::DeviceAllocationType::kCPU && !IsOnDevice(buffer);
}

std::shared_ptr<arrow::Buffer> Placeholder(std::shared_ptr<arrow::Buffer> buffer) {
  return std::make_shared<arrow::Buffer>(nullptr, 0, arrow::default_cpu_memory_manager(),
                                         std::move(buffer));
}

}  // namespace

std::shared_ptr<arrow::ArrayData> SkeletonOf(const arrow::ArrayData& data) {
  auto skeleton = data.Copy();
  for (auto& buffer : skeleton->buffers) {
    if (buffer != nullptr && !IsPlainHostMemory(*buffer)) buffer = Placeholder(std::move(buffer));
  }
  for (auto& child : skeleton->child_data) {
    if (child != nullptr) child = SkeletonOf(*child);
  }
  if (skeleton->dictionary != nullptr) skeleton->dictionary = SkeletonOf(*skeleton->dictionary);
  return skeleton;
}

}  // namespace arrow_cuda
