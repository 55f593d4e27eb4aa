// Record batches that one thread reads while another one uses those before them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "arrow/record_batch.h"
#include "arrow/status.h"

namespace arrow_cuda {

// Any thread may call any function, but only one `Run`.
class ReadAhead : public arrow::RecordBatchReader {
 public:
  using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

  struct Group {
    std::vector<BatchPtr> batches;
    // The bytes that copies of them take.
    int64_t nbytes = 0;
    // What the source has said after these batches, which are its last.
    std::optional<arrow::Status> end;
  };

  // Waits while `most` bytes have been read that nobody has taken.  With 0, nothing is read ahead.
  ReadAhead(std::shared_ptr<arrow::RecordBatchReader> source, int64_t most);

  // Reads to the end, or until the reader is closed.
  void Run();

  // At most `count` batches that were read, until they have `nbytes`; none, and no end, if there are none for
  // some milliseconds.  Reads one batch itself where nothing is read ahead.
  Group Take(int64_t nbytes, size_t count);

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  arrow::DeviceAllocationType device_type() const override { return device_type_; }
  arrow::Status ReadNext(BatchPtr* batch) override;
  // `Run` ends with the batch that it reads.
  arrow::Status Close() override;

 private:
  struct Read {
    BatchPtr batch;
    int64_t nbytes;
  };

  // Whether there was another batch.
  bool ReadOne();
  bool HasRoom();
  // Closes the source.
  void Release();

  const std::shared_ptr<arrow::Schema> schema_;
  const arrow::DeviceAllocationType device_type_;
  const int64_t most_;
  // Used by the thread that reads.
  std::shared_ptr<arrow::RecordBatchReader> source_;

  // No batch is destroyed under this lock: that may need the GIL, which another thread may hold that waits for
  // the lock.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Read> read_;
  int64_t nbytes_ = 0;
  std::optional<arrow::Status> end_;
  bool runs_ = false;
  bool is_closed_ = false;
};

}  // namespace arrow_cuda
