#include "images/formats/image_inspection.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "images/codecs/icc.h"
#include "images/codecs/jpeg/jpeg_scan.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "images/codecs/metadata/description.h"
#include "images/codecs/sniff.h"
#include "images/codecs/stored_samples.h"
#include "images/codecs/tiff/tiff_directory.h"
#include "images/codecs/tiff/tiff_metadata.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/partial_file.h"
#include "images/formats/codec_table.h"
#include "images/formats/preserved_metadata.h"
#include "images/text.h"

namespace imgpipe {
namespace {

bool is_read_by_rows(const Codec& codec, const InputFile& file, const DecodeOptions& options) {
  return !file.is_whole() && codec.is_streamable != nullptr && codec.is_streamable(file.bytes(), options);
}

// Returns why devices cannot decode a JPEG that its reader accepts (Reader::jpeg_scan()).
std::string why_no_device(const ImageHeader& header, const FileDetails& details, const Reader& reader,
                          const DecodeOptions& options) {
  if (header.format != Format::jpeg) return "devices decode only JPEG";
  if (options.orient && header.orientation != Orientation::upright)
    return "its EXIF orientation rotates or mirrors it";
  const JpegScan* const jpeg = reader.jpeg_scan();
  if (jpeg != nullptr) return staged_capacity(jpeg->scan) > 0 ? "" : "its scan is 2 GiB or larger";
  if (details.color != "grey" && details.color != "YCbCr")
    return "its colours are stored as " + details.color;
  if (details.compression.find("progressive") != std::string::npos) return "it is progressive";
  if (details.compression.find("arithmetic") != std::string::npos) return "it uses arithmetic coding";
  if (header.progressive) return "it has several scans";
  return "unsupported subsampling or tables";
}

bool is_geotiff_field(std::uint16_t tag) {
  return tag != static_cast<std::uint16_t>(TiffTag::description);
}

// In a TIFF, EXIF consists of separate directories; this only checks whether they exist.
bool has_exif_directory(std::span<const std::byte> file) {
  const std::optional<std::uint64_t> offset = tiff_directory_offset(file, 0);
  if (!offset) return false;
  const TiffDirectory directory(file, *offset);
  return directory.find_raw(TiffTag::exif) || directory.find_raw(TiffTag::gps);
}

void take_metadata(FoundMetadata found, std::span<const std::byte> file, ImageInspection& image) {
  report_exif_only_metadata(found);
  const auto size = [](const auto& bytes) { return static_cast<std::int64_t>(bytes.size()); };
  if (!found.exif.empty() && !found.exif_in_file) image.metadata.push_back({"EXIF", "", size(found.exif)});
  if (found.exif_in_file && has_exif_directory(file)) image.metadata.push_back({"EXIF", "", 0});
  if (!found.xmp.empty()) image.metadata.push_back({"XMP", "", size(found.xmp)});
  if (!found.iptc.empty()) image.metadata.push_back({"IPTC", "", size(found.iptc)});
  for (const MetadataText& text : found.texts)
    image.metadata.push_back({text.is_comment() ? "comment" : "text",
                              text.is_comment() ? "" : printable(text.keyword), size(text.text)});
  if (const std::string_view fault = found.icc.empty() ? "" : profile_fault(found.icc); !fault.empty()) {
    found.lost.push_back("ICC profile (damaged: " + std::string(fault) + ")");
  } else if (!found.icc.empty()) {
    image.profile = profile_name(found.icc);
    if (image.profile.empty()) image.profile = "sRGB";
    image.metadata.push_back({"ICC profile", "", static_cast<std::int64_t>(profile_bytes(found.icc))});
  }
  std::int64_t map_bytes = 0;
  for (const TiffMetadataField& field : found.fields) {
    if (is_geotiff_field(field.tag)) {
      map_bytes += size(field.data);
    } else {
      image.metadata.push_back({"description", std::string(description_kind(field.data)), size(field.data)});
    }
  }
  if (map_bytes > 0) image.metadata.push_back({"GeoTIFF", "", map_bytes});
  if (const auto resolution = resolution_of(found); resolution && !resolution->empty())
    image.resolution = resolution;
  for (const std::string& lost : found.lost) image.warnings.push_back("metadata not preserved: " + lost);
}

// Follows the chain of pages on disk. Damage in it matters only with --pages, so it is a warning here.
void count_pages(const Codec& codec, const InputFile& file, DecodeOptions options, ImageInspection& image) {
  image.has_pages = true;
  options.accept = Acceptance::lenient;
  try {
    const std::unique_ptr<Pages> pages = codec.open_pages(file, options);
    image.images = pages->size();
    image.reduced_images = pages->reduced();
    if (!pages->warning().empty()) image.warnings.push_back(pages->warning());
    if (pages->masks() > 0)
      image.warnings.push_back(std::to_string(pages->masks()) +
                               (pages->masks() == 1 ? " transparency mask, not counted as a page"
                                                    : " transparency masks, not counted as pages"));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    image.warnings.push_back(std::string("cannot count the pages: ") + error.what());
  }
}

}  // namespace

InputFile open_for_inspection(const std::string& path, const DecodeOptions& options, InputKind kind) {
  if (path != kStandardStream && file_size_bytes(path) > kSmallFileBytes) {
    std::optional<InputFile> file = open_on_disk(path, kFileBeginningBytes);
    // A file that is too long or not an image gets the usual error from open_input().
    if (file && codec_by_content(file->bytes()) != nullptr &&
        file->size_bytes() <= longest_file(file->bytes(), options))
      return std::move(*file);
  }
  return open_input(path, options, kind);
}

ImageInspection inspect_image(InputFile input, DecodeOptions options) {
  PartialFile front(std::move(input));
  front.load(0, kFileBeginningBytes);
  const Codec* const codec = codec_by_content(front.bytes());
  if (front.bytes().empty()) throw Error(ErrorKind::input, "the file is empty");
  if (codec == nullptr) throw Error(ErrorKind::input, unknown_content_reason(front.bytes()));
  const bool in_parts = is_read_by_rows(*codec, front.file(), options);
  if (codec->load_header != nullptr) {
    codec->load_header(front);
  } else if (!in_parts) {
    front.load_all();
  }
  const std::span<const std::byte> file = front.bytes();
  // Describes also images that a run rejects without --bands or --integers.
  options.colors_only = codec->selects_bands;
  const bool has_rule = options.integers.has_value();
  if (!has_rule) options.integers = IntegerRule::value;
  const std::unique_ptr<Reader> reader =
      in_parts ? codec->open_streamed(front.file(), options) : open_reader(file, options);
  ImageInspection image;
  image.header = reader->header();
  image.details = codec->describe(file);
  const Shape& shape = image.header.shape;
  // Applying the orientation to the shape again restores the stored sides.
  const Shape stored = options.orient ? oriented_shape(shape, image.header.orientation) : shape;
  image.stored_width = stored.width;
  image.stored_height = stored.height;
  image.file_bytes = front.file().size_bytes();
  image.images = image.details.images;
  image.profile = image.header.profile;
  if (codec->find_metadata != nullptr) take_metadata(codec->find_metadata(file), file, image);
  if (!image.details.frames.empty()) {
    image.has_pages = true;
    image.images = static_cast<std::int64_t>(image.details.frames.size());
  } else if (holds_pages(codec->format)) {
    count_pages(*codec, front.file(), options, image);
  }
  image.read_bytes = front.loaded_bytes();
  image.decoder = reader->decoder().empty() ? image.details.decoder : "imgpipe";
  image.no_device_decoding = why_no_device(image.header, image.details, *reader, options);
  image.memory = {.by_rows_bytes = reader->working_bytes(false),
                  .whole_bytes = reader->working_bytes(true) + shape.bytes()};
  if (!image.details.bands_needed.empty()) image.warnings.push_back(image.details.bands_needed);
  const std::string missing = missing_rule_reason(image.header.sample_format, image.header.bits_per_sample);
  if (!has_rule && !missing.empty()) image.warnings.push_back(missing);
  for (const std::string& warning : reader->warnings()) image.warnings.push_back(warning);
  return image;
}

}  // namespace imgpipe
