// The libraries of NVIDIA Performance Primitives, as yardsticks. They hold kernels of hundreds of megabytes
// and are on few machines that run the program, so they are not linked but loaded.
#pragma once

#include <memory>
#include <string>

namespace imgpipe {

struct NppFunctions;  // lab/kernels/npp_functions.cuh

// In a build with CUDA only. What was loaded stays: the driver knows its kernels.
class NppLibrary {
 public:
  NppLibrary();
  ~NppLibrary();
  NppLibrary(const NppLibrary&) = delete;
  NppLibrary& operator=(const NppLibrary&) = delete;

  // nullptr when they are missing.
  [[nodiscard]] const NppFunctions* functions() const { return functions_.get(); }
  // Why they cannot be used here; "" when they can.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  std::unique_ptr<const NppFunctions> functions_;
  std::string missing_;
};

}  // namespace imgpipe
