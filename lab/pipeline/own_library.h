// A user's own variants: what a file that includes lab/pipeline/imgpipe_kernel.h became when nvcc had
// compiled it to a shared library.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "lab/kernels/ladders.h"
#include "lab/kernels/rung.h"
#include "lab/pipeline/imgpipe_kernel.h"

namespace imgpipe {

struct OwnVariant {
  std::string stage;  // the ladder's name
  std::string name;   // unique in the ladder
  std::string idea;   // printable
  std::string file;   // that it is from, printable: its last part
  int (*launch)(const ImgpipeCall*) = nullptr;
  std::size_t (*scratch_bytes)(const ImgpipeShape*) = nullptr;  // nullptr: none
};

class OwnLibrary {
 public:
  // Loads a shared library, which stays loaded: the driver knows its kernels. `file`: what its variants are
  // said to be from. Throws Error(input): it cannot be loaded, does not include the header or another version
  // of it, has no variants, two of one name in a ladder, or one that has a name of the lab's.
  OwnLibrary(const std::string& path, const std::string& file);

  [[nodiscard]] const std::deque<OwnVariant>& variants() const { return variants_; }
  // Has it work on CUDA device `index`, on the calling thread. Throws Error(device).
  void use_device(int index) const;

 private:
  std::deque<OwnVariant> variants_;  // in the file's order
  ImgpipeUseDevice* use_device_ = nullptr;
};

// The rung that a variant is; both live as long as it does. Its launch needs a build with CUDA.
[[nodiscard]] Rung own_rung(const OwnVariant& variant);

}  // namespace imgpipe
