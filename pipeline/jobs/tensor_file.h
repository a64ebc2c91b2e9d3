// One file with the tensors of a batch (--tensor): an array with a row for each image, in the order of the
// inputs.
//
// Workers write rows to their offsets in a temporary file while they encode them. finish() moves rows into
// the gaps that failed images leave, writes the header, and renames the file. Only the positions of rows are
// held in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/files/output_file.h"
#include "images/files/output_sync.h"
#include "images/tensor.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/image_job.h"

namespace imgpipe {

struct TensorFileSettings {
  std::string path;
  Format format = Format::npy;  // or safetensors
  std::string names_path{};     // for the names of the rows, one per line; empty: none
  std::size_t inputs = 0;
  std::function<std::string(std::size_t input)> name;  // printable
  OutputSync* sync = nullptr;
};

class TensorFile {
 public:
  explicit TensorFile(TensorFileSettings settings);
  TensorFile(const TensorFile&) = delete;  // its callbacks point into it
  TensorFile& operator=(const TensorFile&) = delete;

  // For ImageSettings::make_row_consumer and BatchSettings::make_page_consumer. A batch uses one of them.
  // Throws Error(usage) for an image whose tensor differs in shape from that of an earlier one.
  [[nodiscard]] RowConsumer consume_image(const ImageFiles& files, const Plan& plan);
  [[nodiscard]] PageConsumer consume_pages(std::size_t input);

  // Whether an image was rejected for its shape; the file is then abandoned.
  [[nodiscard]] bool has_mixed_shapes() const;
  // Completes both files, the names first. Call it once, when no image is in progress; without a row it does
  // nothing. Throws Error(output) or Error(usage).
  void finish();

  // The type of each row; nullopt before the first image.
  [[nodiscard]] const std::optional<TensorType>& type() const { return type_; }
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(rows_.size()); }

 private:
  struct Row {
    std::size_t input = 0;
    std::int64_t page = 0;  // 0: the whole input
    std::int64_t slot = 0;  // its position in the file, in rows
  };

  void check_type(const ImageFiles& files, const Plan& plan);
  void begin(const ImageFiles& files, const TensorType& type);
  [[nodiscard]] RowConsumer consumer(const Plan& plan, std::int64_t slot, std::function<void()> accept);
  [[nodiscard]] std::uint64_t offset_of(std::int64_t slot) const;
  [[nodiscard]] std::string header(const TensorType& type, const std::vector<std::string>& names,
                                   std::int64_t rows, std::size_t bytes) const;
  void order_rows(std::int64_t first_slot);
  void move_row(std::int64_t from, std::int64_t to, bool swap);

  TensorFileSettings settings_;
  OutputFile file_;
  mutable std::mutex mutex_;  // of all below
  std::optional<TensorType> type_;
  std::string first_name_;  // of the image that decided type_
  bool has_mixed_shapes_ = false;
  std::int64_t next_slot_ = 0;      // of pages
  std::size_t reserved_bytes_ = 0;  // for the header
  std::vector<Row> rows_;           // of complete inputs
};

}  // namespace imgpipe
