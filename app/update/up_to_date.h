// Determines which outputs are up to date: made with --update, and since then neither the output, its input
// nor the options have changed.
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

// Converts paths to those in the stamps of a directory, which need not exist yet. Input paths are relative to
// the directory, so they stay valid if inputs and outputs are moved together or mounted elsewhere.
class StampNames {
 public:
  explicit StampNames(const std::string& directory);
  [[nodiscard]] std::string output(const std::string& path) const;
  [[nodiscard]] std::string input(const std::string& path);

 private:
  std::string directory_, canonical_directory_;
  std::unordered_map<std::string, std::string> canonical_;  // directories of inputs
};

// An image and its outputs: several if each page has one.
struct UpdateItem {
  std::string input;
  std::vector<std::string> outputs;
  std::string_view options_digest;  // must outlive the item
};

struct UpdateResult {
  UpdateState state = UpdateState::no_output;
  std::optional<FileState> input_state;  // before the run, for the stamp: later changes are detected
};

struct UpdateResults {
  std::vector<UpdateResult> items;
  // Outputs to be made again that were made with --update but have lost imgpipe's mark, for example in an
  // editor. They may be replaced.
  std::unordered_set<std::string> stamped_outputs;
};

// Determines the state of items 0 to `count` - 1 from the stamps in `directory`. Reads every stamp once and
// checks every input and output. Throws like read_stamps().
[[nodiscard]] UpdateResults determine_updates(const std::string& directory, std::size_t count,
                                              const std::function<UpdateItem(std::size_t)>& item);

// Returns the stamps for an item's outputs, as lines; missing outputs get none.
[[nodiscard]] std::string stamp_lines(StampNames& names, const UpdateItem& item,
                                      const FileState& input_state);

}  // namespace imgpipe
