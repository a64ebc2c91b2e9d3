#include "pipeline/jobs/combine_job.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <limits>
#include <span>

#include "images/formats/pending_input.h"
#include "images/memory/available_memory.h"
#include "images/memory/block_pool.h"
#include "kernels/frame.h"
#include "kernels/shared/color.h"
#include "kernels/stage.h"
#include "pipeline/jobs/batch_devices.h"

namespace imgpipe {
namespace {

// Items read before they are added: the state passes through the caches once per group.
constexpr std::int64_t kGroup = 8;
// Samples that a thread takes of a band at a time.
constexpr std::int64_t kPartSamples = std::int64_t{1} << 16, kMedianSamples = std::int64_t{1} << 12;

class ResultReader final : public Reader {
 public:
  ResultReader(const ImageHeader& header, const Image& pixels) : pixels_(pixels) { header_ = header; }

  [[nodiscard]] std::int64_t working_bytes(bool) const override { return header_.shape.bytes(); }

 protected:
  void read_next_rows(HostView rows) override {
    copy_pixels(pixels_.untyped_view().rows(next_row_, rows.height), rows);
    next_row_ += rows.height;
  }

 private:
  const Image& pixels_;
  std::int64_t next_row_ = 0;
};

}  // namespace

void CombineJob::open(const Warn& warn) {
  list_.emplace(settings_.inputs, settings_.pages, settings_.decode, warn);
  if ((is_median() || settings_.montage) && !list_->count())
    throw Error(ErrorKind::usage,
                settings_.inputs.front().name + ": " +
                    (is_median() ? "the median needs all images at once, but a stream can be read only once"
                                 : "a montage needs the number of images, which a stream does not have") +
                    "; save the images to files");
  first_ = list_->first();
  naming(first_->name, [&] {
    const std::unique_ptr<Reader> reader = open_item(settings_, first_->file);
    header_ = reader->header();
    first_plan_ = item_plan(settings_, header_);
    const auto need = [&](bool in_bands) {
      return ItemReader::needed_bytes(settings_, *reader, first_->file.size_bytes(), 1, in_bands);
    };
    whole_need_ = need(false);
    band_need_ = need(true);
  });
  item_ = {first_->name, first_plan_->output};
  const bool was_reduced = header_.bits_per_sample > 8 && is_byte(header_.shape.sample);
  header_.shape = shape_of_result();
  header_.more_images = false;
  if (header_.scale > 1)
    warn(first_->name + ": images are decoded at 1/" + std::to_string(header_.scale) + " of their size");
  header_.scale = 1;
  const bool is_srgb = std::ranges::any_of(
      first_plan_->operations, [](const Operation& operation) { return operation.stage->name == "icc"; });
  if (is_srgb) {
    header_.icc.reset();
    header_.profile.clear();
    header_.inks = false;
  }
  if (is_byte(item_.shape.sample) && !was_reduced) header_.bits_per_sample = 8;
  if (settings_.float_sum) header_.shape.sample = Sample::f32;
}

Shape CombineJob::shape_of_result() const {
  Shape shape = item_.shape;
  if (!settings_.montage) return shape;
  const std::int64_t columns = settings_.montage->columns, count = *list_->count();
  const std::int64_t rows =
      settings_.montage->rows > 0 ? settings_.montage->rows : (count + columns - 1) / columns;
  if (count > columns * rows)
    throw Error(ErrorKind::usage, "--montage: " + std::to_string(columns) + "x" + std::to_string(rows) +
                                      " has " + std::to_string(columns * rows) + " cells, got " +
                                      std::to_string(count) + " images; use " + std::to_string(columns) +
                                      "x for as many rows as needed");
  const std::int64_t most = settings_.decode.max_pixels / shape.pixels();
  if (columns > most || rows > most / columns)
    throw Error(ErrorKind::usage, "--montage: " + std::to_string(columns * rows) + " cells of " +
                                      std::to_string(shape.width) + "x" + std::to_string(shape.height) +
                                      " exceed --max-pixels " + std::to_string(settings_.decode.max_pixels));
  shape.width *= columns;
  shape.height *= rows;
  return shape;
}

Error CombineJob::too_little_memory(std::int64_t bytes, std::int64_t budget) const {
  return {ErrorKind::memory,
          item_.name + (settings_.montage ? ": --montage" : ": --stack") + " needs at least " +
              std::to_string(bytes) + " bytes, but " +
              (settings_.memory_bytes > 0 ? "--memory leaves " : "half of the memory is ") +
              std::to_string(std::max<std::int64_t>(0, budget))};
}

void CombineJob::plan_passes() {
  const std::optional<std::int64_t> count = list_->count();
  const std::int64_t items = count.value_or(std::numeric_limits<std::int64_t>::max());
  const std::int64_t rows = item_.shape.height, row = item_.shape.row_bytes();
  const std::int64_t state_row = item_.shape.width * item_.shape.channels * state_size();
  const std::int64_t fixed =
      header_.shape.bytes() +
      (is_median() ? settings_.threads * median_scratch_bytes(static_cast<std::size_t>(items)) : 0);
  const std::int64_t budget = memory_for_images(settings_.memory_bytes, settings_.threads, 0) - fixed;
  const bool on_device = settings_.device != "cpu" && !is_reference();
  std::int64_t readers = on_device ? 1 : std::min<std::int64_t>(settings_.threads, items);
  const auto row_bytes = [&] { return is_median() ? items * row : state_row + group_ * row; };
  const auto rows_with = [&](std::int64_t need) { return (budget - readers * need) / row_bytes(); };
  group_ = is_median() ? items : std::min(std::max(kGroup, readers), items);
  while (!is_median() && group_ > readers && rows_with(whole_need_) < rows) --group_;
  band_rows_ = rows;
  if (rows_with(whole_need_) < rows) {
    while (readers > 1 && rows_with(band_need_) < 1) {
      --readers;
      if (!is_median()) group_ = readers;
    }
    band_rows_ = rows_with(band_need_);
    if (band_rows_ < (settings_.montage ? rows : 1))
      throw too_little_memory(fixed + band_need_ + row_bytes(), budget + fixed);
  }
  passes_ = (rows + band_rows_ - 1) / band_rows_;
  band_rows_ = (rows + passes_ - 1) / passes_;  // of equal height
  if (passes_ > 1 && !count)
    throw Error(too_little_memory(fixed + readers * whole_need_ + rows * row_bytes(), budget + fixed));
  for (std::int64_t i = 0; i < readers; ++i)
    readers_.push_back(std::make_unique<ItemReader>(settings_, on_device ? settings_.threads : 1));
  threads_.emplace(settings_.threads);
}

void CombineJob::combine(const Warn& warn, const Progress& progress) {
  // The blocks of files are used again: with new ones, half of the time goes into page faults.
  const BlockPoolLimit kept(memory_for_images(settings_.memory_bytes, settings_.threads, 0));
  plan_passes();
  naming(item_.name, [&] { result_ = Image(header_.shape); });
  if (settings_.montage) fill_background();
  for (std::int64_t first = 0; first < item_.shape.height; first += band_rows_) {
    if (first > 0) list_->rewind();
    of_pass_ = 0;
    const std::int64_t rows = std::min(band_rows_, item_.shape.height - first);
    // In a sheet, copy_to_cells() finds the rows of each cell.
    read_pass(first, result_.untyped_view().rows(first, rows), warn, progress);
  }
  items_ = of_pass_;
  readers_.clear();
  threads_.reset();
}

void CombineJob::read_pass(std::int64_t first, HostView out, const Warn& warn, const Progress& progress) {
  Shape items = item_.shape;
  items.height = group_ * out.height;
  const std::int64_t samples = out.height * items.width * items.channels, state_bytes_each = state_size();
  const auto bytes = static_cast<std::size_t>(samples * state_bytes_each);
  check_available(items.bytes() + static_cast<std::int64_t>(bytes));
  Image buffer(items);
  const auto state = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memset(state.get(), std::to_integer<int>(initial_state(settings_.projection)), bytes);
  while (true) {
    const std::int64_t read = read_group(buffer.untyped_view(), first, warn);
    progress(read_, list_->count().value_or(0) * passes_);
    if (is_median()) return take_medians(buffer.untyped_view(), out);
    if (settings_.montage) {
      copy_to_cells(buffer.untyped_view(), read);
    } else {
      add(buffer.untyped_view(), read, state.get());
    }
    if (read < group_) break;
  }
  if (settings_.montage) return;
  const std::int64_t out_size = bytes_per_sample(out.sample);
  share(samples, kPartSamples, [&](std::int64_t begin, std::int64_t end, std::size_t) {
    finish_projection(settings_.projection, items.sample, static_cast<std::uint64_t>(of_pass_),
                      state.get() + begin * state_bytes_each, end - begin, out.sample,
                      out.data + begin * out_size);
  });
}

// Returns the number of items read: fewer than `group_` only at the end.
std::int64_t CombineJob::read_group(HostView buffer, std::int64_t first, const Warn& warn) {
  const std::int64_t rows = buffer.height / group_;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(group_));
  std::vector<std::vector<std::string>> warnings(errors.size());
  std::atomic<std::int64_t> claimed{0}, done{0};
  std::atomic<bool> failed{false};
  std::atomic<std::size_t> used{0};  // fewer readers than threads may exist
  const auto read_items = [&](int) {
    ItemReader& reader = *readers_[used++];
    while (!failed) {
      std::int64_t slot = claimed++;
      if (slot >= group_) return;
      try {
        const std::optional<ImageItem> item = list_->next();
        if (!item) return;
        slot = item->number - of_pass_;
        warnings[static_cast<std::size_t>(slot)] =
            reader.read(*item, item_, first, buffer.rows(slot * rows, rows));
        ++done;
      } catch (...) {
        errors[static_cast<std::size_t>(slot)] = std::current_exception();
        failed = true;
      }
    }
  };
  threads_->run(static_cast<int>(readers_.size()), read_items);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    for (const std::string& warning : warnings[i]) {
      if (warned_.insert(warning).second) warn(warning);
    }
    if (errors[i]) std::rethrow_exception(errors[i]);
  }
  of_pass_ += done;
  read_ += done;
  return done;
}

// Calls work(first, end, thread) for parts of the samples, on all threads.
void CombineJob::share(std::int64_t samples, std::int64_t part_samples, const Part& work) {
  std::atomic<std::int64_t> next{0};
  threads_->run(settings_.threads, [&](int thread) {
    for (std::int64_t first = next.fetch_add(part_samples); first < samples;
         first = next.fetch_add(part_samples))
      work(first, std::min(samples, first + part_samples), static_cast<std::size_t>(thread));
  });
}

// Made before the threads work, which must not throw.
std::vector<CombineJob::Pointers> CombineJob::pointers_of_threads(std::int64_t items) const {
  return {static_cast<std::size_t>(settings_.threads), Pointers(static_cast<std::size_t>(items))};
}

void CombineJob::add(ConstHostView buffer, std::int64_t items, std::byte* state) {
  if (items == 0) return;
  const std::int64_t size = bytes_per_sample(buffer.sample);
  const std::int64_t state_bytes_each = state_size(), item_bytes = buffer.bytes() / group_;
  std::vector<Pointers> pointers = pointers_of_threads(items);
  share(item_bytes / size, kPartSamples, [&](std::int64_t first, std::int64_t end, std::size_t thread) {
    Pointers& at = pointers[thread];
    for (std::size_t i = 0; i < at.size(); ++i)
      at[i] = buffer.data + static_cast<std::int64_t>(i) * item_bytes + first * size;
    const ProjectedItems in{.sample = buffer.sample, .items = at, .samples = end - first};
    (is_reference() ? add_items_reference : add_items_cpu)(settings_.projection, in,
                                                           state + first * state_bytes_each);
  });
}

void CombineJob::take_medians(ConstHostView buffer, HostView out) {
  const std::int64_t size = bytes_per_sample(buffer.sample);
  const std::int64_t item_bytes = buffer.bytes() / group_;
  Image scratch({median_scratch_bytes(static_cast<std::size_t>(group_)), settings_.threads, 1});
  std::vector<Pointers> pointers = pointers_of_threads(group_);
  share(item_bytes / size, kMedianSamples, [&](std::int64_t first, std::int64_t end, std::size_t thread) {
    Pointers& at = pointers[thread];
    for (std::size_t i = 0; i < at.size(); ++i)
      at[i] = buffer.data + static_cast<std::int64_t>(i) * item_bytes + first * size;
    const ProjectedItems in{.sample = buffer.sample, .items = at, .samples = end - first};
    std::byte* const to = out.data + first * size;
    if (is_reference()) {
      median_of_items_reference(in, to);
    } else {
      median_of_items_cpu(in, scratch.untyped_view().row(static_cast<std::int64_t>(thread)), to);
    }
  });
}

// Cells without an image have the background.
void CombineJob::fill_background() {
  const HostView sheet = result_.untyped_view();
  const ColorPixel pixel = color_pixel(settings_.montage->background, frame_type_of(sheet.shape()), 0);
  for (std::int64_t x = 0; x < sheet.width; ++x)
    std::memcpy(sheet.data + x * pixel.bytes, pixel.data.data(), static_cast<std::size_t>(pixel.bytes));
  for (std::int64_t y = 1; y < sheet.height; ++y)
    std::memcpy(sheet.row(y), sheet.data, static_cast<std::size_t>(sheet.row_bytes()));
}

// Copies the last `items` items read into their cells.
void CombineJob::copy_to_cells(ConstHostView buffer, std::int64_t items) {
  const HostView sheet = result_.untyped_view();
  const Shape& cell = item_.shape;
  for (std::int64_t i = 0; i < items; ++i) {
    const std::int64_t number = of_pass_ - items + i;
    const std::int64_t column = number % settings_.montage->columns,
                       row = number / settings_.montage->columns;
    copy_pixels(buffer.rows(i * cell.height, cell.height),
                HostView(sheet.row(row * cell.height) + column * cell.row_bytes(), cell, sheet.stride_bytes));
  }
}

std::unique_ptr<Reader> CombineJob::reader() const {
  return std::make_unique<ResultReader>(header_, result_);
}

}  // namespace imgpipe
