// A user's variants: a file that includes imgpipe_kernel.h, compiled by nvcc to a shared library.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "lab/kernels/ladders.h"
#include "lab/kernels/stage_variant.h"
#include "lab/pipeline/imgpipe_kernel.h"

namespace imgpipe {

struct UserVariant {
  std::string stage;  // the ladder's name
  std::string name;   // unique in the ladder
  std::string idea;   // printable
  std::string file;   // its source file without directories, printable
  int (*launch)(const ImgpipeCall*) = nullptr;
  std::size_t (*scratch_bytes)(const ImgpipeShape*) = nullptr;  // nullptr: none
};

class UserKernelLibrary {
 public:
  // Loads a shared library, which stays loaded because the driver knows its kernels. `file` names the source
  // of its variants. Throws Error(input) if it cannot be loaded, lacks the header or has another version of
  // it, has no variants, or has a variant of an unknown stage or with the name of a variant of the lab.
  UserKernelLibrary(const std::string& path, const std::string& file);

  [[nodiscard]] const std::deque<UserVariant>& variants() const { return variants_; }
  // Makes CUDA device `index` current for the library on the calling thread. Throws Error(device).
  void use_device(int index) const;

 private:
  std::deque<UserVariant> variants_;  // in the file's order
  ImgpipeUseDevice* use_device_ = nullptr;
};

// Returns the ladder's row for a user's variant, which must outlive it. Launching it needs a build with CUDA.
[[nodiscard]] StageVariant user_variant(const UserVariant& variant);

}  // namespace imgpipe
