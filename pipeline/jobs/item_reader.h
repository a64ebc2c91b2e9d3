// Reads items (pipeline/jobs/item_list.h) into memory, each through the same stages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "pipeline/jobs/item_list.h"
#include "pipeline/plan.h"
#include "pipeline/runner.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

struct ItemSettings {
  std::vector<StageRequest> stages;  // with their second images
  bool fuse = false;
  DecodeOptions decode;
  std::string device = "cpu";  // as RunnerSettings::device
  std::int64_t device_memory_bytes = 0;
};

// The result that every item must make, and the name of the first item, for messages.
struct ItemResult {
  std::string name;
  Shape shape;
};

[[nodiscard]] Plan item_plan(const ItemSettings& settings, const ImageHeader& header);
// Opens an item, with its profile if a stage needs it.
[[nodiscard]] std::unique_ptr<Reader> open_item(const ItemSettings& settings, const InputFile& file);

// Not thread-safe; each worker has one.
class ItemReader {
 public:
  // `settings` must outlive this.
  ItemReader(const ItemSettings& settings, int threads);

  // Writes the rows from `first` of the item's result to `out`. The rest of the file is checked only if these
  // are the last rows, unless the item has stages. Returns the reader's warnings, with the item's name.
  // Throws Error with the item's name; Error(usage) names both items if their results differ in shape.
  std::vector<std::string> read(const ImageItem& item, const ItemResult& wanted, std::int64_t first,
                                HostView out);

  // Returns the most bytes that read() holds at one time for an item with this reader, its file included.
  // `in_bands`: `out` is not the whole result.
  [[nodiscard]] static std::int64_t needed_bytes(const ItemSettings& settings, const Reader& reader,
                                                 std::int64_t file_bytes, int threads, bool in_bands);

 private:
  const ItemSettings& settings_;
  Runner runner_;
  std::optional<Plan> plan_;  // of the last item
};

}  // namespace imgpipe
