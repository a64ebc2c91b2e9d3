#include "app/process_options/tensor_options.h"

#include <optional>

#include "images/codecs/tensor/tensor_codec.h"
#include "images/error.h"
#include "images/files/file.h"
#include "kernels/frame.h"
#include "kernels/stage.h"

namespace imgpipe {

std::string tensor_names_file(const OutputOptions& output) {
  return output.is_tensor && output.format == Format::npy ? output.path + ".names.txt" : "";
}

void check_output_holds(const ProcessOptions& options, Format format, const std::string& output) {
  if (options.decode.bands_of_page && !holds_pages(format))
    throw Error(ErrorKind::usage, output + ": " + std::string(format_info(format).name) +
                                      " cannot store all bands; write a TIFF, or choose one with --bands N");
  const std::vector<StageRequest>& steps = options.stages.steps;
  std::optional<TensorType> tensor;
  if (!steps.empty() && steps.back().stage->tensor != nullptr)
    tensor = steps.back().stage->tensor(FrameType{}, steps.back().parameters);
  if (!tensor && format_info(format).writable && !options.output.is_tensor) return;  // depends on the image
  naming(output, [&] {
    if (!tensor && options.output.is_tensor) throw not_a_tensor(format);
    (void)storable_shape(format, tensor ? tensor->frame() : Shape{1, 1, 1}, tensor.has_value());
  });
}

}  // namespace imgpipe
