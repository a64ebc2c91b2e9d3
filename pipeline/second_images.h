// Loads the second images of steps, such as dark.tif of subtract:dark.tif.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "images/plane.h"
#include "kernels/second_image.h"
#include "pipeline/image_io.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

// An image that steps read by its name.
struct NamedImage {
  std::string name, path;
  std::string stages = std::string(kNoStages);  // that run on it once, before steps read it
  std::shared_ptr<const SecondImage> image{};   // used instead of the file, if set
};

struct SecondImageOptions {
  std::span<const NamedImage> named{};
  DecodeOptions decode = usual_decoding();  // but samples of all types, and all their bands
  StagePresets presets{};                   // for the stages of named images
  int threads = 0;                          // as --threads
};

// Copies pixels of 1 to 4 interleaved channels of u8, u16 or f32. Throws Error(memory).
[[nodiscard]] std::shared_ptr<const SecondImage> make_second_image(std::string name, ConstHostView pixels);

// Loads the image of each step that has one, each once: the named image, or else the file of that name. Named
// images that no step reads are not loaded.
// Returns the readers' warnings. Throws like read_image(), parse_stages() and make_plan(), and Error(usage)
// for a named image that is given twice, or that reads itself.
std::vector<std::string> load_second_images(std::span<StageRequest> steps,
                                            const SecondImageOptions& options = {});

// The same for several lists; an image that several of them read is loaded once.
std::vector<std::string> load_second_images(std::span<StageBranch> branches,
                                            const SecondImageOptions& options = {});

}  // namespace imgpipe
