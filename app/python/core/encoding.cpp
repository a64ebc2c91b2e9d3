#include "app/python/core/encoding.h"

#include <filesystem>
#include <memory>

#include "app/python/core/arrays.h"
#include "app/python/core/item_threads.h"
#include "images/error.h"
#include "images/formats/preserved_metadata.h"
#include "images/memory/available_memory.h"
#include "images/names.h"
#include "images/text.h"
#include "images/unreachable.h"
#include "pipeline/file_encoding.h"
#include "pipeline/image_io.h"

namespace imgpipe::python {
namespace {

[[noreturn]] void usage(const std::string& message) {
  throw Error(ErrorKind::usage, message);
}

std::string name_of(Format format) {
  return std::string(format_info(format).name);
}

std::vector<std::string_view> written_formats() {
  std::vector<std::string_view> names;
  for (const FormatInfo& info : format_table()) {
    if (info.can_be_written()) names.push_back(info.name);
  }
  return names;
}

// "png, tiff": the formats that hold such an image.
std::string formats_with(bool (*holds)(const FormatInfo&)) {
  std::vector<std::string_view> names;
  for (const FormatInfo& info : format_table()) {
    if (info.writable && holds(info)) names.push_back(info.name);
  }
  return joined(names);
}

}  // namespace

Encoding make_encoding(Format format, std::optional<int> quality, std::optional<int> level) {
  Encoding encoding{.format = format, .options = usual_encoding()};
  const bool has_quality = format == Format::jpeg || format == Format::webp;
  const bool has_level = format == Format::png || format == Format::tiff || format == Format::webp;
  if (quality && !has_quality)
    usage("quality: " + name_of(format) + " has none" + (has_level ? "; set level, 0 to 9, instead" : ""));
  if (level && !has_level)
    usage("level: " + name_of(format) + " has none" +
          (has_quality ? "; set quality, 1 to 100, instead" : ""));
  if (quality) {
    encoding.options.quality = *quality;
    encoding.options.webp = WebpCoding::lossy;
  }
  if (level) encoding.options.png_level = encoding.options.webp_level = *level;
  return encoding;
}

Format format_to_write(const std::string& name, const std::string& path) {
  const std::optional<Format> named = format_by_name(name), by_ending = format_by_ending(path);
  if (!name.empty() && (!named || !format_info(*named).can_be_written()))
    usage("format: " + none_of(printable(name), written_formats()));
  if (named && by_ending && *named != *by_ending && *by_ending != Format::pnm)
    usage("format: " + name + " contradicts the extension, which is that of " + name_of(*by_ending));
  if (named) return *named;
  if (by_ending && format_info(*by_ending).can_be_written()) return *by_ending;
  const std::string ending = std::filesystem::path(path).extension().string();
  usage("path: " + (ending.size() < 2 ? "has no extension" : "cannot write " + printable(ending) + " files") +
        "; use the extension of " + joined(written_formats()) + ", or set format");
}

std::vector<std::string> preserve_metadata(const Source& from, const Shape& shape, Encoding& encoding) {
  const ImageHeader header = from.open(usual_decoding())->header();
  const Shape written = storable_shape(encoding.format, shape);
  const bool resized = header.shape.width != shape.width || header.shape.height != shape.height;
  const std::string file_name = std::filesystem::path(from.path).filename().string();
  const ImageChanges changes{
      .output = encoding.format,
      .shape = written,
      .applied = header.orientation,
      .moved = resized,
      .scaled = resized,
      .reshaped = reshape_reason(header.shape, written, header.orientation != Orientation::upright),
      .revalued = true,
      .whole_stack = !header.more_images,
      .file_name = file_name};
  const PreservedMetadata kept = keep_metadata(from.bytes(), changes);
  encoding.options.metadata = kept.metadata;
  std::vector<std::string> lost;
  const bool has_profile = kept.metadata && !kept.metadata->icc.empty();
  const std::string& profile = kept.unpreserved_profile.empty() ? header.profile : kept.unpreserved_profile;
  if (!has_profile && !profile.empty())
    lost.push_back("dropped colour profile \"" + profile + "\"; the colours were not converted");
  if (!kept.lost.empty()) lost.push_back("dropped metadata: " + lost_metadata_text(kept.lost));
  return lost;
}

void check_lossless(Format format, const Shape& shape) {
  const FormatInfo& info = format_info(format);
  const std::string name(info.name);
  const int bits = static_cast<int>(8 * bytes_per_sample(shape.sample));
  if (is_float(shape.sample) && !info.holds_floats)
    usage("image: " + name + " cannot store " + std::string(sample_name(shape.sample)) +
          "; convert it with imgpipe.run(image, \"depth:8\")");
  if (!is_float(shape.sample) && info.written_bits == 0)
    usage("image: " + name + " stores float32, got " + std::string(sample_name(shape.sample)) +
          "; convert it with imgpipe.run(image, \"depth:float\")");
  if (!is_float(shape.sample) && bits > info.written_bits)
    usage("image: " + name + " stores " + std::to_string(info.written_bits) + " bits per sample, got " +
          std::string(sample_name(shape.sample)) +
          "; convert it with imgpipe.run(image, \"depth:8\"), or write " +
          formats_with([](const FormatInfo& one) { return one.written_bits == 16; }));
  if (shape.color_channels() == 3 && !info.holds_color)
    usage("image: " + name + " stores only grey; convert it with imgpipe.run(image, \"gray\"), or write ppm");
  if (shape.has_alpha() && !info.holds_alpha)
    usage("image: " + name +
          " cannot store alpha; remove it with imgpipe.run(image, \"flatten\"), or write " +
          formats_with([](const FormatInfo& one) { return one.holds_alpha; }));
}

EncodedFile encode(ConstHostView pixels, const Encoding& encoding, int threads) {
  const std::unique_ptr<Writer> writer = make_writer(encoding.format, pixels.shape(), encoding.options);
  check_available(writer->working_bytes());
  HostThreads workers(image_threads(threads, pixels.shape().pixels()));
  Timeline unreported;
  return encode_image(pixels, *writer, workers, unreported);
}

}  // namespace imgpipe::python
