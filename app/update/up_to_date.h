// Which outputs are up to date: made with --update, and since then neither they nor their inputs nor the
// options have become others.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "app/update/stamp.h"

namespace imgpipe {

enum class UpdateState {
  up_to_date,
  no_output,
  no_stamp,
  other_version,
  output_changed,
  input_changed,
  options_changed,
};
// "its input has changed"
[[nodiscard]] std::string_view update_reason(UpdateState state);

// Paths as the stamps of a folder have them, which need not be there yet. The way to an input from there
// stays what it is where both are moved together, or where another machine has them in another place.
class StampNames {
 public:
  explicit StampNames(const std::string& folder);
  [[nodiscard]] std::string output(const std::string& path) const;
  [[nodiscard]] std::string input(const std::string& path);

 private:
  std::string folder_, canonical_folder_;
  std::unordered_map<std::string, std::string> canonical_;  // of inputs' folders
};

// An image, and the files that are made of it: several where each page has one.
struct UpdateItem {
  std::string input;
  std::vector<std::string> outputs;
  std::string_view options_digest;  // of what stays where it is
};

struct UpdateVerdict {
  UpdateState state = UpdateState::no_output;
  std::optional<FileState> input_state;  // as it is now, for the stamp: what changes from now on is noticed
};

struct UpdateVerdicts {
  std::vector<UpdateVerdict> items;
  // Outputs that are there and to be made anew, which were made with --update and have lost our mark since
  // (an editor does that): replacing them was asked for.
  std::unordered_set<std::string> stamped_outputs;
};

// Judges items 0 to `count` by the stamps in `folder`. Reads every stamp once, and looks at every input and
// output. Throws as read_stamps() does.
[[nodiscard]] UpdateVerdicts judge_updates(const std::string& folder, std::size_t count,
                                           const std::function<UpdateItem(std::size_t)>& item);

// The stamps of what was just made of an item, as lines; nothing of outputs that are not there.
[[nodiscard]] std::string stamp_lines(StampNames& names, const UpdateItem& item,
                                      const FileState& input_state);

}  // namespace imgpipe
