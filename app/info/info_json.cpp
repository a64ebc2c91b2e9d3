#include "app/info/info_report.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "images/unreachable.h"

namespace imgpipe {
namespace {

void add_resolution(Fields& fields, const Resolution& resolution) {
  constexpr Rule kAboveZero{.above_least = true};
  const auto ratio = [](std::uint32_t pixels, std::uint32_t of) {
    return static_cast<double>(pixels) / static_cast<double>(of);
  };
  const char* const unit = resolution.unit == Resolution::Unit::inch         ? "inch"
                           : resolution.unit == Resolution::Unit::centimetre ? "centimetre"
                                                                             : "none";
  fields.add("x", ratio(resolution.x, resolution.x_of), kAboveZero);
  fields.add("y", ratio(resolution.y, resolution.y_of), kAboveZero);
  fields.add("unit", unit, one_of("inch|centimetre|none"));
}

std::string_view sample_format_name(SampleFormat format) {
  switch (format) {
    case SampleFormat::unsigned_integer:
      return "unsigned";
    case SampleFormat::signed_integer:
      return "signed";
    case SampleFormat::floating_point:
      return "float";
  }
  unreachable();
}

void add_image(Fields& fields, const InfoImage& entry) {
  const ImageInspection& image = entry.image;
  const ImageHeader& header = image.header;
  const FileDetails& details = image.details;
  fields.add("input", entry.name);
  fields.add("format", format_info(header.format).name);
  fields.add("variant", given(details.variant));
  fields.add("file_bytes", image.file_bytes, kFromOne);
  fields.add("read_bytes", image.read_bytes, kFromOne);
  fields.add("width_pixels", header.shape.width, kFromOne);
  fields.add("height_pixels", header.shape.height, kFromOne);
  fields.add("stored_width_pixels", image.stored_width, kFromOne);
  fields.add("stored_height_pixels", image.stored_height, kFromOne);
  fields.add("channels", header.shape.channels, kChannels);
  fields.add("stored_channels", details.channels, kFromOne);
  fields.add("extra_channels", details.extra_channels,
             one_of("unspecified|associated alpha|unassociated alpha|not stated"));
  fields.add("alpha", header.shape.has_alpha());
  fields.add("color", details.color, one_of("bilevel|grey|palette|RGB|YCbCr|CMYK|YCCK|duotone|"));
  fields.add("bits_per_sample", header.bits_per_sample, kFromOne);
  fields.add("sample_format", sample_format_name(header.sample_format), one_of("unsigned|signed|float"));
  fields.add("sample_bits", bits_of(header.shape), kSampleBits);
  fields.add("exif_orientation", static_cast<int>(header.orientation), kOrientations);
  fields.add("profile", given(image.profile));
  fields.add("color_space", given(details.color_space))
      .about("what the chunks of a PNG say where no ICC profile does");
  fields.object_if(image.resolution.has_value(), "resolution", [&](Fields& resolution) {
    add_resolution(resolution, image.resolution.value_or(Resolution()));
  });
  fields.add("images", image.images, kFromOne)
      .about("pages of a TIFF; or frames of an animation, plus a default image that is not a frame");
  fields.add("reduced_images", image.reduced_images)
      .about("of them: pages that are smaller versions of another");
  fields.add("has_pages", image.has_pages);
  fields.list("frames", details.frames, [](Fields& frames, const AnimationFrame& frame) {
    frames.add("x_pixels", frame.area.x);
    frames.add("y_pixels", frame.area.y);
    frames.add("width_pixels", frame.area.width);
    frames.add("height_pixels", frame.area.height);
    frames.add("duration_ms", frame.duration_ms).about("null: a default image that is not a frame");
  });
  fields.add("compression", details.compression);
  fields.add("progressive", header.progressive);
  fields.add("subsampling", given(details.subsampling));
  fields.add("layout", given(details.layout));
  fields.list("metadata", image.metadata, [](Fields& metadata, const MetadataBlock& block) {
    metadata.add("block", block.name, one_of("EXIF|XMP|IPTC|comment|text|ICC profile|description|GeoTIFF"));
    metadata.add("kind", given(block.kind));
    metadata.add("bytes", block.bytes > 0 ? std::optional(block.bytes) : std::nullopt, kFromOne);
  });
  fields.add("decoder", image.decoder);
  fields.add("device_decodes", image.no_device_decoding.empty());
  fields.add("device_why_not", given(image.no_device_decoding));
  fields.object("memory", [&](Fields& memory) {
    memory.add("whole_bytes", image.memory.whole_bytes);
    memory.add("by_rows_bytes", image.memory.by_rows_bytes);
  });
  fields.add("warnings", image.warnings);
}
void add_info(Fields& fields, const InfoResults& results) {
  add_version(fields);
  add_run_head(fields, kInfoSchema, RunHead(1), "cpu");
  fields.fixed("command", "info");
  fields.list("images", results.images, add_image);
  fields.list("failures", results.failures, add_failure);
}

}  // namespace

std::string info_json(const InfoResults& results) {
  return fields_of([&](Fields& fields) { add_info(fields, results); }).text();
}

std::string info_schema() {
  return schema_text(kInfoSchema, "What image files are: imgpipe info --json",
                     [](Fields& fields) { add_info(fields, {}); });
}

}  // namespace imgpipe
