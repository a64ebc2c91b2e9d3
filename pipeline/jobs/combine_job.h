// Makes one image of the images of several inputs: their projection (kernels/projection/), --stack; or a
// sheet with a cell for each, --montage.
//
//   open      lists the items and reads the header of the first; the shape of the result is then known
//   combine   per pass: reads a band of rows of every item, several items at a time, and adds them, or copies
//             them into their cells
//   reader    of the result, for an ordinary ImageJob with the stages of --then
//
// A pass takes as many rows as memory allows: the state of each sample, or for the median its value in every
// item. Items of a group are read on several threads; then each thread adds a part of their rows, item by
// item, so that floats are added in the order of the items.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "images/error.h"
#include "images/image.h"
#include "kernels/projection/projection.h"
#include "pipeline/jobs/item_list.h"
#include "pipeline/jobs/item_reader.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// The cells of a sheet, which every item fills.
struct Montage {
  std::int64_t columns = 1, rows = 0;  // rows 0: as many as needed
  std::int64_t background = 0;         // colour of cells without an image (kernels/shared/color.h)
};

struct CombineSettings : ItemSettings {
  std::vector<ItemInput> inputs;
  PageSelection pages;
  std::optional<Montage> montage{};  // instead of `projection`
  Projection projection = Projection::max;
  bool float_sum = false;  // the sum of integers is made of floats
  int threads = 1;
  std::int64_t memory_bytes = 0;  // 0: half of the available memory
};

class CombineJob {
 public:
  using Warn = std::function<void(const std::string&)>;
  // Called after each group of items, with the number read so far and of all, in all passes; the latter is 0
  // for a stream.
  using Progress = std::function<void(std::int64_t read, std::int64_t all)>;

  explicit CombineJob(CombineSettings settings) : settings_(std::move(settings)) {}

  void open(const Warn& warn);
  // The header of the result, with the properties of the first item.
  [[nodiscard]] const ImageHeader& header() const { return header_; }
  // The stages of the first item, and its file without its pixels.
  [[nodiscard]] const Plan& first_plan() const { return *first_plan_; }
  [[nodiscard]] InputFile take_first_file() { return std::move(first_->file); }
  [[nodiscard]] std::uint64_t content_hash() const { return list_->content_hash(); }

  // Throws Error with the name of the item concerned.
  void combine(const Warn& warn, const Progress& progress);
  // A reader of the result, which must not be read before combine(); this object must outlive it.
  [[nodiscard]] std::unique_ptr<Reader> reader() const;

  [[nodiscard]] std::int64_t items() const { return items_; }  // after combine()
  [[nodiscard]] std::int64_t passes() const { return passes_; }
  [[nodiscard]] std::int64_t input_bytes() const { return list_->size_bytes(); }

 private:
  [[nodiscard]] Shape shape_of_result() const;
  void fill_background();
  void copy_to_cells(ConstHostView buffer, std::int64_t items);
  [[nodiscard]] Error too_little_memory(std::int64_t bytes, std::int64_t budget) const;
  void plan_passes();
  void read_pass(std::int64_t first, HostView out, const Warn& warn, const Progress& progress);
  [[nodiscard]] std::int64_t read_group(HostView buffer, std::int64_t first, const Warn& warn);
  void add(ConstHostView buffer, std::int64_t items, std::byte* state);
  void take_medians(ConstHostView buffer, HostView out);
  using Part = std::function<void(std::int64_t first, std::int64_t end, std::size_t thread)>;
  void share(std::int64_t samples, std::int64_t part_samples, const Part& work);
  using Pointers = std::vector<const std::byte*>;
  [[nodiscard]] std::vector<Pointers> pointers_of_threads(std::int64_t items) const;
  [[nodiscard]] bool is_reference() const { return settings_.device == "reference"; }
  [[nodiscard]] bool is_median() const {
    return !settings_.montage && settings_.projection == Projection::median;
  }
  [[nodiscard]] std::int64_t state_size() const {
    return settings_.montage ? 0 : state_bytes(settings_.projection, item_.shape.sample);
  }

  const CombineSettings settings_;
  std::optional<ItemList> list_;
  std::optional<ImageItem> first_;
  std::optional<Plan> first_plan_;
  ImageHeader header_;
  ItemResult item_;                              // of every item
  std::int64_t whole_need_ = 0, band_need_ = 0;  // bytes to read an item, whole and in several passes
  std::int64_t items_ = 0, passes_ = 0;
  std::int64_t band_rows_ = 0;           // of a pass
  std::int64_t group_ = 1;               // items read before they are added; for the median all
  std::int64_t read_ = 0, of_pass_ = 0;  // items read in all passes, and in this one
  std::set<std::string> warned_;
  std::vector<std::unique_ptr<ItemReader>> readers_;  // one per item that is read at the same time
  std::optional<HostThreads> threads_;
  Image result_;
};

}  // namespace imgpipe
