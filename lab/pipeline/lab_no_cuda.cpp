// Replaces the lab's _cuda.cpp files in a build without the CUDA toolkit.
#include "images/error.h"
#include "lab/pipeline/check_user_kernel.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/lab_transfer.h"

namespace imgpipe {

std::unique_ptr<LabDevice> make_cuda_lab(int) {
  throw Error(ErrorKind::device, "cuda cannot be used: this build has no CUDA");
}

std::unique_ptr<TransferLab> make_transfer_lab(int, const LabSubject&) {
  throw Error(ErrorKind::device, "cuda cannot be used: this build has no CUDA");
}

std::unique_ptr<CodecLab> make_cuda_codec_lab(int, int) {
  throw Error(ErrorKind::device, "cuda cannot be used: this build has no CUDA");
}

UserCheckResult check_user_kernel(const Ladder&, const StageVariant&,
                                  const std::function<void(const std::string&)>&) {
  throw Error(ErrorKind::device, "cuda cannot be used: this build has no CUDA");
}

}  // namespace imgpipe
