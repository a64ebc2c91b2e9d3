// nvJPEG at work on a group of the lab.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/kernels/codec_rung.h"
#include "lab/pipeline/codec_subject.h"
#include "lab/pipeline/crew.h"

namespace imgpipe {

struct NvjpegFunctions;  // lab/kernels/nvjpeg_functions.cuh

class NvjpegRun {
 public:
  virtual ~NvjpegRun() = default;
  NvjpegRun(const NvjpegRun&) = delete;
  NvjpegRun& operator=(const NvjpegRun&) = delete;

  // The whole group, from the files in host memory to pixels in device memory, or from these to files in
  // device memory; returns when it is done. "", or what nvJPEG says is wrong. Throws Error(device).
  [[nodiscard]] virtual std::string run() = 0;
  // Encoding: a file of the last run, brought to the host.
  [[nodiscard]] virtual std::vector<std::byte> file(std::size_t /*image*/) { return {}; }

 protected:
  NvjpegRun() = default;
};

// `tasks`: their planes, which it decodes to (reconstruction.pixels) or encodes (jpeg.pixels). What nvJPEG
// refuses at the start is in `refusal`, and nothing is returned.
[[nodiscard]] std::unique_ptr<NvjpegRun> make_nvjpeg_run(const CodecRung& rung, const CodecGroup& group,
                                                         std::span<const CodecTask> tasks, Crew& crew,
                                                         int device, const NvjpegFunctions& functions,
                                                         std::string& refusal);

}  // namespace imgpipe
