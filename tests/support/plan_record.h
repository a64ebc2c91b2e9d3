// Compares numbers of plans, such as the memory they need, with a recorded file. It has a line for each
// random chain, with a digest of every group of numbers. A failure prints today's numbers;
// IMGPIPE_WRITE_GOLDEN=1 writes the file.
#pragma once

#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan.h"

namespace imgpipe::test {

// Digests of texts against a recorded file, lines of words. IMGPIPE_WRITE_GOLDEN=1 writes the file;
// IMGPIPE_RECORD_TEXT names one that gets the texts, for a comparison of two builds.
class DigestRecord {
 public:
  // `file`: of the checkout.
  explicit DigestRecord(std::string_view file);
  // Whether the record has the digest of this text next; true when it is written.
  [[nodiscard]] bool has(std::string_view text);
  void end_line();

 private:
  bool writes_;
  std::string separator_;
  std::fstream record_;
  std::ofstream texts_;
};

// `file` is in the checkout. `numbers_of` returns the text of each group.
void expect_recorded(std::string_view file, std::span<const std::string_view> groups,
                     const std::function<std::vector<std::string>(const Plan&)>& numbers_of);

}  // namespace imgpipe::test
