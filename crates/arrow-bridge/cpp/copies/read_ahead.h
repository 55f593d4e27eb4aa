// Copies of record batches: one thread reads batches while another one copies and uses earlier ones.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "arrow/record_batch.h"
#include "border/ffi.h"
#include "border/names.h"
#include "copies/trim.h"

namespace arrow_cuda {

// One thread calls `Run`, and one at a time `Take` and `Copy`.
class ReadAhead : public arrow::RecordBatchReader {
 public:

  struct Group {
    std::vector<BatchPtr> batches;
    Trimmed columns;
    int64_t rows = 0;
    int64_t nbytes = 0;
    // Whether the source has ended, or failed, after these batches.
    bool is_last = false;
  };

  // Waits while `most` bytes have been read that nobody has taken.  With 0, nothing is read ahead.
  ReadAhead(ReaderPtr source, int64_t most, ManagerPtr to, bool has_stream);

  // Reads to the end, or until the reader is closed.
  void Run();

  // The batches that were taken last, unless they `were_copied`; else the next ones.  Without batches, and not
  // the last ones, if nothing arrives for some milliseconds.  Reads one itself where nothing is read ahead.
  const Group& Take(bool were_copied);

  // Copies of the batches that were taken.  Stores their bytes.
  Result<std::vector<BatchPtr>> Copy(const RustStream* stream, int64_t* nbytes);

  SchemaPtr schema() const override { return schema_; }
  arrow::DeviceAllocationType device_type() const override { return to_->device()->device_type(); }
  // After all batches were copied, ends or fails as the source has done.
  Status ReadNext(BatchPtr* batch) override;
  // `Run` ends with the batch that it reads.
  Status Close() override;

 private:
  struct Read {
    BatchPtr batch;
    ArrayDataVector columns;
    bool is_ready = false;
    int64_t nbytes = 0;
  };

  // Whether there was another batch.
  bool ReadOne();
  Status ReadOne(arrow::RecordBatchReader& source, Read* read) const;
  // For `Run`, which waits for room; false if nothing is to be read.
  bool HasRoom();
  void Release();

  const SchemaPtr schema_;
  const int64_t most_;
  const ManagerPtr to_;
  const bool has_stream_;
  Group taken_;

  // No batch is destroyed under this lock: that may need the GIL, which a thread may hold that waits for the
  // lock.
  std::mutex mutex_;
  std::condition_variable changed_;
  ReaderPtr source_;
  std::deque<Read> read_;
  // For the thread that reads to destroy, which has made them.
  std::vector<Group> copied_;
  int64_t nbytes_ = 0;
  std::optional<Status> end_;
  bool runs_ = false;
  bool is_closed_ = false;
};

}  // namespace arrow_cuda
