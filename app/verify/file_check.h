// Hashes files again and compares the results with a report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/verify/report_hashes.h"
#include "images/error.h"
#include "images/files/input_file.h"

namespace imgpipe {

struct FileCheck {
  std::vector<std::string> differences;  // one line each, which begins with the file's name
  std::optional<Error> unreadable{};
};

// Where a file of a report is: on disk, or a member of an archive on disk.
struct FoundFile {
  std::string path;
  std::string member{};  // empty: the file itself
};
// `base`: the directory of relative paths; empty: the current one.
[[nodiscard]] FoundFile find_file(const HashedFile& file, const std::string& base);

// Reads a file on disk; its pixels only if the report has their hash.
[[nodiscard]] FileCheck check_file(const HashedFile& file, const std::string& path);
// The same for bytes in memory.
[[nodiscard]] FileCheck check_bytes(const HashedFile& file, const std::string& name,
                                    std::vector<std::byte> bytes);

}  // namespace imgpipe
