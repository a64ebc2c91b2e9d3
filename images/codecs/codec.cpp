#include "images/codecs/codec.h"

#include <algorithm>
#include <utility>

#include "images/codecs/codec_table.h"
#include "images/codecs/sniff.h"
#include "images/codecs/stb/stb_claims.h"
#include "images/codecs/stb/stb_codec.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Converts rows to what the format holds before they reach its writer.
class ConvertingWriter final : public Writer {
 public:
  // `stored`: the shape that the inner one takes.
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
      throw Error(ErrorKind::usage, "a writer was given rows of other samples than it was made for");
    if (from.sample == SampleType::u16) {
      convert_rows(from.as<std::uint16_t>(), to.as<std::uint16_t>());
    } else {
      convert_rows(from.as<Sample>(), to.as<Sample>());
    }
  }

  template <class T>
  void convert_rows(Plane<const T, Host> from, Plane<T, Host> to) const {
    for (std::int64_t y = 0; y < from.height; ++y)
      convert_row(from.row(y), from.width, from.channels, to.row(y));
  }

  template <class T>
  void convert_row(const T* in, std::int64_t width, int in_channels, T* out) const {
    constexpr T kOpaque = static_cast<T>(max_sample(sample_type_of<T>));
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

std::string size_text(const Shape& shape) {
  return std::to_string(shape.width) + "x" + std::to_string(shape.height);
}

// Rows as the file stores them.
std::unique_ptr<Reader> open_stored(Bytes bytes, const Codec& codec, const DecodeOptions& options) {
  if (options.selects_bands() && !codec.selects_bands)
    throw Error(ErrorKind::input,
                "--bands chooses samples of a TIFF, and this is a " + std::string(codec.name) + " file");
  if (options.codec == CodecChoice::stb && stb_reads(codec.format))
    return open_stb(bytes, codec.format, options);
  return codec.open(bytes, options);
}

}  // namespace

std::size_t EncodedFile::size_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const std::vector<std::byte>& part : parts) bytes += part.size();
  return bytes;
}

std::vector<std::byte> EncodedFile::joined() const {
  std::vector<std::byte> file;
  file.reserve(size_bytes());
  for (const std::vector<std::byte>& part : parts) file.insert(file.end(), part.begin(), part.end());
  return file;
}

void Writer::write_strip(std::int64_t, ConstHostView) {
  throw Error(ErrorKind::usage, "write_strip: this format is written row by row");
}

void Writer::give_strip(std::int64_t, const MadeStrip&) {
  throw Error(ErrorKind::usage, "give_strip: the strips of this format are made by its writer");
}

void Writer::give_scan(std::span<const std::byte>) {
  throw Error(ErrorKind::usage, "give_scan: the scan of this format is made by its writer");
}

std::int64_t Writer::working_bytes_when_taken(std::int64_t) const {
  return working_bytes();
}

EncodedFile Writer::take_finished() {
  return {};
}

std::int64_t Reader::working_bytes(bool) const {
  return 0;
}

std::int64_t Reader::library_bytes(bool) const {
  return 0;
}

std::int64_t WholeImageReader::working_bytes(bool whole) const {
  return whole ? 0 : header_.shape.bytes();
}

void Reader::read_rows(HostView rows) {
  const Shape& shape = header_.shape;
  if (rows.width != shape.width || rows.channels != shape.channels || rows.sample != shape.sample ||
      rows.height > shape.height - rows_given_) {
    throw Error(ErrorKind::usage, "read_rows: the rows do not fit the image");
  }
  read_next_rows(rows);
  rows_given_ += rows.height;
  if (rows_given_ == shape.height) finish();
}

void Reader::begin_band(std::int64_t first, std::int64_t rows) {
  if (first < band_first_ || first > rows_given_ || rows < 0 || first + rows > header_.shape.height)
    throw Error(ErrorKind::usage, "begin_band: the rows do not follow the last band");
  begin_next_band(first, rows);
  band_first_ = first;
  rows_given_ = std::max(rows_given_, first + rows);
}

void Reader::read_band(std::int64_t first, HostView rows) {
  const Shape& shape = header_.shape;
  if (rows.width != shape.width || rows.channels != shape.channels || rows.sample != shape.sample)
    throw Error(ErrorKind::usage, "read_band: the rows do not fit the image");
  read_begun_band(first, rows);
}

void Reader::judge_end(std::size_t) {
  throw Error(ErrorKind::usage, "judge_end: this format gives its rows only");
}

void Reader::begin_next_band(std::int64_t, std::int64_t) {
  throw Error(ErrorKind::usage, "begin_band: this format is read row by row");
}

void Reader::read_begun_band(std::int64_t, HostView) {
  throw Error(ErrorKind::usage, "read_band: this format is read row by row");
}

void WholeImageReader::read_next_rows(HostView rows) {
  if (rows.height == header_.shape.height) {
    decode(rows);
    return;
  }
  if (image_.empty()) {
    image_ = Image(header_.shape, memory_);
    decode(image_.untyped_view());
  }
  copy_pixels(std::as_const(image_).untyped_view().rows(next_row_, rows.height), rows);
  next_row_ += rows.height;
  if (next_row_ == header_.shape.height) image_ = Image();
}

void fill_missing(const HostView& rows) {
  for (std::int64_t y = 0; y < rows.height; ++y) {
    if (rows.sample == SampleType::u16) {
      fill_missing(rows.as<std::uint16_t>().row(y), rows.width, rows.channels);
    } else {
      fill_missing(rows.as<Sample>().row(y), rows.width, rows.channels);
    }
  }
}

ConstHostPlane as_8_bit(ConstHostView rows) {
  if (rows.sample != SampleType::u8)
    throw Error(ErrorKind::usage, "a writer of 8 bits a sample was given more");
  return rows.as<Sample>();
}

void check_header(const Shape& shape, const DecodeOptions& options) {
  const std::string size = size_text(shape);
  if (shape.width < 1 || shape.height < 1)
    throw Error(ErrorKind::input, "an image of no pixels (" + size + ")");
  if (shape.width > kMostSide || shape.height > kMostSide)
    throw Error(ErrorKind::input,
                "too large: " + size + " pixels, a side of more than " + std::to_string(kMostSide));
  if (shape.pixels() <= options.max_pixels) return;
  // Where the limit is the greatest there is, no option helps; of programs without one it is that.
  constexpr std::int64_t kGreatestLimit = std::int64_t{1} << 34;
  throw Error(ErrorKind::input,
              "too large: " + size + " pixels, more than " +
                  (options.max_pixels < kGreatestLimit ? "--max-pixels " : "the greatest limit, ") +
                  std::to_string(options.max_pixels));
}

void check_plausible(std::int64_t raw_bytes, std::size_t file_bytes, std::int64_t best_ratio) {
  if (raw_bytes / best_ratio > static_cast<std::int64_t>(file_bytes)) {
    throw Error(ErrorKind::input, "truncated: the file is too short for the size in its header");
  }
}

std::string following_bytes(std::size_t count, bool another_image) {
  return std::to_string(count) + (count == 1 ? " byte follows" : " bytes follow") + " the image" +
         (another_image ? " (another image?)" : "");
}

void warn_of_following_bytes(Bytes file, std::size_t end, std::vector<std::string>& warnings) {
  if (end >= file.size()) return;
  const Bytes following = file.subspan(end);
  warnings.push_back(following_bytes(following.size(), format_by_content(following).has_value()));
}

std::unique_ptr<Reader> open_reader(std::span<const std::byte> bytes, const DecodeOptions& options) {
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

Shape storable_shape(Format format, Shape shape) {
  const Codec& codec = codec_of(format);
  const std::string name(codec.name);
  if (8 * sample_bytes(shape.sample) > codec.written_bits)
    throw Error(ErrorKind::usage,
                name + " is written with " + std::to_string(codec.written_bits) + " bits a sample");
  const bool color = shape.color_channels() == 3;
  if (color && !codec.holds.rgb && !codec.holds.rgba)
    throw Error(ErrorKind::usage, name + " holds grey only: add the stage gray, or write ppm");
  // Best first: as it is, grey as colour; then without alpha.
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
  const Shape stored = storable_shape(format, shape);
  std::unique_ptr<Writer> writer =
      options.codec == CodecChoice::stb && stb_writes(format) && stored.sample == SampleType::u8
          ? make_stb_writer(format, stored, options)
          : codec.make_writer(stored, options);
  if (stored != shape) writer = std::make_unique<ConvertingWriter>(std::move(writer), stored);
  return writer;
}

bool holds_pages(Format format) {
  return codec_of(format).most_page_bytes != nullptr;
}

std::int64_t most_page_bytes(Format format, const Shape& shape, const EncodeOptions& options) {
  return codec_of(format).most_page_bytes(storable_shape(format, shape), options);
}

std::vector<std::string> codec_versions() {
  std::vector<std::string> versions;
  for (const Codec& codec : codec_table()) {
    if (codec.libraries == nullptr) continue;
    for (std::string& library : codec.libraries()) versions.push_back(std::move(library));
  }
  versions.push_back(stb_version());
  return versions;
}

}  // namespace imgpipe
