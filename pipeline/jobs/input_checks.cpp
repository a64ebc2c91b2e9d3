// The checks of InputJob before anything is written.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "images/formats/codec_table.h"
#include "images/formats/preserved_metadata.h"
#include "images/text.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/trimmed_steps.h"

namespace imgpipe {

void InputJob::check_memory(std::int64_t need, std::int64_t most) {
  if (most > 0 && need > most)
    throw Error(ErrorKind::memory, "needs up to " + std::to_string(need) + " bytes, but --memory leaves " +
                                       std::to_string(most));
}

std::vector<Shape> InputJob::result_shapes(const Plan& plan) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < plan.results.size(); ++i) shapes.push_back(plan.shape_of_result(i));
  return shapes;
}

ImageHeader InputJob::header_of(const InputFile& page) const {
  return open_reader(page, decoding_for(settings_, checked_stages_))->header();
}

Plan InputJob::plan_of(const ImageHeader& header) const {
  return plan_for(settings_, checked_stages_, header, files_.format);
}

void InputJob::check_page(const ImageHeader& header, const Plan& plan) {
  max_pixels_ = std::max(max_pixels_, header.shape.pixels());
  if (std::exchange(checked_, header.shape) == header.shape) return;
  check_(plan, header);
  if (settings_.make_row_consumer) return;
  for (const Shape& shape : makes_planes() ? result_shapes(plan) : std::vector<Shape>()) {
    if (shape.channels != 1)
      throw Error(ErrorKind::usage, "--bands all: each band must stay grey, but the stages make " +
                                        std::to_string(shape.channels) + " channels of it");
  }
  for (std::size_t i = 0; i + 1 < plan.results.size(); ++i)
    (void)storable_shape(files_.format, plan.shape_of_result(i), false);
  (void)storable_shape(files_.format, plan.output, plan.tensor.has_value());
}

void InputJob::check_pages() {
  std::int64_t stack_bytes = 0;
  std::vector<Shape> outputs;
  for (std::int64_t number = range_.first; number <= range_.last; ++number) {
    naming(name_of(number), [&] {
      const InputFile page = list_->page(number - 1, Pages::Part::front);
      check_memory(static_cast<std::int64_t>(page.bytes().size()), max_bytes_);
      const ImageHeader header = header_of(page);
      if (number == range_.first) first_header_ = header;
      if (checked_ != header.shape) {
        const Plan plan = plan_of(header);
        check_page(header, plan);
        outputs = result_shapes(plan);
      }
      if (stack_ && stack_bytes <= kMaxClassicBytes) stack_bytes += max_bytes_in_stack(page, outputs);
    });
  }
  // The size of a trimmed page is not known in advance.
  if (stack_) stack_->next.big = stack_bytes > kMaxClassicBytes || has_trim(settings_.stages);
  for (const auto& also : also_stacks_) also->next.big = stack_->next.big;
}

// Returns the maximum bytes of a page in a stack. Metadata shared by pages of the input is written with each
// page.
std::int64_t InputJob::max_bytes_in_stack(const InputFile& page, const std::vector<Shape>& outputs) const {
  std::int64_t most = 0;
  for (const Shape& output : outputs) {
    EncodeOptions encode = settings_.encode;
    if (settings_.keep_metadata)
      encode.metadata = keep_metadata(page.bytes(), {.output = files_.format, .shape = output}).metadata;
    most = std::max(most, max_page_bytes(files_.format, output, encode));
  }
  return most;
}

void InputJob::check_outputs() {
  if (!makes_files()) return;
  std::error_code error;
  const bool to_descriptor = files_.output == kStandardStream || descriptor_of(files_.output);
  const bool is_other = std::filesystem::exists(files_.output, error) &&
                        !std::filesystem::is_regular_file(files_.output, error);
  to_stream_ = to_descriptor && codec_of(files_.format).find_end != nullptr;
  if (to_stream_) return;
  if (to_descriptor || is_other)
    throw Error(ErrorKind::usage, files_.output_name + ": " + std::string(format_info(files_.format).name) +
                                      " files store only one page; name a file for numbered outputs" +
                                      (codec_of(files_.format).holds_tensors ? "" : ", or write tiff"));
  // The number of images in a stream is not known, so only the first name is checked here.
  const std::int64_t last = is_stream() ? range_.first : range_.last;
  for (std::int64_t number = range_.first; number <= last; ++number) {
    const std::string output = output_of(number);
    if (same_file(output, files_.input))
      throw Error(ErrorKind::usage, printable(output) + ": is the input; use another name for OUTPUT");
    naming(printable(output), [&] { settings_.before_write(output, mark_for(settings_.encode, files_)); });
    for (const std::string& also : also_outputs_of(number)) {
      if (same_file(also, files_.input))
        throw Error(ErrorKind::usage, printable(also) + ": is the input; use another name for OUTPUT");
      naming(printable(also), [&] { settings_.before_write(also, mark_for(settings_.encode, files_)); });
    }
  }
}

// Makes each stack the planes of one image.
void InputJob::check_planes() {
  if (!makes_planes() || !stack_) return;
  const auto set_planes = [&](PageStack& stack) {
    if (!stack.file.is_replaced())
      throw Error(ErrorKind::usage, "the bands of --bands all need a regular file; write one, not a stream");
    stack.next.planes = std::make_shared<WrittenPlanes>();
    stack.next.planes->count = range_.count();
  };
  naming(files_.output_name, [&] { set_planes(*stack_); });
  for (std::size_t i = 0; i < also_stacks_.size(); ++i)
    naming(printable(files_.also[i].output), [&] { set_planes(*also_stacks_[i]); });
}

}  // namespace imgpipe
