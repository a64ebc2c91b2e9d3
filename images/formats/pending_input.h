// Opens image files. A file whose format is read row by row stays on disk, except for its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "images/codecs/codec.h"
#include "images/files/input_file.h"

namespace imgpipe {

// A larger file is first probed by its beginning.
inline constexpr std::int64_t kSmallFileBytes = std::int64_t{1} << 20;
inline constexpr std::size_t kFileBeginningBytes = std::size_t{1} << 16;

// What may be an input.
enum class InputKind {
  any,           // a FIFO and standard input ("-") too
  regular_only,  // of a batch, which must not wait for a writer
};

// An input that is looked at and not yet read: of a regular file of more than a megabyte whose format can be
// read row by row where it lies (raw PBM, PGM and PPM) its beginning will be held, of everything else the
// whole.
class PendingInput {
 public:
  // Reads a few bytes of a large file, and of one that is read row by row its beginning. What is wrong with
  // it is told by read().
  PendingInput(std::string path, const DecodeOptions& options, InputKind kind);

  // How much read() will hold; 0 for what is no regular file, and for what is not there.
  [[nodiscard]] std::int64_t held_bytes() const;

  // Once. Throws as read_file() and read_regular_file() do, with longest_file() as the judge.
  [[nodiscard]] InputFile read();

 private:
  std::string path_;
  DecodeOptions options_;
  InputKind kind_;
  std::optional<InputFile> in_parts_;
};

// The same in one step.
[[nodiscard]] InputFile open_input(const std::string& path, const DecodeOptions& options, InputKind kind);

// The reader of an input, which must outlive it.
[[nodiscard]] std::unique_ptr<Reader> open_reader(const InputFile& file, const DecodeOptions& options);

}  // namespace imgpipe
