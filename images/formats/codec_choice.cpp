// Selects the codec that reads the bytes of a file, or writes a format.
#include <algorithm>
#include <utility>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/icc.h"
#include "images/codecs/icc_transform.h"
#include "images/codecs/mark.h"
#include "images/codecs/pages.h"
#include "images/codecs/sniff.h"
#include "images/codecs/stb/stb_claims.h"
#include "images/codecs/stb/stb_codec.h"
#include "images/codecs/tensor/tensor_codec.h"
#include "images/error.h"
#include "images/formats/codec_table.h"
#include "images/formats/hashed_rows.h"

namespace imgpipe {
namespace {

// Converts rows to the channels that the format holds before passing them to its writer.
class ConvertingWriter final : public Writer {
 public:
  // `stored`: the shape that `inner` takes.
  ConvertingWriter(std::unique_ptr<Writer> inner, Shape stored)
      : inner_(std::move(inner)), stored_(stored), channels_(stored.channels) {}

  void write_rows(ConstHostView rows) override {
    Image converted(stored_rows(std::min(rows.height, kRowsAtOnce)));
    for (std::int64_t y = 0; y < rows.height; y += kRowsAtOnce) {
      const std::int64_t count = std::min(rows.height - y, kRowsAtOnce);
      const HostView band = converted.untyped_view().rows(0, count);
      convert(rows.rows(y, count), band);
      inner_->write_rows(band);
    }
  }

  [[nodiscard]] std::int64_t strip_rows() const noexcept override { return inner_->strip_rows(); }

  void write_strip(std::int64_t first, ConstHostView rows) override {
    Image converted(stored_rows(rows.height));
    convert(rows, converted.untyped_view());
    inner_->write_strip(first, std::as_const(converted).untyped_view());
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    return inner_->working_bytes() + converted_bytes();
  }
  [[nodiscard]] std::int64_t working_bytes_when_taken(std::int64_t rows) const override {
    return inner_->working_bytes_when_taken(rows) + converted_bytes();
  }
  [[nodiscard]] std::int64_t strip_bytes() const override {
    return inner_->strip_bytes() + (strip_rows() > 0 ? converted_bytes() : 0);
  }
  [[nodiscard]] std::int64_t library_bytes() const override { return inner_->library_bytes(); }
  EncodedFile take_finished() override { return inner_->take_finished(); }
  EncodedFile finish() override { return inner_->finish(); }

 private:
  void convert(ConstHostView from, HostView to) const {
    if (from.sample != to.sample)
      throw Error(ErrorKind::usage, "write_rows: the rows differ in sample type from the writer");
    visit_any_sample(from.sample, [&]<class T>(T) { convert_rows(from.as<T>(), to.as<T>()); });
  }

  template <class T>
  void convert_rows(Plane<const T, Host> from, Plane<T, Host> to) const {
    for (std::int64_t y = 0; y < from.height; ++y)
      convert_row(from.row(y), from.width, from.channels, to.row(y));
  }

  template <class T>
  void convert_row(const T* in, std::int64_t width, int in_channels, T* out) const {
    constexpr T kOpaque = white_sample<T>();
    const bool in_color = in_channels >= 3;
    const bool out_color = channels_ >= 3;
    for (std::int64_t x = 0; x < width; ++x, in += in_channels, out += channels_) {
      for (int c = 0; c < (out_color ? 3 : 1); ++c) out[c] = in[in_color ? c : 0];
      if (channels_ % 2 == 0) out[channels_ - 1] = in_channels % 2 == 0 ? in[in_channels - 1] : kOpaque;
    }
  }

  [[nodiscard]] std::int64_t converted_bytes() const {
    const std::int64_t rows = strip_rows() > 0 ? strip_rows() : kRowsAtOnce;
    return stored_rows(std::min(rows, stored_.height)).bytes();
  }
  [[nodiscard]] Shape stored_rows(std::int64_t count) const {
    return {stored_.width, count, stored_.channels, stored_.sample};
  }

  static constexpr std::int64_t kRowsAtOnce = 16;

  std::unique_ptr<Writer> inner_;
  Shape stored_;
  int channels_;
};

// Opens the reader of rows as stored in the file.
std::unique_ptr<Reader> open_stored(Bytes bytes, const Codec& codec, const DecodeOptions& options) {
  check_bands(codec, options);
  check_scale(codec, options);
  if (options.codec == CodecChoice::stb && stb_reads(codec.format))
    return open_stb(bytes, codec.format, options);
  return codec.open(bytes, options);
}

}  // namespace

std::unique_ptr<Reader> open_with_profile(std::span<const std::byte> bytes, DecodeOptions options,
                                          const ReaderOpener& open) {
  const Codec* const codec = codec_by_content(bytes);
  std::vector<std::byte> icc;
  if (codec != nullptr && codec->find_metadata != nullptr) icc = codec->find_metadata(bytes).icc;
  options.with_profile = false;
  options.inks = options.inks && profile_fault(icc).empty() && profile_channels(icc) == 4;
  std::unique_ptr<Reader> reader = open(options);
  reader->set_profile(std::move(icc));
  return reader;
}

void check_bands(const Codec& codec, const DecodeOptions& options) {
  if (options.selects_bands() && !codec.selects_bands)
    throw Error(ErrorKind::input, "--bands: needs a TIFF, got a " + std::string(codec.name) + " file");
}

void check_scale(const Codec& codec, const DecodeOptions& options) {
  if (options.scale > 1 && codec.format != Format::jpeg)
    throw Error(ErrorKind::input, "--decode-scale " + std::to_string(options.scale) +
                                      ": needs a JPEG, got a " + std::string(codec.name) + " file; use auto");
}

std::unique_ptr<Reader> open_reader(std::span<const std::byte> bytes, const DecodeOptions& options) {
  if (options.with_profile)
    return open_with_profile(bytes, options,
                             [&](const DecodeOptions& plain) { return open_reader(bytes, plain); });
  if (bytes.empty()) throw Error(ErrorKind::input, "the file is empty");
  const Codec* codec = codec_by_content(bytes);
  if (codec == nullptr) throw Error(ErrorKind::input, unknown_content_reason(bytes));
  std::unique_ptr<Reader> reader = open_stored(bytes, *codec, options);
  if (options.orient && reader->header().orientation != Orientation::upright)
    return make_oriented_reader(std::move(reader), options.memory);
  return reader;
}

std::int64_t opening_bytes(std::span<const std::byte> bytes, const DecodeOptions& options) {
  const Codec* codec = codec_by_content(bytes);
  const bool by_stb = options.codec == CodecChoice::stb && codec != nullptr && stb_reads(codec->format);
  return by_stb ? stb_opening_bytes(bytes, codec->format, options) : 0;
}

std::int64_t longest_file(std::span<const std::byte> beginning, const DecodeOptions& options) {
  const Codec* codec = codec_by_content(beginning);
  if (codec == nullptr) throw Error(ErrorKind::input, unknown_content_reason(beginning));
  const FileClaim claim = codec->claim(beginning);
  std::int64_t pixels = 0;
  if (claim.width > 0 && claim.height > 0) {
    check_header({claim.width, claim.height, 1}, options);
    pixels = claim.width * claim.height;
  }
  const std::int64_t most = max_file_bytes(options);
  if (claim.other_bytes >= most) return most;
  return std::min(most, pixels * claim.max_pixel_bytes + claim.other_bytes + kMaxMetadataBytes);
}

Shape storable_shape(Format format, Shape shape, bool is_tensor) {
  const Codec& codec = codec_of(format);
  const std::string name(codec.name);
  if (is_tensor && !codec.holds_tensors)
    throw Error(ErrorKind::usage,
                name + " cannot store tensors; write .npy or .safetensors, or remove normalize");
  if (is_tensor && format == Format::npy && !npy_holds(shape.sample))
    throw Error(ErrorKind::usage, "npy cannot store bfloat16; write .safetensors, or use dtype=float16");
  if (is_tensor) return shape;
  if (!codec.holds.any()) throw not_a_tensor(format);
  if (is_float(shape.sample) && !codec.holds_floats)
    throw Error(ErrorKind::usage, name + " cannot store float samples; add depth:8" +
                                      (codec.written_bits == 16 ? " or depth:16" : ""));
  if (!is_float(shape.sample) && codec.written_bits == 0)
    throw Error(ErrorKind::usage, name + " stores only float samples; add depth:float");
  if (!is_float(shape.sample) && 8 * bytes_per_sample(shape.sample) > codec.written_bits)
    throw Error(ErrorKind::usage,
                name + " stores only " + std::to_string(codec.written_bits) + " bits per sample");
  const bool color = shape.color_channels() == 3;
  if (color && !codec.holds.rgb && !codec.holds.rgba)
    throw Error(ErrorKind::usage, name + " stores only grey; add the stage gray or write ppm");
  // Tries in order of preference: unchanged, grey as colour, without alpha, both changes.
  const int without_alpha = shape.color_channels();
  for (const int channels : {shape.channels, shape.has_alpha() ? 4 : 3, without_alpha, 3}) {
    if (!codec.holds.has(channels)) continue;
    shape.channels = channels;
    break;
  }
  return shape;
}

std::unique_ptr<Writer> make_writer(Format format, Shape shape, const EncodeOptions& options) {
  const Codec& codec = codec_of(format);
  if (codec.make_writer == nullptr)
    throw Error(ErrorKind::usage, "cannot write " + std::string(codec.name) + " files");
  const Shape stored = storable_shape(format, shape, options.tensor.has_value());
  std::unique_ptr<Writer> writer =
      options.codec == CodecChoice::stb && stb_writes(format) && is_byte(stored.sample)
          ? make_stb_writer(format, stored, options,
                            [&codec, options](std::vector<std::byte>& file) {
                              if (options.metadata && codec.add_metadata != nullptr)
                                codec.add_metadata(file, *options.metadata);
                              codec.add_mark(file, options.mark);
                            })
          : codec.make_writer(stored, options);
  if (options.digest) writer = hash_rows(std::move(writer), options.digest);
  if (stored != shape) writer = std::make_unique<ConvertingWriter>(std::move(writer), stored);
  return writer;
}

bool holds_pages(Format format) {
  return codec_of(format).max_page_bytes != nullptr;
}

std::int64_t max_page_bytes(Format format, const Shape& shape, const EncodeOptions& options) {
  return codec_of(format).max_page_bytes(storable_shape(format, shape), options);
}

std::vector<std::string> codec_versions() {
  std::vector<std::string> versions;
  for (const Codec& codec : codec_table()) {
    if (codec.libraries == nullptr) continue;
    for (std::string& library : codec.libraries()) versions.push_back(std::move(library));
  }
  versions.push_back(stb_version());
  if (std::string lcms = lcms_version(); !lcms.empty()) versions.push_back(std::move(lcms));
  return versions;
}

Mark find_mark(std::span<const std::byte> head) {
  if (const Codec* codec = codec_by_content(head))
    return codec->find_mark == nullptr ? Mark::none : codec->find_mark(head);
  for (const Codec& codec : codec_table()) {
    if (!codec.holds_tensors || codec.recognises != nullptr) continue;  // safetensors are not read
    if (const Mark mark = codec.find_mark(head); mark != Mark::none) return mark;
  }
  return Mark::none;
}

}  // namespace imgpipe
