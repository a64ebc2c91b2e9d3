// Reads the hashes of files from reports: of an image or its pages (JSON), or of a batch (NDJSON, CSV).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/jobs/file_hashes.h"

namespace imgpipe {

struct HashedFile {
  std::string path;  // as in the report; its bytes
  FileHashes hashes{};
  std::string decoding{};  // of an input (app/report/decoding_text.h); empty: an output
  // Whether `path` shows bytes as \xHH, unless a file has that name.
  bool may_be_escaped = true;
};

class ReportHashes {
 public:
  // Throws Error(input), without the report's name, if it cannot be read or is not such a report.
  explicit ReportHashes(std::string path);

  // Calls `take` for each file with hashes, except standard input and output. Of an output with several
  // lines, only the last one counts. Memory does not grow with the files, except by 8 bytes for each line.
  // Throws Error(input) for values of wrong types.
  void for_each(const std::function<void(HashedFile)>& take);
  // After for_each(): lines that do not belong to a report, such as an incomplete one of a killed run.
  [[nodiscard]] std::size_t unrecognised_lines() const { return strange_lines_; }

 private:
  enum class Kind { document, lines, csv };
  class Lines;

  const std::string path_;
  Kind kind_ = Kind::lines;
  std::size_t strange_lines_ = 0;
};

}  // namespace imgpipe
