#include "pipeline/jobs/item_reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "images/error.h"
#include "images/formats/pending_input.h"
#include "images/image.h"
#include "images/memory/available_memory.h"
#include "pipeline/color_profiles.h"
#include "pipeline/host/chained_run.h"
#include "pipeline/trimmed_steps.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kSkippedBytes = std::int64_t{256} << 10;  // read and dropped at a time

std::string shape_text(const Shape& shape) {
  constexpr std::array<const char*, 5> kNames{"", "grey", "grey+alpha", "RGB", "RGBA"};
  return std::to_string(shape.width) + "x" + std::to_string(shape.height) + " pixels, " +
         kNames[static_cast<std::size_t>(shape.channels)] +
         (is_float(shape.sample) ? ", floats"
                                 : ", " + std::to_string(8 * bytes_per_sample(shape.sample)) + " bits");
}

void skip_rows(Reader& reader, std::int64_t rows) {
  const Shape& shape = reader.header().shape;
  const std::int64_t at_once = std::clamp<std::int64_t>(kSkippedBytes / shape.row_bytes(), 1, shape.height);
  Image dropped({shape.width, at_once, shape.channels, shape.sample});
  for (; rows > 0; rows -= at_once) reader.read_rows(dropped.untyped_view().rows(0, std::min(rows, at_once)));
}

}  // namespace

Plan item_plan(const ItemSettings& settings, const ImageHeader& header) {
  refuse_trim(settings.stages);
  Plan plan = make_plan(with_profile(settings.stages, header), header.shape, settings.fuse,
                        settings.decode.max_pixels);
  if (plan.tensor) throw Error(ErrorKind::usage, "normalize: needs to be the last step of --then");
  return plan;
}

std::unique_ptr<Reader> open_item(const ItemSettings& settings, const InputFile& file) {
  return open_reader(file, with_profile(settings.decode, settings.stages));
}

ItemReader::ItemReader(const ItemSettings& settings, int threads)
    : settings_(settings),
      runner_({.device = settings.device,
               .threads = threads,
               .max_pixels = settings.decode.max_pixels,
               .device_memory_bytes = settings.device_memory_bytes}) {}

std::vector<std::string> ItemReader::read(const ImageItem& item, const ItemResult& wanted, std::int64_t first,
                                          HostView out) {
  std::vector<std::string> warnings = naming(item.name, [&] {
    std::unique_ptr<Reader> reader = open_item(settings_, item.file);
    const ImageHeader& header = reader->header();
    // A profile may be that of this item alone.
    if (!plan_ || plan_->input != header.shape || header.icc) plan_ = item_plan(settings_, header);
    if (plan_->output != wanted.shape)
      throw Error(ErrorKind::usage, "has " + shape_text(plan_->output) + ", but " + wanted.name + " has " +
                                        shape_text(wanted.shape) +
                                        "; give all images one shape, for example with resize or depth");
    if (plan_->operations.empty()) {
      check_available(reader->working_bytes(false));
      skip_rows(*reader, first);
      reader->read_rows(out);
      return reader->warnings();
    }
    RunReport report;
    if (out.height == wanted.shape.height) {
      runner_.run(std::move(reader), *plan_, out, &report);
    } else {
      check_available(wanted.shape.bytes());
      Image whole(wanted.shape);
      runner_.run(std::move(reader), *plan_, whole.untyped_view(), &report);
      copy_pixels(std::as_const(whole).untyped_view().rows(first, out.height), out);
    }
    return report.warnings;
  });
  for (std::string& warning : warnings) warning.insert(0, item.name + ": ");
  return warnings;
}

std::int64_t ItemReader::needed_bytes(const ItemSettings& settings, const Reader& reader,
                                      std::int64_t file_bytes, int threads, bool in_bands) {
  const Plan plan = item_plan(settings, reader.header());
  if (plan.operations.empty()) return file_bytes + reader.working_bytes(false) + kSkippedBytes;
  const MemoryEstimateRequest request{.plan = plan, .reader = reader, .target_in_memory = true};
  // Only the SIMD engine works in bands.
  const std::int64_t stages =
      settings.device == "cpu"
          ? chains_need(request).with_threads(threads)
          : plan.input.bytes() + bytes_of_steps(plan) + table_bytes_of(plan) + reader.working_bytes(true);
  return file_bytes + stages + (in_bands ? plan.output.bytes() : 0);
}

}  // namespace imgpipe
