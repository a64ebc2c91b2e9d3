#include "app/diff/diff_report.h"

#include <cmath>
#include <optional>

#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"
#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

// "640x480 RGB, 16 bits".
std::string type_text(const Shape& shape) {
  return shape_text(shape) + ", " +
         (is_float(shape.sample) ? "float" : std::to_string(bits_of(shape)) + " bits");
}

std::string differences_text(const DiffPage& page) {
  const PixelDifference& pixels = page.pixels;
  std::string text = with_separators(static_cast<std::uint64_t>(pixels.pixels)) + " of " +
                     counted(static_cast<std::uint64_t>(page.a.pixels()), "pixel") + " differ";
  text += ", by at most " + exact_number(pixels.largest);
  if (pixels.not_numbers > 0)
    text += " besides " + counted(static_cast<std::uint64_t>(pixels.not_numbers), "sample") + " with NaN";
  if (pixels.first) {
    const PixelDifference::Sample& first = *pixels.first;
    text += "; first at x " + std::to_string(first.x) + ", y " + std::to_string(first.y) + ", channel " +
            std::to_string(first.channel + 1) + ": " + exact_number(first.a) + " and " +
            exact_number(first.b);
  }
  if (pixels.psnr_db) text += "; PSNR " + number(*pixels.psnr_db, 2) + " dB";
  return text;
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void add_shape(Fields& fields, const Shape& shape) {
  fields.add("width_pixels", shape.width, kFromOne);
  fields.add("height_pixels", shape.height, kFromOne);
  fields.add("channels", shape.channels, kChannels);
  fields.add("sample_bits", bits_of(shape), kSampleBits);
}

void add_page(Fields& fields, const DiffPage& page) {
  const PixelDifference& pixels = page.pixels;
  const bool compared = page.a == page.b;
  fields.add("page", page.number, kFromOne);
  fields.object("a", [&](Fields& a) { add_shape(a, page.a); });
  fields.object("b", [&](Fields& b) { add_shape(b, page.b); });
  fields.add("different_pixels", compared ? std::optional(pixels.pixels) : std::nullopt)
      .about("null: size, channels or type differ");
  fields.add("max_difference", compared ? finite(pixels.largest) : std::nullopt).about("null: infinite");
  fields.add("nan_samples", compared ? std::optional(pixels.not_numbers) : std::nullopt);
  fields.add("psnr_db", pixels.psnr_db, kAnyNumber).about("null: infinite or undefined");
  fields.object_if(pixels.first.has_value(), "first", [&](Fields& first) {
    const PixelDifference::Sample sample = pixels.first.value_or(PixelDifference::Sample());
    first.add("x", sample.x);
    first.add("y", sample.y);
    first.add("channel", sample.channel + 1, kChannels);
    first.add("a", finite(sample.a), kAnyNumber).about("null: NaN or infinite");
    first.add("b", finite(sample.b), kAnyNumber);
  });
}

void add_result(Fields& fields, const DiffResult& result) {
  add_version(fields);
  add_kind(fields, kDiffSchema);
  fields.fixed("command", "diff");
  fields.add("a", result.a);
  fields.add("b", result.b);
  fields.add("equal", result.is_equal());
  fields.add("pages", result.pages).about("compared");
  fields.add("a_has_more_pages", result.a_has_more);
  fields.add("b_has_more_pages", result.b_has_more);
  fields.list("different", result.different, add_page);
}

}  // namespace

std::string diff_text(const DiffResult& result) {
  const bool one_page = result.pages == 1 && !result.a_has_more && !result.b_has_more;
  std::string text;
  for (const DiffPage& page : result.different) {
    if (!one_page) text += "page " + std::to_string(page.number) + ": ";
    text +=
        (page.a == page.b ? differences_text(page) : type_text(page.a) + " and " + type_text(page.b)) + "\n";
  }
  if (result.a_has_more || result.b_has_more)
    text += (result.a_has_more ? result.a : result.b) + ": has more than " +
            counted(static_cast<std::uint64_t>(result.pages), "page") + "\n";
  if (result.is_equal())
    text =
        one_page ? "equal\n" : "equal: " + counted(static_cast<std::uint64_t>(result.pages), "page") + "\n";
  return text;
}

std::string diff_json(const DiffResult& result) {
  return fields_of([&](Fields& fields) { add_result(fields, result); }).text();
}

std::string diff_schema() {
  return schema_text(kDiffSchema, "The differences between two images: imgpipe diff --json",
                     [](Fields& fields) { add_result(fields, {}); });
}

}  // namespace imgpipe
