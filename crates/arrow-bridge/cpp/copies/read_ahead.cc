#include "copies/read_ahead.h"

#include <chrono>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "copies/arrays.h"
#include "memory/traverse.h"

namespace arrow_cuda {
namespace {

// Between the looks of a waiting thread for signals.
constexpr std::chrono::milliseconds kPatience{20};

// Limits of what is copied together, which shares an allocation.
constexpr int64_t kMostBytes = 32 << 20;
constexpr size_t kMostBatches = 1024;

// Counts for each batch besides its columns: a source may have no end of batches without rows.
constexpr int64_t kBytesOfBatch = 1024;

int64_t BytesOf(const ArrayDataVector& arrays) {
  int64_t bytes = 0;
  for (const auto& array : arrays) {
    ForEachBuffer(*array, [&](const arrow::Buffer& buffer) { bytes += buffer.size(); });
  }
  return bytes;
}

}  // namespace

ReadAhead::ReadAhead(ReaderPtr source, int64_t most, ManagerPtr to, bool has_stream)
    : schema_(source->schema()),
      most_(most),
      to_(std::move(to)),
      has_stream_(has_stream),
      source_(std::move(source)) {}

void ReadAhead::Run() {
  while (HasRoom() && ReadOne()) {
  }
  Release();
}

const ReadAhead::Group& ReadAhead::Take(bool were_copied) {
  Group copied;
  std::unique_lock lock(mutex_);
  if (were_copied || is_closed_) copied = std::exchange(taken_, Group());
  if (!taken_.batches.empty()) return taken_;
  if (source_ != nullptr && runs_ && !copied.batches.empty()) copied_.push_back(std::move(copied));
  if (most_ == 0) {
    lock.unlock();
    ReadOne();
    lock.lock();
  }
  changed_.wait_for(lock, kPatience, [&] { return !read_.empty() || end_.has_value(); });
  taken_.columns.is_ready = !read_.empty() && read_.front().is_ready;
  while (!read_.empty() && taken_.batches.size() < kMostBatches && taken_.nbytes < kMostBytes &&
         read_.front().is_ready == taken_.columns.is_ready) {
    auto& [batch, columns, _, size] = read_.front();
    taken_.rows += batch->num_rows();
    taken_.nbytes += size;
    auto& all = taken_.columns.arrays;
    all.insert(all.end(), std::move_iterator(columns.begin()), std::move_iterator(columns.end()));
    taken_.batches.push_back(std::move(batch));
    read_.pop_front();
  }
  taken_.is_last = read_.empty() && end_.has_value();
  nbytes_ -= taken_.nbytes;
  changed_.notify_all();
  return taken_;
}

Result<std::vector<BatchPtr>> ReadAhead::Copy(const RustStream* stream, int64_t* nbytes) {
  Trimmed columns = taken_.columns;
  if (!columns.is_ready) {
    ARROW_ASSIGN_OR_RAISE(columns, Prepare(columns.arrays, to_, stream));
  }
  ARROW_ASSIGN_OR_RAISE(const auto copies, CopyAnyhow(columns, to_, stream));
  std::vector<BatchPtr> copied;
  copied.reserve(taken_.batches.size());
  auto next = copies.begin();
  for (const auto& batch : taken_.batches) {
    copied.push_back(BatchOfCopies(*batch, next));
    next += batch->num_columns();
  }
  *nbytes = BytesOf(columns.arrays);
  return copied;
}

Status ReadAhead::ReadNext(BatchPtr* batch) {
  batch->reset();
  std::lock_guard lock(mutex_);
  return end_.value_or(Status::OK());
}

Status ReadAhead::Close() {
  std::deque<Read> unwanted;
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  std::swap(unwanted, read_);
  nbytes_ = 0;
  end_ = Status::Invalid("the reader is closed");
  changed_.notify_all();
  const bool runs = runs_;
  lock.unlock();
  if (!runs) Release();
  return Status::OK();
}

bool ReadAhead::ReadOne() {
  Read read;
  std::vector<Group> copied;
  std::unique_lock lock(mutex_);
  const auto source = source_;
  if (source == nullptr || end_.has_value()) return false;
  std::swap(copied, copied_);
  lock.unlock();
  copied.clear();
  Status status = ReadOne(*source, &read);
  lock.lock();
  if (is_closed_) return false;
  const bool is_batch = status.ok() && read.batch != nullptr;
  if (is_batch) {
    nbytes_ += read.nbytes;
    read_.push_back(std::move(read));
  } else {
    end_ = std::move(status);
  }
  changed_.notify_all();
  return is_batch;
}

Status ReadAhead::ReadOne(arrow::RecordBatchReader& source, Read* read) const try {
  ARROW_RETURN_NOT_OK(source.ReadNext(&read->batch));
  if (read->batch == nullptr) return Status::OK();
  read->columns = read->batch->column_data();
  // A stream may have to write pinned memory before it is looked at.
  if (!has_stream_) {
    ARROW_ASSIGN_OR_RAISE(auto prepared, PrepareOnHost(read->columns, to_));
    read->is_ready = prepared.is_ready;
    read->columns = std::move(prepared.arrays);
  }
  read->nbytes = kBytesOfBatch + BytesOf(read->columns);
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::OutOfMemory("out of host memory");
} catch (const std::exception& error) {
  return Status::UnknownError(error.what());
}

bool ReadAhead::HasRoom() {
  std::unique_lock lock(mutex_);
  runs_ = true;
  changed_.wait(lock, [&] { return nbytes_ < most_ || is_closed_; });
  return !is_closed_;
}

void ReadAhead::Release() {
  std::vector<Group> copied;
  std::unique_lock lock(mutex_);
  // Without `Close`, by which a scanner's reader would read all batches that nobody wants.
  const auto source = std::exchange(source_, nullptr);
  std::swap(copied, copied_);
  lock.unlock();
}

}  // namespace arrow_cuda
