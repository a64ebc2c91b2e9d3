// Runs nvJPEG on a group of images.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/kernels/codec_variant.h"
#include "lab/pipeline/codec_subject.h"
#include "lab/pipeline/thread_team.h"

namespace imgpipe {

struct NvjpegFunctions;  // lab/kernels/nvjpeg_functions.cuh

class NvjpegRun {
 public:
  virtual ~NvjpegRun() = default;
  NvjpegRun(const NvjpegRun&) = delete;
  NvjpegRun& operator=(const NvjpegRun&) = delete;

  // Processes the whole group and waits for it: from files in host memory to pixels in device memory, or from
  // these to files in device memory. Returns nvJPEG's error, or "". Throws Error(device).
  [[nodiscard]] virtual std::string run() = 0;
  // Encoding: copies a file of the last run to the host.
  [[nodiscard]] virtual std::vector<std::byte> file(std::size_t /*image*/) { return {}; }

 protected:
  NvjpegRun() = default;
};

// Decodes into the planes of `tasks` (reconstruction.pixels) or encodes them (jpeg.pixels). If nvJPEG
// refuses, returns nullptr and sets `refusal`.
[[nodiscard]] std::unique_ptr<NvjpegRun> make_nvjpeg_run(const CodecVariant& variant, const CodecGroup& group,
                                                         std::span<const CodecTask> tasks, ThreadTeam& crew,
                                                         int device, const NvjpegFunctions& functions,
                                                         std::string& refusal);

}  // namespace imgpipe
