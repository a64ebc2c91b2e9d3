#include "pipeline/second_images.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "images/error.h"
#include "images/formats/codec_table.h"
#include "images/formats/pending_input.h"
#include "images/image.h"
#include "images/memory/available_memory.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/plan.h"
#include "pipeline/runner.h"
#include "pipeline/trimmed_steps.h"

namespace imgpipe {
namespace {

template <class T>
void copy_channel(const ConstHostView& from, int channel, std::byte* to, std::int64_t stride_bytes) {
  for (std::int64_t y = 0; y < from.height; ++y) {
    const auto* const in = reinterpret_cast<const T*>(from.row(y)) + channel;
    auto* const out = reinterpret_cast<T*>(to + y * stride_bytes);
    for (std::int64_t x = 0; x < from.width; ++x) out[x] = in[x * from.channels];
  }
}

void copy_channel(const ConstHostView& from, int channel, std::byte* to, std::int64_t stride_bytes) {
  if (is_float(from.sample)) return copy_channel<float>(from, channel, to, stride_bytes);
  visit_sample(from.sample, [&]<class T>(T) { copy_channel<T>(from, channel, to, stride_bytes); });
}

template <class T>
std::int64_t mean_of(const ConstHostView& pixels) {
  const int colors = pixels.shape().color_channels();
  std::int64_t sum = 0;
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    const auto* const row = reinterpret_cast<const T*>(pixels.row(y));
    for (std::int64_t x = 0; x < pixels.width; ++x)
      for (int c = 0; c < colors; ++c) sum += row[x * pixels.channels + c];
  }
  const std::int64_t count = pixels.width * pixels.height * colors;
  return (2 * sum + count) / (2 * count);
}

class Loading {
 public:
  explicit Loading(const SecondImageOptions& options) : options_(options), decode_(options.decode) {
    decode_.max_bits = 32;
    decode_.bands.clear();
    decode_.colors_only = false;
    decode_.bands_of_page.reset();
    for (const NamedImage& one : options.named) {
      if (std::ranges::count(options.named, one.name, &NamedImage::name) > 1)
        throw Error(ErrorKind::usage, "--image: " + printable(one.name) + " is given twice");
    }
  }

  void load(std::span<StageRequest> steps) {
    for (StageRequest& step : steps) {
      if (!step.image) continue;
      step.image = image_of(step.image->name);
      step.parameters.image = step.image.get();
    }
  }

  std::vector<std::string> warnings;

 private:
  std::shared_ptr<const SecondImage> image_of(const std::string& name) {
    if (const auto loaded = loaded_.find(name); loaded != loaded_.end()) {
      if (!loaded->second)
        throw Error(ErrorKind::usage, "--image-stages: " + printable(name) + " reads itself");
      return loaded->second;
    }
    loaded_[name] = nullptr;  // while its stages are loaded
    const auto named = std::ranges::find(options_.named, name, &NamedImage::name);
    const NamedImage source = named == options_.named.end() ? NamedImage{name, name} : *named;
    return loaded_[name] = source.image ? source.image : read(source);
  }

  std::shared_ptr<const SecondImage> read(const NamedImage& source) {
    return naming(printable(source.path), [&] {
      const InputFile file = open_input(source.path, decode_, InputKind::any);
      if (options_.decode.bands_of_page) check_bands_of(file);
      const std::unique_ptr<Reader> reader = open_reader(file, decode_);
      check_available(2 * reader->header().shape.bytes() + reader->working_bytes(true));
      Image image(reader->header().shape);
      reader->read_rows(image.untyped_view());
      for (const std::string& warning : reader->warnings())
        warnings.push_back(printable(source.path) + ": " + warning);
      std::vector<StageRequest> steps = parse_stages(source.stages, options_.presets);
      if (steps.empty()) return make_second_image(source.name, image.untyped_view());
      if (steps.back().stage->tensor != nullptr)
        throw Error(ErrorKind::usage, "--image-stages: " + std::string(steps.back().stage->name) +
                                          " makes a tensor; a step reads an image");
      load(steps);
      TrimmedSteps trimmed = trimmed_steps(
          steps, [&] { return make_memory_reader(image.untyped_view()); }, decode_.max_pixels);
      for (const std::string& note : trimmed.notes) warnings.push_back(printable(source.path) + ": " + note);
      steps = std::move(trimmed.steps);
      Runner runner({.device = "cpu", .threads = options_.threads});
      const Plan plan = make_plan(steps, image.shape(), false, decode_.max_pixels);
      return make_second_image(source.name, runner.run(image.untyped_view(), plan).pixels);
    });
  }

  // The step runs on one band at a time.
  static void check_bands_of(const InputFile& file) {
    const Codec* const codec = codec_by_content(file.bytes());
    if (codec == nullptr || !codec->selects_bands || !file.is_whole()) return;
    const FileDetails details = codec->describe(file.bytes());
    if (!details.bands_needed.empty())
      throw Error(ErrorKind::usage, "has " + std::to_string(details.channels) +
                                        " bands, but each band of --bands all needs the same second image "
                                        "of one band; make it with --bands N");
  }

  const SecondImageOptions& options_;
  DecodeOptions decode_;
  std::map<std::string, std::shared_ptr<const SecondImage>> loaded_;
};

}  // namespace

std::shared_ptr<const SecondImage> make_second_image(std::string name, ConstHostView pixels) {
  SecondImage image{.name = std::move(name), .type = frame_type_of(pixels.shape())};
  image.type.layout = Layout::planar;
  check_available(image.plane_bytes() * image.type.channels());
  image.planes.resize(static_cast<std::size_t>(image.plane_bytes() * image.type.channels()));
  for (int c = 0; c < pixels.channels; ++c)
    copy_channel(pixels, c, image.planes.data() + c * image.plane_bytes(), image.stride_bytes());
  if (!is_float(pixels.sample))
    image.mean = visit_sample(pixels.sample, [&]<class T>(T) { return mean_of<T>(pixels); });
  return std::make_shared<const SecondImage>(std::move(image));
}

std::vector<std::string> load_second_images(std::span<StageRequest> steps,
                                            const SecondImageOptions& options) {
  Loading loading(options);
  loading.load(steps);
  return std::move(loading.warnings);
}

std::vector<std::string> load_second_images(std::span<StageBranch> branches,
                                            const SecondImageOptions& options) {
  Loading loading(options);
  for (StageBranch& branch : branches) {
    const auto load = [&] { loading.load(branch.steps); };
    branch.name.empty() ? load() : naming(branch.name, load);
  }
  return std::move(loading.warnings);
}

}  // namespace imgpipe
