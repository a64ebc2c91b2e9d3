// What --update remembers of an output: how it, its input and the options were when it was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace imgpipe {

// By these a file is taken to be the same: its size, and when it was last written, nanoseconds since 1970.
struct FileState {
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FileState&) const = default;
};
// Of a regular file, links followed; nullopt for all else.
[[nodiscard]] std::optional<FileState> file_state(const std::string& path);

// A line of the file of stamps (docs/schemas/update-line.schema.json).
struct Stamp {
  std::string output;  // below the folder of the stamps, as stamp_name() has it
  FileState output_state;
  std::string input;  // the way there from that folder, likewise
  FileState input_state;
  std::string options_digest;  // app/process_options/options_digest.h
  std::string version;         // of imgpipe: another one may write other bytes
};

// A path as stamps have it: UTF-8 without control characters, and no two alike.
[[nodiscard]] std::string stamp_name(std::string_view path);

// A whole line, with its newline.
[[nodiscard]] std::string stamp_line(const Stamp& stamp);
[[nodiscard]] std::string update_line_schema();
// nullopt for what is no line of a stamp, whatever it is.
[[nodiscard]] std::optional<Stamp> stamp_of_line(std::string_view line);

// No line of ours is longer.
inline constexpr std::int64_t kMostStampBytes = std::int64_t{1} << 16;

}  // namespace imgpipe
