// Which of the names that a batch comes upon it takes, and what became of the others.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/glob.h"

namespace imgpipe {

// Files that a batch did not take although it came upon them.
struct SkippedInputs {
  struct Kind {
    std::size_t files = 0;
    std::string example;  // the first of them
  };
  std::map<std::string, Kind> kinds;  // by what their endings say: "tiff", "webp", ...; "others"
  std::size_t not_selected = 0;       // because of --include or --exclude

  [[nodiscard]] std::size_t files() const;
  // "12 tiff, 3 webp, 4 others, 5 not selected": most first, what is no image last; empty for nothing.
  [[nodiscard]] std::string text() const;
  // "12 tiff (such as in/a.tif), ..."
  [[nodiscard]] std::string text_with_examples() const;
};

// The kind of image that an ending stands for and that imgpipe does not read; "others" for everything else.
[[nodiscard]] std::string_view unread_kind(std::string_view name);

// --include and --exclude. Names are paths below INPUT, or as they were given.
class Selection {
 public:
  // Throws Error(usage) for a pattern that cannot be followed.
  Selection(const std::vector<std::string>& include, const std::vector<std::string>& exclude);

  // Whether a file is taken. `by_ending`: without --include only when its ending names a format that is read.
  [[nodiscard]] bool takes(const std::string& path, bool by_ending);
  [[nodiscard]] bool takes_folder(const std::string& path);
  // Counts a file with a hidden name, if it is an image by its ending.
  void pass_hidden(const std::string& path);

  [[nodiscard]] const SkippedInputs& passed_over() const { return passed_over_; }
  // "--include '*.tif'" for each pattern that nothing has matched so far; those of --exclude if they count.
  [[nodiscard]] std::vector<std::string> unmatched(bool with_exclude) const;

 private:
  struct Pattern {
    Glob glob;
    bool matched = false;
  };
  [[nodiscard]] bool included(const std::string& path, bool readable);
  [[nodiscard]] bool excluded(const std::string& path, bool is_folder);

  std::vector<Pattern> include_, exclude_;
  SkippedInputs passed_over_;
};

}  // namespace imgpipe
