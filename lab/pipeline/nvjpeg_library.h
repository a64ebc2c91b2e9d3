// nvJPEG, as a yardstick: loaded, not linked, as the libraries of NPP are (lab/pipeline/npp_library.h).
#pragma once

#include <memory>
#include <string>

namespace imgpipe {

struct NvjpegFunctions;  // lab/kernels/nvjpeg_functions.cuh

// In a build with CUDA only. What was loaded stays: the driver knows its kernels.
class NvjpegLibrary {
 public:
  NvjpegLibrary();
  ~NvjpegLibrary();
  NvjpegLibrary(const NvjpegLibrary&) = delete;
  NvjpegLibrary& operator=(const NvjpegLibrary&) = delete;

  // nullptr when it is missing.
  [[nodiscard]] const NvjpegFunctions* functions() const { return functions_.get(); }
  // Why it cannot be used here; "" when it can.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  std::unique_ptr<const NvjpegFunctions> functions_;
  std::string missing_;
};

}  // namespace imgpipe
