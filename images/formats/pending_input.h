// Opens image files. A file whose format is read row by row stays on disk, except for its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "images/codecs/codec.h"
#include "images/files/input_file.h"

namespace imgpipe {

// Of files larger than kSmallFileBytes, only the beginning is read at first.
inline constexpr std::int64_t kSmallFileBytes = std::int64_t{1} << 20;
inline constexpr std::size_t kFileBeginningBytes = std::size_t{1} << 16;

// The kinds of input that are accepted.
enum class InputKind {
  any,           // including FIFOs and standard input ("-")
  regular_only,  // for batches, which must not wait for a writer
};

// An input that is probed but not yet read. read() will hold only the beginning of a regular file over one
// megabyte whose format is read row by row (raw PBM, PGM and PPM), else the whole file.
class PendingInput {
 public:
  // Reads a few bytes of a large file, and the beginning of a file read row by row. Leaves errors to read().
  PendingInput(std::string path, const DecodeOptions& options, InputKind kind);
  // An input that was read already.
  explicit PendingInput(InputFile file) : opened_(std::move(file)) {}

  // Returns how many bytes read() will hold; 0 for missing and for non-regular files.
  [[nodiscard]] std::int64_t held_bytes() const;

  // Call it once. Throws the errors of read_file() and read_regular_file() with the limit of longest_file().
  [[nodiscard]] InputFile read();

 private:
  std::string path_;
  DecodeOptions options_;
  InputKind kind_ = InputKind::any;
  std::optional<InputFile> opened_;
};

// Probes and reads an input.
[[nodiscard]] InputFile open_input(const std::string& path, const DecodeOptions& options, InputKind kind);

// Opens the reader of `file`, which must outlive it.
[[nodiscard]] std::unique_ptr<Reader> open_reader(const InputFile& file, const DecodeOptions& options);

}  // namespace imgpipe
