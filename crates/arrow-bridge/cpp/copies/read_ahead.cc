#include "copies/read_ahead.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "copies/trim.h"

namespace arrow_cuda {
namespace {

using arrow::Status;

// Between the signals that a waiting thread looks for.
constexpr std::chrono::milliseconds kPatience{20};

}  // namespace

ReadAhead::ReadAhead(std::shared_ptr<arrow::RecordBatchReader> source, int64_t most)
    : schema_(source->schema()),
      device_type_(source->device_type()),
      most_(most),
      source_(std::move(source)) {}

void ReadAhead::Run() {
  {
    std::lock_guard lock(mutex_);
    runs_ = true;
  }
  while (HasRoom() && ReadOne()) {
  }
  Release();
}

ReadAhead::Group ReadAhead::Take(int64_t nbytes, size_t count) {
  if (most_ == 0) ReadOne();
  Group group;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPatience, [&] { return !read_.empty() || end_.has_value(); });
  while (!read_.empty() && group.batches.size() < count && group.nbytes < nbytes) {
    group.nbytes += read_.front().nbytes;
    group.batches.push_back(std::move(read_.front().batch));
    read_.pop_front();
  }
  nbytes_ -= group.nbytes;
  if (read_.empty()) group.end = end_;
  changed_.notify_all();
  return group;
}

Status ReadAhead::ReadNext(BatchPtr* batch) {
  batch->reset();
  while (true) {
    auto group = Take(1, 1);
    if (!group.batches.empty()) *batch = std::move(group.batches.front());
    if (*batch != nullptr) return Status::OK();
    if (group.end.has_value()) return *group.end;
  }
}

Status ReadAhead::Close() {
  std::deque<Read> unwanted;
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  std::swap(unwanted, read_);
  nbytes_ = 0;
  end_ = Status::Invalid("the reader is closed");
  changed_.notify_all();
  const bool reads = runs_;
  lock.unlock();
  if (!reads) Release();
  return Status::OK();
}

bool ReadAhead::ReadOne() {
  Read read{};
  Status status;
  std::unique_lock lock(mutex_);
  const auto source = source_;
  if (source == nullptr || end_.has_value()) return false;
  lock.unlock();
  try {
    status = source->ReadNext(&read.batch);
    if (read.batch != nullptr) read.nbytes = BytesReached(read.batch->column_data());
  } catch (const std::bad_alloc&) {
    status = Status::OutOfMemory("out of host memory");
  } catch (const std::exception& error) {
    status = Status::UnknownError(error.what());
  }
  lock.lock();
  const bool is_batch = status.ok() && read.batch != nullptr;
  if (is_closed_) return false;
  if (is_batch) {
    nbytes_ += read.nbytes;
    read_.push_back(std::move(read));
  } else {
    end_ = std::move(status);
  }
  changed_.notify_all();
  return is_batch;
}

bool ReadAhead::HasRoom() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return nbytes_ < most_ || is_closed_; });
  return !is_closed_;
}

void ReadAhead::Release() {
  std::unique_lock lock(mutex_);
  const auto source = std::exchange(source_, nullptr);
  lock.unlock();
  // The batches have arrived, or nobody wants them: no one would hear of a failure.
  if (source != nullptr) (void)source->Close();
}

}  // namespace arrow_cuda
