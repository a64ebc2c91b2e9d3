#include "app/batch/tensor_output.h"

#include <cstddef>

#include "app/files/replaceable.h"
#include "app/process_options/tensor_options.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {

TensorOutput::TensorOutput(const ProcessOptions& options, const std::deque<BatchFile>& files)
    : options_(options),
      file_({.path = options.output.path,
             .format = *options.output.format,
             .names_path = tensor_names_file(options.output),
             .inputs = files.size(),
             .name = [&files](std::size_t input) { return printable(files[input].name()); },
             .sync = options.output.sync.get()}) {}

void TensorOutput::consume_rows(BatchSettings& settings) {
  settings.is_hopeless = [this] { return has_mixed_shapes(); };
  if (settings.pages) {
    settings.make_page_consumer = [this](std::size_t input) { return file_.consume_pages(input); };
  } else {
    settings.make_row_consumer = [this](const ImageFiles& files, const Plan& plan) {
      return file_.consume_image(files, plan);
    };
  }
}

std::string TensorOutput::finish(BatchTotals& totals) {
  if (has_mixed_shapes()) return "the images make tensors of different shapes";
  if (!totals.stopped.empty()) return "the batch ended early";
  if (file_.rows() == 0) return "no image is done";
  naming(printable(options_.output.path),
         [&] { check_still_replaceable(options_.output.path, options_.output.replace, Mark::result); });
  file_.finish();
  totals.tensor = {
      .names_file = tensor_names_file(options_.output), .type = *file_.type(), .rows = file_.rows()};
  return "";
}

}  // namespace imgpipe
