// NVIDIA Performance Primitives and nvJPEG, as baselines. They contain hundreds of megabytes of kernels and
// few machines have them, so they are loaded, not linked.
#pragma once

#include <memory>
#include <string>

namespace imgpipe {

struct NppFunctions;     // lab/kernels/npp_functions.cuh
struct NvjpegFunctions;  // lab/kernels/nvjpeg_functions.cuh

// Only for CUDA builds. A library stays loaded, because the driver knows its kernels.
template <class Functions>
class ToolkitLibrary {
 public:
  ToolkitLibrary();
  ~ToolkitLibrary();
  ToolkitLibrary(const ToolkitLibrary&) = delete;
  ToolkitLibrary& operator=(const ToolkitLibrary&) = delete;

  // Returns nullptr if the library is missing.
  [[nodiscard]] const Functions* functions() const { return functions_.get(); }
  // Returns why the library cannot be used, or "".
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
