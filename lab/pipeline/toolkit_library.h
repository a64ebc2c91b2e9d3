// NVIDIA Performance Primitives and nvJPEG, as yardsticks. They hold kernels of hundreds of megabytes and are
// on few machines, so they are not linked but loaded.
#pragma once

#include <memory>
#include <string>

namespace imgpipe {

struct NppFunctions;     // lab/kernels/npp_functions.cuh
struct NvjpegFunctions;  // lab/kernels/nvjpeg_functions.cuh

// In a build with CUDA only. A loaded library stays: the driver knows its kernels.
template <class Functions>
class ToolkitLibrary {
 public:
  ToolkitLibrary();
  ~ToolkitLibrary();
  ToolkitLibrary(const ToolkitLibrary&) = delete;
  ToolkitLibrary& operator=(const ToolkitLibrary&) = delete;

  // nullptr when they are missing.
  [[nodiscard]] const Functions* functions() const { return functions_.get(); }
  // Why they cannot be used here; "" when they can.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  std::unique_ptr<const Functions> functions_;
  std::string missing_;
};

using NppLibrary = ToolkitLibrary<NppFunctions>;
using NvjpegLibrary = ToolkitLibrary<NvjpegFunctions>;
extern template class ToolkitLibrary<NppFunctions>;
extern template class ToolkitLibrary<NvjpegFunctions>;

}  // namespace imgpipe
