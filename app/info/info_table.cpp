#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>

#include "app/info/info_report.h"
#include "app/report/result_table.h"
#include "app/report/text_columns.h"
#include "images/unreachable.h"

namespace imgpipe {
namespace {

using TableLine = std::pair<std::string, std::string>;

constexpr std::array<std::string_view, 9> kOrientations{"",
                                                        "upright",
                                                        "mirrored left to right",
                                                        "rotated by 180 degrees",
                                                        "mirrored top to bottom",
                                                        "mirrored along the main diagonal",
                                                        "to be rotated by 90 degrees",
                                                        "mirrored along the other diagonal",
                                                        "to be rotated by 270 degrees"};

std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ", " + second;
}

std::string metadata_text(const ImageInspection& image) {
  std::string text;
  for (const MetadataBlock& block : image.metadata) {
    text += (text.empty() ? "" : ", ") + block.name;
    if (!block.kind.empty()) text += " (" + block.kind + ")";
    if (block.bytes > 0) text += " of " + with_separators(static_cast<std::uint64_t>(block.bytes)) + " bytes";
  }
  return text.empty() ? "none" : text;
}

// Returns "" if the file has only colour channels.
std::string stored_channels_text(const FileDetails& details) {
  const std::size_t extras = details.extra_channels.size();
  if (extras == 0) return "";
  std::string text = std::to_string(details.channels) + ": " +
                     std::to_string(static_cast<std::size_t>(details.channels) - extras) + " of colour";
  for (const std::string& extra : details.extra_channels) text += ", " + extra;
  return text;
}

std::string orientation_text(const ImageInspection& image) {
  const auto number = static_cast<std::size_t>(image.header.orientation);
  return std::to_string(number) + " (" + std::string(kOrientations.at(number)) + ")";
}

std::string images_text(const ImageInspection& image) {
  std::string text = with_separators(static_cast<std::uint64_t>(image.images));
  if (image.reduced_images > 0)
    text += ", " + with_separators(static_cast<std::uint64_t>(image.reduced_images)) +
            " of which are smaller versions of another";
  return text;
}

// "100 ms each", or runs of equal durations: "frames 1 to 3: 100 ms, 4: 20 ms"; then the sum.
std::string durations_text(const std::vector<AnimationFrame>& frames) {
  constexpr std::size_t kMaxRuns = 6;
  const auto number = [](double value, const char* unit) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.6g ", value);
    return digits.data() + std::string(unit);
  };
  std::string text;
  double sum = 0;
  std::size_t runs = 0;
  for (std::size_t first = 0, end = 0; first < frames.size(); first = end, ++runs) {
    while (end < frames.size() && frames[end].duration_ms == frames[first].duration_ms) ++end;
    const double duration = frames[first].duration_ms.value_or(0);
    sum += duration * static_cast<double>(end - first);
    if (end - first == frames.size())
      return number(duration, "ms") + " each, " + number(sum / 1000, "s") + " in all";
    if (runs >= kMaxRuns) continue;
    text += (text.empty() ? "frame " : ", ") + std::to_string(first + 1);
    if (end - first > 1) text += " to " + std::to_string(end);
    text += ": " + (frames[first].duration_ms ? number(duration, "ms") : "not in the animation");
  }
  return text + (runs > kMaxRuns ? ", ..." : "") + "; " + number(sum / 1000, "s") + " in all";
}

std::vector<TableLine> lines_of(const InfoImage& entry) {
  const ImageInspection& image = entry.image;
  const Shape& shape = image.header.shape;
  std::vector<TableLine> lines;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) lines.emplace_back(key, value);
  };
  add("file", entry.name);
  add("format", joined(std::string(format_info(image.header.format).name), image.details.variant));
  add("file size", with_separators(static_cast<std::uint64_t>(image.file_bytes)) + " bytes");
  std::string size = size_text(shape.width, shape.height);
  if (shape.width != image.stored_width)
    size += " (stored as " + size_text(image.stored_width, image.stored_height) + ")";
  add("size", size + " pixels");
  add("colour", color_text(image));
  add("stored channels", stored_channels_text(image.details));
  add("in the pipeline", std::to_string(shape.channels) +
                             (shape.channels == 1 ? " channel of " : " channels of ") +
                             std::to_string(8 * bytes_per_sample(shape.sample)) +
                             (is_float(shape.sample) ? "-bit floats" : " bits"));
  add("compression", joined(image.details.compression, image.details.subsampling));
  add("layout", image.details.layout);
  add("orientation", orientation_text(image));
  add("profile", image.profile);
  add("colour space", image.details.color_space);
  add("resolution", resolution_text(image));
  const std::vector<AnimationFrame>& frames = image.details.frames;
  if (!frames.empty()) {
    add("frames", images_text(image));
    add("durations", durations_text(frames));
  } else if (image.has_pages || image.images > 1) {
    add(image.has_pages ? "pages" : "frames", images_text(image));
  }
  add("metadata", metadata_text(image));
  add("decoded by", image.decoder);
  add("on a device", image.no_device_decoding.empty() ? "yes" : "no: " + image.no_device_decoding);
  add("memory", bytes_text(image.memory.whole_bytes) + " to decode it whole, " +
                    bytes_text(image.memory.by_rows_bytes) + " plus the rows to decode it row by row");
  for (const std::string& warning : image.warnings) add("note", warning);
  return lines;
}

std::string table_of_one(const InfoImage& entry) {
  const std::vector<TableLine> lines = lines_of(entry);
  std::size_t width = 0;
  for (const auto& [key, value] : lines) width = std::max(width, key.size());
  std::string text;
  for (const auto& [key, value] : lines) {
    text += padded(key + ":", width + 2, true);
    text += value + "\n";
  }
  return text;
}

std::string bits_text(const ImageHeader& header) {
  std::string bits = std::to_string(header.bits_per_sample);
  switch (header.sample_format) {
    case SampleFormat::unsigned_integer:
      return bits;
    case SampleFormat::signed_integer:
      return bits + " signed";
    case SampleFormat::floating_point:
      return bits + " float";
  }
  unreachable();
}

std::string table_of_many(const std::vector<InfoImage>& images) {
  ResultTable table;
  table.indent = "";
  table.columns = {{"format", "format", true}, {"size", "size"},      {"color", "colour", true},
                   {"bits", "bits"},           {"pages", "pages"},    {"compression", "compression", true},
                   {"bytes", "bytes"},         {"file", "file", true}};
  for (const InfoImage& entry : images) {
    const ImageInspection& image = entry.image;
    const Shape& shape = image.header.shape;
    table.rows.push_back(
        {std::string(format_info(image.header.format).name), size_text(shape.width, shape.height),
         joined(image.details.color, shape.has_alpha() ? "alpha" : ""), bits_text(image.header),
         std::to_string(image.images), joined(image.details.compression, image.details.subsampling),
         with_separators(static_cast<std::uint64_t>(image.file_bytes)), entry.name});
  }
  return table_text(table);
}

}  // namespace

std::string color_text(const ImageInspection& image) {
  std::string text = image.details.color;
  if (image.header.shape.has_alpha()) text += " and alpha";
  text += ", " + std::to_string(image.header.bits_per_sample);
  switch (image.header.sample_format) {
    case SampleFormat::unsigned_integer:
      return text + (image.header.bits_per_sample == 1 ? " bit" : " bits") + " per sample";
    case SampleFormat::signed_integer:
      return text + "-bit signed integers";
    case SampleFormat::floating_point:
      return text + "-bit floats";
  }
  unreachable();
}

std::string resolution_text(const ImageInspection& image) {
  if (!image.resolution) return "";
  const Resolution& resolution = *image.resolution;
  const auto text = [](std::uint32_t value, std::uint32_t of) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.6g", static_cast<double>(value) / static_cast<double>(of));
    return std::string(digits.data());
  };
  const std::string both = text(resolution.x, resolution.x_of) + "x" + text(resolution.y, resolution.y_of);
  const auto per_inch = resolution.per_inch(std::numeric_limits<std::uint32_t>::max());
  switch (resolution.unit) {
    case Resolution::Unit::inch:
      return both + " pixels per inch";
    case Resolution::Unit::centimetre:
      return both + " pixels per centimetre" +
             (per_inch ? " (" + size_text(per_inch->x, per_inch->y) + " per inch)" : "");
    case Resolution::Unit::none:
      break;
  }
  return both + " (pixel aspect ratio, no unit)";
}

std::string info_table(const InfoResults& results) {
  if (results.images.empty()) return "";
  const bool one = results.images.size() == 1 && results.failures.empty();
  return one ? table_of_one(results.images.front()) : table_of_many(results.images);
}

}  // namespace imgpipe
