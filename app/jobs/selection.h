// Selects files by name, and counts the others.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/glob.h"

namespace imgpipe {

struct SkippedInputs {
  struct Kind {
    std::size_t files = 0;
    std::string example;  // the first of them
  };
  std::map<std::string, Kind> kinds;  // by ending: "tiff", "webp", ...; "others"
  std::size_t not_selected = 0;       // due to --include or --exclude

  [[nodiscard]] std::size_t files() const;
  // "12 tiff, 3 webp, 4 others, 5 not selected": most frequent first, others last; may be empty.
  [[nodiscard]] std::string text() const;
  // "12 tiff (such as in/a.tif), ..."
  [[nodiscard]] std::string text_with_examples() const;
};

// Returns the image format that an ending stands for and that imgpipe does not read; otherwise "others".
[[nodiscard]] std::string_view unreadable_format(std::string_view name);

// --include and --exclude. Names are relative to INPUT, or as given.
class Selection {
 public:
  // Throws Error(usage) for an invalid pattern.
  Selection(const std::vector<std::string>& include, const std::vector<std::string>& exclude);

  // Returns true if a file is selected. `by_ending`: without --include, only files of a readable format are.
  [[nodiscard]] bool takes(const std::string& path, bool by_ending);
  [[nodiscard]] bool selects_directory(const std::string& path);
  // Counts a hidden file if its ending is that of an image.
  void count_hidden(const std::string& path);

  [[nodiscard]] const SkippedInputs& skipped_inputs() const { return passed_over_; }
  // Returns "--include '*.tif'" for each pattern without a match, and --exclude patterns if `with_exclude`.
  [[nodiscard]] std::vector<std::string> unmatched(bool with_exclude) const;

 private:
  struct Pattern {
    Glob glob;
    bool matched = false;
  };
  [[nodiscard]] bool included(const std::string& path, bool readable);
  [[nodiscard]] bool excluded(const std::string& path, bool is_directory);

  std::vector<Pattern> include_, exclude_;
  SkippedInputs passed_over_;
};

}  // namespace imgpipe
