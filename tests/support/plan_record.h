// Compares figures computed for plans, such as memory needs, with a recorded file: one line per random chain,
// with a digest per group of figures. A failure prints the current ones; IMGPIPE_WRITE_GOLDEN=1 writes the
// file.
#pragma once

#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan.h"

namespace imgpipe::test {

// Compares digests of texts with a recorded file. IMGPIPE_WRITE_GOLDEN=1 writes the file; IMGPIPE_RECORD_TEXT
// names a file for the texts, to compare two builds.
class DigestRecord {
 public:
  // `file` is relative to the checkout.
  explicit DigestRecord(std::string_view file);
  ~DigestRecord();
  DigestRecord(const DigestRecord&) = delete;
  DigestRecord& operator=(const DigestRecord&) = delete;
  // Whether the record's next digest is this text's; true when writing.
  [[nodiscard]] bool has(std::string_view text);
  void end_line();

 private:
  bool writes_;
  std::string separator_;
  std::fstream record_;
  std::ofstream texts_;
};

// `file` is relative to the checkout. `numbers_of` returns the text of each group.
void expect_recorded(std::string_view file, std::span<const std::string_view> groups,
                     const std::function<std::vector<std::string>(const Plan&)>& numbers_of);

}  // namespace imgpipe::test
