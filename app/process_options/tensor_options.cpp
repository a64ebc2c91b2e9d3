#include "app/process_options/tensor_options.h"

#include <utility>

#include "app/options/option_parser.h"
#include "app/options/option_values.h"
#include "images/error.h"
#include "images/files/file.h"
#include "kernels/frame.h"
#include "kernels/stage.h"

namespace imgpipe {

void read_tensor(const Parser& parser, ProcessOptions& options) {
  if (!parser.has("tensor")) return;
  constexpr std::pair<const char*, const char*> kRefused[] = {
      {"output", "FILE is the only output"},
      {"name", "FILE is the only output"},
      {"format", "the extension of FILE selects the format"},
      {"update", "FILE is always written whole"},
      {"skip-existing", "FILE is always written whole"},
      {"shard", "give each process a separate FILE and --files-from"}};
  for (const auto& [option, why] : kRefused) {
    if (parser.has_option(option))
      usage("--tensor: cannot be combined with --" + std::string(option) + "; " + why);
  }
  if (options.input.path == kStandardStream) usage("--tensor: INPUT must be files, got stdin");
  options.output.path = file_with_ending("tensor", parser.text("tensor"), {".npy", ".safetensors"});
  options.output.format = format_by_ending(options.output.path);
  options.output.is_tensor = true;
}

std::string tensor_names_file(const OutputOptions& output) {
  return output.is_tensor && output.format == Format::npy ? output.path + ".names.txt" : "";
}

void check_output_holds(const ProcessOptions& options, Format format, const std::string& output) {
  const std::vector<StageRequest>& steps = options.stages.steps;
  std::optional<TensorType> tensor;
  if (!steps.empty() && steps.back().stage->tensor != nullptr)
    tensor = steps.back().stage->tensor(FrameType{}, steps.back().parameters);
  if (!tensor && !format_info(format).holds_tensors) return;  // depends on the image
  naming(output, [&] {
    (void)storable_shape(format, tensor ? tensor->frame() : Shape{1, 1, 1}, tensor.has_value());
  });
}

}  // namespace imgpipe
