#include "app/image_page.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "app/image_results.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "images/files/input_file.h"
#include "images/files/output_file.h"
#include "images/formats/page_list.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostOutputPixels = std::int64_t{1} << 34;

// What can be read once more from its path.
bool is_plain_file(const std::string& path) {
  std::error_code error;
  return path != kStandardStream && !descriptor_of(path) && fs::is_regular_file(path, error);
}

// OUTPUT need not be there yet.
bool becomes_plain_file(const std::string& path) {
  std::error_code error;
  return path != kStandardStream && !descriptor_of(path) &&
         (!fs::exists(path, error) || fs::is_regular_file(path, error));
}

Picture picture_of_file(const std::string& path, std::int64_t page, DecodeOptions decode) {
  decode.most_bits = 16;
  const InputFile file = PageList(path, decode, InputKind::regular_only).page(page - 1);
  return picture_of(*open_reader(file, decode));
}

template <class Make>
ReportPage::Side side_of(const Make& make) {
  ReportPage::Side side;
  try {
    side.picture = make();
  } catch (const Error& error) {
    side.why_none = error.what();
  }
  return side;
}

}  // namespace

bool wants_page(const ProcessOptions& options) {
  return std::ranges::any_of(options.report_files,
                             [](const std::string& file) { return file.ends_with(".html"); });
}

void keep_for_page(const ProcessOptions& options, Job& job) {
  if (!wants_page(options)) return;
  job.keep_source = job.keep_source || !is_plain_file(options.input);
  job.keep_pixels = job.keep_pixels || !becomes_plain_file(options.output);
}

ReportPage make_report_page(const ProcessOptions& options, const Outcome& outcome,
                            const std::vector<ContrastRange>& ranges, std::vector<std::string> warnings) {
  ReportPage page;
  page.place = run_place();
  page.command = command_text();
  page.warnings = std::move(warnings);
  page.peak_memory_bytes = peak_memory_bytes();
  page.input = side_of([&] {
    return outcome.source.empty()
               ? picture_of_file(options.input, options.pages ? options.pages->first : 1, options.decode)
               : picture_of(*make_memory_reader(outcome.source.untyped_view()));
  });
  const bool read_again = becomes_plain_file(options.output);
  page.output = side_of([&] {
    return read_again ? picture_of_file(options.output, 1, {.max_pixels = kMostOutputPixels})
                      : picture_of(*make_memory_reader(outcome.pixels));
  });
  if (page.output.picture && before_step(outcome.plan) < outcome.plan.steps.size()) {
    const std::string name = input_name(fs::path(options.input).filename().string());
    page.histogram = histogram_before(name, outcome, ranges);
    page.histogram->after_label = read_again ? "the output, read again" : "the finished image";
    page.histogram->after = page.output.picture->counts;
  }
  return page;
}

}  // namespace imgpipe
