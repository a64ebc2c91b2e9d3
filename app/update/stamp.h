// Records for --update: the state of an output, its input and the options when it was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace imgpipe {

// A file counts as unchanged if its size and modification time (nanoseconds since 1970) are equal.
struct FileState {
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FileState&) const = default;
};
// Returns the state of a regular file, following links; otherwise nullopt.
[[nodiscard]] std::optional<FileState> file_state(const std::string& path);

// A line of the stamp file (docs/schemas/update-line.schema.json).
struct Stamp {
  std::string output;  // relative to the directory of the stamps, as from stamp_name()
  FileState output_state;
  std::string input;  // likewise
  FileState input_state;
  std::string options_digest;  // app/process_options/options_digest.h
  std::string version;         // of imgpipe: other versions may write other bytes
};

// Converts a path to UTF-8 without control characters; different paths give different names.
[[nodiscard]] std::string stamp_name(std::string_view path);

// Returns a line with its newline.
[[nodiscard]] std::string stamp_line(const Stamp& stamp);
[[nodiscard]] std::string update_line_schema();
// Returns nullopt if the line is not a stamp.
[[nodiscard]] std::optional<Stamp> stamp_of_line(std::string_view line);

// No stamp line is longer.
inline constexpr std::int64_t kMaxStampBytes = std::int64_t{1} << 16;

}  // namespace imgpipe
